"""HowTo100M's categories, and the table of videos that they go into.

Not a program.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from scripts.clean.captions import Count
from scripts.clean.howto100m_captions import SPLITS
from scripts.clean.howto100m_ids import SortedIds, hashes_of, sorted_ids
from scripts.common.program import UserError, cut

NAME = "HowTo100M_v1.csv"
CATEGORIES = ["category_1", "category_2"]
VIDEOS = pa.schema([
    ("source", pa.string()), ("split", pa.string()), ("video_id", pa.string()),
    ("category_1", pa.string()), ("category_2", pa.string()), ("captions", pa.int32()),
])
ROWS = 1 << 17  # of the table of videos written at a time


class Listing(NamedTuple):
    """The videos of HowTo100M_v1.csv, and the categories of each row as texts that stand once and their numbers."""

    videos: SortedIds
    categories: dict[str, pa.Array]

    def rows_of(self, ids: pa.Array) -> np.ndarray:
        """For each id the first row that it has, -1 where it has none."""
        return self.videos.rows_of(ids, hashes_of(ids))

    def different(self) -> int:
        """How many different videos are listed."""
        return int(np.count_nonzero(self.videos.rows_of(self.videos.ids, self.videos.hashes) == self.videos.rows))


def listing_of(file: Path) -> Listing:
    """The listing in a file, read as a stream."""
    columns = ["video_id", *CATEGORIES]
    ids, hashes, categories = [], [np.array([], np.uint64)], {name: [] for name in CATEGORIES}
    try:
        with csv.open_csv(file, convert_options=csv.ConvertOptions(
                include_columns=columns, column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False)) as read:
            for batch in read:
                ids.append(batch["video_id"])
                hashes.append(hashes_of(batch["video_id"]))
                for name in CATEGORIES:
                    categories[name].append(batch[name].dictionary_encode())
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: not a CSV file with the columns {', '.join(columns)} ({cut(str(error), 200)}); "
                        "fetch it again") from None
    texts = pa.dictionary(pa.int32(), pa.string())
    return Listing(sorted_ids(pa.chunked_array(ids, pa.string()).combine_chunks(), np.concatenate(hashes)), {
        name: pa.chunked_array(parts, texts).unify_dictionaries().combine_chunks() for name, parts in categories.items()})


class VideoTable:
    """Writes the table of videos with their categories (null where none are known), so many rows at a time."""

    def __init__(self, writer: pq.ParquetWriter, listing: Listing | None):
        self.writer, self.listing = writer, listing
        self.held: list[pa.Table] = []
        self.rows, self.without = 0, dict.fromkeys(SPLITS, 0)

    def add(self, videos: pa.Table) -> None:
        """Add videos, each of which is new."""
        self.held.append(videos)
        if sum(map(len, self.held)) >= ROWS:
            self.write()

    def write(self) -> None:
        """Write what is held."""
        if not self.held:
            return
        videos = pa.concat_tables(self.held).combine_chunks()
        place = np.full(len(videos), -1) if self.listing is None else self.listing.rows_of(videos["video_id"].combine_chunks())
        missing = pa.array(place, mask=place < 0)
        for name in CATEGORIES:
            known = pa.nulls(len(videos), pa.string()) if self.listing is None else self.listing.categories[name].take(missing)
            videos = videos.append_column(name, known.cast(pa.string()))
        for split in SPLITS:
            self.without[split] += int(np.count_nonzero(videos["split"].to_numpy()[place < 0] == split))
        self.writer.write_table(videos.select(VIDEOS.names).cast(self.writer.schema))
        self.rows += len(videos)
        self.held.clear()

    def finish(self) -> list[Count]:
        """Write what is left; returns what the listing lacks, and what is only there."""
        self.write()
        if self.listing is None:
            return []
        others = self.listing.different() - (self.rows - sum(self.without.values()))
        return [*((split, "videos", "noted", f"not in {NAME}", self.without[split]) for split in SPLITS),
                ("all", "videos", "noted", f"in {NAME} but without captions", others)]
