"""TimeDial through the workflow: every paradigm, and an MLM stage."""

import copy

import pytest

from scripts.data.tables import read_table
from tests.files import read_texts
from tests.samples import downloads, instances

TRAINING = {"epochs": 1, "learning_rate": 1.0e-3, "batch_size": 32, "max_length": 96}
SMALL = {"source": "sample_dialogs", "max_dialogs": 24, "context_scope": "target"}
INSTANCES = 30


@pytest.fixture
def timedial(study, tmp_path):
    """Configure every paradigm on a few dialogs; one experiment makes the model of another one."""

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
            },  # too short for some texts
            "written": same | {"models": ["tiny_t5"], "methods": ["generate"]},
        }
        config["experiments"].update(
            (name, copy.deepcopy(entry)) for name, entry in experiments.items()
        )
        config.update(run=["bert", "filled", "written"])

    def smaller(sources):
        sources["sample_challenge"]["downloads"] = downloads(tmp_path / "i.zip", instances(36))

    study.change("config.yaml", mend)
    study.change("resources/sources.yaml", smaller)
    return study


def made(jobs: dict[str, list[str]]) -> list[str]:
    """Return the jobs of MLM stages."""
    return [message for message in jobs["train_run"] if "-mlm-" in message]


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
        "Dialogs removed from the training data",
        "pseudo-log-likelihood",
        "Table 3, beside our counts",
    ):
        assert text in page, text
    assert timedial.jobs() == {}
    # The MLM stage is one run, trained once for all runs that start from it.
    timedial.change(
        "config.yaml",
        lambda config: config["experiments"]["filled"]["training"].update(batch_size=16),
    )
    assert timedial.trained() == 1
    assert not made(timedial.jobs()), "zero-shot has no batch to learn from"
    timedial.change(
        "config.yaml",
        lambda config: config["experiments"]["sample_dialogs_mlm"]["training"].update(epochs=2),
    )
    assert len(made(timedial.jobs())) == 1 and timedial.trained() == 4
    # A change of a paradigm's code affects its runs and those that start from them.
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
    assert len(timedial.jobs()["train_run"]) == 1
