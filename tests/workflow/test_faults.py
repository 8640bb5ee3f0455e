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


@pytest.fixture
def folders(tmp_path):
    """Write two folders of results that agree; only files that need not be equal differ."""
    for name in ("one", "other"):
        results = tmp_path / name / "results"
        (results / "train/sop/run/work").mkdir(parents=True)
        (results / "logs").mkdir()
        (results / "train/sop/run/run.json").write_text(f'{{"epochs": 2, "seconds": {len(name)}}}')
        (results / "train/sop/run/work/checkpoint.pt").write_text(name)
        (results / "logs/log").write_text(name)
        (results / "train/sop/run/history.parquet").write_bytes(b"PAR1")
        (results / "index.html").write_text(
            f'<td class="n">0.{len(name)}</td><td class="n">1,234</td><td>Xeon, 1 × 1 threads, '
            f'bf16</td><dd class="measured">{len(name)} h</dd>'
        )
        write_json(
            results / "train/sop/controls.manifest.json",
            {"files": {"a/run.json": {"sha256": name}, "a/b": {"sha256": "c"}}},
        )
        (results / "metrics.csv").write_text("metric,value\n")
    return tmp_path / "one", tmp_path / "other"


def test_what_is_promised_is_compared(folders):
    assert differences(*folders) == [], "what is not promised may differ"
    other = folders[1] / "results"
    (other / "metrics.csv").write_text("metric,value\n\n")
    (other / "train/sop/run/run.json").write_text('{"epochs": 3, "seconds": 1}')
    (other / "train/sop/run/history.parquet").unlink()
    (other / "new.csv").touch()
    (other / ".0123abcd-77.metrics.csv").touch()  # a killed program's partial file is not a result
    assert differences(*folders) == [
        "is missing: train/sop/run/history.parquet",
        "is too many: new.csv",
        "differs: metrics.csv",
        "differs: train/sop/run/run.json",
    ]
