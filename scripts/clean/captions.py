"""What the cleaners share: their arguments, writing all or nothing; and for captions: reading JSON, one split's table.

Not a program. Counts are tuples (split, unit, action, reason, count), the rows of cleaning.csv without the source.
"""

import argparse
import re
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.files import whole, whole_set
from scripts.running.program import UserError, cut, json_object, parser, whole_number
from scripts.data.tables import CLEANING, write_table
from scripts.data.texts import STRING, json_of, text_of

Count = tuple[str, str, str, str, int]
Shape = TypeVar("Shape")

NO_TIME = "start or end is not a finite number"
EMPTY = "text is empty"
UNSORTED = "not in the order of start times: sorted"
TOGETHER = "starts together with the one in front: in the order of the file"
NO_SENTENCE = "no sentence is left"


class Captions(msgspec.Struct):
    """The captions of one video: times in seconds, one text for each."""

    duration: float
    timestamps: list[tuple[float, float]]
    sentences: list[str]


def cleaner_arguments(doc: str) -> argparse.ArgumentParser:
    """The arguments of every cleaner."""
    shared = parser(doc)
    shared.add_argument("--source", required=True, help="the name of the corpus in resources/sources.yaml")
    shared.add_argument("--fetched", type=Path, required=True, help="the folder that holds its files")
    shared.add_argument("--output", type=Path, required=True, help="the folder to write to")
    shared.add_argument("--provenance", type=json_object, required=True, metavar="JSON",
                        help="an object (licence, citation, sha256, …) to store in every Parquet file")
    shared.add_argument("--processes", type=whole_number(1, 1024), default=1, metavar="N",
                        help="how many processes may work at the same time, of which a cleaner uses what it can; default: %(default)s")
    return shared


def read_json(file: Path) -> object:
    """The value of a JSON file of videos; refuses one that is missing, not UTF-8, broken, or names a key twice."""

    def behind(before: str) -> str:
        # The keys of objects: of those, the last one before the fault is the video that it lies in, or just behind.
        keys = [found[1] for found in re.finditer(rf"({STRING})(\s*+:\s*+\{{)?", before, re.DOTALL) if found[2]]
        return f", in or just behind video {cut(keys[-1][1:-1])}" if keys else ", before the first video"

    return json_of(text_of(file), str(file), behind=behind)


def shaped(value: object, shape: type[Shape], where: str) -> Shape:
    """`value` as `shape` (a msgspec type); `where` (file and video) opens the error when it is not."""
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, OverflowError) as error:
        raise UserError(f"{where}: {error}; mend that entry, or fetch the file again") from None
    except UnicodeEncodeError:
        raise UserError(f"{where}: half of a surrogate pair in a key or a number; mend that entry, or fetch the file "
                        "again") from None
    except RecursionError:
        raise UserError(f"{where}: lists or objects are nested too deep; mend that entry, or fetch the file again") from None


def joined(texts: pd.Series) -> pd.Series:
    """Texts without white space at their ends, and with one space where there was other white space."""
    return pd.Series([" ".join(text.split()) for text in texts], index=texts.index, dtype=object)


def sentences_of(videos: dict[str, Captions]) -> pd.DataFrame:
    """A row a sentence, in the order of the file: video_id, duration, start_s, end_s, raw (as it was read) and text."""
    sizes = np.array([len(video.sentences) for video in videos.values()], dtype=np.int64)
    times = np.array([span for video in videos.values() for span in video.timestamps], dtype=float).reshape(-1, 2)
    raw = pd.Series([text for video in videos.values() for text in video.sentences], dtype=object)
    return pd.DataFrame({
        "video_id": np.repeat(np.array(list(videos), dtype=object), sizes),
        "duration": np.repeat(np.array([video.duration for video in videos.values()], dtype=float), sizes),
        "start_s": times[:, 0],
        "end_s": times[:, 1],
        "raw": raw,
        "text": joined(raw),
    })


def changed_spaces(raw: pd.Series) -> dict[str, pd.Series]:
    """By what `joined` does, which texts it does it to."""
    stripped = raw.str.strip()
    return {
        "white space at an end of the text: removed": raw.str.len() > stripped.str.len(),
        "line break in the text: made a space": raw.str.contains("[\n\r]"),
        "several spaces in a row in the text: made one": stripped.str.contains("  ", regex=False),
    }


def clean_split(videos: dict[str, Captions], source: str, split: str) -> tuple[pa.Table, list[Count]]:
    """One split (of thousands of videos, not of millions) as a table of captions, and what was found and done.

    Sorted by video_id and start time; equal times keep the order of the file. Sentences go only for an empty text
    or a time that is not a finite number. Odd times are counted and stay as they are.
    """
    rows = sentences_of(videos)
    noted = {
        "start is after end": rows["start_s"] > rows["end_s"],
        "start equals end": rows["start_s"] == rows["end_s"],
        "end is past the duration of the video": rows["end_s"] > rows["duration"],
        "start is before the video": rows["start_s"] < 0,
    }
    timed = np.isfinite(rows[["start_s", "end_s"]].to_numpy()).all(axis=1)
    empty = timed & (rows["text"] == "").to_numpy()
    kept = rows[timed & ~empty]
    backwards = kept.groupby("video_id", sort=False)["start_s"].diff() < 0
    unsorted = kept.loc[backwards, "video_id"].nunique()
    kept = kept.sort_values(["video_id", "start_s"], kind="stable")
    together = kept.groupby("video_id", sort=False)["start_s"].diff() == 0
    left = kept["video_id"].nunique()
    table = pa.table({
        "source": pa.array([source] * len(kept), pa.string()),
        "split": pa.array([split] * len(kept), pa.string()),
        "video_id": pa.array(kept["video_id"], pa.string()),
        "position": pa.array(kept.groupby("video_id", sort=False).cumcount(), pa.int32()),
        "text": pa.array(kept["text"], pa.string()),
        "start_s": pa.array(kept["start_s"], pa.float64()),
        "end_s": pa.array(kept["end_s"], pa.float64()),
    })
    counts = [
        (split, "videos", "read", "", len(videos)),
        (split, "videos", "dropped", NO_SENTENCE, len(videos) - left),
        (split, "videos", "kept", "", left),
        (split, "videos", "changed", UNSORTED, unsorted),
        (split, "sentences", "read", "", len(rows)),
        (split, "sentences", "dropped", NO_TIME, int((~timed).sum())),
        (split, "sentences", "dropped", EMPTY, int(empty.sum())),
        (split, "sentences", "kept", "", len(kept)),
        *((split, "sentences", "changed", reason, int(which.sum())) for reason, which in changed_spaces(rows["raw"]).items()),
        *((split, "sentences", "noted", reason, int(which.sum())) for reason, which in noted.items()),
        (split, "sentences", "noted", TOGETHER, int(together.sum())),
    ]
    return table, counts


def write_cleaning(source: str, counts: list[Count], file: Path) -> None:
    """Write cleaning.csv (schema cleaning): what was read, kept, changed, dropped and noted, in the order given."""
    table = pd.DataFrame([(source, *count) for count in counts], columns=CLEANING.names)
    with whole(file) as place:
        table.to_csv(place, index=False, lineterminator="\n")


def write_corpus(given: argparse.Namespace, tables: dict[str, pa.Table], schema: pa.Schema, counts: list[Count]) -> None:
    """Write <split>.parquet of each split and cleaning.csv to given.output: all of them, or none."""
    with whole_set(given.output) as folder:
        for split, table in tables.items():
            write_table(table, folder / f"{split}.parquet", schema, given.provenance)
        write_cleaning(given.source, counts, folder / "cleaning.csv")


def total(counts: list[Count], unit: str, action: str) -> int:
    """The sum of the counts of one unit and action, over splits and reasons."""
    return sum(count[-1] for count in counts if count[1:3] == (unit, action))
