"""Allow one command at a time in a working folder, and in results/, which two working folders may
share. No `--unlock` by hand is needed after a kill.

Snakemake locks the folder by files in .snakemake/locks, which a killed Snakemake leaves behind.
Here its main process also holds an flock on .snakemake/owner and on results/.owner, and writes its
identity into both. The kernel releases the flock when the process ends. If a new process gets the
flock, an owner on the same machine must be dead, and the new process removes its files. An owner on
another machine may still live. Its files stay, and the message gives the command to type.
"""

import fcntl
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snakemake.exceptions import CliException
from snakemake.logging import logger

from scripts.running.locks import flock
from scripts.running.owner import SECONDS, boot
from scripts.running.program import cut, sentence_of

UNLOCK = (
    "if you are sure that no Snakemake works in this folder, type `snakemake --unlock`, then the "
    "same command again"
)


def this_process() -> dict:
    """host, boot (changes with each start of the machine), pid, since, command."""
    return {
        "host": platform.node(),
        "boot": boot(),
        "pid": os.getpid(),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        "command": shlex.join(["snakemake", *sys.argv[1:]]),
    }


def owner_in(file: Path) -> dict | None:
    """Return the process that last worked in the folder, in the form of `this_process`; None if the
    file is incomplete.
    """
    try:
        owner = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return owner if isinstance(owner, dict) and owner.keys() >= this_process().keys() else None


def described(owner: dict | None) -> str:
    if owner is None:
        return "a process that is not known"
    return cut(
        f"process {owner['pid']} on {owner['host']} (`{owner['command']}`, since {owner['since']})",
        400,
    )


def take(descriptor: int, file: Path, place: Path) -> bool:
    """Take the flock; False if the file system has no locks. Raises CliException when a living
    process holds it.
    """
    try:
        return flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = owner_in(file)
        stop = f" (`kill {owner['pid']}` there; twice to stop its jobs, too)" if owner else ""
        raise CliException(
            f"{described(owner)} works in {place}; wait until it ends, or stop it{stop}, then give "
            "this command again"
        ) from None


def remove_dead_locks(folder: Path, owner: dict | None, taken: bool) -> None:
    """Remove the lock files that a dead owner left. owner: the process that wrote them. taken:
    whether this process holds the flock. Raises CliException if the owner may still live.
    """
    left = sorted((folder / "locks").glob("*.lock"))
    if not left:
        return
    ours = this_process()
    same_machine = owner is not None and (
        owner["host"] == ours["host"] or owner["boot"] == ours["boot"] is not None
    )
    if not (taken and same_machine):
        raise CliException(
            f"{folder.parent} is locked by {described(owner)}, which may still be running; {UNLOCK}"
        )
    for file in left:
        file.unlink(missing_ok=True)
    logger.warning(
        f"Unlocked {folder.parent}: {described(owner)} was killed. What it had finished is kept."
    )
    time.sleep(3 * SECONDS)  # meanwhile its programs end (scripts/running/owner.py)


@contextmanager
def owned(file: Path, place: Path) -> Iterator[None]:
    """Make this process the owner of a folder within the block. file: .snakemake/owner or
    results/.owner; place: the folder, for messages. Raises CliException if another process is, or
    may be, the owner.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o664)
    except OSError as error:
        raise CliException(sentence_of(error)) from None
    try:
        remove_dead_locks(file.parent, owner_in(file), take(descriptor, file, place))
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(this_process()).encode(), 0)
        os.fsync(descriptor)
        yield
    finally:
        os.close(descriptor)
