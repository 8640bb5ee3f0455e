"""Where captions stand in tables and JSON of other makers: the names of their columns, spans in one
cell, lists in one cell, rows without a header.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from scripts.running.program import UserError, log

# For each of our columns, the names that others give it. The first that a table has counts.
NAMES = {
    "video_id": "video_id vid_name video vid video_name video_uid youtube_id clip_id".split(),
    "start": "start start_s start_time start_sec begin timestamp_sec".split(),
    "end": "end end_s end_time end_sec".split(),
    "duration": ["duration"],
    "text": "text sentence sentences caption captions label desc description narration_text "
    "transcript query".split(),
}
SPANS = "segment ts timestamp timestamps span relevant_windows".split()  # start and end in one cell
TWO_NUMBERS = re.compile(r"^\W*([\d.:]+)(?:\s*,\s*|\s+|\s*-\s*)([\d.:]+)\W*$")
IN_ONE_LINE = re.compile(r"^(\S+)\s+([\d.]+)\s+([\d.]+)##(.*)$")  # Charades-STA
DEEPEST = 5  # levels of JSON in which rows are looked for
HEADER = "write a header such as `video_id,start,end,text`"


@cache
def say(what: str) -> None:
    """Log once what captions are read from."""
    log.info("captions are read from %s", what)


def place_of(names: Mapping[str, int], name: str, wanted: str | None) -> int | None:
    """Return the place of one of our columns among the lower-case names of a table; wanted: the
    name that the source's entry gives.
    """
    known = [wanted.strip().lower()] if wanted else NAMES[name]
    return next((names[one] for one in known if one in names), None)


def named_otherwise(rows: pd.DataFrame, wanted: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows with our names for columns that have another known one, and with start and
    end in place of a span. A cell with a list becomes a row for each of its items.

    wanted: the names that the source's entry gives; these columns stay as they are.
    """
    names = {str(name).strip().lower(): name for name in reversed(rows.columns)}
    taken = {
        name: next(names[one] for one in NAMES[name] if one in names)
        for name in NAMES
        if name not in wanted and any(one in names for one in NAMES[name])
    }
    has_start = "start" in taken or wanted.get("start", "").strip().lower() in names
    span = next((names[one] for one in SPANS if one in names and not has_start), None)
    others = [str(name) for ours, name in taken.items() if str(name).strip().lower() != ours]
    rows = rows.rename(columns={name: ours for ours, name in taken.items()})
    texts = [name for name in ("text", "start", "end") if name in rows]
    rows = one_a_row(rows, [*texts, *([span] if span else [])], span)
    if span:
        rows = with_ends(rows, span)
    if span or others:
        say("the columns " + ", ".join([*others, *([str(span)] if span else [])]))
    return rows


def is_list(cell: object) -> bool:
    return isinstance(cell, (list, tuple, np.ndarray))


def one_a_row(rows: pd.DataFrame, columns: list, span: object) -> pd.DataFrame:
    """Return a row for each item of the cells that are lists; a span is one item itself. The rows
    then count captions.
    """

    def has_lists(name: object) -> bool:
        cells = [cell for cell in rows[name] if is_list(cell) and len(cell)]
        return bool(cells) and (name != span or is_list(cells[0][0]))

    if not (lists := [name for name in columns if has_lists(name)]):
        return rows
    lengths = pd.DataFrame({name: rows[name].map(lambda cell: len(cell)) for name in lists})
    if (uneven := lengths.nunique(axis=1) > 1).any():
        raise UserError(
            f"row {uneven.idxmax()}: {', '.join(map(str, lists))} have different lengths; mend "
            "that row"
        )
    say("lists in the columns " + ", ".join(map(str, lists)))
    rows = rows[(lengths > 0).all(axis=1)].explode(lists, ignore_index=True)
    return rows.set_axis(pd.RangeIndex(1, len(rows) + 1, name="caption"))


def with_ends(rows: pd.DataFrame, span: object) -> pd.DataFrame:
    """Return the rows with start and end from the span in one cell: [12.4, 20], or such a text."""

    def ends(cell: Any) -> tuple:
        if isinstance(cell, str) and (two := TWO_NUMBERS.match(cell)):
            return two.groups()
        return tuple(cell[:2]) if is_list(cell) and len(cell) >= 2 else (None, None)

    found = [ends(cell) for cell in rows[span]]
    starts, stops = ([one[side] for one in found] for side in (0, 1))
    return rows.drop(columns=span).assign(start=starts, end=stops)


def without_header(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows without names with the columns that their cells show: the last two columns of
    numbers before the text are start and end; the text is the last other column; the first other
    column, if there are two, is the video. Raises UserError if this is not clear.
    """
    number = rows.apply(
        lambda cells: cells.astype(str).str.strip().str.fullmatch(r"[\d:.,]+").all()
    )
    texts = [name for name in rows if not number[name]]
    times = [name for name in rows if number[name] and texts and name < texts[-1]][-2:]
    if not texts or not times or len(texts) > 2:
        raise UserError(f"has no header that is known; {HEADER}")
    columns = {texts[-1]: "text"} | dict(zip(times, ("start", "end")))
    columns |= {texts[0]: "video_id"} if len(texts) == 2 else {}
    shown = [columns[name] for name in sorted(columns)]
    say(f"rows without a header, as {', '.join(shown)}")
    return rows[sorted(columns)].rename(columns=columns)


def is_header(cells: list[str], wanted: Mapping[str, str]) -> bool:
    """Return whether the first row of a table names columns: it has a known name, or no number."""
    known = {name for names in NAMES.values() for name in names} | {*SPANS}
    known |= {name.strip().lower() for name in wanted.values()}
    if any(cell.strip().lower() in known for cell in cells):
        return True
    return not any(re.fullmatch(r"\s*[\d:.,]*\d\s*", cell) for cell in cells)


def has_captions(row: object) -> bool:
    """Return whether an object has a known name of a text, and one of a time."""
    if not isinstance(row, dict):
        return False
    names = {str(name).lower() for name in row}
    return bool(names & {*NAMES["text"]}) and bool(names & {*NAMES["start"], *SPANS})


def rows_within(value: object, depth: int = 0) -> list[dict] | None:
    """Return the first list of objects with captions inside a value of JSON; None without one."""
    if isinstance(value, list) and value and all(map(has_captions, value)):
        return value
    if depth == DEEPEST or not isinstance(value, (dict, list)):
        return None
    inner = value.values() if isinstance(value, dict) else value
    return next(filter(None, (rows_within(part, depth + 1) for part in inner)), None)
