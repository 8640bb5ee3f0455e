"""The third and fourth studies through the workflow: paradigms, an MLM stage,
dialogs of one's own, and refusals.
"""

import copy
import json

import pytest

from scripts.data.tables import read_table
from tests.files import read_json, read_texts
from tests.workflow.test_docs import DIALOGS

TRAINING = {"epochs": 1, "learning_rate": 1.0e-3, "batch_size": 32, "max_length": 96}
SMALL = {"source": "sample_dialogs", "max_dialogs": 24, "context_scope": "target"}
# of the sample sources, which have three times as many;
# the challenge has an instance in eight dialogs
DIALOGS_WRITTEN, INSTANCES = (240, 30)


@pytest.fixture
def timedial(study):
    """Every paradigm on a few dialogs; one experiment makes the model of another."""

    def mend(config):
        same = {"study": "timedial", "data": SMALL, "seeds": [1], "training": TRAINING}
        experiments = {
            "sample_dialogs_mlm": same | {"models": ["tiny_bert"], "methods": ["mlm"]},
            "bert": same | {"models": ["tiny_bert"], "methods": ["classify"]},
            "filled": same
            | {
                "models": ["tiny_bert_dialogs"],
                "methods": ["fill_zero_shot", "fill", "pseudo_log_likelihood"],
                "training": TRAINING | {"max_length": 20},
            },  # too short for some
            "written": same | {"models": ["tiny_t5"], "methods": ["generate"]},
        }
        config["experiments"].update(
            (name, copy.deepcopy(entry)) for name, entry in experiments.items()
        )
        config.update(run=["bert", "filled", "written"])

    def smaller(sources):
        for name in ("sample_dialogs", "sample_challenge"):
            sources[name]["sample"]["dialogs"] = DIALOGS_WRITTEN

    study.change("config.yaml", mend)
    study.change("resources/sources.yaml", smaller)
    return study


def test_every_paradigm_to_the_page_and_what_runs_again(timedial):
    timedial.run()
    metrics = read_table(timedial / timedial.metrics).to_pandas()
    whole = metrics[
        (metrics["slice"] == "all")
        & metrics["seed"].isna()
        & (metrics["metric"] == "two_best_accuracy")
    ]
    assert set(whole["method"]) == set(
        "control classify fill fill_zero_shot generate pseudo_log_likelihood".split()
    )
    assert set(
        whole.loc[whole["method"].isin(["fill_zero_shot", "pseudo_log_likelihood"]), "domain"]
    ) == {"zero_shot"}
    assert whole["sample"].all() and (whole["n"] == INSTANCES).all()
    n = metrics[metrics["seed"].isna() & (metrics["metric"] == "two_best_accuracy")].pivot_table(
        "n", "method", "slice"
    )
    assert (n.filter(like="leak=").sum(axis=1) == INSTANCES).all()
    table = read_texts((timedial / timedial.page).parent / "tables/timedial_table.csv")
    count = (
        table.set_index("Paradigm")["2-best cut"]
        .str.extract(rf"^(\d+) of {INSTANCES}$")[0]
        .dropna()
        .astype(int)
    )
    assert len(count) == 5
    assert (count["classification"] == 0).all()
    assert count["mask filling"].between(1, INSTANCES - 1).all(), "zero-shot, too"
    page = (timedial / timedial.page).read_text()
    for text in (
        "tiny BERT after an MLM stage",
        "an MLM stage of tiny BERT",
        "What left the dialogs to learn from",
        "pseudo-log-likelihood",
        "Table 3, beside the published one",
    ):
        assert text in page, text
    assert timedial.jobs() == {}
    # The stage is a run of its own, trained once for all that start from it.
    timedial.change(
        "config.yaml",
        lambda config: config["experiments"]["filled"]["training"].update(batch_size=16),
    )
    assert timedial.trained() == 1
    assert "train_model" not in timedial.jobs(), "zero-shot has no batch to learn from"
    timedial.change(
        "config.yaml",
        lambda config: config["experiments"]["sample_dialogs_mlm"]["training"].update(epochs=2),
    )
    assert len(timedial.jobs()["train_model"]) == 1 and timedial.trained() == 4
    # A paradigm's code concerns its runs and those that build on it.
    timedial.change(
        "config.yaml",
        lambda config: config["experiments"]["sample_dialogs_mlm"]["training"].update(epochs=1),
    )
    timedial.change(
        "config.yaml",
        lambda config: config["experiments"]["filled"]["training"].update(batch_size=32),
    )
    assert timedial.jobs() == {}
    timedial.edit(
        "scripts/train/paradigms/generate.py",
        "room = np.full(n, self.max_length - 1",
        "room = np.full(n, -1 + self.max_length",
    )
    assert len(timedial.jobs()["train_batch"]) == 1


def test_dialogs_of_ones_own_as_the_docs_say(timedial):
    """Out of the domain: the piece of docs/add.md, with a file of sixty dialogs."""
    [(name, entry)] = DIALOGS["sources"].items()
    entry = entry | {"measured_on": "sample_challenge", "local": "mine.jsonl"}
    lines = [
        {
            "dialog": [
                f"When do we meet , at {hour} o'clock ?",
                f"No , {hour + 1} days later , number {number} .",
                "See you on Monday .",
            ]
        }
        for number, hour in ((number, number % 11 + 1) for number in range(60))
    ]
    (timedial / "mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    timedial.change("resources/sources.yaml", lambda sources: sources.update({name: entry}))
    timedial.change(
        "config.yaml",
        lambda config: (
            config["experiments"]["bert"]["data"].update(source=name, max_dialogs=None),
            config.update(run=["bert"]),
        ),
    )
    timedial.run("evaluate")
    metrics = read_table(timedial / timedial.metrics).to_pandas()
    assert set(metrics.loc[metrics["method"] == "classify", "domain"]) == {"out"}
    (timedial / "mine.jsonl").write_text('{"dialog": ["Hello ."]}\n{"turns": []}\n')
    timedial.snakemake("--cores", "2").refused("line 2")


def test_without_held_out_questions_the_last_epoch_is_reported(study):
    """MC-TACO's authors choose no epoch."""
    study.change(
        "resources/sources.yaml",
        lambda sources: sources["sample_mctaco"]["sample"].update(questions=120),
    )
    # ESIM learns beside a transformer, from word vectors that are fetched like any model.
    words = ("the", "it", "hours", "days", "minutes", "week", "yes", "no", "often", "long")
    (study / "vectors.txt").write_text(
        "".join(f"{word} 0.{number} -0.{number} 0.5\n" for number, word in enumerate(words))
    )
    esim = {
        "esim": {"hidden_size": 8},
        "licence": "MIT",
        "vectors": {
            "urls": [(study / "vectors.txt").as_uri()],
            "file": "vectors.txt",
            "sha256": None,
        },
    }
    study.change("resources/models.yaml", lambda models: models.update(esim_small=esim))
    experiment = {
        "study": "mctaco",
        "controls": ["bag_of_words"],
        "data": {"source": "sample_mctaco", "train_questions": 30},
        "seeds": [1],
        "models": ["tiny_bert", "esim_small"],
        "training": TRAINING | {"held_out_fraction": 0, "epochs": 2, "max_length": 64},
    }
    study.change(
        "config.yaml",
        lambda config: (config["experiments"].update(mine=experiment), config.update(run=["mine"])),
    )
    study.run("train")
    for model in ("tiny_bert", "esim_small"):
        [folder] = (study / "results/train/mctaco").glob(f"*train_questions-30*{model}*")
        predictions = read_table(folder / "predictions.parquet").to_pandas()
        assert set(predictions["selection"]) == {"last"} and set(predictions["epoch"]) == {2}
        facts = read_json(folder / "run.json")
        assert facts["held_out_examples"] == 0 and facts["best_epoch"] == facts["epochs"] == 2
    assert study.jobs("train") == {}
    study.edit("scripts/train/paradigms/esim.py", "DROPOUT = 0.5", "DROPOUT = 0.25")
    assert len(study.jobs("train")["train_run"]) == 1, "ESIM's code concerns ESIM"
