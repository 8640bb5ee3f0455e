"""Snakemake's messages on the terminal, one line a job; its own log file keeps everything, also
reasons and paths. A job without a message is shown by its outputs.

    [ 3/64, 1 min 05 s, over 4 min left] Cleaning sample_howto100m

The time left is counted from the jobs that ended. A dry run adds why a job would run. A failed job
is shown once, with its executor's reason and the last lines of its log. `--verbose` leaves
Snakemake's own output unchanged.
"""

import logging
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import TextIO

from snakemake.logging import DefaultFilter
from snakemake_interface_logger_plugins.common import LogEvent

from scripts.running.program import cut
from scripts.running.reasons import in_words
from scripts.running.summary import clock

HIDDEN = {
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RESOURCES_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_FINISHED,
    LogEvent.PROGRESS,
}
# Messages without an event that are not about this study.
CHATTER = re.compile(
    r"\s*$|host: |Building DAG|Assuming unrestricted|Using shell|Conda environments|Select jobs"
    r"|Execute \d|Config file|Job stats|Using profile|Using workflow specific|Complete log|Elapsed "
    r"time|Shutting down|Exiting because|Singularity|Group jobs|This was a dry-run|Removing output "
    r"files of failed job|Trying to restart|Skipped removing|Job \d+ completed"
    r"|Will exit after finishing|Terminating processes on user request"
    r"|Reasons:|Some jobs were triggered by provenance|Rules with provenance triggered"
)
LAST_LINES = 12
# Errors that only repeat the failed job's log.
REPEATED = re.compile(
    r"Exiting because|(RuleException:\s*)?CalledProcessError|Exception in run_(job|array_jobs) "
)
REASON_LENGTH, LONGEST = 110, 300  # characters of a reason, of a job's subject


def counted(stats: dict) -> str:
    """`64 jobs: clean_corpus 6, …` from the numbers by rule."""
    rules = [f"{name} {count}" for name, count in stats.items() if name not in ("total", "all")]
    return f"{stats.get('total', 0)} jobs: {', '.join(rules)}"


def tail(files: list[str]) -> list[str]:
    """The last lines of a job's log, indented. Training appends to its log: `---- date, attempt`
    begins an attempt.
    """
    texts = [Path(file).read_text(encoding="utf-8", errors="replace") for file in files]
    lines = [line for text in texts for line in text[text.rfind("\n---- ") + 1 :].splitlines()]
    return [f"    {line[:2000]}" for line in lines[-LAST_LINES:]]


def state_of(file: str) -> tuple[int, int] | None:
    """Return what changes when a log is written to; None for a file that is missing. A network file
    system is sure of it only when the file is opened.
    """
    with suppress(OSError), open(file) as opened:
        return (found := os.fstat(opened.fileno())).st_mtime_ns, found.st_size
    return None


def told_by(executor: str) -> list[str]:
    """Return an executor's reason without the command that it gave, which fills many lines."""
    return executor.partition("\n    sbatch call:")[0].strip().splitlines()


class Output:
    """Standard output or error, whose reader may end, as in `snakemake -n | head`. What is written
    after that goes nowhere, without an error.
    """

    def __init__(self, stream: TextIO):
        self.stream = stream

    def __getattr__(self, name: str):
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        with self.goes_nowhere_if_broken():
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self.goes_nowhere_if_broken():
            self.stream.flush()

    @contextmanager
    def goes_nowhere_if_broken(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())


def let_readers_end() -> None:
    """Let the readers of standard output and error end. A caller may have closed both."""
    sys.stdout, sys.stderr = (one and Output(one) for one in (sys.stdout, sys.stderr))


class TimeLeft:
    """The time that the remaining jobs will take. It is estimated from the mean time of each rule
    and the mean number of parallel jobs so far. jobs: the number of jobs by rule.
    """

    def __init__(self, jobs: dict[str, int]):
        self.left, self.taken, self.running = Counter(jobs), {}, {}
        self.begun = time.monotonic()

    def start(self, job: int, rule: str) -> None:
        if rule in self.left:
            self.running[job] = rule, time.monotonic()

    def fail(self, job: int) -> None:
        self.running.pop(job, None)

    def end(self, job: int) -> None:
        if job in self.running:
            rule, since = self.running.pop(job)
            self.left[rule] -= 1
            self.taken.setdefault(rule, []).append(time.monotonic() - since)

    def in_words(self) -> str:
        """Return the time left, for example `, 4 min left`. It has `over` if no job of some
        remaining rule has ended yet. It is empty if at least half of the remaining jobs have such a
        rule, or if a job of such a rule runs.
        """
        now = time.monotonic()
        left = +self.left  # the rules with jobs
        mean = {rule: fmean(self.taken[rule]) for rule in left if rule in self.taken}
        is_known = all(rule in mean for rule, _ in self.running.values())
        if not is_known or 2 * sum(left[rule] for rule in mean) <= left.total():
            return ""
        spent = [(mean[rule], now - since) for rule, since in self.running.values()]
        work = sum(left[rule] * seconds for rule, seconds in mean.items()) - sum(map(min, spent))
        busy = sum(map(sum, self.taken.values())) + sum(seconds for _, seconds in spent)
        seconds = max(work, 1) / max(busy / max(now - self.begun, 1), 1)
        step = 60 if seconds > 50 else 10
        words = clock(step * ceil(seconds / step)).removesuffix(" 00 s")
        over = "over " if len(mean) < len(left) else ""
        return f", {over}{words} left"


class Terminal(logging.StreamHandler):
    """Write one line a job. settings: Snakemake's output settings. timed: the rules whose jobs run
    on this machine, so the time left can be estimated. why_new: why the runs of a job are new, by
    the job's first output.
    """

    def __init__(
        self,
        settings,
        timed: Callable[[], set[str]],
        why_new: Callable[[str], str] = lambda output: "",
    ):
        super().__init__(sys.stdout if settings.stdout else sys.stderr)
        self.dryrun, self.done, self.total = settings.dryrun, 0, 0
        self.begun, self.timed, self.left = time.monotonic(), timed, TimeLeft({})
        self.why_new = why_new
        self.said: set[str] = set()
        self.messages: dict[int, str] = {}  # by number of the job
        self.logs: dict[str, tuple | None] = {}  # their states before the attempt
        self.of_groups: dict[int, dict] = {}  # by number of the job: how its group ended
        self.addFilter(
            DefaultFilter(
                settings.quiet,
                settings.debug_dag,
                settings.verbose,
                settings.dryrun,
                settings.printshellcmds,
            )
        )

    def job(self, facts: dict) -> str:
        """A job that starts, or would start."""
        outputs = facts["rule_msg"] or " ".join(map(str, facts.get("output") or []))
        if not outputs:  # the target of a stage, which does nothing
            return ""
        message = self.messages[facts["jobid"]] = cut(outputs, LONGEST)
        self.logs |= {str(file): state_of(file) for file in facts.get("log") or []}
        if not self.dryrun:
            passed = clock(time.monotonic() - self.begun)
            place = f"{self.done:>{len(str(self.total))}}/{self.total}"
            return f"[{place}, {passed:>9}{self.left.in_words()}] {message}"
        reason = in_words(" ".join(str(facts["reason"]).split()))
        if reason.startswith("Missing output files") and facts.get("output"):
            reason = self.why_new(str(facts["output"][0])) or reason
        shown = f"{reason[:REASON_LENGTH]}…" if len(reason) > REASON_LENGTH else reason
        return f"{message}   ({facts['rule_name']}; {shown})"

    def failure(self, facts: dict) -> str:
        """A job that failed: its subject, which attempt it was, the executor's reason, and the end
        of its log, if this attempt wrote one. A job that is tried again has one line.
        """
        job, rule = facts["jobid"], facts["rule_name"]
        ended = self.of_groups.pop(job, None) or facts.get("aux") or {}
        attempt, attempts = ended.get("attempt", 1), ended.get("attempts", 1)
        subject = self.messages.get(job, rule)
        if ended.get("stopped"):
            return f"Stopped: {subject}"
        reason = told_by(ended.get("reason", ""))
        names = [str(file) for file in [*(facts.get("log") or []), *ended.get("logs", [])]]
        logs = [name for name in names if state_of(name) not in (None, self.logs.get(name))]
        if ended.get("follows"):
            words = [f"attempt {attempt} of {attempts} ended", *reason, *logs]
            return f"Tried again: {subject} ({'; '.join(words)})"
        again = f", attempt {attempt}" if attempt > 1 else ""
        head = f"Failed: {subject} (rule {rule}{again})"
        if ended.get("refused"):
            reason.append("The job was not sent again: correct the profile, or what it asks for")
        said = [*(f"    {line}" for line in reason), *tail(logs)]
        return "\n".join([head, *said, *(f"    log: {file}" for file in logs)])

    def format(self, record: logging.LogRecord) -> str:
        """The text of a message; empty if it is not for the terminal."""
        event, facts = getattr(record, "event", None), record.__dict__
        if event == LogEvent.PROGRESS:
            self.done, self.total = facts["done"], facts["total"]
            if self.done == self.total:
                passed = clock(time.monotonic() - self.begun)
                return f"[{self.done}/{self.total}, {passed:>9}] Done"
        if event == LogEvent.RUN_INFO:
            stats, timed = facts["stats"], self.timed()
            self.total = stats.get("total", 0)
            self.left = TimeLeft({rule: n for rule, n in stats.items() if rule in timed})
            return str(record.msg) if self.dryrun else counted(facts["stats"])
        if event == LogEvent.JOB_INFO:
            line = self.job(facts)
            self.left.start(facts["jobid"], facts["rule_name"])
            return line
        if event == LogEvent.JOB_FINISHED:
            self.left.end(facts["job_id"])
        if event == LogEvent.JOB_ERROR:
            self.left.fail(facts["jobid"])
            return self.failure(facts)
        if event == LogEvent.GROUP_ERROR:  # the errors of its jobs follow
            of_group = {"logs": facts["aux_logs"]}
            self.of_groups |= {
                one["jobid"]: one["aux"] | of_group for one in facts["job_error_info"]
            }
            return ""
        if event == LogEvent.SHELLCMD:
            return str(facts.get("shellcmd") or "")  # the target of a stage has none
        text = str(record.msg or "")
        is_error = record.levelno >= logging.ERROR
        if is_error:
            text = "\n".join(told_by(text))
        chatter = REPEATED.match(text) if is_error else event is None and CHATTER.match(text)
        is_again = event is None and text in self.said  # `Will exit after …`, at each job's end
        self.said.add(text)
        return "" if event in HIDDEN or chatter or is_again else text

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message, unless it is not for the terminal."""
        try:
            if text := self.format(record):
                self.stream.write(f"{text}\n")
                self.flush()
        except Exception:
            self.handleError(record)
