"""A training job: several runs in one process give the same numbers as alone, and a failed run does
not stop the others.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from transformers import AutoModelForMaskedLM

from scripts.data.studies import read_studies
from scripts.plan.prompts import prompts_of
from tests.conftest import ROOT
from tests.models import fetched
from tests.training import arguments, line_of, write_pairs

pytestmark = pytest.mark.models
PROMPTS = prompts_of("strided_sop", read_studies()["strided_sop"], "likelihood")
ASKED = {"paradigm": "likelihood", "learns": False, "peak": False}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    write_pairs(folder / "data", {"train": 30, "val": 30})
    fetched("tiny_bert", folder / "model", AutoModelForMaskedLM)
    return folder


def options_of_runs() -> dict[str, dict]:
    first, second = (
        (name, {"method": ASKED | {"prompt": PROMPTS[name]}}) for name in list(PROMPTS)[:2]
    )
    failing = {"training": {"max_length": 5000}}
    return dict([first, ("fails", failing), ("learns", {"training": {"epochs": 2}}), second])


def line_on(prepared: Path, name: str, training=(), method=()) -> str:
    """Return the line of a run on the prepared data."""
    data, model = prepared / "data", prepared / "model"
    return line_of(name, data, model, ["train", "val"], training, method, {})


def job(folder: Path, lines: list[str], *options: str) -> subprocess.CompletedProcess:
    given = ["--folder", folder, "--output", folder / "job.manifest.json", "--device", "cpu"]
    return subprocess.run(
        [sys.executable, "-m", "scripts.train.runs", *map(str, given), *options],
        input="\n".join(lines),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_the_same_numbers_as_alone_and_one_failure_stops_no_other(prepared, program, tmp_path):
    runs, together = options_of_runs(), tmp_path / "together"
    lines = {name: line_on(prepared, name, **options) for name, options in runs.items()}
    done = job(together, list(lines.values()))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "max_length is 5000" in done.stderr and "(1 of 4 failed)" in done.stderr
    assert re.search(r"\d of 4 runs done, \d.*; about \d.* left", done.stderr)
    assert not (together / "job.manifest.json").exists()
    del lines["fails"]
    for name in lines:
        output = tmp_path / "alone" / name
        given = arguments(output, prepared / "data", prepared / "model", **runs[name])
        program("scripts.train.runs", *given).checked()
        assert (together / name / "predictions.parquet").read_bytes() == (
            output / "predictions.parquet"
        ).read_bytes()
    again = job(together, list(lines.values()))
    assert again.returncode == 0 and again.stderr.count("no step taken") == 3
    files = json.loads((together / "job.manifest.json").read_text())["files"]
    assert len(files) == 9 and "learns/predictions.parquet" in files
    forced = job(together, [lines["learns"]], "--again")
    assert forced.returncode == 0 and "epoch 2 of 2" in forced.stderr


@pytest.mark.parametrize(
    "lines, said",
    [
        ([], "standard input: has no run"),
        (["{}"], "standard input: line 1: '{}' has no key run"),
        (["nothing"], "standard input: line 1: 'nothing' is not JSON"),
    ],
)
def test_a_line_that_is_no_run_is_refused(tmp_path, lines, said):
    done = job(tmp_path, lines)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
