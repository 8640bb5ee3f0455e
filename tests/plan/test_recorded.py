"""The runs that come from the record: those with today's training code, pinned model files and entry
of a control, and runs that make a model if no trained run needs it.
"""

import json
import shutil

import pytest

from scripts.data.manifest import write_manifest
from scripts.data.record import MANIFEST, RUNS
from scripts.plan.checks import check_places
from scripts.plan.training import paradigm_of
from scripts.plan.workplan import Workplan
from scripts.running.program import UserError
from scripts.running.code_lock import version_in
from scripts.train.work import code_of
from tests.conftest import ROOT
from tests.registers import MODELS
from tests.rows import each_row

CONFIG = {"run": ["sample_dialogs_fill"], "recorded": True}


# One experiment's runs start from another's.
ORDER = {"study": "strided_sop", "models": ["minilm"], "methods": ["train"]}
FIRST, SECOND = ({"source": "sample_activitynet", "stride": stride} for stride in (1, 0))
TWO_STAGES = {
    **{"run": ["order", "order_again"], "seeds": [1], "recorded": True},
    "experiments": {
        "order": ORDER | {"data": FIRST},
        "order_again": ORDER | {"data": SECOND, "initial": "order"},
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
        version = version_in(facts["code"], f"train/{paradigm}")
        line = {"run": facts, "paradigm": paradigm, "given": "0123", "version": version}
        line["made_from"] = work.made_from(run.model)
        found[run.name] = line
    return found


def runs_taken(lines: dict, folder, study="timedial", config=CONFIG) -> set[str]:
    (folder / study).mkdir()
    text = "".join(json.dumps(line) + "\n" for line in lines.values())
    (folder / study / RUNS).write_text(text)
    write_manifest(folder / study, [RUNS], folder / study / MANIFEST)
    return Workplan(config, ROOT).recorded


def of(lines: dict, paradigm: str) -> set[str]:
    return {name for name, line in lines.items() if line["paradigm"] == paradigm}


def test_all_that_is_on_record_is_taken(lines, tmp_path):
    assert of(lines, "mlm") and runs_taken(lines, tmp_path) == set(lines)


def test_a_model_is_made_where_a_run_needs_it(lines, tmp_path):
    [left, *_] = of(lines, "fill")
    del lines[left]
    assert runs_taken(lines, tmp_path) == set(lines) - {left} - of(lines, "mlm")


def test_a_run_whose_model_would_be_made_otherwise_is_trained(lines, tmp_path):
    [maker] = of(lines, "mlm")
    lines[maker]["version"] = "0"
    assert runs_taken(lines, tmp_path) == set(lines) - {maker} - of(lines, "fill")


def two_stages() -> tuple[dict, str, str]:
    """Return the record of TWO_STAGES, with the names of the first and the second model's run."""
    work = Workplan(TWO_STAGES, ROOT)
    lines = lines_of(work)
    first, second = sorted(work.model_runs("strided_sop"), key=lambda run: bool(run.start))
    pinned = dict(MODELS["minilm"]["files"])
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


PINS = MODELS["minilm"]["files"]
OF_HUB = {"title": "My own encoder", "licence": "mine", "hub": "me/mine", "revision": "main"}


@each_row(
    "entry, is_taken",
    [
        (OF_HUB, False),
        (OF_HUB | {"files": PINS}, True),
        (OF_HUB | {"files": PINS | {"model.safetensors": "0" * 64}}, False),
        ({"title": "Mine", "licence": "mine", "folder": "not_here"}, False),
        ({"title": "Mine", "licence": "mine", "folder": "not_here", "files": PINS}, True),
        ({"title": "Mine", "licence": "mine", "folder": "mine"}, False),
    ],
)
def test_a_model_of_ones_own_is_on_record_if_its_files_are(tmp_path, entry, is_taken):
    """Its name decides nothing. What no hash says is not on record."""
    (tmp_path / "mine").mkdir(exist_ok=True)
    (tmp_path / "mine/config.json").write_text("{}")
    lines, *of_models = two_stages()
    shutil.rmtree(tmp_path / "strided_sop", ignore_errors=True)
    runs = runs_taken(lines, tmp_path, "strided_sop", TWO_STAGES | {"models": {"minilm": entry}})
    assert runs == set(lines) - (set() if is_taken else set(of_models))


def test_a_model_that_is_made_anew_by_an_entry_of_ones_own_is_trained(lines, tmp_path):
    """No hash says what its entry makes. Its controls are on record."""
    narrow = MODELS["tiny_bert"]["init"] | {"hidden_size": 8}
    config = CONFIG | {"models": {"tiny_bert": MODELS["tiny_bert"] | {"init": narrow}}}
    assert runs_taken(lines, tmp_path, config=config) == of(lines, "control")


def test_a_model_that_stands_on_another_model_is_on_record_if_that_is(tmp_path):
    config = TWO_STAGES | {"run": ["order"]}
    config["experiments"] = {"order": config["experiments"]["order"] | {"models": ["esim_minilm"]}}
    work = Workplan(config, ROOT)
    lines, [run] = lines_of(work), work.model_runs("strided_sop")
    files = {f"encoder/{name}": sha256 for name, sha256 in PINS.items()}
    lines[run.name]["run"]["model_files"] = files | {"config.json": "made by the fetch"}
    assert runs_taken(lines, tmp_path, "strided_sop", config) == set(lines)
    other = Workplan(config | {"models": {"minilm": OF_HUB}}, ROOT)
    assert other.recorded == set(lines) - {run.name}
    assert any("esim_minilm: not the files on record" in note for note in other.notes)


def test_a_model_of_a_folder_may_be_missing_where_its_runs_are_on_record(tmp_path):
    """Its entry has the hashes."""
    elsewhere = {"title": "Mine", "licence": "mine", "folder": "not_here", "files": PINS}
    config = TWO_STAGES | {"models": {"minilm": elsewhere}}
    with pytest.raises(UserError, match="not_here was not found"):
        check_places(Workplan(config, ROOT), has_gpus=False)
    runs_taken(two_stages()[0], tmp_path, "strided_sop", config)
    assert not check_places(Workplan(config, ROOT), has_gpus=False)


def test_a_control_of_another_entry_is_fitted(lines, tmp_path):
    [left, *_] = of(lines, "control")
    lines[left]["run"]["control"] = {"search": "of_before"}
    assert runs_taken(lines, tmp_path) == set(lines) - {left}


def test_a_model_that_is_made_from_another_entry_is_trained(tmp_path):
    """An ESIM of another size was taken from the record, as its entry pins no files."""
    made = {"study": "mctaco", "data": {"source": "sample_mctaco"}, "models": ["esim_minilm"]}
    config = {"run": ["made"], "seeds": [1], "recorded": True, "experiments": {"made": made}}
    lines = lines_of(Workplan(config, ROOT))
    [left] = [name for name in lines if "esim_minilm" in name]
    lines[left]["made_from"] = {"esim_minilm.esim": {"hidden_size": 10}}
    assert runs_taken(lines, tmp_path, "mctaco", config) == set(lines) - {left}
