"""Inputs that a job gets in files instead of on its command line: lists of any length, and the part
of resources/ that it may read.

Each file is named after its content and is under .snakemake/timestride/. So writing it again
changes nothing. No shell ever reads a configured value. A dry run writes no file: the files wait
until jobs start. Standard library only.
"""

import csv
import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from scripts.data.plain_json import as_json
from scripts.running.program import UserError

PLACE = Path(".snakemake/timestride")
_waiting: (
    dict[str, dict[str, str]] | None
) = {}  # by folder the files to write when jobs start; None after they have started


def _is_whole(folder: Path, files: dict[str, str]) -> bool:
    try:
        return all((folder / name).read_bytes() == text.encode() for name, text in files.items())
    except OSError:
        return False


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write texts to paths inside a folder. The folder gets its name when all files are written. A
    damaged folder is written again.
    """
    if folder.is_dir():
        if _is_whole(folder, files):
            return
        shutil.rmtree(folder)
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    for name, text in files.items():
        (unfinished / name).parent.mkdir(parents=True, exist_ok=True)
        (unfinished / name).write_text(text, encoding="utf-8")
    try:
        os.rename(unfinished, folder)
    except OSError:  # another process was faster with the same content
        if not folder.is_dir():
            raise
        shutil.rmtree(unfinished)


def hand_over(files: dict[str, str], at_once: bool = False) -> str:
    """Return the folder of these texts, by file name. It is written when jobs start, or at once."""
    digest = hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:16]
    folder = PLACE / digest
    if _waiting is not None and not at_once:
        _waiting[str(folder)] = files
    else:
        _write(folder, files)
    return str(folder)


def hand_over_json(name: str, value, at_once: bool = False) -> str:
    """The path of a value that is handed over as a JSON file of this name."""
    return f"{hand_over({name: as_json(value)}, at_once)}/{name}"


def write_waiting() -> None:
    """Write the waiting files. From now on, each file is written as soon as it is planned."""
    global _waiting
    waiting, _waiting = _waiting or {}, None
    for folder, files in waiting.items():
        _write(Path(folder), files)


def argument_file(arguments: Iterable) -> str:
    """Return a file with these arguments, one a line. A program takes it as `@FILE`. Raises
    UserError for an argument that has a line break or begins with `@`.
    """
    lines = [str(argument) for argument in arguments]
    if broken := [
        line for line in lines if len(f"{line}.".splitlines()) > 1 or line.startswith("@")
    ]:
        raise UserError(
            f"configuration: {broken[0][:80]!r} begins with @ or holds a line break; write it "
            "without"
        )
    return f"{hand_over({'arguments': ''.join(line + chr(10) for line in lines)})}/arguments"


def csv_rows(text: str, columns: list[str], where: str) -> list[list[str]]:
    """Return the rows of a CSV text, the header first, without empty lines. where: the file, for
    messages. Raises UserError for a wrong header, and for a row with a wrong number of cells.
    """
    rows = []
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        for row in reader:
            if row and len(row) != len(columns):
                raise UserError(
                    f"{where}: line {reader.line_num} ends a row of {len(row)} cells, but the "
                    f"header has {len(columns)}; put a text with a comma in double quotes"
                )
            rows += [row] if row else []
    except csv.Error as error:
        raise UserError(
            f"{where}: line {reader.line_num} is not CSV ({error}); correct it there"
        ) from None
    if not rows or rows[0] != columns:
        raise UserError(f"{where}: its header is not {','.join(columns)}; restore it")
    return rows


def rows_of(rows: list[list[str]], column: str, values: set[str]) -> str:
    """A CSV of the rows (from csv_rows()) that have one of these values in a column, under their
    header.
    """
    place = rows[0].index(column)
    selected = io.StringIO()
    csv.writer(selected, lineterminator="\n").writerows(
        row for row in rows if row is rows[0] or row[place] in values
    )
    return selected.getvalue()


def fields_of(
    entries: dict[str, dict],
    names: Iterable[str],
    fields: Iterable[str],
    presence: Iterable[str] = (),
) -> dict[str, dict]:
    """Return the named fields of the named entries, in the order of the entries. The value of a
    field in `presence` is only `true`, for example `esim: true`.
    """
    wanted, kept = set(names), set(fields)
    return {
        name: {
            key: True if key in presence else value for key, value in entry.items() if key in kept
        }
        for name, entry in entries.items()
        if name in wanted
    }


def has_options(options: dict, needs: dict | list[dict]) -> bool:
    """Return whether a run's data options meet the needs of an item. An option must have the given
    value, or a value of the given list. `null`: the option is not set. `any`: it is set. `number`:
    it is a whole number. A list of needs: one of them must be met.
    """
    if isinstance(needs, list):
        return any(has_options(options, one) for one in needs)
    return all(
        isinstance(options.get(name), int)
        if value == "number"
        else options.get(name) is not None
        if value == "any"
        else options.get(name) in (value if isinstance(value, list) else [value])
        for name, value in needs.items()
    )
