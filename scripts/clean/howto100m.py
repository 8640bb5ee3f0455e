"""Clean the speech captions of HowTo100M, as a stream: memory grows by some 200 bytes a video.

Reads  from --fetched what --provenance names; if it names nothing, the first that exists of
       raw_caption.zip, raw_caption.json and caption.json. A file (its content decides whether it is
       unzipped) is one object {video_id: {"start": […], "end": […], "text": […]}}; a folder has a
       .csv file (start, end, text) for each video;
       and HowTo100M_v1.csv, if it is there, for the categories
Writes train/ and val/, each a folder of shards part-00000.parquet … (schema captions, videos in the
       order of the file) with manifest.json; videos.parquet (one row a video: split, categories,
       captions kept); cleaning.csv

A tenth of the videos, by hash of the id, is val. Captions are cleaned in this order, and each
change is counted:
  1. Lists of different lengths are cut to the shortest.
  2. A caption that is no text, or has no finite times, is dropped.
  3. White space is stripped and joined.
  4. Empty text is dropped.
  5. Captions are sorted by start time.
  6. A caption that occurs a second time, with the same times and text, is dropped.
  7. A caption is dropped when the video's next caption repeats it, or continues it by whole words.
     With --keep-rolling-repeats it is counted and kept, as in the examples of Jain et al. 2020.
  8. A caption that begins with the end of the one before it is counted. With --cut-rolling the
     repeated words are cut.
A video id that occurs again is dropped.

    python -m scripts.clean.howto100m --source howto100m --fetched results/fetch/howto100m \\
        --output results/clean/howto100m --provenance '{"licence": "unstated"}'
"""

import argparse
import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from tqdm import tqdm

from scripts.clean.captions import AGAIN, NO_SENTENCE, NO_TIME, TOGETHER, UNSORTED
from scripts.clean.captions import caption_arguments
from scripts.clean.corpus import EMPTY, Count, counted, write_cleaning
from scripts.clean.howto100m_repeats import occur_again, without_repeats, without_rolling
from scripts.clean.howto100m_videos import MENDED, MISSING, NOT_TEXT, batches, caption_file
from scripts.clean.howto100m_videos import check_place, videos_in
from scripts.data.files import sha256_of, whole_set
from scripts.data.keyed import keyed_uniform
from scripts.running.program import UserError, cut, execute, is_of_machine, whole_number
from scripts.data.tables import CAPTIONS, table_schema, table_writer, write_table

SPLITS = ("train", "val")
VAL_SHARE = 0.1
VIDEOS_PER_SHARD = 20_000
LISTING = "HowTo100M_v1.csv"
CATEGORIES = ["category_1", "category_2"]
VIDEOS = table_schema("source split video_id category_1 category_2 captions", captions="int32")


# ---- The captions of a batch


class Counts(Counter):
    """Counts by (split number, unit, action, reason)."""

    def add(
        self,
        unit: str,
        action: str,
        reason: str,
        splits: np.ndarray,
        amounts: np.ndarray | None = None,
    ) -> None:
        """Count things, or an amount of each, given the split number of each."""
        for split, number in enumerate(np.bincount(splits, amounts, len(SPLITS))):
            self[split, unit, action, reason] += int(number)


def spaced(texts: pa.Array) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """Texts stripped, with one space for every run of white space.

    Also returns the rows that this changes, and which of these rows have several lines.
    """
    read = texts.to_pylist()
    tidy = [text and " ".join(text.split()) for text in read]
    rows = np.flatnonzero([before != after for before, after in zip(read, tidy)])
    broken = np.array(["\n" in read[row] for row in rows], bool)
    return pa.array(tidy, pa.string()), rows, rows[broken]


def with_text(
    videos: pa.RecordBatch, split_of: np.ndarray, counts: Counts
) -> tuple[pa.Array, np.ndarray]:
    """The tidy text of every caption, and the rows that have text and times.

    split_of: the split number of each caption.
    """
    start, end, what = (videos[name].flatten().to_numpy() for name in ("start", "end", "what"))
    tidy, changed, broken = spaced(videos["text"].flatten())
    timed, text = np.isfinite(start) & np.isfinite(end), (what != MISSING) & (what != NOT_TEXT)
    is_kept = text & timed & (pc.binary_length(tidy).fill_null(0).to_numpy() > 0)
    for action, reason, rows in (
        ("dropped", "text is missing (null or NaN)", what == MISSING),
        ("dropped", "text is not text", what == NOT_TEXT),
        ("dropped", NO_TIME, text & ~timed),
        ("dropped", EMPTY, text & timed & ~is_kept),
        ("changed", "white space stripped and joined", changed[is_kept[changed]]),
        ("changed", "of these, text on several lines", broken[is_kept[broken]]),
        ("changed", "half of a surrogate pair: U+FFFD stands for it", is_kept & (what == MENDED)),
        ("noted", "start is after end", is_kept & (start > end)),
    ):
        counts.add("captions", action, reason, split_of[rows])
    return tidy, np.flatnonzero(is_kept)


class Batch(NamedTuple):
    """A batch of different videos. Of each caption: text, the number of its video, times, and the
    number of its split.
    """

    text: pa.Array
    video: np.ndarray
    start: np.ndarray
    end: np.ndarray
    split: np.ndarray


def in_order(batch: Batch, rows: np.ndarray, split_of: np.ndarray, counts: Counts) -> np.ndarray:
    """Return rows by video and start time. Videos that are not in this order are sorted and
    counted. split_of: the split number of each video.
    """
    unsorted = np.zeros(len(split_of), bool)
    backwards = (np.diff(batch.start[rows]) < 0) & (np.diff(batch.video[rows]) == 0)
    unsorted[batch.video[rows[1:]][backwards]] = True
    counts.add("videos", "changed", UNSORTED, split_of[unsorted])
    start = np.where(unsorted[batch.video], batch.start, 0)
    return rows[np.lexsort((start[rows], batch.video[rows]))]


def kept_captions(
    batch: Batch, rows: np.ndarray, counts: Counts, keep_rolling: bool, cut_rolling: bool
) -> tuple[pa.Array, np.ndarray]:
    """Return the texts of captions, and of rows in order those that stay. Captions that repeat
    others go, or lose the repeated words.
    """
    again = occur_again(*batch[:4], rows)
    counts.add("captions", "dropped", AGAIN, batch.split[again])
    rows = rows[~np.isin(rows, again)]
    stay = without_rolling(batch.text, batch.video, rows)
    counts.add(
        "captions",
        "noted" if keep_rolling else "dropped",
        "the next caption repeats it or goes on from it",
        batch.split[np.setdiff1d(rows, stay, assume_unique=True)],
    )
    rows = rows if keep_rolling else stay
    texts, rows, found = without_repeats(batch.text, batch.video, rows, cut_rolling)
    found["kept", ""] = rows
    same = batch.video[rows[1:]] == batch.video[rows[:-1]]
    before, after = rows[:-1][same], rows[1:][same]
    overlaps = batch.start[after] < batch.end[before]
    found["noted", "begins before the one in front ends"] = after[overlaps]
    found["noted", TOGETHER] = after[batch.start[after] == batch.start[before]]
    for (action, reason), those in found.items():
        counts.add("captions", action, reason, batch.split[those])
    return texts, rows


def clean_batch(
    videos: pa.RecordBatch, source: str, keep_rolling: bool = False, cut_rolling: bool = False
) -> tuple[list[pa.Table], pa.Table, Counts]:
    """The captions of each split and the videos of a batch of different videos, and counts.

    keep_rolling: whether a caption stays that the next one repeats or continues. cut_rolling:
    whether a caption loses the words that repeat the end of the one before. Captions have schema
    CAPTIONS, videos VIDEOS without the categories.
    """
    ids, counts = videos["video_id"], Counts()
    is_val = keyed_uniform(pd.Series(ids.to_pylist(), dtype=object), 0) < VAL_SHARE
    split_of = is_val.astype(np.int64)
    sizes, longest = videos["text"].value_lengths().to_numpy(), videos["longest"].to_numpy()
    cut = split_of[sizes < longest]
    counts.add("videos", "read", "", split_of)
    counts.add("videos", "changed", "lists of different lengths: cut to the shortest", cut)
    counts.add("captions", "read", "", split_of, longest)
    counts.add("captions", "dropped", "beyond the shortest list", split_of, longest - sizes)
    video = np.repeat(np.arange(len(videos)), sizes)
    tidy, rows = with_text(videos, split_of[video], counts)
    start, end = (videos[name].flatten().to_numpy() for name in ("start", "end"))
    batch = Batch(tidy, video, start, end, split_of[video])
    rows = in_order(batch, rows, split_of, counts)
    texts, rows = kept_captions(batch, rows, counts, keep_rolling, cut_rolling)
    left = np.bincount(video[rows], minlength=len(videos))
    counts.add("videos", "dropped", NO_SENTENCE, split_of[left == 0])
    counts.add("videos", "kept", "", split_of[left > 0])
    splits = pa.array(SPLITS)
    captions = pa.table(
        {
            "source": pa.repeat(source, len(rows)),
            "split": splits.take(batch.split[rows]),
            "video_id": ids.take(video[rows]),
            "position": pa.array(
                np.arange(len(rows)) - np.repeat(np.cumsum(left) - left, left), pa.int32()
            ),
            "text": texts.take(rows),
            "start_s": start[rows],
            "end_s": end[rows],
        }
    )
    listed = pa.table(
        {
            "source": pa.repeat(source, len(videos)),
            "split": splits.take(split_of),
            # A copy: a slice would keep the whole batch in memory.
            "video_id": ids.take(np.arange(len(ids))),
            "captions": pa.array(left, pa.int32()),
        }
    )
    of_split = [captions.filter(batch.split[rows] == split) for split in range(len(SPLITS))]
    return of_split, listed, counts


# ---- The files that are written


class Shards:
    """Writes the captions of one split into files of equally many videos, then the manifest."""

    def __init__(self, folder: Path, videos_per_shard: int, provenance: dict):
        self.folder, self.most, self.provenance = folder, videos_per_shard, provenance
        self.shards: list[dict] = []
        self.stack = ExitStack()  # holds the shard that is open, if one is
        self.writer = None

    def write(self, captions: pa.Table) -> None:
        """Add whole videos, in order."""
        firsts = np.flatnonzero(captions["position"].to_numpy() == 0)
        while len(firsts):
            if self.writer is None:
                file = f"part-{len(self.shards):05}.parquet"
                self.shards.append({"file": file, "sha256": None, "rows": 0, "videos": 0})
                self.writer = self.stack.enter_context(
                    table_writer(self.folder / file, CAPTIONS, self.provenance)
                )
            shard = self.shards[-1]
            taken, firsts = np.split(firsts, [self.most - shard["videos"]])
            end = firsts[0] if len(firsts) else len(captions)
            part = captions.slice(taken[0], end - taken[0])
            self.writer.write_table(part.cast(self.writer.schema))
            shard["rows"] += len(part)
            shard["videos"] += len(taken)
            if shard["videos"] == self.most:
                self.close()

    def close(self) -> None:
        """End the shard that is open, if one is."""
        if self.writer is not None:
            self.stack.close()
            self.writer = None
            self.shards[-1]["sha256"] = sha256_of(self.folder / self.shards[-1]["file"])

    def finish(self) -> None:
        """End the last shard and write the manifest."""
        self.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        manifest = json.dumps({"shards": self.shards}, indent=1)
        (self.folder / "manifest.json").write_text(f"{manifest}\n")


def read_listing(file: Path) -> pa.Table:
    """The videos of HowTo100M_v1.csv and their categories; memory holds each text once."""
    category = pa.dictionary(pa.int32(), pa.string())
    types = {"video_id": pa.string(), **dict.fromkeys(CATEGORIES, category)}
    try:
        listing = csv.read_csv(
            file,
            convert_options=csv.ConvertOptions(
                include_columns=list(types), column_types=types, strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if is_of_machine(error):
            raise
        raise UserError(
            f"{file}: not a CSV file with the columns {', '.join(types)} "
            f"({cut(str(error), 200)}); fetch it again"
        ) from None
    return listing.unify_dictionaries().combine_chunks()


def with_categories(videos: pa.Table, listing: pa.Table) -> tuple[pa.Table, list[Count]]:
    """Return the table of videos with their categories (null where none are known), and counts of
    the videos that the listing lacks, and that only the listing has.
    """
    place = pc.index_in(videos["video_id"], listing["video_id"])
    known = listing.take(place)
    for name in CATEGORIES:
        videos = videos.append_column(name, known[name].cast(pa.string()))
    without = Counter(videos["split"].filter(place.is_null()).to_pylist())
    others = pc.count_distinct(listing["video_id"]).as_py() - (len(place) - place.null_count)
    counts = counted("all", "videos", noted={f"in {LISTING} but without captions": others})
    for split in reversed(SPLITS):
        counts = counted(split, "videos", noted={f"not in {LISTING}": without[split]}) + counts
    return videos, counts


def first_times(ids: list[str], seen: set[str]) -> list[bool]:
    """Return whether each id comes for the first time; afterwards all these ids count as seen."""
    fresh = []
    for name in ids:
        fresh.append(name not in seen)
        seen.add(name)
    return fresh


def clean_file(file: Path, given: argparse.Namespace, folder: Path) -> None:
    """Read a caption file as a stream and write everything into `folder`."""
    most = given.videos_per_shard or VIDEOS_PER_SHARD
    shards = {
        split: Shards(folder / split, most, given.provenance | {"split": split}) for split in SPLITS
    }
    listing, counts, seen, held = given.fetched / LISTING, Counts(), set(), []
    repeated = 0
    with videos_in(file) as (_, size):
        bar = tqdm(total=size, unit="B", unit_scale=True, desc=given.source, disable=None)
    with bar:
        for batch in batches(file):
            bar.update(batch["end_byte"][-1].as_py() - bar.n)
            fresh = first_times(batch["video_id"].to_pylist(), seen)
            new = batch if all(fresh) else batch.filter(pa.array(fresh))
            repeated += len(batch) - len(new)
            captions, listed, found = clean_batch(
                new, given.source, given.keep_rolling_repeats, given.cut_rolling
            )
            counts.update(found)
            held.append(listed)
            for split, table in zip(SPLITS, captions):
                shards[split].write(table)
            del batch, new, captions, listed, table  # not to hold this one while the next is read
    if not held:
        raise UserError(f"{file}: no video in it; fetch it again")
    known = read_listing(listing) if listing.exists() else VIDEOS.empty_table()
    videos, noted = with_categories(pa.concat_tables(held), known)
    write_table(videos, folder / "videos.parquet", VIDEOS, given.provenance)
    for split, each in shards.items():
        each.finish()
        if not each.shards:
            raise UserError(
                f"{file}: none of its videos with captions falls to {split} (by hash of "
                "the id a tenth is val); give a file with more videos"
            )
    write_cleaning(
        given.source,
        [
            *counted("all", "videos", dropped={"the video id occurs a second time": repeated}),
            *(
                (SPLITS[split], *what, number)
                for (split, *what), number in sorted(counts.items(), key=lambda row: row[0][0])
            ),
            *(noted if listing.exists() else []),
        ],
        folder / "cleaning.csv",
    )


def check_source(place: Path, entry: dict, most: int) -> None:
    """Raise UserError if the captions of a source's entry are of another kind."""
    check_place(place)


def main(given: argparse.Namespace) -> None:
    file = caption_file(given.fetched, given.provenance, LISTING)
    with whole_set(given.output) as folder:
        clean_file(file, given, folder)


def arguments() -> argparse.ArgumentParser:
    shared = caption_arguments(__doc__)
    shared.add_argument(
        "--videos-per-shard",
        type=whole_number(1, 10**9),
        metavar="N",
        help=f"the number of videos in a file; default: {VIDEOS_PER_SHARD:,}",
    )
    shared.add_argument(
        "--keep-rolling-repeats",
        action="store_true",
        help="keep a caption even if the next caption repeats or continues it",
    )
    return shared


if __name__ == "__main__":
    execute(main, arguments().parse_args())
