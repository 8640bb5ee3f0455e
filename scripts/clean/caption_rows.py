"""Captions as the rows of a table: the columns by name, times, ids."""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.clean.caption_names import HEADER, IN_ONE_LINE, NAMES, SPANS, is_header
from scripts.clean.caption_names import named_otherwise, without_header
from scripts.clean.corpus import shaped
from scripts.data.texts import csv_rows
from scripts.running.program import UserError, closest, cut, shown

UTF_8 = "utf-8"
COLUMNS = ("video_id", "start", "end", "duration", "text")
NEEDED = ("start", "text")
DELIMITERS = ",;\t|"
CLOCK = r"^(?:(?P<h>\d+):(?=[0-5]?\d:))?(?P<m>\d+):(?P<s>[0-5]?\d(?:\.\d+)?)$"
THOUSANDS = r"^[1-9]\d{0,2}(,\d{3})+$"  # 1,001 may be 1001 or 1.001
NO_TIME = ("", "NA", "NaN", "None", "null")
LANGUAGE = re.compile(r"\.[a-z]{2}(-[A-Za-z0-9]{2,4})?$")
WHISPER_TSV = ["start", "end", "text"]  # its times are whole milliseconds
IN_SECONDS, IN_MILLISECONDS = 100, 1_000  # whole numbers: captions last less, or more
MILLISECONDS = "milliseconds"  # a column: whether the times of a row were such


@dataclass(frozen=True)
class Form:
    """What a source's entry says about its files: the names of its columns, and the encoding of its
    texts.
    """

    columns: dict[str, str] = field(default_factory=dict)
    encoding: str = UTF_8

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if name not in COLUMNS or not isinstance(column, str):
                raise UserError(
                    f"columns: {shown(name)}: {shown(column)} names no column of captions"
                    f"{closest(name, COLUMNS)}"
                )


def video_of(file: Path) -> str:
    """Return the id of the video of a file: its name without suffix and language."""
    return LANGUAGE.sub("", file.stem)


def seconds_of(column: pd.Series, file: Path) -> pd.Series:
    """Return times as seconds: numbers (83.5 or 83,5) or clocks (1:23.5 or 00:01:23,500). An empty
    cell is NaN. Raises UserError that names the row of another cell.
    """
    texts = column.fillna("").astype(str).str.strip()
    plain = texts.str.replace(r"^([^.,]*),([^.,]*)$", r"\1.\2", regex=True)
    parts = plain.str.extract(CLOCK).astype(float)
    clocks = parts["h"].fillna(0) * 3600 + parts["m"] * 60 + parts["s"]
    found = pd.to_numeric(plain, errors="coerce").astype(float).fillna(clocks)
    wrong = texts[~found.abs().lt(np.inf) & ~texts.isin(NO_TIME)]
    if len(wrong):
        raise UserError(
            f"{file}: {column.index.name or 'row'} {wrong.index[0]}: {column.name} is "
            f"{shown(wrong.iloc[0])}, not a number; write seconds (83.5) or a clock (1:23.5), "
            "with minutes and seconds below 60"
        )
    return found


def refuse_unclear_commas(columns: Iterable[pd.Series], file: Path) -> None:
    """Raise UserError for a time such as 1,001, unless another one shows a decimal comma (0,5)."""
    texts = pd.concat([column.fillna("").astype(str).str.strip() for column in columns])
    unclear = texts[texts.str.match(THOUSANDS)]
    if len(unclear) and not (texts.str.match(r"^\d+,\d+$") & ~texts.str.match(THOUSANDS)).any():
        one = unclear.iloc[0]
        raise UserError(
            f"{file}: row {unclear.index[0]}: is {one} {one.replace(',', '')} or "
            f"{one.replace(',', '.', 1)} seconds? Write times without a comma"
        )


def ends_of(times: dict[str, pd.Series], video: pd.Series) -> pd.Series:
    """Return the ends of captions; NaN where they are not known. Where a table has no ends, the
    durations of captions give them. Those of whole videos do not: all of a video's captions have
    the same one, and it lasts beyond them.
    """
    if "end" in times or "duration" not in times:
        return times.get("end", pd.Series(np.nan, video.index))
    by = pd.DataFrame(times).groupby(video)
    several = by.size() > 2
    of_video = (by["duration"].nunique() == 1) & (by["duration"].max() > by["start"].max())
    is_of_video = several.any() and of_video[several].all()
    return times["start"] + (np.nan if is_of_video else times["duration"])


def id_of(value: object) -> str:
    """Return an id as text; 2.0 is 2, because tables may hold whole numbers so."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value).strip()


def chosen(rows: pd.DataFrame, file: Path, form: Form, decimal_comma: bool = False) -> pd.DataFrame:
    """Return the columns that captions need, under their own names: video_id, start, end, text.
    rows: their index has the numbers that messages show. decimal_comma: whether a comma in a time
    can only be a decimal one.
    """
    try:
        rows = named_otherwise(rows, form.columns)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    by_name = {str(name).strip().lower(): place for place, name in enumerate(rows.columns)}
    found: dict[str, pd.Series] = {}
    for name in COLUMNS:
        wanted = form.columns.get(name, name)
        if wanted.strip().lower() in by_name:
            place = rows.columns.get_loc(wanted) if wanted in rows.columns else None
            if place is not None and not isinstance(place, int):
                raise UserError(f"{file}: column {wanted} occurs twice; rename one of the two")
            place = by_name[wanted.strip().lower()] if place is None else place
            found[name] = rows.iloc[:, place].rename(wanted).astype(object)
        elif name in NEEDED or name in form.columns:
            raise UserError(
                f"{file}: column {wanted} is missing; its columns are "
                f"{cut(', '.join(map(str, rows.columns)), 300)}. Name the right one in the "
                f"source's entry, such as `columns: {{{name}: …}}`"
            )
    given = {name: found[name] for name in ("start", "end", "duration") if name in found}
    if not decimal_comma:
        refuse_unclear_commas(given.values(), file)
    times = {name: seconds_of(column, file) for name, column in given.items()}
    video = found.get("video_id", pd.Series(video_of(file), rows.index, dtype=object))
    nameless = video.isna() | (video.astype(str).str.strip() == "")
    if nameless.any():
        raise UserError(f"{file}: row {nameless.idxmax()} has no video_id; fill it in")
    texts = found["text"].fillna("")
    strange = texts[~texts.map(lambda text: isinstance(text, (str, int, float)))]
    if len(strange):
        raise UserError(
            f"{file}: row {strange.index[0]}: {strange.name} is {shown(strange.iloc[0])}, not a "
            "text; write a row for each text"
        )
    video = video.map(id_of)
    columns = {"video_id": video, "start": times["start"], "end": ends_of(times, video)}
    return pd.DataFrame(columns | {"text": texts.astype(str)})


def table_of(text: str, file: Path, form: Form) -> pd.DataFrame:
    """Return the rows of a table. The delimiter is the one that finds the most of its columns; for
    a table without a header, the most numbers. Whisper's .tsv quotes nothing.
    """
    lines = text.splitlines()
    if spans := [IN_ONE_LINE.match(line) for line in lines if line.strip()]:
        if all(spans):
            rows = pd.DataFrame([line.groups() for line in spans if line], dtype=object)
            return chosen(without_header(rows.set_axis(rows.index + 1)), file, form)
    if named := re.match(r"sep=(.)\r?\n", text):  # as Excel may write it
        text = text[named.end() :]
    header = text.split("\n", 1)[0].strip("\r")
    wanted = {name.lower() for name in form.columns.values()} | {*SPANS, *chain(*NAMES.values())}

    def cells_of(delimiter: str) -> list[str]:
        return next(csv.reader([header], delimiter=delimiter), [])

    def names_found(delimiter: str) -> tuple[int, int, int]:
        cells = [cell.strip().lower() for cell in cells_of(delimiter)]
        numbers = sum(re.fullmatch(r"[\d:.]*\d", cell) is not None for cell in cells)
        return sum(cell in wanted for cell in cells), numbers, len(cells)

    delimiter = named[1] if named else max(DELIMITERS, key=names_found)
    if not is_header(cells_of(delimiter), form.columns):
        return headless_of(text, delimiter, file, form)
    is_whisper = [cell.strip().lower() for cell in header.split("\t")] == WHISPER_TSV
    rows = csv_rows(text, str(file), "write it anew", delimiter, quotes=not is_whisper)
    rows = rows.set_axis(rows.index + 2)
    found = chosen(rows, file, form, decimal_comma=delimiter == ";")
    is_whole = is_whisper and rows.iloc[:, :2].apply(lambda cells: cells.str.isdigit()).all(None)
    return in_seconds(found, file) if is_whole else found


def headless_of(text: str, delimiter: str, file: Path, form: Form) -> pd.DataFrame:
    """Return the rows of a table without a header. Raises UserError for rows of other lengths."""
    cells = list(csv.reader(text.splitlines(), delimiter=delimiter, quoting=csv.QUOTE_MINIMAL))
    rows = pd.DataFrame([row for row in cells if row], dtype=object)
    if (short := rows.isna().any(axis=1)).any():
        raise UserError(
            f"{file}: row {int(short.idxmax()) + 1} has other cells than the others; {HEADER}"
        )
    try:
        return chosen(without_header(rows.set_axis(rows.index + 1)), file, form)
    except UserError as error:
        raise UserError(str(error) if str(file) in str(error) else f"{file}: {error}") from None


def in_seconds(rows: pd.DataFrame, file: Path) -> pd.DataFrame:
    """Return the rows of a table of Whisper, whose times are whole milliseconds. Raises UserError
    if they may be seconds.
    """
    lasts = (rows["end"] - rows["start"]).median()
    if IN_SECONDS <= lasts < IN_MILLISECONDS:
        raise UserError(
            f"{file}: a caption lasts {lasts:g}, in seconds or in milliseconds? Write seconds with "
            "a decimal point (12.0), or save the transcript as .srt"
        )
    if lasts < IN_SECONDS:
        return rows
    return rows.assign(**{name: rows[name] / 1000 for name in ("start", "end")}, milliseconds=True)


def rows_of(values: list, file: Path, form: Form) -> pd.DataFrame:
    """Return a list of objects, or of lists without names, as rows."""
    if values and all(isinstance(row, list) for row in values):
        lists = pd.DataFrame(values, dtype=object)
        return chosen(without_header(lists.set_axis(lists.index + 1)), file, form)
    rows = pd.DataFrame(shaped(values, list[dict[str, Any]], str(file)), dtype=object)
    return chosen(rows.set_axis(rows.index + 1), file, form)
