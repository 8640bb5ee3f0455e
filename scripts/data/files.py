"""Files that are written completely or not at all, alone or together, and their hashes."""

import errno
import glob
import hashlib
import json
import lzma
import os
import platform
import re
import shutil
import struct
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from scripts.running.program import UserError, cut, is_of_machine

MINUTE, WEEK = 60, 7 * 86400  # seconds


@cache
def _here() -> str:
    """Return a name of this host and of this container on it. It differs from others on the same
    file system. A process id is valid only here.
    """
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:  # not Linux
        space = ""
    return hashlib.sha256(f"{platform.node()} {space}".encode()).hexdigest()[:8]


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _place_beside(path: Path) -> Path:
    """Return a hidden name beside `path` that no other process takes: .<host>-<process>.<name>.
    Remove files under such names that killed processes of this host left, and files that nobody
    touched for a week.
    """
    with suppress(OSError):  # another process may be faster, or own the files
        for left in path.parent.glob(f".*.{glob.escape(path.name)}"):
            name = re.fullmatch(r"\.([0-9a-f]{8})-([0-9]+)\." + re.escape(path.name), left.name)
            age = time.time() - left.lstat().st_mtime
            if name and (
                age > WEEK or (age > MINUTE and name[1] == _here() and not _alive(int(name[2])))
            ):
                _remove(left)
    return path.with_name(f".{_here()}-{os.getpid()}.{path.name}")


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a place beside `path` to write a file or a folder to, and rename it when the block ends
    without an error. The content is on the disk before it gets its name. So a power failure leaves
    the old file or the new one. The place keeps the suffix of `path`. On any error it is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = _place_beside(path)
    try:
        yield beside
        synced(beside)
        os.replace(beside, path)
        sync(path.parent)
    except BaseException as error:
        # The user knows the final name of the file. An error without a number is a library's own
        # text, which a name would replace.
        of_system = isinstance(error, OSError) and error.errno
        if of_system and error.filename in (None, str(beside), beside):
            error.filename = str(path)
        _remove(beside)
        raise


def sync(path: Path) -> None:
    """Make the system write a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def synced(path: Path) -> None:
    """Make the system write a file, or a folder with all its contents, to the disk."""
    if path.is_dir():
        for inside in path.iterdir():
            synced(inside)
    sync(path)


@contextmanager
def whole_set(folder: Path) -> Iterator[Path]:
    """Yield a place for several files or folders. They get their names in `folder` when the block
    ends without an error; otherwise none gets its name. A folder replaces a folder with the same
    name.
    """
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    place = _place_beside(folder / "set")
    try:
        place.mkdir()
        yield place
        synced(place)
        _take_names(place, folder)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename:
            error.filename = str(error.filename).replace(str(place), str(folder))
        raise
    finally:
        shutil.rmtree(place, ignore_errors=True)
        if new:
            with suppress(OSError):  # the folder is not empty: it has its files
                folder.rmdir()


def _take_names(place: Path, folder: Path) -> None:
    """Move all files of `place` to `folder`. If a file would replace a folder, or a folder a file,
    raises OSError and moves nothing.
    """
    written = sorted(place.iterdir())
    for path in written:
        there = folder / path.name
        if there.is_dir() and not path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(there))
        if there.exists() and not there.is_dir() and path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
    for path in written:
        # A folder cannot be renamed over another folder. So the old folder moves to `place`, and
        # is removed with it.
        if path.is_dir() and (folder / path.name).is_dir():
            (folder / path.name).replace(place / f".old-{path.name}")
        path.replace(folder / path.name)
    sync(folder)


@contextmanager
def zip_errors(what: str) -> Iterator[None]:
    """Turn every error of zipfile and its decompressors about a broken zip into a UserError that
    begins with `what`.
    """
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        struct.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        OverflowError,
        OSError,
    ) as error:
        if isinstance(error, RecursionError) or (
            is_of_machine(error) and getattr(error, "errno", None) != errno.EINVAL
        ):
            raise
        raise UserError(f"{what} ({cut(str(error))}); fetch it again") from None


def sha256_of(path: Path) -> str:
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def name_of_place(file: Path) -> str:
    """Return a name for what is made from a file: that of the file, and a hash of its place, since
    files of other folders have the same name.
    """
    name = re.sub(r"[^\w.-]+", "_", file.stem).strip("._-")[:60]
    return f"{name}-{hashlib.sha256(str(file.absolute()).encode()).hexdigest()[:8]}"


class Hashes:
    """The sha256 of files, remembered in a JSON file while their size and times are the same. One
    of the times is that of the last change, which nobody can set (ctime). A file that changed
    within the last seconds is not remembered, since a second change might leave them unchanged.
    """

    def __init__(self, memory: Path):
        self.memory, self.changed = memory, False
        try:
            self.known = dict(json.loads(memory.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            self.known = {}

    def sha256(self, file: Path) -> str:
        """Return the sha256 of a file. That of a folder is the hash of the names and hashes of its
        files.
        """
        if file.is_dir():
            files = sorted(one for one in file.iterdir() if one.is_file() and one.name[0] != ".")
            text = "".join(f"{one.name} {self.sha256(one)}\n" for one in files)
            return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        status, known = file.stat(), self.known.get(str(file))
        facts = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
        if isinstance(known, list) and known[:-1] == facts and isinstance(known[-1], str):
            return known[-1]
        sha256 = sha256_of(file)
        if time.time_ns() - max(facts[1:]) > 2_000_000_000:
            self.known[str(file)], self.changed = [*facts, sha256], True
        return sha256

    def write(self) -> None:
        """Write the new hashes. If the file cannot be written, files are hashed each time."""
        if self.changed:
            with suppress(OSError), whole(self.memory) as beside:
                beside.write_text(json.dumps(self.known, indent=1), encoding="utf-8")
