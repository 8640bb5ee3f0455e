"""Reading text from a user: UTF-8, JSON, lines and CSV. For each fault, one sentence names the
place.

A file is text in UTF-8, or in UTF-16 with a byte order mark. One mark at its start is left out, and
logged. A line ends only at a line feed, or at a carriage return with a line feed. U+2028, U+0085
and form feeds are parts of a text.
"""

import codecs
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.data.csv_rows import records_of
from scripts.running.program import UserError, cut, log, shown

# A JSON string, complete or open at the end; and its escapes: a pair of surrogates, an unpaired
# surrogate, any other.
STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\Z)'
HALF = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)


def text_of(
    file: Path, remedy: str = "fetch it again", missing: str = "fetch the corpus again"
) -> str:
    """Return the text of a file, as decoded() does. Raises UserError for a missing file, a folder,
    or another encoding.
    """
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; {missing}") from None
    except IsADirectoryError:
        raise UserError(f"{file}: is a folder, not a file; {missing}") from None
    return decoded(content, str(file), remedy)


def decoded(content: bytes, where: str, remedy: str = "fetch it again") -> str:
    """Decode bytes as UTF-8 text, or as UTF-16 if they begin with its byte order mark; `where` (the
    file) begins the error.
    """
    is_utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "UTF-16" if is_utf_16 else "UTF-8"
    if not is_utf_16 and (place := content.find(b"\0")) >= 0:
        raise UserError(
            f"{where}: byte {place} is NUL, so this is UTF-16 or a damaged file; save it as UTF-8, "
            f"or {remedy}"
        )
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise UserError(
            f"{where}: not {encoding} text at byte {error.start}; save it as UTF-8, or {remedy}"
        ) from None
    if is_utf_16:
        log.info("%s: is read as UTF-16, by the byte order mark at its start", where)
    elif text.startswith("\ufeff"):
        log.info("%s: ignores the byte order mark at its start", where)
    return text.removeprefix("\ufeff")


def lines_in(text: str, where: str, remedy: str = "fetch it again") -> list[str]:
    """Return the lines of a text, without their ends; an empty last line does not count. Raises
    UserError if carriage returns alone seem to end lines.
    """
    if "\r" in text.removesuffix("\r") and "\n" not in text:
        raise UserError(
            f"{where}: has carriage returns but no line feed; end its lines with line feeds, or "
            f"{remedy}"
        )
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines]


def unique_keys(pairs: list[tuple[str, object]]) -> dict:
    """Return a JSON object from its pairs. Raises UserError (without file) for a repeated key."""
    known: dict[str, object] = {}
    for name, value in pairs:
        if name in known:
            raise UserError(
                f"the key {cut(name)} occurs twice in one object; remove one of the two"
            )
        known[name] = value
    return known


def json_of(
    text: str,
    where: str,
    remedy: str = "fetch it again",
    behind: Callable[[str], str] = lambda before: "",
) -> Any:
    """Return the value of a JSON text; `where` (file, line) begins the error. Raises UserError for
    broken JSON, a repeated key, an unpaired surrogate, and too deep nesting. behind: takes the text
    before a fault, and returns a place such as `, in or just behind video x`.
    """

    def place(at: int) -> str:
        line = text.count("\n", 0, at) + 1
        return f"line {line}, column {at - text.rfind(chr(10), 0, at)}{behind(text[:at])}"

    if "\\ud" in text or "\\uD" in text:
        for escape in HALF.finditer(text):
            if escape[1]:
                raise UserError(
                    f"{where}: invalid Unicode at {place(escape.start())} ({escape[0]}, half of a "
                    f"surrogate pair); mend it, or {remedy}"
                )
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    except json.JSONDecodeError as error:
        raise UserError(
            f"{where}: broken JSON at {place(error.pos)}: {error.msg}; {remedy}"
        ) from None
    except RecursionError:
        raise UserError(
            f"{where}: broken JSON: lists or objects are nested too deep; {remedy}"
        ) from None
    except ValueError as error:  # an integer of more than 4,300 digits
        raise UserError(
            f"{where}: broken JSON: {cut(str(error).split(';')[0])}; {remedy}"
        ) from None


def json_values(
    text: str,
    where: str,
    remedy: str = "fetch it again",
    behind: Callable[[str], str] = lambda before: "",
    lines: bool = False,
) -> Any:
    """Return the value of a JSON text, as json_of() does; of JSON lines a list. lines: whether it
    has lines even if there is only one.
    """
    if not lines and not (text.startswith("{") and "}\n{" in text):
        return json_of(text, where, remedy, behind)
    return [
        json_of(line, f"{where}: line {number}", remedy)
        for number, line in enumerate(lines_in(text, where), 1)
        if line.strip()
    ]


def csv_of(
    file: Path,
    columns: list[str],
    remedy: str = "fetch it again",
    missing: str = "fetch the corpus again",
) -> pd.DataFrame:
    """Return the named columns of a CSV file with a header, as text; empty lines do not count.
    Raises UserError for a record with more or fewer cells than the header, and for broken quotes.
    The error names the line.
    """
    rows = csv_rows(text_of(file, remedy, missing), str(file), remedy)
    header = list(rows.columns)
    for name in columns:
        if header.count(name) != 1:
            raise UserError(
                f"{file}: column {name} {'occurs twice' if name in header else 'is missing'}; "
                f"the columns are {', '.join(columns)}: mend it, or {remedy}"
            )
    return rows[columns]


def csv_rows(
    text: str, where: str, remedy: str, delimiter: str = ",", quotes: bool = True
) -> pd.DataFrame:
    """Return all columns of a CSV with a header, as text. quotes: whether quotes may surround a
    cell. Raises UserError as csv_of() does; `where` (the file) begins the error.
    """
    lines_in(text, where, remedy)
    header, *rows = records_of(text, where, remedy, delimiter, quotes)
    return pd.DataFrame(rows, columns=header, dtype=object)


def numbers_of(column: pd.Series, file: Path, remedy: str = "fetch it again") -> pd.Series:
    """Return a column of csv_of() as finite numbers. Raises UserError that names the row of a cell
    that is not a finite number.
    """
    values = pd.to_numeric(column, errors="coerce").astype(float)
    wrong = column[~values.abs().lt(float("inf"))]
    if len(wrong):
        raise UserError(
            f"{file}: row {wrong.index[0] + 2}: {column.name} is {shown(wrong.iloc[0])}, not a "
            f"number; mend it, or {remedy}"
        )
    return values
