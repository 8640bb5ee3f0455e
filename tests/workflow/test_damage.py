"""A program takes a file from another stage unchanged, or refuses it."""

import shutil

import pytest

from tests.workflow.test_commands import commands, paste

pytestmark = [pytest.mark.slow, pytest.mark.models]


def test_predictions_of_another_run_are_refused(study):
    one, other = sorted(study.folder.glob("results/train/strided_sop/mini-*-tiny_bert-*"))[:2]
    shutil.copyfile(other / "predictions.parquet", one / "predictions.parquet")
    [command] = [
        command
        for rule, command in commands(study)
        if rule == "evaluate_experiment" and one.name in command
    ]
    by_hand = paste(command, study.folder)
    assert by_hand.returncode == 1
    assert f"{one.name}/predictions.parquet: has changed since its rule wrote it" in by_hand.stderr
    (one / "work/finished.json").unlink()  # the run's own list of what it wrote
    assert f"holds the predictions of {other.name}" in paste(command, study.folder).stderr
    study.run("evaluate")  # the workflow itself sees that the file has another length
    assert study.jobs("evaluate") == {}


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
