"""Where results and Snakemake's records may lie: on another file system, behind a link. A place that
is no folder is one line.
"""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.rows import rows_of
from tests.workflow.conftest import Study, checkout

TARGET = "results/fetch/sample_activitynet/manifest.json"


@pytest.fixture
def other_disk(tmp_path):
    """Return a folder on another file system than the test's."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK) or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("two file systems are needed: /dev/shm is not there, or holds the tests")
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


@pytest.fixture
def small(tmp_path) -> Study:
    return checkout(tmp_path / "study")


def test_a_study_whose_folders_are_on_two_disks(study, other_disk):
    """The records move with the results, nothing runs again, and each stage can write there."""
    metadata, records = study / ".snakemake/metadata", study / "results/.records"
    metadata.unlink()
    shutil.copytree(records, metadata)  # as Snakemake alone keeps them
    shutil.rmtree(records)
    for place in ("results", "results/train", ".snakemake"):
        moved = shutil.move(study / place, other_disk / place.replace("/", "-"))
        (study / place).symlink_to(moved)
    assert study.jobs() == {}
    other = {"seeds": [2], "run": ["other_sop"], "bootstrap_resamples": 100}
    study.change("config.yaml", lambda config: config.update(other))
    study.run()
    assert metadata.resolve() == records.resolve() and any(records.iterdir())
    assert study.jobs() == {}


def test_a_report_of_results_that_were_copied_in(study, tmp_path):
    """Only a run wrote the captions that it reads."""
    shutil.rmtree(study / ".snakemake")
    report = tmp_path / "report.html"
    study.snakemake("--report", report).checked()
    assert "strided_sop_table" in report.read_text()


def test_a_place_that_is_no_folder_is_one_line(small):
    for place, link, said in rows_of("""
        results             | /nowhere/results | is a link to /nowhere/results, which is missing; make that folder
        .snakemake          | /nowhere/results | is a link to /nowhere/results, which is missing; make that folder
        results             | null | is a file, but a folder is needed
        .snakemake          | null | is a file, but a folder is needed
        .snakemake/metadata | null | is a file, but a folder is needed
        results/.records    | null | is a file, but a folder is needed
        results/fetch       | /nowhere/results | is a link to /nowhere/results, which is missing; make that folder
    """):
        shutil.rmtree(small / ".snakemake", ignore_errors=True)
        (small / place).parent.mkdir(exist_ok=True)
        (small / place).symlink_to(link) if link else (small / place).touch()
        for arguments in (("-n",), ("--cores", "1")):
            done = small.snakemake(*arguments, TARGET)
            told = done.stdout + done.stderr
            assert f"error: {small / place}: {said}" in told, (place, told)
            assert done.returncode == 1 and "Traceback" not in told
        (small / place).unlink()
    (small / ".snakemake").mkdir(exist_ok=True)
    (small / ".snakemake/metadata").symlink_to("../elsewhere/.records")  # moved since
    small.run(TARGET)
    assert small.jobs(TARGET) == {}
