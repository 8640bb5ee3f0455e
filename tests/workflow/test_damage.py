"""A program takes a file from another stage unchanged, or refuses it. Snakemake's own files are
written again. benchmarks/faults.py damages each kind of file in each way.
"""

import re
import shutil
import subprocess

import pytest

from tests.forking import interpreter

pytestmark = [pytest.mark.slow, pytest.mark.models]


def test_a_damaged_file_of_arguments_is_written_anew(study):
    """Without its last line, the file would leave numbers out."""
    for file in study.folder.glob(".snakemake/timestride/*/arguments"):
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[:-1]))
    before = (study / study.metrics).read_bytes()
    said = study.run("--forcerun", "evaluate_experiment", "--until", "evaluate_metrics")
    assert "Evaluating sample_sop" in said
    assert (study / study.metrics).read_bytes() == before


def test_predictions_of_another_run_are_refused(study):
    """The refusal also works without --verify."""
    one, other = sorted(study.folder.glob("results/train/strided_sop/mini-*-tiny_bert-*"))[:2]
    shutil.copyfile(other / "predictions.parquet", one / "predictions.parquet")
    said = study.snakemake("--dry-run", "--forceall", "--printshellcmds").checked().stdout
    evaluations = re.findall(r"python -m scripts\.studies\.strided_sop\.evaluate @(\S+)", said)
    [given] = [file for file in evaluations if one.name in (study / file).read_text()][:1]
    arguments = [
        line
        for line in (study / given).read_text().splitlines()
        if not line.startswith("--verify=")
    ]
    done = subprocess.run(
        [interpreter(), "-m", "scripts.studies.strided_sop.evaluate", *arguments],
        cwd=study.folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert f"holds the predictions of {other.name}" in done.stderr


def test_a_record_that_is_no_text_is_left_out(study):
    """Snakemake itself skips records that are not JSON, but ended in a traceback on bytes that are
    not text.
    """
    records = sorted(file for file in study.folder.glob("results/.records/*") if file.is_file())
    for file, content in zip(records, (b"\xff\xfe", b"[1]", b'{"code": [3]}')):
        file.write_bytes(content)
    done = study.snakemake("--dry-run").checked()
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert f"{records[0].name}: this record" in said
