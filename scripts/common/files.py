"""Files written whole or not at all, and their hashes."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a place beside `path` to write to; rename it when the block ends well.

    The place keeps the suffix of `path`. On any error it is removed and `path` stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield beside
        os.replace(beside, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)
        if beside.is_dir():
            shutil.rmtree(beside)
        else:
            beside.unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """Hexadecimal sha256 of a file's bytes."""
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
