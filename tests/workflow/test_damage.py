"""A program takes a file from another stage unchanged, or refuses it."""

import re
import shutil

import pytest

from scripts.publish.index import list_studies
from scripts.running.program import UserError
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


def test_a_page_refuses_figures_and_tables_that_others_changed(study):
    """Also a table of the right form: the page showed its numbers."""
    [command] = [command for rule, command in commands(study) if rule == "publish_page"]
    publish = study / "results/publish/default"
    table, *others = sorted(publish.glob("tables/*.csv"))
    figure = sorted(publish.glob("figures/*.svg"))[0]
    for file, content in (
        (table, re.sub("[0-8]", "9", table.read_text(), count=1)),
        (table, others[0].read_text()),
        (figure, figure.read_text().replace("</svg>", "<text>99.9</text></svg>")),
    ):
        before = file.read_bytes()
        file.write_text(content)
        by_hand = paste(command, study.folder)
        said = f"{file.relative_to(study.folder)}: has changed since its rule wrote it"
        assert by_hand.returncode == 1 and said in by_hand.stderr, by_hand.stderr
        assert "remove results/publish/default/" in by_hand.stderr
        file.write_bytes(before)
    assert paste(command, study.folder).returncode == 0


def test_a_record_and_a_list_refuse_what_others_changed(study):
    publish = study / "results/publish/default"
    table = sorted(publish.glob("tables/*.csv"))[0]
    table.write_text(re.sub("[0-8]", "9", table.read_text(), count=1))
    findings = publish / "findings.json"
    findings.write_text(findings.read_text().replace(" ", "  ", 1))
    done = study.snakemake("--cores", "1", "record")
    assert done.returncode == 1 and f"{table.name}: has changed since" in done.stdout + done.stderr
    assert not (study / "docs/record/strided_sop/scores/default_classify.parquet").exists()
    with pytest.raises(UserError, match="findings.json: has changed since"):
        list_studies(study / "results")


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
