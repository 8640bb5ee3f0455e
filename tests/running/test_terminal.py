"""The terminal's text about a job."""

import json
import logging
from types import SimpleNamespace

from snakemake_interface_logger_plugins.common import LogEvent

from scripts.data.plain_json import hashes_of
from scripts.running import reasons
from scripts.running.reasons import in_words
from scripts.running.terminal import Terminal
from tests.rows import each_row, texts_of

PARAMS = "Params have changed since last execution: Union of params: before: {} now: {} "


@each_row(
    "before, now, said",
    texts_of("""
        'clean/activitynet@2' | 'clean/activitynet@3' | version 3 of clean/activitynet (results: 2)
        'build/mctaco@3+0123456789ab' | 'build/mctaco@3' | build/mctaco is again as released
        'scripts.studies.mctaco.build@0123456789ab' | 'build/mctaco@1' | version 1 of build/mctaco (results: an earlier release)
        '{"training":{"epochs":3,"rate":0.1}}','{"x":1}' | '{"training":{"epochs":4,"rate":0.1}}','{"x":1,"y":2}' | training.epochs: 3 → 4, y: None → 2 changed
        '--resamples=2000'   | '--resamples=300'   | resamples: 2000 → 300 changed
        '{"name":"a","x":1}\\n{"name":"b","x":1}' | '{"name":"a","x":1}\\n{"name":"b","x":2}' | x: 1 → 2 changed
        '{"titles.yaml":"{\\\\"mc\\\\": {\\\\"title\\\\": \\\\"A\\\\"}}"}' | '{"titles.yaml":"{\\\\"mc\\\\": {\\\\"title\\\\": \\\\"B\\\\"}}"}' | mc.title: A → B changed
        'train/fill@1 train/classify@1' | 'train/fill@1 train/classify@1+0123456789ab' | scripts/train/step.py changed
        'train/control@1', '1' | 'train/control@1+0123456789ab', '2' | scripts/train/step.py, 1 → 2 changed
    """),
)
def test_why_a_job_would_run(before, now, said, monkeypatch):
    monkeypatch.setattr(reasons, "edited", lambda program: ["scripts/train/step.py"])
    assert in_words(PARAMS.format(before, now)) == said


def test_hashes_are_shown_as_the_files_that_changed():
    before, now = (hashes_of({"claims.yaml": said, "classes.yaml": "same"}) for said in "ab")
    assert in_words(PARAMS.format(f"'{before}'", f"'{now}'")) == "claims.yaml changed"
    page = [f"""'{{"page.css":"{digit * 64}"}}'""" for digit in "12"]
    assert in_words(PARAMS.format(*page)) == "page.css changed"


def terminal_of(timed: set[str]) -> Terminal:
    settings = SimpleNamespace(stdout=True, dryrun=False, quiet=set(), debug_dag=False)
    settings.verbose, settings.printshellcmds = False, False
    return Terminal(settings, lambda: timed)


def said(terminal: Terminal, event: LogEvent, **facts: object) -> str:
    return terminal.format(logging.makeLogRecord({"event": event, "levelno": logging.INFO} | facts))


def test_no_time_left_stands_beside_a_job_of_unknown_length():
    terminal = terminal_of({"build", "train"})
    said(terminal, LogEvent.RUN_INFO, stats={"build": 4, "train": 1, "total": 5}, msg="")
    lines = []
    for job, rule in enumerate(["build", "build", "train", "build"]):
        lines.append(said(terminal, LogEvent.JOB_INFO, jobid=job, rule_name=rule, rule_msg=rule))
        if rule == "build":
            said(terminal, LogEvent.JOB_FINISHED, job_id=job)
    assert [" left]" in line for line in lines] == [False, True, True, False]


def test_a_failure_shows_its_reason_and_a_log_of_its_own(tmp_path):
    """Attempts that another one follows have one line. A log that was not written to is left out."""
    terminal, log = terminal_of(set()), tmp_path / "log"
    job = {"jobid": 1, "rule_name": "train_run", "rule_msg": "Training", "log": [log]}
    first = {"attempt": 1, "attempts": 2, "follows": True, "reason": "TIMEOUT"}
    second = {"attempt": 2, "attempts": 2, "reason": "TIMEOUT\n    sbatch call:\n   …"}
    log.write_text("of an earlier run\n")
    said(terminal, LogEvent.JOB_INFO, **job)
    assert (
        said(terminal, LogEvent.JOB_ERROR, **job, aux=first)
        == "Tried again: Training (attempt 1 of 2 ended; TIMEOUT)"
    )
    said(terminal, LogEvent.JOB_INFO, **job)
    log.write_text("of an earlier run\n---- today, attempt 2\nof this attempt\n")
    assert said(terminal, LogEvent.JOB_ERROR, **job, aux=second).splitlines() == [
        "Failed: Training (rule train_run, attempt 2)",
        "    TIMEOUT",
        "    ---- today, attempt 2",
        "    of this attempt",
        f"    log: {log}",
    ]


def test_an_option_that_a_new_run_no_longer_has_is_named(tmp_path):
    """A run without `span`, beside one with it, was said to be new for no reason."""
    (tmp_path / "before").mkdir()
    facts = {"seed": 1, "data_options": {"stride": 1, "span": 3}, "training": {"adapter": "lora"}}
    (tmp_path / "before/run.json").write_text(json.dumps(facts | {"digest": "not a setting"}))
    run = {"seed": 1, "data": {"stride": 1}, "training": {}}
    said = reasons.new_runs([run], tmp_path)
    assert said.startswith("training.adapter: lora → None, data.span: 3 → None beside")
