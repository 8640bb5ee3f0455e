"""TimeDial, temporal NLI and MC-TACO through the workflow: one run serves all tests. Every paradigm
and method, what runs again after a change, and the printed commands of their rules.
"""

import json
import shutil

import pandas as pd
import pytest
import yaml

from scripts.data.items import items_of
from scripts.data.tables import read_table
from tests.files import read_texts, write_yaml
from tests.models import fetched
from tests.samples import dialogs, downloads, instances
from tests.workflow.conftest import Study
from tests.workflow.test_commands import check_command, check_pasted, commands

pytestmark = [pytest.mark.slow, pytest.mark.models]

INSTANCES = 30
# In `filled`, the length is too short for some texts.
EXPERIMENTS = yaml.safe_load("""
sample_dialogs_mlm: &dialogs
  study: timedial
  data: {source: sample_dialogs, max_dialogs: 24, context_scope: target}
  models: [tiny_bert]
  methods: [mlm]
  controls: [random, numeral_overlap]
  seeds: [1]
  training: &training {epochs: 1, learning_rate: 1.0e-3, batch_size: 32, max_length: 96}
bert: {<<: *dialogs, methods: [classify]}
filled:
  <<: *dialogs
  models: [tiny_bert_dialogs]
  methods: [fill_zero_shot, fill, pseudo_log_likelihood]
  training: {<<: *training, max_length: 20}
written: {<<: *dialogs, models: [tiny_t5], methods: [generate]}
nli:
  study: temporal_nli
  models: [nli]
  methods: [direct, train, hypothesis_only]
  controls: [bag_of_words, length_and_overlap]
  data: {source: generated, challenge_set: temp_order, train_templates: 4, test_templates: 2, iterations: 1}
  training: {epochs: 1, max_length: 64}
questions:
  study: mctaco
  data: {source: sample_mctaco}
  models: [tiny_bert]
  controls: [bag_of_words]
  seeds: [1]
  training: {epochs: 1}
""")


def write_nli_model(study: Study, folder) -> None:
    """Write a tiny model whose configuration names the labels of NLI, in the order of
    roberta-large-mnli.
    """
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    fetched("tiny_bert", folder)
    torch.manual_seed(3)
    config = AutoConfig.from_pretrained(
        folder, num_labels=3, id2label={0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
    )
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    shutil.copytree(folder, study / "models/nli")


@pytest.fixture(scope="module")
def finished_others(finished, tmp_path_factory) -> Study:
    """Return a copy of the finished study that has run the other studies to their page. One
    experiment makes the model of another one.
    """
    place = tmp_path_factory.mktemp("others")
    study = Study(shutil.copytree(finished.folder, place / "study", symlinks=True))
    fewer = {"sample_challenge": instances(36), "sample_dialogs": dialogs(60)}

    def lessen(sources):
        for name, files in fewer.items():
            sources[name]["downloads"] = downloads(place / f"{name}.zip", files)

    study.change("resources/sources.yaml", lessen)
    write_nli_model(study, place / "nli")
    entry = {"folder": "models/nli", "licence": "MIT"}
    study.change("resources/models.yaml", lambda models: models.update(nli=entry))

    def mend(config):
        # without objects that two entries share: a test changes one of them
        config["experiments"].update(json.loads(json.dumps(EXPERIMENTS)))
        config["run"] = ["bert", "filled", "written", "nli", "questions"]

    study.change("config.yaml", mend)
    study.run()
    return study


@pytest.fixture
def others(finished_others, tmp_path) -> Study:
    return Study(shutil.copytree(finished_others.folder, tmp_path / "study", symlinks=True))


def change(study: Study, experiment: str, part: str, **values) -> None:
    study.change(
        "config.yaml", lambda config: config["experiments"][experiment][part].update(values)
    )


def stages(jobs: dict[str, list[str]]) -> list[str]:
    return [message for message in jobs["train_run"] if "-mlm-" in message]


def test_every_paradigm_of_timedial_and_what_runs_again(others):
    metrics = read_table(others / others.metrics).to_pandas()
    means = metrics[metrics["seed"].isna() & (metrics["metric"] == "two_best_accuracy")]
    whole = means[means["slice"] == "all"]
    assert set(whole["method"]) == set(
        "control classify fill fill_zero_shot generate pseudo_log_likelihood".split()
    )
    untrained = whole["method"].isin(["fill_zero_shot", "pseudo_log_likelihood"])
    assert set(whole.loc[untrained, "domain"]) == {"zero_shot"}
    assert whole["sample"].all() and (whole["n"] == INSTANCES).all()
    n = means.pivot_table("n", "method", "slice")
    assert (n.filter(like="leak=").sum(axis=1) == INSTANCES).all()
    table = read_texts((others / others.page).parent / "tables/timedial_table.csv")
    cut = table.set_index("Paradigm")["2-best cut"].str.extract(rf"^(\d+) of {INSTANCES}$")[0]
    count = cut.dropna().astype(int)
    assert len(count) == 5
    assert (count["classification"] == 0).all()
    assert count["mask filling"].between(1, INSTANCES - 1).all(), "zero-shot, too"
    page = (others / others.page).read_text()
    for text in ("tiny BERT after an MLM stage", "Dialogs removed from the training data"):
        assert text in page, text
    assert others.jobs() == {}
    # The MLM stage is one run, trained once for all runs that start from it.
    change(others, "filled", "training", batch_size=16)
    jobs = others.jobs()
    assert others.trained(jobs) == 1 and not stages(jobs), "zero-shot has no batch to learn from"
    change(others, "sample_dialogs_mlm", "training", epochs=2)
    jobs = others.jobs()
    assert len(stages(jobs)) == 1 and others.trained(jobs) == 4
    # A change of a paradigm's code affects its runs and those that start from them.
    change(others, "sample_dialogs_mlm", "training", epochs=1)
    change(others, "filled", "training", batch_size=32)
    assert others.jobs() == {}
    others.edit(
        "scripts/train/paradigms/generate.py",
        "room = np.full(n, self.max_length - 1",
        "room = np.full(n, -1 + self.max_length",
    )
    assert len(others.jobs()["train_run"]) == 1


def test_three_methods_of_nli_and_what_runs_again(others):
    metrics = read_table(others / others.metrics).to_pandas().query("study == 'temporal_nli'")
    whole = metrics[(metrics["slice"] == "all") & metrics["seed"].isna()]
    assert set(whole["method"]) == set(
        "majority baseline control direct train hypothesis_only".split()
    )
    assert set(whole["scoring"]) == {"ternary", "binary"} and whole["sample"].all()
    page = (others / others.page).read_text()
    assert "Temporal-expression NLI" in page and "hypothesis only" in page
    # Another training seed runs the methods that learn; another seed of the set builds it again.
    others.change("config.yaml", lambda config: config.update(seeds=[1, 2]))
    assert others.trained(others.jobs()) == 2
    change(others, "nli", "data", generation_seed=1)
    jobs = others.jobs()
    assert others.trained(jobs) == 5 and len(jobs["build_dataset"]) == 1
    assert not any(name.startswith(("fetch", "clean")) for name in jobs)


def write_answers(study: Study) -> None:
    file = study / "results/build/mctaco/sample_mctaco/default/test.parquet"
    questions = pd.read_parquet(file).head(20)
    answers = pd.DataFrame(
        {
            "study": "mctaco",
            "source": "sample_mctaco",
            "dataset": file.parent.name,
            "split": "test",
            "item": [f"{item:016x}" for item in items_of(questions["example_id"])],
            "person": "ann",
            "answer": "likely",
            "types": "",
        }
    )
    (study / "answers").mkdir()
    answers.to_csv(study / "answers/ann.csv", index=False)


def test_the_printed_commands_of_the_rules_that_one_study_alone_has_not(others):
    """Those of all other rules are pasted in test_commands.py."""
    rules = {"publish_all", "publish_mctaco", "build_temporal_spans", "build_dataset", "train_run"}
    assert check_pasted(others, only=rules) == rules
    others.run("harness")
    check_command(others, "harness", dict(commands(others, "harness"))["harness"])
    write_answers(others)
    write_yaml(
        others / "peopled.yaml", {"experiments": {"questions": {"people": ["answers/*.csv"]}}}
    )
    asked = ("evaluate", "--configfile", "peopled.yaml")
    others.run(*asked)
    [peopled] = [
        command for _, command in commands(others, *asked) if "--people answers/ann.csv" in command
    ]
    check_command(others, "evaluate_experiment", peopled)
