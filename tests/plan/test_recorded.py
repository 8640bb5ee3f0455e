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


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """Write the record of every run of CONFIG; a test changes it, then calls runs_taken()."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Workplan, "record_of", lambda self, study: tmp_path / study)
    work = Workplan(CONFIG, ROOT)
    found = {}
    for run in work.runs.values():
        is_control = run.name in work.controls
        paradigm = "control" if is_control else paradigm_of(work, run)
        control = work.models[run.model].get("control")
        facts = {"run": run.name, "code": code_of(paradigm), "model_files": {}, "control": control}
        found[run.name] = {"run": facts, "paradigm": paradigm, "given": "0123"}
    return found


def runs_taken(lines: dict, folder) -> set[str]:
    (folder / "timedial").mkdir()
    text = "".join(json.dumps(line) + "\n" for line in lines.values())
    (folder / "timedial" / RUNS).write_text(text)
    return Workplan(CONFIG, ROOT).recorded


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


def test_a_run_of_other_model_files_is_trained(tmp_path, monkeypatch, lines):
    pinned = Workplan(CONFIG, ROOT).models["minilm"]["files"]
    [left, other, *_] = of(lines, "fill")
    changed = MODELS | {"tiny_bert_dialogs": MODELS["tiny_bert_dialogs"] | {"files": pinned}}
    monkeypatch.setattr("scripts.plan.workplan.probed_models", lambda *asked: ([], changed, []))
    lines[left]["run"]["model_files"] = pinned | {"config.json": "0123"}
    lines[other]["run"]["model_files"] = pinned
    taken = runs_taken(lines, tmp_path)
    assert left not in taken and other in taken


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
