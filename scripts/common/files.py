"""Files written whole or not at all, and their hashes."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


def remembered_sha256(file: Path, memory: Path, key: str) -> str:
    """The sha256 of a file; taken from `memory` (JSON: key to size, time and hash) while its size and time are the same.

    What was changed within the last seconds is not remembered: a second change might leave both as they are.
    """
    facts = file.stat()
    try:
        known = dict(json.loads(memory.read_text(encoding="utf-8")))
        size, changed, sha256 = known[key] if key in known else (None, None, None)
    except (OSError, ValueError, TypeError):
        known, size, changed, sha256 = {}, None, None, None
    if (size, changed) == (facts.st_size, facts.st_mtime_ns) and isinstance(sha256, str):
        return sha256
    sha256 = sha256_of(file)
    if time.time_ns() - facts.st_mtime_ns > 2_000_000_000:
        known[key] = [facts.st_size, facts.st_mtime_ns, sha256]
        with suppress(OSError), whole(memory) as beside:  # where results/ cannot be written, it is hashed each time
            beside.write_text(json.dumps(known, indent=1), encoding="utf-8")
    return sha256
