"""Clean the speech captions of HowTo100M, as a stream: memory does not grow with the file.

Reads  raw_caption.zip, raw_caption.json or caption.json, whichever is there, in that order, from --fetched (zipped or
       not is told by content): one object {video_id: {"start": […], "end": […], "text": […]}};
       and HowTo100M_v1.csv, if it is there, for the categories
Writes train/ and val/, each a folder of shards part-00000.parquet … (schema captions, videos in the order of the
       file) with manifest.json; videos.parquet (one row a video: split, categories, captions kept); cleaning.csv

A tenth of the videos, by hash of the id, is val. Captions are cleaned in this order, and each thing done is counted:
lists of different lengths are cut to the shortest; what is not text is dropped, and what has no finite times; white
space is stripped and joined; empty text is dropped; captions are sorted by start time; a caption is dropped when the
next one of the video repeats it or goes on from it by whole words. A video id that occurs again is dropped.

    python -m scripts.clean.howto100m --source howto100m --fetched results/fetch/howto100m \\
        --output results/clean/howto100m --provenance '{"licence": "unstated"}'
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from tqdm import tqdm

from scripts.clean.captions import Count, cleaner_arguments, total, write_cleaning
from scripts.clean.howto100m_captions import SPLITS, clean_batch
from scripts.clean.howto100m_shards import Shards
from scripts.clean.howto100m_videos import Videos, batches, caption_file, opened
from scripts.common.files import whole_set
from scripts.common.keyed import keyed_hash
from scripts.common.program import UserError, cut, execute, log, whole_number
from scripts.common.tables import write_table

LISTING = "HowTo100M_v1.csv"
VIDEOS = pa.schema([
    ("source", pa.string()), ("split", pa.string()), ("video_id", pa.string()),
    ("category_1", pa.string()), ("category_2", pa.string()), ("captions", pa.int32()),
])


def categories(file: Path) -> pa.Table:
    """video_id, category_1, category_2 of every video in HowTo100M_v1.csv, as its first row has them."""
    columns = ["video_id", "category_1", "category_2"]
    try:
        table = csv.read_csv(file, convert_options=csv.ConvertOptions(
            include_columns=columns, column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: not a CSV file with the columns {', '.join(columns)} ({cut(str(error), 200)}); "
                        "fetch it again") from None
    return table.combine_chunks()


def with_categories(listed: pa.Table, known: pa.Table) -> tuple[pa.Table, list[Count]]:
    """The table of videos with their categories (null where none are known), and counts."""
    place = pc.index_in(listed["video_id"], value_set=known["video_id"].combine_chunks())
    table = listed.append_column("category_1", known["category_1"].take(place))
    table = table.append_column("category_2", known["category_2"].take(place))
    without = dict(zip(*np.unique(listed["split"].filter(place.is_null()).to_numpy(), return_counts=True)))
    others = pc.count_distinct(known["video_id"]).as_py() - (len(listed) - sum(without.values()))
    counts = [(split, "videos", "noted", f"not in {LISTING}", int(without.get(split, 0))) for split in SPLITS]
    return table, [*counts, ("all", "videos", "noted", f"in {LISTING} but without captions", int(others))]


def clean(file: Path, listing: Path | None, source: str, provenance: dict, folder: Path,
          videos_per_shard: int) -> list[Count]:
    """Read `file` as a stream and write everything into `folder`; returns the counts."""
    shards = {split: Shards(folder / split, videos_per_shard, provenance | {"split": split}) for split in SPLITS}
    counts: Counter = Counter()
    listed, repeated = [], 0
    seen = np.array([], np.uint64)  # hashes of the ids so far, sorted: 8 bytes for a video
    with opened(file) as (stream, size, name), \
            tqdm(total=size, unit="B", unit_scale=True, desc=source, disable=None) as bar:
        for names, batch, done in batches(Videos(stream, name)):
            hashes = keyed_hash(pd.Series(names, dtype=object))
            new, first = np.unique(hashes, return_index=True)
            fresh = np.sort(first[~np.isin(new, seen, assume_unique=True)])
            repeated += len(names) - len(fresh)
            if len(fresh) < len(names):
                names, batch = [names[number] for number in fresh], [batch[number] for number in fresh]
            seen = np.union1d(seen, new)
            captions, batch_videos, found = clean_batch(names, batch, source)
            counts.update(found)
            listed.append(batch_videos)
            for split in SPLITS:
                shards[split].write(captions.filter(pc.equal(captions["split"], split)))
            bar.update(done - bar.n)
            del batch, captions  # not to hold this batch while the next one is read
    if not listed:
        raise UserError(f"{file}: no video in it; fetch it again")
    for split, each in shards.items():
        each.finish()
        if not each.shards:
            raise UserError(f"{file}: none of its videos with captions falls to {split} (by hash of the id a tenth is "
                            "val); give a file with more videos")
    rows: list[Count] = [("all", "videos", "dropped", "the video id occurs a second time", repeated)]
    rows += [(SPLITS[split], *what, number) for (split, *what), number in
             sorted(counts.items(), key=lambda counted: counted[0][0])]
    if listing is None:
        known = pa.table({name: pa.array([], pa.string()) for name in ("video_id", "category_1", "category_2")})
        table, _ = with_categories(pa.concat_tables(listed), known)
    else:
        table, more = with_categories(pa.concat_tables(listed), categories(listing))
        rows += more
    write_table(table, folder / "videos.parquet", VIDEOS, provenance)
    write_cleaning(source, rows, folder / "cleaning.csv")
    return rows


def main(given: argparse.Namespace) -> None:
    file, listing = caption_file(given.fetched), given.fetched / LISTING
    with whole_set(given.output) as folder:
        counts = clean(file, listing if listing.exists() else None, given.source, given.provenance, folder,
                       given.videos_per_shard)
    log.info("%s: kept %d of %d captions of %d videos; cleaning.csv says what was changed", given.source,
             total(counts, "captions", "kept"), total(counts, "captions", "read"), total(counts, "videos", "kept"))


def arguments() -> argparse.ArgumentParser:
    shared = cleaner_arguments(__doc__)
    shared.add_argument("--videos-per-shard", type=whole_number(1, 10**9), default=20_000, metavar="N",
                        help="how many videos a file holds; default: %(default)s")
    return shared


if __name__ == "__main__":
    execute(main, arguments().parse_args())
