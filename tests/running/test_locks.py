"""A network drive that gives no locks: played by a flock that fails,
in programs that are started with it.
"""

import errno
import fcntl
import os
import subprocess
import sys

import pytest
from snakemake.exceptions import WorkflowError

from scripts.running.folder_lock import owned
from scripts.running.locks import NO_LOCKS, flock
from tests.conftest import ROOT
from tests.files import read_json
from tests.fuzz import place
from tests.fuzz_targets import TARGETS

WITHOUT = (
    "import errno, fcntl, os\ndef flock(*_): raise OSError(errno.{name}, "
    "os.strerror(errno.{name}))\n"
    "fcntl.flock = flock\n"
)


@pytest.fixture
def without_locks(tmp_path):
    """The environment of a program on a drive that answers a lock with this error."""

    def environment(name: str) -> dict[str, str]:
        (tmp_path / "site").mkdir()
        (tmp_path / "site/sitecustomize.py").write_text(WITHOUT.format(name=name))
        return os.environ | {"PYTHONPATH": f"{tmp_path / 'site'}:{ROOT}"}

    return environment


@pytest.mark.parametrize("name", ["ENOLCK", "EOPNOTSUPP", "ENOSYS"])
def test_a_file_system_without_locks_is_told_from_one_that_fails(name, tmp_path, monkeypatch):
    with open(tmp_path / "lock", "a") as opened, open(tmp_path / "lock", "a") as other:
        assert flock(opened, fcntl.LOCK_EX) and getattr(errno, name) in NO_LOCKS
        with pytest.raises(BlockingIOError):
            flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

        def failing(*_):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(fcntl, "flock", failing)
        number = getattr(errno, name)
        assert not flock(other, fcntl.LOCK_EX)
        number = errno.EIO
        with pytest.raises(OSError, match="Input/output"):
            flock(other, fcntl.LOCK_EX)


@pytest.mark.models
def test_training_goes_on_with_a_warning_and_shares_no_tokens(program, tmp_path, without_locks):
    """Two runs could write the same tokens at once, so none are kept;
    the numbers are those of any other drive.
    """
    target, results = TARGETS["train"], []
    place(target.files, tmp_path / "in")
    for name in ("without", "with"):
        given = [
            text.replace("{in}", str(tmp_path / "in")).replace("{out}", str(tmp_path / name))
            for text in target.arguments
        ]
        given += ["--tokens", str(tmp_path / name / "tokens")]
        if name == "with":
            done = program(target.module, *given).checked()
        else:
            command, environment = [sys.executable, "-m", target.module], without_locks("ENOLCK")
            done = subprocess.run(
                [*command, *given], cwd=ROOT, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
        warned = [line for line in done.stderr.splitlines() if "has no locks" in line]
        assert len(warned) == (name == "without")
        assert all("give one command at a time" in line for line in warned)
        assert any((tmp_path / name / "tokens").glob("*/facts.json")) == (name == "with")
        results.append(read_json(tmp_path / name / "run.json")["digest"])
        results.append((tmp_path / name / "predictions.parquet").read_bytes())
    assert results[:2] == results[2:]


def test_a_working_folder_is_guarded_by_snakemakes_own_files(tmp_path, monkeypatch):
    """Without flock nobody is known to be dead: its files stay,
    and the message says what to type.
    """
    folder = tmp_path / ".snakemake"
    (folder / "locks").mkdir(parents=True)

    def failing(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", failing)
    with owned(folder):
        assert read_json(folder / "owner")["pid"] == os.getpid()
    (folder / "locks/0.input.lock").write_text("")
    with pytest.raises(WorkflowError, match="snakemake --unlock"), owned(folder):
        pass
    assert (folder / "locks/0.input.lock").exists()
