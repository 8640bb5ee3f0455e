"""The pairs of a split of cleaned captions, of one stride or several, table by table.

Not a program.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.studies.strided_sop.caption_windows import windows
from scripts.studies.strided_sop.pairs import Categories, mixed_pairs
from scripts.data.keyed import highest_kept, keyed_hash
from scripts.running.program import UserError
from scripts.data.sorted_ids import hashes_of, sorted_ids
from scripts.data.tables import CAPTIONS, read_complete, read_table
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.data.texts import json_of, text_of

VIDEO = 3  # the draw of videos, apart from the other draws from the same key
PART = 1 << 18  # captions made into pairs at a time


def shards(cleaned: Path, split: str) -> list[Path]:
    """The Parquet files of one cleaned split, in order."""
    manifest = cleaned / split / "manifest.json"
    if manifest.exists():
        try:
            return [manifest.parent / shard["file"] for shard in json_of(text_of(manifest), str(manifest))["shards"]]
        except (KeyError, TypeError):
            raise UserError(f"{manifest}: names no shards; clean the source again") from None
    return [cleaned / f"{split}.parquet"]


def parts_of(captions: pa.Table) -> Iterator[pa.Table]:
    """Captions in parts of whole videos, of at least PART captions (the last may have less)."""
    firsts, begin = np.append(np.flatnonzero(captions["position"].to_numpy() == 0), len(captions)), 0
    while len(captions) - begin > PART:
        end = int(firsts[np.searchsorted(firsts, begin + PART)])
        yield captions.slice(begin, end - begin)
        begin = end
    yield captions.slice(begin)


class Part(NamedTuple):
    """A split of a cleaned source, the strides of the pairs that it gives, and a stride that its videos must reach, too (or None)."""

    cleaned: Path
    split: str
    strides: list[int]
    same_videos: int | None


def units_of(part: Part, options: dict) -> Iterator[pa.Table]:
    """What is put in order, a table after the other: the captions of a split, or its windows of captions (schema captions)."""
    for captions in kept_videos(shards(part.cleaned, part.split), options["max_videos"]):
        yield windows(captions, options["context"])


def kept_videos(files: list[Path], max_videos: int | None) -> Iterator[pa.Table]:
    """The captions of each shard in parts, cut to the `max_videos` videos whose ids hash lowest."""
    if max_videos is None:
        for file in files:
            yield from parts_of(read_complete(file, CAPTIONS))
        return
    hashes = [keyed_hash(pc.unique(read_table(file, ["video_id"], CAPTIONS)["video_id"]).to_pandas(), VIDEO) for file in files]
    highest = highest_kept(np.concatenate(hashes), max_videos)
    for file in files:
        captions = read_complete(file, CAPTIONS)
        captions = captions.filter(pa.array(keyed_hash(captions["video_id"].to_pandas(), VIDEO) <= highest))
        yield from parts_of(captions)


def categories_of(cleaned: Path) -> Categories | None:
    """The categories of a source whose cleaner knows them."""
    file = cleaned / "videos.parquet"
    schema = pa.schema([("video_id", pa.string()), ("category_1", pa.string())])
    if not file.exists():
        return None
    videos = read_complete(file, schema, ["category_1"])
    ids = videos["video_id"].combine_chunks()
    return Categories(sorted_ids(ids, hashes_of(ids)), videos["category_1"].combine_chunks())


def pairs_of(part: Part, options: dict) -> Iterator[pa.Table]:
    """All pairs of a split (schema strided pairs), table by table; their label is the order."""
    categories = categories_of(part.cleaned)
    for captions in units_of(part, options):
        pairs = mixed_pairs(captions, part.strides, options["label_seed"], part.same_videos, categories)
        yield pairs.cast(STRIDED_PAIRS)
