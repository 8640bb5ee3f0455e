"""Files written whole or not at all, and their hashes."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a place beside `path` to write a file or a folder to; rename it when the block ends well.

    It is on the disk before it gets its name, so that a machine that loses power leaves the old file or the new one. The
    place keeps the suffix of `path`. On any error it is removed and `path` stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield beside
        synced(beside)
        os.replace(beside, path)
        sync(path.parent)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)
        if beside.is_dir():
            shutil.rmtree(beside)
        else:
            beside.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def synced(path: Path) -> None:
    """Have a file, or a folder with all that is in it, written to the disk."""
    if path.is_dir():
        for inside in path.iterdir():
            synced(inside)
    sync(path)


def sha256_of(path: Path) -> str:
    """Hexadecimal sha256 of a file's bytes."""
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
