"""A model behind an API through the workflow: asked once, measured, and asked anew only where the
model or the question is another one.
"""

import json
import threading
from collections import Counter
from http.server import ThreadingHTTPServer

import pytest

from scripts.data.tables import read_metrics
from scripts.train.asking.questions import chosen
from tests.files import write_yaml
from tests.train.test_asking import KEY, Teacher
from tests.workflow.conftest import checkout

PRESET = ("--configfile", "presets/asked.yaml")


@pytest.fixture
def teacher():
    with ThreadingHTTPServer(("127.0.0.1", 0), Teacher) as found:
        found.asked, found.bodies, found.keys = Counter(), [], set()
        found.reply = lambda question, count: "Who knows?" if "hour" in question else "A"
        threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
        yield found
        found.shutdown()


def preset(teacher, **entry) -> dict:
    address = f"http://127.0.0.1:{teacher.server_address[1]}/v1"
    known = {"api": address, "name": "one", "key": "KEY_OF_TESTS", "licence": "theirs"}
    return {
        "name": "asked",
        "bootstrap_resamples": 100,
        "models": {"teacher": known | entry},
        "run": ["asked"],
        "experiments": {
            "asked": {
                "title": "Asked in words",
                "study": "mctaco",
                "data": {"source": "sample_mctaco", "limit": 12},
                "models": ["teacher"],
                "methods": ["answer", "answer_blind", "answer_all"],
                "controls": ["bag_of_words"],
            }
        },
    }


def test_a_model_behind_an_api_is_asked_once_and_measured(tmp_path, teacher):
    study = checkout(tmp_path)
    write_yaml(study / "presets/asked.yaml", preset(teacher))
    study.run("evaluate", *PRESET, KEY_OF_TESTS=KEY)
    assert set(teacher.asked.values()) == {1} and teacher.keys == {f"Bearer {KEY}"}
    metrics = read_metrics(study / "results/evaluate/asked/metrics.parquet").to_pandas()
    means = metrics[metrics["seed"].isna() & (metrics["slice"] == "all")]
    found = means.set_index(["method", "metric"])["value"]
    for method in ("answer", "answer_blind", "answer_all"):
        assert 0 < found[method, "unread_answers"] < 1
    assert found["answer", "exact_match_above_blind"] == pytest.approx(
        found["answer", "exact_match"] - found["answer_blind", "exact_match"]
    )
    assert ("answer_all", "exact_match_above_control") in found

    few = preset(teacher)
    few["experiments"]["asked"] |= {
        "methods": ["answer", "answer_all"],
        "training": {"shots": 2},
        "seeds": [1, 2],
    }
    write_yaml(study / "presets/few.yaml", few | {"name": "few"})
    teacher.bodies.clear()
    study.run("evaluate", "--configfile", "presets/few.yaml", KEY_OF_TESTS=KEY)
    before = {json.dumps(body["messages"][:-1]) for body in teacher.bodies}
    assert len(before) == 4, "two seeds, one candidate or all"
    for turns in map(json.loads, before):
        assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2
        for question, answer in zip(turns[::2], turns[1::2]):
            letters = chosen(answer["content"], ["an option"] * 26, several=True)
            assert letters is not None and letters <= set(range(question["content"].count("\n")))
    metrics = read_metrics(study / "results/evaluate/few/metrics.parquet").to_pandas()
    assert {1, 2} <= set(metrics[metrics["method"] == "answer_all"]["seed"])

    write_yaml(study / "presets/asked.yaml", preset(teacher, title="A teacher", key="ANOTHER"))
    assert study.trained("evaluate", *PRESET) == 0
    write_yaml(study / "presets/asked.yaml", preset(teacher, name="two"))
    assert len(study.jobs("evaluate", *PRESET)["train_api"]) == 1
