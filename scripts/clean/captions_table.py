"""Clean captions of your own: a file or a folder of any form that people have.

caption_files.py lists the forms: tables, subtitles, transcripts, JSON of videos.

The source's entry names the file or folder, and --provenance has the name of the file ({"sha256":
{"<name>": …}}); with / at its end it stands for the folder --fetched itself. The captions are read
into memory: 300,000 rows take 0.44 GB and 10 seconds. An end that is missing is the start of the
video's next caption.

A fifth of the videos, by hash of the video_id, is the test split. No video is in both splits.

Reads  the named file in --fetched, or the files of the folder
Writes train.parquet, test.parquet (schema captions), sorted by video and start time, and
       cleaning.csv, as the cleaner of ActivityNet Captions does

    python -m scripts.clean.captions_table --source my_captions --fetched /data \\
        --output results/clean/my_captions \\
        --provenance '{"licence": "CC BY 4.0", "sha256": {"captions.csv": null}}'
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.clean.caption_files import files_in, read_captions
from scripts.clean.caption_rows import COLUMNS, MILLISECONDS, UTF_8, Form
from scripts.clean.captions import Captions, caption_arguments, clean_splits
from scripts.clean.corpus import counted, places_given, write_corpus
from scripts.data.keyed import keyed_uniform
from scripts.data.tables import CAPTIONS
from scripts.running.program import UserError, execute, json_object

TEST_SHARE = 0.2
NO_END = "end is missing: the start of the next caption"
WHOLE = "times are whole milliseconds: made seconds"


def filled_ends(rows: pd.DataFrame) -> pd.Series:
    """Return the ends of captions; a missing one is the start of the next caption of the video, or
    the caption's own start.
    """
    starts = rows[["video_id", "start"]].drop_duplicates().sort_values(["video_id", "start"])
    starts = starts.assign(following=starts.groupby("video_id")["start"].shift(-1))
    following = rows.merge(starts, how="left", on=["video_id", "start"])["following"]
    return rows["end"].fillna(following).fillna(rows["start"])


def split_videos(rows: pd.DataFrame, place: Path) -> dict[str, dict[str, Captions]]:
    """The videos of each split, by their ids. Raises UserError for fewer videos than two splits
    need. rows: a video without captions is a row without a text.
    """
    videos: dict[str, dict[str, Captions]] = {"train": {}, "test": {}}
    is_test = keyed_uniform(rows["video_id"]) < TEST_SHARE
    for split, read in rows.groupby(np.where(is_test, "test", "train")):
        for name, video in read.groupby("video_id", sort=False):
            said = video.dropna(subset="text")
            times = list(zip(said["start"], said["end"]))
            videos[split][name] = Captions(said["end"].max(), times, list(said["text"]))
    spoken = [[name for name, video in read.items() if video.sentences] for read in videos.values()]
    if not all(spoken):
        raise UserError(
            f"{place}: {sum(map(len, spoken))} videos with captions leave a split empty; give "
            "fifty or more: a folder with a file for each, or a table with the column video_id"
        )
    return videos


def check_source(place: Path, entry: dict, most: int) -> None:
    """Raise UserError if the files of a source's entry cannot be read. If they have more than about
    `most` bytes, only the beginning is read.
    """
    form = Form(entry.get("columns", {}), entry.get("encoding", UTF_8))
    rows, whole = read_captions(files_in(place), form, most)
    if whole:
        split_videos(rows.assign(end=filled_ends(rows)), place)


def main(given: argparse.Namespace) -> None:
    places = places_given(given.fetched, given.provenance)
    if not places:
        raise UserError(
            "--provenance names no file: name it in the source's entry, as `local: mine.csv`, or "
            'here, as {"sha256": {"mine.csv": null}}'
        )
    files = [file for place in places for file in files_in(place)]
    rows, _ = read_captions(files, Form(given.columns, given.encoding))
    is_silent, in_ms = rows["text"].isna(), rows.get(MILLISECONDS, pd.Series(dtype=object))
    counts = counted("all", "files", read=len(files))
    counts += counted("all", "videos", noted={"has no caption": is_silent})
    no_end = rows["end"].isna() & ~is_silent
    counts += counted("all", "sentences", changed={NO_END: no_end, WHOLE: in_ms.notna()})
    videos = split_videos(rows.assign(end=filled_ends(rows)), places[0])
    tables: dict[str, pd.DataFrame] = {}
    for split, table, found in clean_splits(videos, given.source, given.cut_rolling):
        tables[split] = table
        counts += found
    write_corpus(given, tables, CAPTIONS, counts)


def arguments() -> argparse.ArgumentParser:
    shared = caption_arguments(__doc__)
    shared.add_argument(
        "--columns",
        type=json_object,
        default={},
        metavar="JSON",
        help=f"the names of the columns that have others than {', '.join(COLUMNS)}",
    )
    shared.add_argument(
        "--encoding", default=UTF_8, help="the encoding of texts; default: %(default)s"
    )
    return shared


if __name__ == "__main__":
    execute(main, arguments().parse_args())
