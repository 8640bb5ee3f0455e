"""What this workflow changes in Snakemake, tested with Snakefiles of a few jobs."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.forking import snakemake
from tests.rows import each_row, texts_of

SNAKEFILE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from scripts.running import snakemake_internals as internals
onstart:
    internals.start_jobs_when_one_ends(workflow)
    internals.put_first(workflow, "c")
onsuccess:
    print("limit:", workflow.scheduler.job_rate_limiter)
rule all:
    input: list("abcefghij")
rule one:
    output: "{{name}}"
    wildcard_constraints: name="[a-j]"
    shell: "echo {{wildcards.name}} >> order; touch {{output}}"
use rule one as other with:
    input: "d"
    output: "{{name,c}}"
ruleorder: other > one
"""


def test_a_file_goes_first_and_no_timer_runs_beside_the_jobs(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    done = snakemake("--cores", "1", cwd=tmp_path).checked()
    assert (tmp_path / "order").read_text().split()[:2] == ["d", "c"]
    assert "limit: None" in done.stdout + done.stderr
    (tmp_path / "order").unlink()
    options = "--forceall", "--prioritize", "b", "--max-jobs-per-timespan", "5/1s"
    done = snakemake("--cores", "1", *options, cwd=tmp_path).checked()
    assert (tmp_path / "order").read_text()[0] == "b"
    assert "limit: None" not in done.stdout + done.stderr


FAILING = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from scripts.running import snakemake_internals as internals
internals.keep_records_of_failed_jobs()
rule all:
    input: "last"
rule one:
    input: "first"
    output: "middle"
    params: config.get("value", 1)
    shell: "test ! -e broken; echo {{params}} $(cat first) > middle"
rule two:
    input: "middle"
    output: "last"
    shell: "cat middle > last"
"""
CALL = "--cores", "1", "--rerun-incomplete"


def made(folder, *options) -> str:
    snakemake(*CALL, *options, cwd=folder).checked()
    assert "Nothing to be done" in snakemake(*CALL, "-n", *options, cwd=folder).checked().stdout
    return (folder / "last").read_text()


def test_after_a_failure_the_same_command_makes_what_it_missed(tmp_path):
    """A job failed after a parameter, or after an input, had changed. Its output is gone, and the
    last one is still the old one.
    """
    (tmp_path / "Snakefile").write_text(FAILING)
    (tmp_path / "first").write_text("a")
    assert made(tmp_path) == "1 a\n"
    (tmp_path / "broken").touch()
    changed = ("--config", "value=2")
    snakemake(*CALL, *changed, cwd=tmp_path).checked(False)
    assert not (tmp_path / "middle").exists() and (tmp_path / "last").read_text() == "1 a\n"
    (tmp_path / "broken").unlink()
    assert made(tmp_path, *changed) == "2 a\n"
    (tmp_path / "first").write_text("b")
    (tmp_path / "broken").touch()
    snakemake(*CALL, "--keep-going", *changed, cwd=tmp_path).checked(False)
    (tmp_path / "broken").unlink()
    assert made(tmp_path, *changed) == "2 b\n"


CHAINED = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from scripts.running import snakemake_internals as internals
internals.end_until_at_last_jobs()
rule all:
    input: "a.done", "b.done", "c.done"
rule train:
    input: lambda w: {{"b": ["a"], "c": ["b.linked"]}}.get(w.name, [])
    output: "{{name,[abc]}}"
    shell: "touch {{output}}"
rule other:
    input: "{{name}}"
    output: "{{name,[abc]}}.{{kind}}"
    shell: "touch {{output}}"
"""


def test_until_runs_the_jobs_of_a_rule_that_begin_with_others_of_it(tmp_path):
    (tmp_path / "Snakefile").write_text(CHAINED)
    snakemake("--cores", "1", "--until", "train", cwd=tmp_path).checked()
    assert {path.name for path in tmp_path.glob("[abc]*")} == {"a", "b", "b.linked", "c"}


# ---- A job that a cluster refuses, and a stop by hand

ENDING = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from scripts.running import snakemake_internals as internals
internals.use_terminal(workflow)
rule train:
    output: "{{name}}"
    log: "log_of_{{name}}"
    retries: 2
    group: config.get("group")
    message: "Making {{wildcards.name}}"
    shell: "echo begun > {{log}}; sleep {{config[seconds]}}; exit 1"
"""
SBATCH = """#!/bin/sh
echo called >> {folder}/calls
echo "sbatch: error: Batch job submission failed: Invalid account" >&2
exit 1
"""


@pytest.fixture
def ending(tmp_path) -> Path:
    """A folder with a Snakefile, and a log that an earlier run wrote."""
    (tmp_path / "Snakefile").write_text(ENDING)
    (tmp_path / "log_of_made").write_text("all went well\n")
    return tmp_path


def test_a_job_that_the_cluster_refuses_is_sent_once_and_its_reason_is_shown(ending):
    (ending / "bin").mkdir()
    for name in "squeue scontrol sacct sacctmgr scancel sinfo sshare sbatch".split():
        program = ending / "bin" / name
        program.write_text(
            SBATCH.format(folder=ending) if name == "sbatch" else "#!/bin/sh\nexit 0\n"
        )
        program.chmod(0o755)
    path = f"{ending / 'bin'}:{os.environ['PATH']}"
    options = "--cores 1 --jobs 9 --keep-going --executor slurm".split()
    options += "--slurm-status-command squeue --slurm-init-seconds-before-status-checks 1".split()
    together = "--group-components together=2 --config seconds=0 group=together".split()
    for given, calls in (["--config", "seconds=0"], 2), (together, 1):
        done = snakemake(*options, "made", "other", *given, cwd=ending, PATH=path).checked(False)
        said = done.stdout + done.stderr
        assert len((ending / "calls").read_text().splitlines()) == calls, said
        (ending / "calls").unlink()
        for name in ("made", "other"):
            block = re.search(rf"^Failed: Making {name} .*\n((?:    .*\n)*)", said, re.M)[1]
            assert "submission failed: Invalid account" in block and "not sent again" in block
        assert not any(text in said for text in ("all went well", "log_of_", "Tried again")), said


@each_row(
    "sent, said, ended",
    texts_of("""
        TERM        | waits for the end of 2 running jobs | Failed
        INT TERM    | or Ctrl-C again, stops them         | Stopped
        CTRL-C      | or Ctrl-C again, stops them         | Stopped
    """),
)
def test_a_stop_says_what_it_waits_for_and_tries_no_job_again(tmp_path_factory, sent, said, ended):
    """A signal alone reaches Snakemake; Ctrl-C also reaches the jobs."""
    folder = tmp_path_factory.mktemp("stop")
    (folder / "Snakefile").write_text(ENDING)
    seconds = 6 if sent in ("TERM", "INT") else 600
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "made", "other"]
    with open(folder / "said", "w") as output:
        called = subprocess.Popen(
            [*command, "--config", f"seconds={seconds}"],
            cwd=folder,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    while not all((folder / f"log_of_{name}").exists() for name in ("made", "other")):
        assert called.poll() is None
        time.sleep(0.1)
    for name in sent.split():
        if name == "CTRL-C":
            os.killpg(called.pid, signal.SIGINT)
        else:
            called.send_signal(getattr(signal, f"SIG{name}"))
        time.sleep(1)
    assert called.wait(60) == 1
    text = (folder / "said").read_text()
    assert said in text and f"`kill {called.pid}`" in text, text
    assert {line.split(":")[0] for line in text.splitlines() if "Making" in line} >= {ended}
    assert "Tried again" not in text and "Traceback" not in text, text
