"""Captions as people have them: a file or a folder of any accepted form, as one table.

  .csv .tsv .txt   a table: cells between , ; | or tabs, a decimal point or comma. Without a header
                   its cells show what is time and text; `VIDEO 0.0 12.1##text` is read, too
  .parquet .jsonl  rows with the same columns
  .srt .vtt .sbv   subtitles
  .json            a transcript of Whisper or whisper.cpp, a list of rows, or an object of videos by
                   id: lists of HowTo100M or ActivityNet Captions, rows, or transcripts. Rows are
                   also found inside: `database` of YouCook2 and COIN, narrations of Ego4D, results
                   of Deepgram and AWS
  .json3           YouTube's captions, as yt-dlp saves them

A table has the columns start (seconds, or a clock), text, and, if there are any, video_id, end and
duration. Their names may be those that others write (NAMES of caption_names.py), start and end may
stand in one cell, and a cell may hold a list. The log says what was read; `columns:` of the entry
decides. A file without the column video_id is one video, with the file's
name as its id. A language before the suffix (talk.en.vtt) is no part of the id.
"""

import codecs
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from scripts.clean.caption_json import TRANSCRIPTS, of_video
from scripts.clean.caption_names import rows_within
from scripts.clean.caption_rows import UTF_8, Form, chosen, rows_of, table_of, video_of
from scripts.clean.subtitles import cues_of
from scripts.data.tables import parquet_errors
from scripts.data.texts import decoded, json_values
from scripts.running.program import UserError, cut

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
    **dict.fromkeys(
        (".ass", ".ssa", ".ttml", ".dfxp", ".sub", ".smi"),
        "write it as SubRip: pip install pysubs2, then pysubs2 --to srt IN",
    ),
    ".eaf": "export it from ELAN as subtitles (.srt)",
    **dict.fromkeys((".zip", ".gz", ".tar", ".7z"), "it is an archive; unpack it"),
}


# ---- JSON


def captions_of(spans: Iterable[tuple], video: str) -> pd.DataFrame:
    """Return the captions of one video as rows."""
    found = pd.DataFrame(spans, columns=["start", "end", "text"]).assign(video_id=video)
    return found.astype({"start": float, "end": float, "text": object})


def silent(video: str) -> pd.DataFrame:
    """Return the row of a video without captions, which has no text."""
    return captions_of([(np.nan, np.nan, None)], video)


def json_captions_of(text: str, file: Path, form: Form) -> pd.DataFrame:
    """Return the captions of JSON of any known form, or of JSON lines."""
    lines = file.suffix.lower() == ".jsonl"
    value = json_values(text, str(file), "write it anew", lines=lines)
    if isinstance(value, list):
        return rows_of(value, file, form) if value else captions_of([], "")
    if (spans := of_video(value, str(file))) is not None:
        return captions_of(spans, video_of(file))
    if isinstance(value, dict) and (rows := rows_within(value.get("results"))):
        return rows_of(rows, file, form)  # a transcript of Deepgram or AWS
    for wrapper in ("database", "videos"):
        if isinstance(value, dict) and isinstance(value.get(wrapper), dict):
            value = value[wrapper]
    tables = []
    for name, video in value.items() if isinstance(value, dict) else ():
        spans = of_video(video, f"{file}: video {cut(name)}")
        if video in (None, [], {}):
            table = silent(name)
        elif spans is not None:
            table = captions_of(spans, name)
        elif isinstance(video, list):
            table = rows_of(video, file, form).assign(video_id=name)
        elif rows := rows_within(video):
            table = rows_of(rows, file, form).assign(video_id=name)
        else:
            break
        tables.append(table if len(table) else silent(name))
    else:
        if tables:
            return pd.concat(tables, ignore_index=True)
    raise UserError(
        f"{file}: no captions that are known: needs a list of rows, a transcript "
        f"({', '.join(TRANSCRIPTS)}), or an object of videos by id"
    )


# ---- Files


def subtitles_of(text: str, file: Path, form: Form) -> pd.DataFrame:
    """Return the captions of subtitles."""
    return chosen(cues_of(text, file), file, Form(), decimal_comma=True)


TEXTS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), table_of),
    **dict.fromkeys((".srt", ".vtt", ".sbv"), subtitles_of),
    **dict.fromkeys((".json", ".json3", ".jsonl"), json_captions_of),
}
CUT_AT_LINES = (".csv", ".tsv", ".txt", ".jsonl")


def check_kind(file: Path) -> None:
    """Raise UserError for a file of another kind."""
    suffix = file.suffix.lower()
    if suffix not in (*TEXTS, ".parquet"):
        why = OTHER_KINDS.get(suffix, "captions do not come in such files")
        raise UserError(f"{file}: cannot be read: {why}. Accepted: {ACCEPTED}")


def read_file(file: Path, form: Form, most: int | None = None) -> pd.DataFrame:
    """Return the captions of a file: video_id, start, end (NaN if it is missing) and text. A video
    without captions is a row without a text, or no row.

    most: read so many bytes of a table, up to the end of a line.
    """
    check_kind(file)
    suffix = file.suffix.lower()
    if suffix == ".parquet":
        with parquet_errors(file):
            rows = pq.read_table(file).replace_schema_metadata().to_pandas()
        return chosen(rows.set_axis(rows.index + 1), file, form)
    with file.open("rb") as opened:
        content = opened.read(-1 if most is None else most + 1)
    if most is not None and len(content) > most:
        letters = np.frombuffer(content, np.uint8)
        in_quotes = np.cumsum(letters == ord('"')) % 2 == 1
        ends = np.flatnonzero((letters == ord("\n")) & ~in_quotes)
        content = content[: ends[-1] + 1] if len(ends) else content
    text = text_in(content, file, form)
    return TEXTS[suffix](text, file, form) if text.strip() else captions_of([], "")


def text_in(content: bytes, file: Path, form: Form) -> str:
    """Decode the content of a file. A mark of UTF-8 at its start counts more than `encoding:`."""
    if form.encoding == UTF_8 or content.startswith(codecs.BOM_UTF8):
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
    """Return the files of a source: the file itself, or the files of a folder and its folders.
    Raises UserError for a missing file, a folder without files, and two files of one video.
    """
    if not place.is_dir():
        if not place.exists():
            raise UserError(f"{place}: no such file; correct `local:` in the source's entry")
        return [place]
    files = [file for file in sorted(place.rglob("*")) if file.is_file()]
    files = [
        file
        for file in files
        if not any(part.startswith(".") for part in file.relative_to(place).parts)
    ]
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


def read_captions(files: list[Path], form: Form, most: float = np.inf) -> tuple[pd.DataFrame, bool]:
    """Return the captions of files, as in read_file(), up to about `most` bytes, and whether these
    are all. The kind of each file is checked.
    """
    tables, left, whole = [captions_of([], "")], most, True
    for file in files:
        check_kind(file)
        size = file.stat().st_size
        if size <= left or (left == most and file.suffix.lower() in CUT_AT_LINES):
            read = read_file(file, form, None if size <= left else int(left))
            tables.append(read if len(read) else silent(video_of(file)))
        whole &= size <= left
        left -= size
    return pd.concat(tables, ignore_index=True), whole
