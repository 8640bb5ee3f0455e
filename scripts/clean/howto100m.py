"""Clean the speech captions of HowTo100M, as a stream: memory grows by some 30 bytes a video and no more.

Reads  raw_caption.zip, raw_caption.json or caption.json, whichever is there, in that order, from --fetched (zipped or
       not is told by content): one object {video_id: {"start": […], "end": […], "text": […]}};
       and HowTo100M_v1.csv, if it is there, for the categories
Writes train/ and val/, each a folder of shards part-00000.parquet … (schema captions, videos in the order of the
       file) with manifest.json; videos.parquet (one row a video: split, categories, captions kept); cleaning.csv

A tenth of the videos, by hash of the id, is val. Captions are cleaned in this order, and each thing done is counted:
lists of different lengths are cut to the shortest; what is not text is dropped, and what has no finite times; white
space is stripped and joined; empty text is dropped; captions are sorted by start time; a caption is dropped when the
next one of the video repeats it or goes on from it by whole words (--keep-rolling-repeats: counted, and kept, as in the
examples of Jain et al. 2020). A video id that occurs again is dropped.

    python -m scripts.clean.howto100m --source howto100m --fetched results/fetch/howto100m \\
        --output results/clean/howto100m --provenance '{"licence": "unstated"}'
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from tqdm import tqdm

from scripts.clean.captions import Count, cleaner_arguments, total, write_cleaning
from scripts.clean.howto100m_ahead import reading
from scripts.clean.howto100m_captions import SPLITS, clean_batch
from scripts.clean.howto100m_listing import NAME, VIDEOS, VideoTable, listing_of
from scripts.clean.howto100m_shards import Shards
from scripts.clean.howto100m_videos import caption_file, size_of
from scripts.common.files import whole_set
from scripts.common.program import UserError, execute, log, whole_number
from scripts.common.sorted_ids import Seen, hashes_of
from scripts.common.tables import table_writer


def fresh(videos: pa.RecordBatch, seen: Seen) -> pa.RecordBatch:
    """The videos of a batch whose ids were not seen before."""
    new = seen.new(videos["video_id"], hashes_of(videos["video_id"]))
    return videos if new.all() else videos.filter(pa.array(new))


def clean(read: Iterator[pa.RecordBatch], videos: VideoTable, shards: dict[str, Shards], given: argparse.Namespace, bar: tqdm) -> list[Count]:
    """Clean all that is read into the shards of each split and the table of videos; returns the counts."""
    counts, seen, repeated = Counter(), Seen(), 0
    for batch in read:
        bar.update(batch["end_byte"][-1].as_py() - bar.n)
        new = fresh(batch, seen)
        repeated += len(batch) - len(new)
        captions, listed, found = clean_batch(new, given.source, given.keep_rolling_repeats)
        counts.update(found)
        videos.add(listed)
        for split, table in zip(SPLITS, captions):
            shards[split].write(table)
        del batch, new, captions, listed, table  # not to hold this batch while the next one is read
    rows: list[Count] = [("all", "videos", "dropped", "the video id occurs a second time", repeated)]
    rows += [(SPLITS[split], *what, number) for (split, *what), number in
             sorted(counts.items(), key=lambda counted: counted[0][0])]
    return [*rows, *videos.finish()]


def clean_file(file: Path, given: argparse.Namespace, folder: Path) -> list[Count]:
    """Read a caption file as a stream and write everything into `folder`; returns the counts."""
    shards = {split: Shards(folder / split, given.videos_per_shard, given.provenance | {"split": split}) for split in SPLITS}
    listing = given.fetched / NAME
    with reading(file, given.processes) as read, table_writer(folder / "videos.parquet", VIDEOS, given.provenance) as writer, \
            tqdm(total=size_of(file), unit="B", unit_scale=True, desc=given.source, disable=None) as bar:
        counts = clean(read, VideoTable(writer, listing_of(listing) if listing.exists() else None), shards, given, bar)
    if not total(counts, "videos", "read"):
        raise UserError(f"{file}: no video in it; fetch it again")
    for split, each in shards.items():
        each.finish()
        if not each.shards:
            raise UserError(f"{file}: none of its videos with captions falls to {split} (by hash of the id a tenth is "
                            "val); give a file with more videos")
    write_cleaning(given.source, counts, folder / "cleaning.csv")
    return counts


def main(given: argparse.Namespace) -> None:
    file = caption_file(given.fetched)
    with whole_set(given.output) as folder:
        counts = clean_file(file, given, folder)
    log.info("%s: kept %d of %d captions of %d videos; cleaning.csv says what was changed", given.source,
             total(counts, "captions", "kept"), total(counts, "captions", "read"), total(counts, "videos", "kept"))


def arguments() -> argparse.ArgumentParser:
    shared = cleaner_arguments(__doc__)
    shared.add_argument("--videos-per-shard", type=whole_number(1, 10**9), default=20_000, metavar="N",
                        help="how many videos a file holds; default: %(default)s")
    shared.add_argument("--keep-rolling-repeats", action="store_true", help="keep captions that the next one repeats or goes on from")
    return shared


if __name__ == "__main__":
    execute(main, arguments().parse_args())
