"""Code that every program shares: its log, its errors, its exit, and the types of its arguments."""

import argparse
import difflib
import errno
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from scripts.running.owner import end_with_owner

log = logging.getLogger("timestride")

SHOWN = 80  # characters of a value in a message
LONGEST = 1500  # characters of a message
PROGRESS = logging.WARNING - 1  # the level of a line that the terminal shows while a job runs
AGAIN = "then give the same command again; finished work is kept"
MORE_MEMORY = f"give the job more of it (mem_mb) or less data, {AGAIN}"
FULL = f"free some, {AGAIN}"
# Messages of libraries that raise no OSError: about a full disk, and about a file that they could
# not write.
DISK_FULL = re.compile(
    r"no space left on device|disk quota exceeded|\[?os error (?:28|122)\b", re.I
)
# And about memory, without a MemoryError, and threads.
NO_MEMORY = re.compile(
    r"(can't|cannot) allocate|(not enough|out of) memory|bad_alloc|allocation (error|failed)"
    r"|alloc of size \d+ failed|ALLOC_FAILED|DefaultCPUAllocator",
    re.I,
)
NO_THREADS = re.compile("worker thread|can't start new thread", re.I)
UNWRITTEN = re.compile(
    r"PytorchStreamWriter failed|inline_container|unexpected pos \d+|\d requested and \d+ written",
    re.I,
)
REMEDIES = {
    errno.EACCES: "permission denied; change its owner or its mode, or name another place",
    errno.EPERM: "permission denied; change its owner or its mode, or name another place",
    errno.EROFS: "the file system is read-only; name another place, or mount it for writing",
    errno.EISDIR: "is a folder where a file is meant; remove it, or name a file",
    errno.ENOTDIR: (
        "a part of this path is a file where a folder is meant; remove that file, or name another "
        "place"
    ),
    errno.EEXIST: "exists already, but is of another kind; remove it, or name another place",
    errno.ENAMETOOLONG: "the name is too long for the file system; use a shorter one",
    errno.ENOENT: "no such file or folder; make it, or correct the path",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n)",
    errno.ENOLCK: "this file system has no locks; use a folder on another one",
}


class UserError(Exception):
    """What went wrong, where (file, row) and what to do, in one sentence for the user."""


def printable(text: str) -> str:
    """A text as one line; characters that do not print are written as escapes."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


def cut(text: str, longest: int = SHOWN) -> str:
    """Return a text from a user's data for a message: in one line, and cut if it is long."""
    if len(text) <= longest:
        return printable(text)
    return f"{printable(text[:longest])}… ({len(text):,} characters)"


def shown(value: object) -> str:
    """Return a value from a user's data for a message: as Python writes it, cut if it is long."""
    if isinstance(value, str):
        end = f"… ({len(value):,} characters)" if len(value) > SHOWN else ""
        return repr(value[:SHOWN]) + end
    try:
        return cut(repr(value))
    except (ValueError, RecursionError):
        # an integer of thousands of digits, a list in a list in a list …
        return f"a value of type {type(value).__name__} that is too large to show"


def closest(name: str, known: Iterable[str], others: Iterable[str] = ()) -> str:
    """`; did you mean X?` where a known name is similar, else the known names without others."""
    near = difflib.get_close_matches(str(name)[:SHOWN], list(known), 1)
    listed = ", ".join(sorted({*known} - {*others}))
    return f"; did you mean {near[0]}?" if near else f"; known: {listed}"


# ---- Arguments


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help that states the allowed values of every number."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        bounds = getattr(action.type, "bounds", None)
        return f"{action.help or ''} ({bounds})".strip() if bounds else action.help


class _Parser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, as any other error, without the usage above it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {cut(message, LONGEST)}; see --help\n")


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def parser(doc: str) -> argparse.ArgumentParser:
    """Return an argument parser whose --help begins with the module's docstring. It accepts --log.

    A program that reads files of an earlier stage names them: `set_defaults(reads=…)`, a function
    of the arguments. execute() checks them.
    """
    shared = _Parser(description=doc, formatter_class=_Help, allow_abbrev=False)
    shared.add_argument("--log", type=Path, metavar="FILE", help="also write messages to this file")
    return shared


def add_manifest(options: argparse.ArgumentParser) -> None:
    """Add --manifest to a program that writes a folder (--output)."""
    options.add_argument(
        "--manifest",
        type=Path,
        metavar="FILE",
        help="list the written files here, and remove all other files from the folder of this file",
    )


def _within(
    read_number: Callable[[str], float], minimum: float, maximum: float, bounds: str
) -> Callable[[str], float]:
    """The type of an argument that is a number within bounds; --help states the bounds."""

    def read(text: str) -> float:
        try:
            value = read_number(text)
        except ValueError:
            value = float("nan")
        if not minimum <= value <= maximum:
            raise argparse.ArgumentTypeError(f"{shown(text)} is not {bounds}")
        return value

    read.bounds = bounds
    return read


def whole_number(minimum: int, maximum: int) -> Callable[[str], int]:
    return _within(
        lambda text: int(text if re.fullmatch("[+-]?[0-9]{1,30}", text.strip()) else ""),
        minimum,
        maximum,
        f"a whole number from {minimum} to {maximum}",
    )


def number(minimum: float, maximum: float) -> Callable[[str], float]:
    return _within(float, minimum, maximum, f"a number from {minimum:g} to {maximum:g}")


SEED = whole_number(0, 2**63 - 1)


def json_object(text: str) -> dict:
    """Return the value of an argument that is a JSON object. A repeated key is an error."""

    def once(pairs: list[tuple[str, object]]) -> dict:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key is repeated")
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not JSON ({cut(str(error))})") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(
            f'{shown(text)} is not a JSON object, as {{"key": "value"}}'
        )
    return value


def json_object_with(*keys: str) -> Callable[[str], dict]:
    def read(text: str) -> dict:
        value = json_object(text)
        if missing := [key for key in keys if key not in value]:
            raise argparse.ArgumentTypeError(f"{shown(text)} has no key {missing[0]}")
        return value

    return read


def json_lines(lines: Iterable[str], read: Callable[[str], dict]) -> list[dict]:
    """Return the objects of standard input, a line of JSON each. read: from json_object_with().
    Raises UserError, with the line, for one that it refuses.
    """
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(read(line))
        except argparse.ArgumentTypeError as error:
            raise UserError(f"standard input: line {number}: {error}; correct it") from None
    return found


# ---- A program's errors and its end


def _of_os(error: OSError) -> str:
    file = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            "no space left on the "
            f"device{f' while writing {error.filename}' if error.filename else ''}: {FULL}"
        )
    what = " ".join((error.strerror or str(error) or type(error).__name__).split())
    return file + REMEDIES.get(error.errno, f"{what}; check the path and its disk, {AGAIN}")


def ran_out(error: BaseException) -> bool:
    """Return whether an error of any kind says that memory ran out."""
    is_named_so = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return is_named_so or bool(NO_MEMORY.search(str(error)))


def is_of_machine(error: BaseException) -> bool:
    """Return whether an error comes from memory, threads, a disk or permissions. Such an error
    proves nothing about the file that was read.
    """
    return (
        ran_out(error)
        or (isinstance(error, OSError) and bool(error.errno))
        or bool(NO_THREADS.search(str(error)) or DISK_FULL.search(str(error)))
    )


def _sentence_of(error: BaseException) -> str | None:
    """Return one sentence about an expected error; None for a fault of the program itself."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"out of memory; {MORE_MEMORY}"
    if isinstance(error, OSError) and (error.errno or error.filename):
        return _of_os(error)
    if ran_out(error) or NO_THREADS.search(str(error)):
        return f"out of memory ({cut(str(error), 200)}); {MORE_MEMORY}"
    if DISK_FULL.search(str(error)):
        return f"no space left on the device ({cut(str(error), 200)}): {FULL}"
    if UNWRITTEN.search(str(error)):
        return (
            f"a file could not be written ({cut(str(error), 200)}), usually because the disk is "
            f"full: {FULL}"
        )
    before = error.__context__  # a library may fail once more when it closes a file
    if isinstance(before, OSError) and before.errno in (errno.ENOSPC, errno.EDQUOT):
        return _of_os(before)
    return _of_os(error) if isinstance(error, OSError) else None


def sentence_of(error: Exception) -> str:
    """Return an error in one line. Log a fault of the program with its traceback, and return an
    empty text.
    """
    sentence = _sentence_of(error)
    if sentence is None:
        log.error("unexpected error", exc_info=error)
        return ""
    line = printable(sentence)
    if len(line) > LONGEST:  # keep both ends: the place is in front, the remedy at the end
        line = f"{line[: LONGEST * 2 // 3]} … {line[-LONGEST // 3 :]}"
    return line


def _close_output() -> None:
    """Flush standard output. If that fails, prevent a second try when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _LogFile(logging.FileHandler):
    """A log file. If it can no longer be written (a full disk), the terminal shows its messages."""

    def handleError(self, record: logging.LogRecord) -> None:
        logging.getLogger().removeHandler(self)
        with suppress(OSError):
            self.close()  # else Python 3.13 tries again at its end, and prints that it failed
        for other in logging.getLogger().handlers:
            was_shown = other.filter(record)
            other.filters.clear()
            if not was_shown:
                other.handle(record)


def log_to(file: Path, mode: str = "w") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    logging.getLogger().addHandler(_LogFile(file, mode=mode, encoding="utf-8"))


def execute(
    main: Callable[[argparse.Namespace], None],
    arguments: argparse.Namespace,
    opens_log: bool = False,
) -> None:
    """Run main(arguments). Messages go to stderr and to --log. An expected error ends the program
    with one line and exit 1, Ctrl-C with exit 130. The files that the program reads (`reads`) are
    checked first, `follows` is called after main, and the folder that main writes gets its
    manifest. opens_log: main itself calls log_to.
    """
    from scripts.data.manifest import check_made, replaced_folder  # late: it imports this module

    end_with_owner()
    sys.stdout = sys.stdout or open(os.devnull, "w")  # a caller may have closed it
    terminal = logging.StreamHandler(sys.stderr)
    # Snakemake shows the log of a program that failed
    if arguments.log and os.environ.get("TIMESTRIDE_LOG_ONLY"):
        terminal.addFilter(lambda record: record.levelno in (logging.WARNING, PROGRESS))
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[terminal], force=True)
    try:
        if arguments.log and not opens_log:
            log_to(arguments.log)
        if reads := getattr(arguments, "reads", None):
            check_made(reads(arguments))
        with replaced_folder(getattr(arguments, "manifest", None)):
            main(arguments)
            if follows := getattr(arguments, "follows", None):
                follows(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        log.error(
            "error: stopped by Ctrl-C; nothing half-written is left: give the same command again"
        )
        sys.exit(130)
    except BrokenPipeError:  # the reader of the output has ended
        _close_output()
        sys.exit(1)
    except Exception as error:
        if line := sentence_of(error):
            log.error("error: %s", line)
        _close_output()
        sys.exit(1)
