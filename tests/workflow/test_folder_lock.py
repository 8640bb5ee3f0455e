"""The lock on the working folder: after a killed Snakemake no --unlock is needed, and two commands
at once do not disturb each other.
"""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from scripts.running.folder_lock import this_process
from tests.files import read_json
from tests.workflow.conftest import Study, checkout

# A long job: fetching the sample corpus of captions, which waits for a file.
TARGET = "results/fetch/sample_activitynet/manifest.json"


@pytest.fixture
def small(tmp_path) -> Study:
    """Return a checkout whose first stage waits for the file `go` before it fetches the sample
    corpus.
    """
    study = checkout(tmp_path / "study")
    said = '"Fetching the corpus {wildcards.source}"\n    shell:\n        "'
    study.edit(
        "rules/fetch.smk", said, f"{said}touch started; until test -e go; do sleep 0.05; done; "
    )
    return study


def start(study: Study, *arguments) -> subprocess.Popen:
    """Start Snakemake in its own process group; return once its job runs."""
    (study / "started").unlink(missing_ok=True)
    started = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "1", *arguments, TARGET],
        cwd=study.folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 120
    while not (study / "started").exists():
        assert started.poll() is None and time.monotonic() < until, "Snakemake's job did not start"
        time.sleep(0.05)
    return started


def kill(started: subprocess.Popen) -> None:
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()


def locks(study: Study) -> list[str]:
    return sorted(file.name for file in study.folder.glob(".snakemake/locks/*"))


def said_by(study: Study, *arguments) -> tuple[int, str]:
    done = study.snakemake("--cores", "1", *arguments, TARGET)
    return done.returncode, done.stdout + done.stderr


def test_the_command_after_a_kill_goes_on(small):
    """The kill leaves an unfinished output and Snakemake's mark for it; the next command makes it
    again.
    """
    killed = start(small)
    kill(killed)
    assert locks(small) == ["0.output.lock"]
    for name in ("manifest.json", "train.json", "val_1.json", "val_2.json"):
        (small / TARGET).parent.mkdir(parents=True, exist_ok=True)
        (small / TARGET).with_name(name).write_text('{"v_half": ')
    (small / "go").touch()

    def records() -> dict:
        files = small.folder.glob(".snakemake/*/*")
        return {file: file.read_bytes() for file in files if file.is_file()}

    before = records()
    code, said = said_by(small, "--dry-run")
    assert code == 0 and locks(small) and before.items() <= records().items()

    code, said = said_by(small)
    assert code == 0, said
    [line] = [line for line in said.splitlines() if line.startswith("Unlocked")]
    assert f"process {killed.pid} on " in line and "was killed" in line
    assert read_json(small / TARGET) and locks(small) == []
    assert len(read_json((small / TARGET).with_name("train.json"))) > 10


def test_two_commands_at_once(small, tmp_path):
    """A second command in the same folder is refused, but one in another folder runs: the lock
    belongs to the folder of the results, not to the checkout.
    """
    elsewhere = Study(tmp_path / "else where")
    (elsewhere / ".snakemake/locks").mkdir(parents=True)
    (elsewhere / ".snakemake/locks/0.output.lock").write_text(f"{TARGET}\n")
    (elsewhere / "config.yaml").write_bytes((small / "config.yaml").read_bytes())
    place = ("--snakefile", str(small / "Snakefile"), "--directory", str(elsewhere.folder))
    first = start(small)
    try:
        code, said = said_by(small)
        assert code == 1 and '  File "' not in said
        assert f"process {first.pid} on " in said and "wait until it ends" in said
        assert said_by(small, "--dry-run")[0] == 0 and locks(small)
        code, said = said_by(small, *place)
        assert code == 1 and f"{elsewhere.folder} is locked by a process that is not known" in said
        (elsewhere / ".snakemake/owner").write_bytes((small / ".snakemake/owner").read_bytes())
        (elsewhere / "go").touch()
        code, said = said_by(small, *place)
        assert code == 0 and f"Unlocked {elsewhere.folder}" in said
        assert (elsewhere / TARGET).exists()
        (small / "go").touch()
        assert first.wait(timeout=120) == 0
    finally:
        if first.poll() is None:
            kill(first)
    assert (small / TARGET).exists() and locks(small) == []


def test_an_owner_that_may_live_is_left_alone(small):
    (small / ".snakemake/locks").mkdir(parents=True)
    (small / ".snakemake/locks/0.output.lock").write_text(f"{TARGET}\n")
    far = this_process() | {"host": "node7", "boot": "another"}
    unknown = "a process that is not known"
    for owner, named in (
        (None, unknown),
        ("[]", unknown),
        ('{"host": "node7"}', unknown),
        (json.dumps(far), f"process {far['pid']} on node7"),
        (json.dumps(far | {"command": "a\n\x1b[31m" + "b" * 999}), r"a\n\x1b[31mbbb"),
    ):
        if owner is not None:
            (small / ".snakemake/owner").write_text(owner)
        code, said = said_by(small)
        assert code == 1 and '  File "' not in said and locks(small) == ["0.output.lock"], owner
        assert named in said and "type `snakemake --unlock`" in said, owner
    assert said_by(small, "--unlock")[0] == 0
    (small / "go").touch()
    assert said_by(small)[0] == 0 and (small / TARGET).exists()
