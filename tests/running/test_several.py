"""Several jobs in one process give the same numbers as alone, and a failed job does not stop the
others.
"""

import json

import pytest
from transformers import AutoModelForMaskedLM

from scripts.plan.prompts import prompts_of
from scripts.data.studies import read_studies
from tests.models import fetched
from tests.training import arguments, write_pairs

pytestmark = pytest.mark.models
PROMPTS = prompts_of("strided_sop", read_studies()["strided_sop"], "likelihood")
ASKED = {"paradigm": "likelihood", "learns": False, "peak": False}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Write a dataset and a tiny model."""
    folder = tmp_path_factory.mktemp("several")
    write_pairs(folder / "data", {"train": 30, "val": 30})
    fetched("tiny_bert", folder / "model", AutoModelForMaskedLM)
    return folder


def arguments_of(prepared, output, name: str, **options) -> list[str]:
    return arguments(output / name, prepared / "data", prepared / "model", run=name, **options)


def runs(prepared, output) -> dict[str, list[str]]:
    """Return the arguments of two runs that train, one of which fails, and of two that ask in
    different wordings.
    """
    asked = {
        name: arguments_of(prepared, output, name, method=ASKED | {"prompt": PROMPTS[name]})
        for name in list(PROMPTS)[:2]
    }
    learnt = arguments_of(prepared, output, "learns", training={"epochs": 2})
    failing = arguments_of(prepared, output, "fails", training={"max_length": 5000})
    first, second = asked.items()
    return dict([first, ("fails", failing), ("learns", learnt), second])


def test_the_same_numbers_as_alone_and_one_failure_stops_no_other(prepared, program, tmp_path):
    given = runs(prepared, tmp_path / "together")
    for name, these in given.items():
        (tmp_path / name).write_text("".join(f"{one}\n" for one in these))
    jobs = [f"scripts.train.run@{tmp_path / name}" for name in given]
    where = [f"--folder={tmp_path / 'together'}", f"--output={tmp_path / 'manifest.json'}"]
    names = [name for name in given if name != "fails"]
    files = ["--files", *(f"{name}/predictions.parquet" for name in names)]
    done = program("scripts.running.several", *jobs, *where, *files)
    done.refused("max_length is 5000", "(1 of 4 jobs failed)")
    assert not (tmp_path / "manifest.json").exists()
    for name in names:
        program("scripts.train.run", *runs(prepared, tmp_path / "alone")[name]).checked()
        assert (tmp_path / f"together/{name}/predictions.parquet").read_bytes() == (
            tmp_path / f"alone/{name}/predictions.parquet"
        ).read_bytes()
    jobs = [job for job in jobs if not job.endswith("fails")]
    again = program("scripts.running.several", *jobs, *where, *files).checked()
    assert again.stderr.count("no step taken") == 3
    assert len(json.loads((tmp_path / "manifest.json").read_text())["files"]) == 3
