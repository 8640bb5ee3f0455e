"""Clean captions of your own: a CSV file of one sentence a row.

The columns are video_id, start, end (seconds) and text; others are not read. The source's entry
names the file, and --provenance has its name ({"sha256": {"<file>.csv": …}}). The file is read into
memory: 300,000 rows take 0.44 GB and 10 seconds.

A fifth of the videos, by hash of the video_id, is the test split. No video is in both splits.

Reads  the .csv file in --fetched
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

from scripts.clean.captions import Captions, caption_arguments, clean_splits
from scripts.clean.corpus import file_named, write_corpus
from scripts.data.keyed import keyed_uniform
from scripts.data.tables import CAPTIONS
from scripts.data.texts import csv_of, numbers_of
from scripts.running.program import UserError, execute

TEST_SHARE = 0.2
REMEDY, MISSING = "write it anew", "correct `local:` in the source's entry"


def read_videos(file: Path) -> dict[str, dict[str, Captions]]:
    """The videos of each split, by their ids. Raises UserError for a row without a video, for a
    time that is no number, and for fewer videos than two splits need.
    """
    rows = csv_of(file, ["video_id", "start", "end", "text"], REMEDY, MISSING)
    for name in ("start", "end"):
        rows[name] = numbers_of(rows[name], file, REMEDY)
    if len(nameless := rows.index[rows["video_id"].str.strip() == ""]):
        raise UserError(f"{file}: row {nameless[0] + 2} has no video_id; fill it in")
    videos: dict[str, dict[str, Captions]] = {"train": {}, "test": {}}
    is_test = keyed_uniform(rows["video_id"]) < TEST_SHARE
    for split, read in rows.groupby(np.where(is_test, "test", "train")):
        for name, video in read.groupby("video_id", sort=False):
            times = list(zip(video["start"], video["end"]))
            videos[split][name] = Captions(video["end"].max(), times, list(video["text"]))
    if not all(videos.values()):
        found = rows["video_id"].nunique()
        raise UserError(f"{file}: {found} videos leave a split empty; give fifty or more")
    return videos


def main(given: argparse.Namespace) -> None:
    tables: dict[str, pd.DataFrame] = {}
    counts = []
    file = file_named(given.fetched, given.provenance, ".csv")
    for split, table, found in clean_splits(read_videos(file), given.source, given.cut_rolling):
        tables[split] = table
        counts += found
    write_corpus(given, tables, CAPTIONS, counts)


if __name__ == "__main__":
    execute(main, caption_arguments(__doc__).parse_args())
