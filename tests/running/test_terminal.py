"""What the terminal says of a job."""

import logging
from io import StringIO
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from scripts.running import terminal
from scripts.running.terminal import Terminal, in_words

PARAMS = "Params have changed since last execution: Union of params: before: {} now: {} "
PROGRAM = "python -m scripts.studies.mctaco.evaluate @arguments --log x"
SEVERAL = "python -m scripts.running.several a b"


@pytest.mark.parametrize(
    "reason, command, said",
    [
        (
            PARAMS.format("'0123456789ab'", "'ba9876543210'"),
            PROGRAM,
            "code of studies/mctaco/evaluate.py changed",
        ),
        (PARAMS.format("'0123456789ab'", "'ba9876543210'"), SEVERAL, "code changed"),
        (PARAMS.format("'{\"a\": 1}'", "'{\"a\": 2}'"), PROGRAM, "settings changed"),
        (
            PARAMS.format("'0123456789ab', '1'", "'ba9876543210', '2'"),
            SEVERAL,
            "code and settings changed",
        ),
        (
            PARAMS.format(
                "'scripts.a.ranges@0123456789ab scripts.a.table@0123456789ab'",
                "'scripts.a.ranges@ba9876543210 scripts.a.table@0123456789ab'",
            ),
            SEVERAL,
            "code of a/ranges.py changed",
        ),
        ("Missing output files: x", PROGRAM, "Missing output files: x"),
    ],
)
def test_why_a_job_would_run(reason, command, said):
    assert in_words(reason, command) == said


SETTINGS = dict.fromkeys(
    ["stdout", "dryrun", "quiet", "debug_dag", "verbose", "printshellcmds"], False
)


@pytest.fixture
def say(monkeypatch):
    """Hands an event to a terminal at a second, and returns what it has written since."""
    now = [0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    written = StringIO()
    handler = Terminal(SimpleNamespace(**SETTINGS | {"quiet": set()}), lambda: {"clean", "train"})
    handler.stream = written

    def call(second: int, event: LogEvent, **facts) -> str:
        now[0] = second
        begin = written.tell()
        record = logging.makeLogRecord({"levelno": logging.INFO, "event": event} | facts)
        handler.handle(record)
        return written.getvalue()[begin:]

    return call


def test_the_time_left_is_counted_from_the_jobs_that_ended(say):
    """Two jobs at a time, as before; nothing where most are of a rule of which none ended."""

    def start(second, job, rule):
        return say(second, LogEvent.JOB_INFO, jobid=job, rule_name=rule, rule_msg=f"{rule} {job}")

    def end(second, job):
        say(second, LogEvent.JOB_FINISHED, job_id=job)
        return say(second, LogEvent.PROGRESS, done=job, total=9)

    say(0, LogEvent.RUN_INFO, stats={"clean": 2, "train": 6, "all": 1, "total": 9})
    assert start(0, 1, "clean") == "[0/9,       0 s] clean 1\n"
    assert start(0, 2, "clean") == "[0/9,       0 s] clean 2\n"
    assert end(10, 1) == ""
    assert start(10, 3, "train") == "[1/9,      10 s] train 3\n"
    assert end(10, 2) == ""
    start(10, 4, "train")
    assert end(210, 3) == ""
    assert start(210, 5, "train") == "[3/9, 3 min 30 s, 7 min left] train 5\n"
    end(210, 4), start(210, 6, "train")
    end(410, 5), end(410, 6)
    start(410, 7, "train"), start(410, 8, "train")
    end(610, 7), end(610, 8)
    assert end(615, 9) == "[9/9, 10 min 15 s] Done\n"


def test_no_time_left_where_none_can_be_told(say):
    say(0, LogEvent.RUN_INFO, stats={"train": 6, "total": 6})
    say(0, LogEvent.JOB_INFO, jobid=1, rule_name="train", rule_msg="x")
    say(10, LogEvent.JOB_ERROR, jobid=1, rule_name="train", rule_msg="x")
    assert (
        say(20, LogEvent.JOB_INFO, jobid=1, rule_name="train", rule_msg="x")
        == "[0/6,      20 s] x\n"
    )


def test_a_message_stands_once(say):
    """Snakemake says at each end of a job that it was told to stop."""
    texts = [say(0, None, msg="Will exit after finishing currently running jobs") for _ in range(3)]
    assert texts == ["Will exit after finishing currently running jobs\n", "", ""]
