"""The runs that come from the record: those with today's training code, pinned model files and entry
of a control, and runs that make a model if no trained run needs it.
"""

import json

import pytest

from scripts.data.record import RUNS
from scripts.plan.checks import check_places
from scripts.plan.training import paradigm_of
from scripts.plan.workplan import Workplan
from scripts.running.program import UserError
from scripts.train.work import code_of
from tests.conftest import ROOT
from tests.registers import MODELS

CONFIG = {"run": ["sample_dialogs_fill"], "recorded": True}


# One experiment's runs start from another's.
TWO_STAGES = {
    "run": ["order", "order_again"],
    "seeds": [1],
    "recorded": True,
    "experiments": {
        "order": {
            "study": "strided_sop",
            "data": {"source": "sample_activitynet", "stride": 1},
            "models": ["minilm"],
            "methods": ["train"],
        },
        "order_again": {
            "study": "strided_sop",
            "data": {"source": "sample_activitynet", "stride": 0},
            "models": ["minilm"],
            "methods": ["train"],
            "initial": "order",
        },
    },
}


@pytest.fixture(autouse=True)
def place_of_the_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Workplan, "record_of", lambda self, study: tmp_path / study)


@pytest.fixture
def lines():
    """Return the record of every run of CONFIG; a test changes it, then calls runs_taken()."""
    return lines_of(Workplan(CONFIG, ROOT))


def lines_of(work: Workplan) -> dict:
    found = {}
    for run in work.runs.values():
        is_control = run.name in work.controls
        paradigm = "control" if is_control else paradigm_of(work, run)
        control = work.models[run.model].get("control")
        facts = {"run": run.name, "code": code_of(paradigm), "model_files": {}, "control": control}
        found[run.name] = {"run": facts, "paradigm": paradigm, "given": "0123"}
    return found


def runs_taken(lines: dict, folder, study="timedial", config=CONFIG) -> set[str]:
    (folder / study).mkdir()
    text = "".join(json.dumps(line) + "\n" for line in lines.values())
    (folder / study / RUNS).write_text(text)
    return Workplan(config, ROOT).recorded


def of(lines: dict, paradigm: str) -> set[str]:
    return {name for name, line in lines.items() if line["paradigm"] == paradigm}


def test_all_that_is_on_record_is_taken(lines, tmp_path):
    assert of(lines, "mlm") and runs_taken(lines, tmp_path) == set(lines)


def test_a_model_is_made_where_a_run_needs_it(lines, tmp_path):
    [left, *_] = of(lines, "fill")
    del lines[left]["given"]
    assert runs_taken(lines, tmp_path) == set(lines) - {left} - of(lines, "mlm")


def test_a_run_whose_model_would_be_made_otherwise_is_trained(lines, tmp_path):
    [maker] = of(lines, "mlm")
    lines[maker]["run"]["code"] = "0123"
    assert runs_taken(lines, tmp_path) == set(lines) - {maker} - of(lines, "fill")


def two_stages() -> tuple[dict, str, str]:
    """Return the record of TWO_STAGES, with the names of the first and the second model's run."""
    work = Workplan(TWO_STAGES, ROOT)
    lines = lines_of(work)
    first, second = sorted(work.model_runs("strided_sop"), key=lambda run: bool(run.start))
    pinned = work.models["minilm"]["files"]
    lines[first.name]["run"]["model_files"] = pinned
    lines[second.name]["run"]["model_files"] = pinned | {"model.safetensors": "of the first"}
    return lines, first.name, second.name


def test_a_run_that_starts_from_another_has_other_weights_than_its_model(tmp_path):
    lines, *_ = two_stages()
    assert runs_taken(lines, tmp_path, "strided_sop", TWO_STAGES) == set(lines)


def test_a_run_of_other_model_files_is_trained(tmp_path):
    lines, first, second = two_stages()
    lines[first]["run"]["model_files"] |= {"config.json": "0123"}
    assert runs_taken(lines, tmp_path, "strided_sop", TWO_STAGES) == set(lines) - {first, second}


def test_a_model_of_a_folder_may_be_missing_where_its_runs_are_on_record(lines, tmp_path):
    elsewhere = MODELS["gemma_3_270m_4bit"] | {"folder": "models/not_here"}
    config = CONFIG | {"models": {"tiny_bert": elsewhere}}
    with pytest.raises(UserError, match="models/not_here was not found"):
        check_places(Workplan(config, ROOT), has_gpus=False)
    runs_taken(lines, tmp_path)
    assert not check_places(Workplan(config, ROOT), has_gpus=False)


def test_a_control_of_another_entry_is_fitted(lines, tmp_path):
    [left, *_] = of(lines, "control")
    lines[left]["run"]["control"] = {"search": "of_before"}
    assert runs_taken(lines, tmp_path) == set(lines) - {left}


def test_without_a_record_all_is_trained(lines, tmp_path):
    assert not Workplan(CONFIG, ROOT).recorded
