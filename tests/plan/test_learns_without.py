"""A control that learns from more than a model: from the dataset without one option."""

import json

import pytest

from scripts.plan import training
from scripts.plan.workplan import Workplan
from scripts.running.program import UserError
from tests.conftest import ROOT

SMALL, WHOLE = (
    f"results/build/timedial/dailydialog/{name}" for name in ("local-max_dialogs-9", "local")
)
DIALOGS = {"source": "dailydialog", "context_scope": "local", "max_dialogs": 9}


def planned(study: str, data: dict) -> Workplan:
    experiment = {"study": study, "data": data, "models": ["search_dialogs", "search_texts"]}
    config = {"run": ["one"], "recorded": False, "experiments": {"one": experiment}}
    return Workplan(config, ROOT)


@pytest.mark.parametrize("recorded", [False, True])
def test_it_reads_the_training_split_of_the_whole_dataset(tmp_path, monkeypatch, recorded):
    """So it does from the record, which holds the digest of that split."""
    monkeypatch.chdir(tmp_path)
    work = planned("timedial", DIALOGS)
    work.recorded = set(work.runs) if recorded else set()
    assert {SMALL, WHOLE} == set(work.datasets), "the whole dataset is built, and not measured"
    assert {run.dataset.folder for run in work.runs.values()} == {SMALL}
    [job] = {name.split("/")[1] for name in work.training_jobs}
    lines = [json.loads(text) for text in training.lines_of(work, "timedial", job).splitlines()]
    learnt = {line["settings"]["model"]: line.get("learns_from") for line in lines}
    assert learnt["search_dialogs"] == WHOLE and learnt["search_texts"] is None
    files = set(training.read_by(work, "timedial", job))
    assert {f"{folder}/manifest.json" for folder in (SMALL, WHOLE)} <= files


def test_a_study_without_the_option_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work = planned("strided_sop", {"source": "hirest", "stride": 0})
    with pytest.raises(UserError, match="strided_sop has no option max_dialogs"):
        set(work.datasets)
