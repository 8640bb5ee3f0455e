"""A network drive without locks: the programs of this test start with a flock that fails."""

import errno
import fcntl
import os

import pytest
from snakemake.exceptions import CliException

from scripts.running.folder_lock import owned
from scripts.running.locks import NO_LOCKS, flock
from tests.files import read_json


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


def test_a_working_folder_is_guarded_by_snakemakes_own_files(tmp_path, monkeypatch):
    """Without flock, no process is known to be dead: its files stay, and the message gives the
    command to type.
    """
    folder = tmp_path / ".snakemake"
    (folder / "locks").mkdir(parents=True)

    def failing(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", failing)
    with owned(folder / "owner", tmp_path):
        assert read_json(folder / "owner")["pid"] == os.getpid()
    (folder / "locks/0.input.lock").write_text("")
    with pytest.raises(CliException, match="snakemake --unlock"), owned(folder / "owner", tmp_path):
        pass
    assert (folder / "locks/0.input.lock").exists()
