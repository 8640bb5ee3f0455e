"""Captions as people have them: a file or a folder of any accepted form, as one table. Not a
program.

  .csv .tsv .txt   a table: a header, cells between , ; | or tabs, a decimal point or comma
  .parquet .jsonl  rows with the same columns
  .srt .vtt .sbv   subtitles
  .json            a transcript of Whisper or whisper.cpp, a list of rows, or an object of videos by
                   id: lists of HowTo100M or ActivityNet Captions, rows, or transcripts
  .json3           YouTube's captions, as yt-dlp saves them

A table has the columns start (seconds, or a clock), text, and, if there are any, video_id, end and
duration; COLUMNS are their names. A file without the column video_id is one video, with the file's
name as its id. A language before the suffix (talk.en.vtt) is no part of the id.
"""

import csv
import html
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import webvtt
from webvtt.errors import MalformedCaptionError, MalformedFileError

from scripts.clean.caption_json import TRANSCRIPTS, Spans, of_video
from scripts.clean.corpus import shaped
from scripts.data.tables import parquet_errors
from scripts.data.texts import csv_rows, decoded, json_of, lines_in
from scripts.running.program import UserError, cut, shown

UTF_8 = "utf-8"
COLUMNS = ("video_id", "start", "end", "duration", "text")
NEEDED = ("start", "text")
DELIMITERS = ",;\t|"
CLOCK = r"^(?:(?P<h>\d+):)?(?P<m>\d{1,2}):(?P<s>\d{1,2}(?:\.\d+)?)$"
TIMING = re.compile(r"\s*(\d+:)?\d{1,2}:\d{1,2}[.,]\d+\s*-->\s*(\d+:)?\d{1,2}:\d{1,2}[.,]\d+(\s|$)")
LANGUAGE = re.compile(r"\.[a-z]{2}(-[A-Za-z]{2,4})?$")
STYLE = re.compile(r"\{\\[^}]*\}")  # such as {\an8}, a place on the screen
WHISPER_TSV = ["start", "end", "text"]  # its times are whole milliseconds
LONG = 100  # of whole numbers: a caption that lasts so many is timed in milliseconds
ACCEPTED = (
    "a table (.csv, .tsv, .txt, .parquet, .jsonl), subtitles (.srt, .vtt, .sbv), a transcript or "
    "videos by id (.json, .json3), or a folder of these"
)
OTHER_KINDS = {
    **dict.fromkeys(
        (".pickle", ".pkl"),
        "reading it could run code. If you trust it, write it as JSON: python -c "
        "'import json, pickle; "
        'json.dump(pickle.load(open("IN.pickle", "rb")), open("OUT.json", "w"))\'',
    ),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "it is a spreadsheet; save it as CSV"),
    **dict.fromkeys((".zip", ".gz", ".tar", ".7z"), "it is an archive; unpack it"),
}


@dataclass(frozen=True)
class Form:
    """What a source's entry says about its files: the names of its columns, and the encoding of its
    texts.
    """

    columns: dict[str, str] = field(default_factory=dict)
    encoding: str = UTF_8


# ---- Tables


def seconds_of(column: pd.Series, file: Path, missing: bool = False) -> pd.Series:
    """Return times as seconds: numbers (83.5 or 83,5) or clocks (1:23.5 or 00:01:23,500). missing:
    an empty cell is NaN. Raises UserError that names the row of another cell.
    """
    texts = column.fillna("").astype(str).str.strip()
    plain = texts.str.replace(r"^([^.,]*),([^.,]*)$", r"\1.\2", regex=True)
    parts = plain.str.extract(CLOCK).astype(float)
    clocks = parts["h"].fillna(0) * 3600 + parts["m"] * 60 + parts["s"]
    found = pd.to_numeric(plain, errors="coerce").astype(float).fillna(clocks)
    wrong = texts[~found.abs().lt(np.inf) & ~(missing & (texts == ""))]
    if len(wrong):
        raise UserError(
            f"{file}: row {wrong.index[0]}: {column.name} is {shown(wrong.iloc[0])}, not a "
            "number; write seconds (83.5) or a clock (1:23.5)"
        )
    return found


def chosen(rows: pd.DataFrame, file: Path, form: Form) -> pd.DataFrame:
    """Return the columns that captions need, under their own names: video_id, start, end, text.
    rows: their index has the numbers that messages show.
    """
    by_name = {str(name).strip().lower(): place for place, name in enumerate(rows.columns)}
    found: dict[str, pd.Series] = {}
    for name in COLUMNS:
        wanted = form.columns.get(name, name)
        if wanted.strip().lower() in by_name:
            place = rows.columns.get_loc(wanted) if wanted in rows.columns else None
            if place is not None and not isinstance(place, int):
                raise UserError(f"{file}: column {wanted} occurs twice; rename one of the two")
            place = by_name[wanted.strip().lower()] if place is None else place
            found[name] = rows.iloc[:, place].rename(wanted)
        elif name in NEEDED or name in form.columns:
            raise UserError(
                f"{file}: column {wanted} is missing; its columns are "
                f"{cut(', '.join(map(str, rows.columns)), 300)}. Name the right one in the "
                f"source's entry, such as `columns: {{{name}: …}}`"
            )
    times = {
        name: seconds_of(found[name], file, missing=name != "start")
        for name in ("start", "end", "duration")
        if name in found
    }
    nothing = pd.Series(np.nan, rows.index)
    end = times.get("end", nothing).fillna(times["start"] + times.get("duration", nothing))
    video = found.get("video_id", pd.Series(video_of(file), rows.index, dtype=object))
    nameless = video.isna() | (video.astype(str).str.strip() == "")
    if nameless.any():
        raise UserError(f"{file}: row {nameless.idxmax()} has no video_id; fill it in")
    text = found["text"].fillna("").astype(str)
    return pd.DataFrame(
        {"video_id": video.astype(str), "start": times["start"], "end": end, "text": text}
    )


def table_of(text: str, file: Path, form: Form) -> pd.DataFrame:
    """Return the rows of a table with a header. The delimiter is the one that finds the most of its
    columns.
    """
    if named := re.match(r"sep=(.)\r?\n", text):  # as Excel may write it
        text = text[named.end() :]
    header = text.split("\n", 1)[0].strip("\r")
    wanted = {form.columns.get(name, name).lower() for name in COLUMNS}

    def names_found(delimiter: str) -> tuple[int, int]:
        cells = next(csv.reader([header], delimiter=delimiter), [])
        return sum(cell.strip().lower() in wanted for cell in cells), len(cells)

    delimiter = named[1] if named else max(DELIMITERS, key=names_found)
    names = [cell.strip().lower() for cell in header.split(delimiter)]
    is_whisper = names == WHISPER_TSV and delimiter == "\t"
    if is_whisper:
        rows = unquoted_rows(text, file)
    else:
        rows = csv_rows(text, str(file), "write it anew", delimiter)
    rows = chosen(rows.set_axis(rows.index + 2), file, form)
    if is_whisper and len(rows):
        lasts, times = rows["end"] - rows["start"], rows[["start", "end"]]
        if (times % 1 == 0).all(axis=None) and lasts.median() >= LONG:
            rows[["start", "end"]] = times / 1000
    return rows


def unquoted_rows(text: str, file: Path) -> pd.DataFrame:
    """Return the rows of Whisper's .tsv, which quotes nothing."""
    rows = [line.split("\t") for line in lines_in(text, str(file)) if line.strip()]
    for number, cells in enumerate(rows, 1):
        if len(cells) != len(WHISPER_TSV):
            raise UserError(
                f"{file}: row {number} has {len(cells)} cells, not {len(WHISPER_TSV)}; write "
                "start, end and text with tabs between them"
            )
    return pd.DataFrame(rows[1:], columns=WHISPER_TSV, dtype=object)


def json_lines_of(text: str, file: Path, form: Form) -> pd.DataFrame:
    """Return the rows of JSON lines."""
    values = [
        json_of(line, f"{file}: line {number}", "mend that line")
        for number, line in enumerate(lines_in(text, str(file)), 1)
        if line.strip()
    ]
    return rows_of(values, file, form)


def rows_of(values: list, file: Path, form: Form) -> pd.DataFrame:
    """Return a list of objects as rows."""
    rows = pd.DataFrame(shaped(values, list[dict[str, Any]], str(file)))
    return chosen(rows.set_axis(rows.index + 1), file, form)


# ---- Subtitles


def refuse_lost_cues(lines: list[str], read: list[str], file: Path) -> None:
    """Raise UserError if fewer cues with a text were read than the lines of subtitles have."""
    timed = [number for number, line in enumerate(lines) if "-->" in line]
    spoken = [number for number in timed if number + 1 < len(lines) and lines[number + 1].strip()]
    if (lost := len(spoken) - sum(bool(text.strip()) for text in read)) > 0:
        raise UserError(
            f"{file}: {lost} of {len(spoken)} cues cannot be read; write their times as "
            "00:00:01.000 --> 00:00:02.500 (SubRip: 00:00:01,000), minutes and seconds below 60"
        )


def subtitles_of(text: str, file: Path, form: Form) -> pd.DataFrame:
    """Return the captions of subtitles, without tags. Raises UserError that names a line without
    two times, or one without the number that SubRip wants above it.
    """
    kind, lines = file.suffix[1:].lower(), text.strip().splitlines()
    for number, line in enumerate(lines, 1):
        if "-->" in line and not TIMING.match(line):
            raise UserError(
                f"{file}: line {number} is {shown(cut(line))}, not two times; write 00:00:01.000 "
                "--> 00:00:02.500"
            )
        if "-->" in line and kind == "srt" and not lines[max(number - 2, 0)].strip().isdigit():
            raise UserError(f"{file}: line {number} has no number above it; put one there")
    try:
        read = webvtt.from_buffer(io.StringIO("\n".join(lines)), format=kind)
    except (MalformedFileError, MalformedCaptionError) as error:
        raise UserError(f"{file}: not a .{kind} file ({error}); give it its right suffix") from None
    refuse_lost_cues(lines, [one.text for one in read], file)
    return pd.DataFrame(
        {
            "video_id": video_of(file),
            "start": [one.start_time.in_milliseconds() / 1000 for one in read],
            "end": [one.end_time.in_milliseconds() / 1000 for one in read],
            "text": [html.unescape(STYLE.sub("", one.text)) for one in read],
        }
    )


# ---- JSON


def captions_of(spans: Spans, video: str) -> pd.DataFrame:
    """Return the captions of one video as rows."""
    found = pd.DataFrame(spans, columns=["start", "end", "text"]).assign(video_id=video)
    return found.astype({"start": float, "end": float, "text": object})


def json_captions_of(text: str, file: Path, form: Form) -> pd.DataFrame:
    """Return the captions of JSON of any known form."""
    value = json_of(text, str(file), "write it anew")
    if isinstance(value, list):
        return rows_of(value, file, form)
    if (spans := of_video(value, str(file))) is not None:
        return captions_of(spans, video_of(file))
    tables = []
    for name, video in value.items() if isinstance(value, dict) else ():
        spans = of_video(video, f"{file}: video {cut(name)}")
        if spans is not None:
            tables.append(captions_of(spans, name))
        elif isinstance(video, list):
            tables.append(rows_of(video, file, form).assign(video_id=name))
        else:
            break
    else:
        if tables:
            return pd.concat(tables, ignore_index=True)
    raise UserError(
        f"{file}: no captions that are known: needs a list of rows, a transcript "
        f"({', '.join(TRANSCRIPTS)}), or an object of videos by id"
    )


# ---- Files


TEXTS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), table_of),
    **dict.fromkeys((".srt", ".vtt", ".sbv"), subtitles_of),
    **dict.fromkeys((".json", ".json3"), json_captions_of),
    ".jsonl": json_lines_of,
}
CUT_AT_LINES = (".csv", ".tsv", ".txt", ".jsonl")


def video_of(file: Path) -> str:
    """Return the id of the video of a file: its name without suffix and language."""
    return LANGUAGE.sub("", file.stem)


def check_kind(file: Path) -> None:
    """Raise UserError for a file of another kind."""
    suffix = file.suffix.lower()
    if suffix not in (*TEXTS, ".parquet"):
        why = OTHER_KINDS.get(suffix, "captions do not come in such files")
        raise UserError(f"{file}: cannot be read: {why}. Accepted: {ACCEPTED}")


def read_file(file: Path, form: Form, most: int | None = None) -> pd.DataFrame:
    """Return the captions of a file: video_id, start, end (NaN if it is missing) and text.

    most: read so many bytes of a table, up to the end of a line.
    """
    check_kind(file)
    suffix = file.suffix.lower()
    if suffix == ".parquet":
        with parquet_errors(file):
            rows = pq.read_table(file).replace_schema_metadata().to_pandas()
        return chosen(rows.set_axis(rows.index + 1), file, form)
    try:
        with file.open("rb") as opened:
            content = opened.read(-1 if most is None else most + 1)
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; correct `local:` in the source's entry") from None
    if most is not None and len(content) > most:
        letters = np.frombuffer(content, np.uint8)
        in_quotes = np.cumsum(letters == ord('"')) % 2 == 1
        ends = np.flatnonzero((letters == ord("\n")) & ~in_quotes)
        content = content[: ends[-1] + 1] if len(ends) else content
    text = text_in(content, file, form)
    if not text.strip():
        raise UserError(f"{file}: is empty; correct `local:` in the source's entry")
    return TEXTS[suffix](text, file, form)


def text_in(content: bytes, file: Path, form: Form) -> str:
    """Decode the content of a file."""
    if form.encoding == UTF_8:
        remedy = "name its encoding in the source's entry, such as `encoding: cp1252`"
        return decoded(content, str(file), remedy)
    try:
        return content.decode(form.encoding).removeprefix("\ufeff")
    except LookupError:
        raise UserError(f"encoding: there is no encoding {form.encoding}; correct it") from None
    except UnicodeError as error:
        raise UserError(
            f"{file}: not {form.encoding} ({error.reason}); correct `encoding:`"
        ) from None


def files_in(place: Path) -> list[Path]:
    """Return the files of a source: the file itself, or the files of a folder. Raises UserError for
    a folder without files, and for two files of one video.
    """
    if not place.is_dir():
        return [place]
    files = sorted(file for file in place.iterdir() if file.is_file() and file.name[0] != ".")
    if not files:
        raise UserError(f"{place}: a folder without files; correct `local:` in the source's entry")
    known: dict[str, Path] = {}
    for file in files:
        other = known.setdefault(video_of(file), file)
        if other != file:
            raise UserError(
                f"{place}: {other.name} and {file.name} are of one video, {video_of(file)}; leave "
                "one form and one language of each video in the folder"
            )
    return files


def read_captions(files: list[Path], form: Form) -> pd.DataFrame:
    """Return the captions of all files, as in read_file()."""
    return pd.concat([read_file(file, form) for file in files], ignore_index=True)


def read_beginning(place: Path, form: Form, most: int) -> tuple[pd.DataFrame, bool]:
    """Return the captions of a file or folder up to about `most` bytes, and whether these are all.
    The kind of each file is checked. Raises UserError for a file that cannot be read.
    """
    tables, left, whole = [], most, True
    for file in files_in(place):
        check_kind(file)
        size = file.stat().st_size
        if size <= left or (left == most and file.suffix.lower() in CUT_AT_LINES):
            tables.append(read_file(file, form, left))
        whole &= size <= left
        left -= size
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(), whole
