"""A model behind an API through the workflow: it is asked once and measured, and asked again only
if the model or the question changes.
"""

import json

import pytest

from scripts.data.tables import read_metrics, read_table
from tests.files import write_yaml
from tests.train.api_server import teaching
from tests.train.test_asking import KEY
from tests.workflow.conftest import checkout
from tests.workflow.test_commands import check_command, commands

PRESET = ("--configfile", "presets/asked.yaml")


@pytest.fixture
def teacher():
    with teaching() as found:
        found.reply = lambda question, count: "Who knows?" if "hour" in question else "A"
        yield found


def preset(teacher, **entry) -> dict:
    known = {"api": teacher.address, "name": "one", "key": "KEY_OF_TESTS", "licence": "theirs"}
    asked = {
        "title": "Asked in words",
        "study": "mctaco",
        "data": {"source": "sample_mctaco", "limit": 12},
        "models": ["teacher"],
        "controls": False,
    }
    return {
        "name": "asked",
        "bootstrap_resamples": 100,
        "models": {"teacher": known | entry},
        "run": ["asked", "few"],
        "experiments": {
            "asked": asked
            | {"methods": ["answer", "answer_blind", "answer_all"], "controls": ["bag_of_words"]},
            "few": asked
            | {"methods": ["answer", "answer_all"], "training": {"shots": 2}, "seeds": [1, 2]},
        },
    }


def test_a_model_behind_an_api_is_asked_once_and_measured(tmp_path, teacher, monkeypatch):
    monkeypatch.setenv("KEY_OF_TESTS", KEY)
    study = checkout(tmp_path)
    write_yaml(study / "presets/asked.yaml", preset(teacher))
    study.run("evaluate", *PRESET)
    [job] = [one for one in commands(study, "evaluate", *PRESET) if "--key=" in one[1]]
    check_command(study, *job)
    assert study.jobs("evaluate", *PRESET) == {}
    bodies = [json.dumps(body) for body in teacher.bodies]
    assert len(set(bodies)) == len(bodies) and teacher.keys == {f"Bearer {KEY}"}
    metrics = read_metrics(study / "results/evaluate/asked/metrics.parquet").to_pandas()
    asked = metrics[metrics["experiment"] == "asked"]
    means = asked[asked["seed"].isna() & (asked["slice"] == "all")]
    found = means.set_index(["method", "metric"])["value"]
    for method in ("answer", "answer_blind", "answer_all"):
        assert 0 < found[method, "unread_answers"] < 1
    beside = read_table(study / "results/evaluate/asked/comparisons.parquet").to_pandas()
    beside = beside[
        (beside["metric"] == "exact_match") & beside["wording"].isna() & (beside["slice"] == "all")
    ]
    beside = beside[beside["experiment"] == "asked"].set_index(["method", "kind"])["difference"]
    assert beside["answer", "blind"] == pytest.approx(
        found["answer", "exact_match"] - found["answer_blind", "exact_match"]
    )
    assert ("answer_all", "maximum") in beside

    few = {json.dumps(body["messages"][:-1]) for body in teacher.bodies if body["messages"][1:]}
    assert len(few) == 4, "two seeds, one candidate or all"
    assert {1, 2} <= set(metrics[metrics["experiment"] == "few"]["seed"])
    write_yaml(study / "presets/asked.yaml", preset(teacher, title="A teacher", key="ANOTHER"))
    assert study.trained(study.jobs("evaluate", *PRESET)) == 0
    write_yaml(study / "presets/asked.yaml", preset(teacher, name="two"))
    assert "train_no_model" in study.jobs("evaluate", *PRESET)
