"""A killed workflow ends with the promised results: a case of benchmarks/faults.py, on the study
that all these tests share.
"""

import random
from pathlib import Path

import pytest

from benchmarks import kills
from benchmarks.kills import differences
from tests.files import write_json
from tests.workflow.conftest import Study


@pytest.mark.slow
def test_a_killed_study_ends_as_an_undisturbed_one(study, tmp_path, monkeypatch):
    def finish(folder: Path) -> tuple[int, str]:
        done = Study(folder).snakemake("--cores", "2", "--configfile", "reduced.json")
        return done.returncode, done.stdout + done.stderr

    monkeypatch.setattr(kills, "finish", finish)  # by a fork
    write_json(study / "reduced.json", {"name": "default", "seeds": [1]})
    other = kills.copy_of(study.folder, tmp_path / "other")
    end, said = kills.killed(study.folder, other, random.Random(3), 0)
    assert end == "equal", said


def test_what_is_promised_is_compared(tmp_path):
    """Of what is not promised: logs, times, and the work of a run."""
    for name in ("one", "other"):
        results = tmp_path / name / "results"
        (results / "train/sop/run/work").mkdir(parents=True)
        (results / "logs").mkdir()
        (results / "logs/log").write_text(name)
        (results / "train/sop/run/run.json").write_text(f'{{"epochs": 2, "seconds": {len(name)}}}')
        (results / "train/sop/run/work/checkpoint.pt").write_text(name)
        (results / "index.html").write_text(f'<dd class="measured">{len(name)} h</dd>')
        (results / "metrics.csv").write_text("metric,value\n")
    folders = tmp_path / "one", tmp_path / "other"
    assert differences(*folders) == []
    (results / "metrics.csv").write_text("metric,value\n\n")
    (results / "train/sop/run/run.json").write_text('{"epochs": 3, "seconds": 1}')
    (results / "index.html").unlink()
    (results / "new.csv").touch()
    (results / ".0123abcd-77.metrics.csv").touch()  # a killed program's partial file is no result
    assert differences(*folders) == [
        "is missing: index.html",
        "is too many: new.csv",
        "differs: metrics.csv",
        "differs: train/sop/run/run.json",
    ]
