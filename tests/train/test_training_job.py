"""A training job: several runs in one process give the same numbers as alone, and a failed run does
not stop the others.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from transformers import AutoModelForMaskedLM

from scripts.data.studies import read_studies
from scripts.plan.prompts import prompts_of
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


@pytest.fixture
def job(program):
    """Return a function that starts a job with these lines, and returns its end."""

    def job_of(folder: Path, lines: Iterable[str], *options: str):
        given = ("--folder", folder, "--output", folder / "job.manifest.json", *options)
        return program("scripts.train.runs --device cpu", *given, "<<<", "\n".join(lines))

    return job_of


def test_the_same_numbers_as_alone_and_one_failure_stops_no_other(prepared, program, job, tmp_path):
    runs, together = options_of_runs(), tmp_path / "together"
    place = (prepared / "data", prepared / "model", ["train", "val"])
    same = {"training": (), "method": (), "settings": {}}
    lines = {name: line_of(name, *place, **same | options) for name, options in runs.items()}
    done = job(together, lines.values())
    done.refused("max_length is 5000", "(1 of 4 failed)")
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
    again = job(together, lines.values()).checked()
    assert again.stderr.count("no step taken") == 3
    files = json.loads((together / "job.manifest.json").read_text())["files"]
    assert len(files) == 9 and "learns/predictions.parquet" in files
    forced = job(together, [lines["learns"]], "--again").checked()
    assert "epoch 2 of 2" in forced.stderr


@pytest.mark.parametrize(
    "lines, said",
    [
        ([], "standard input: has no run"),
        (["{}"], "standard input: line 1: '{}' has no key run"),
        (["nothing"], "standard input: line 1: 'nothing' is not JSON"),
    ],
)
def test_a_line_that_is_no_run_is_refused(job, tmp_path, lines, said):
    job(tmp_path, lines).refused(said)
