"""The pairs of a split of cleaned captions, of one stride or several, table by table.

Not a program. The units that are put in order are captions. If single captions are no useful units
(HowTo100M's lines of speech are cut anywhere), the units are windows of captions. Windows do not
overlap.

  {"seconds": n}     window k of a video contains the captions that start in [k·n, (k+1)·n) seconds.
                     A window without captions does not exist. So neighbours may be further apart
                     (column seconds_apart of the pairs)
  {"sentences": k}   k captions in a row, fewer in a video's last window
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.studies.strided_sop.options import Options
from scripts.data.keyed import cutoff_hash, keyed_hash
from scripts.data.tables import CAPTIONS, read_complete, read_table
from scripts.data.texts import json_of, text_of
from scripts.running.program import UserError
from scripts.studies.strided_sop.pairs import mixed_pairs

VIDEO = 3  # the number of the draw of videos: other draws from the same key differ
PART = 1 << 18  # captions made into pairs at a time


class Part(NamedTuple):
    """A split of a cleaned source, the strides of its pairs, and a stride that its videos must also
    reach (or None).
    """

    cleaned: Path
    split: str
    strides: list[int]
    same_videos: int | None


def shards(part: Part) -> list[Path]:
    """Return the Parquet files of a cleaned split, in order."""
    manifest = part.cleaned / part.split / "manifest.json"
    if not manifest.exists():
        return [part.cleaned / f"{part.split}.parquet"]
    try:
        return [
            manifest.parent / shard["file"]
            for shard in json_of(text_of(manifest), str(manifest))["shards"]
        ]
    except (KeyError, TypeError):
        raise UserError(f"{manifest}: names no shards; clean the source again") from None


def parts_of(captions: pa.Table) -> Iterator[pa.Table]:
    """Return captions in parts of whole videos, each of at least PART captions (the last may have
    fewer).
    """
    firsts, begin = (
        np.append(np.flatnonzero(captions["position"].to_numpy() == 0), len(captions)),
        0,
    )
    while len(captions) - begin > PART:
        end = int(firsts[np.searchsorted(firsts, begin + PART)])
        yield captions.slice(begin, end - begin)
        begin = end
    yield captions.slice(begin)


def limit_videos(files: list[Path], max_videos: int | None) -> Iterator[pa.Table]:
    """Return the captions of each shard in parts, limited to the `max_videos` videos with the
    lowest hashes of their ids.
    """
    if max_videos is not None:
        hashes = [
            keyed_hash(
                pc.unique(read_table(file, ["video_id"], CAPTIONS)["video_id"]).to_pandas(), VIDEO
            )
            for file in files
        ]
        highest = cutoff_hash(np.concatenate(hashes), max_videos)
    for file in files:
        captions = read_complete(file, CAPTIONS)
        if max_videos is not None:
            captions = captions.filter(
                pa.array(keyed_hash(captions["video_id"].to_pandas(), VIDEO) <= highest)
            )
        yield from parts_of(captions)


def windows(captions: pa.Table, context: dict | None) -> pa.Table:
    """Return the windows of a table of whole videos (schema captions, positions from 0). A window's
    text joins its captions with spaces; it lasts from the first start to the last end. Without a
    context the captions do not change.
    """
    if context is None or not len(captions):
        return captions
    position = captions["position"].to_numpy()
    [(unit, length)] = context.items()
    bin_of = (
        position // length
        if unit == "sentences"
        else np.floor(captions["start_s"].to_numpy() / length)
    )
    begins = np.append(True, (position[1:] == 0) | (bin_of[1:] != bin_of[:-1]))
    frame = captions.select(["text", "start_s", "end_s"]).to_pandas()
    joined = frame.groupby(np.cumsum(begins) - 1).agg(
        {"text": " ".join, "start_s": "min", "end_s": "max"}
    )
    number = np.arange(len(joined))
    changed = dict(joined) | {
        "position": number - np.maximum.accumulate(np.where(position[begins] == 0, number, 0))
    }
    first = captions.filter(pa.array(begins))
    return pa.table(
        {name: changed.get(name, first[name]) for name in CAPTIONS.names}, schema=CAPTIONS
    )


def units_of(part: Part, options: Options) -> Iterator[pa.Table]:
    """Return the units that are put in order, table by table: the captions of a split, or its
    windows of captions (schema captions).
    """
    for captions in limit_videos(shards(part), options.max_videos):
        yield windows(captions, options.context)


def categories_of(cleaned: Path) -> pa.Table | None:
    """Return the videos of a source with known categories: video_id, category_1; None if the source
    has no videos.parquet.
    """
    file = cleaned / "videos.parquet"
    schema = pa.schema(dict.fromkeys(["video_id", "category_1"], pa.string()))
    return read_complete(file, schema, ["category_1"]).combine_chunks() if file.exists() else None


def pairs_of(part: Part, options: Options) -> Iterator[pa.Table]:
    """Return all pairs of a split (schema strided pairs), table by table; their label is
    the order.
    """
    categories = categories_of(part.cleaned)
    for captions in units_of(part, options):
        yield mixed_pairs(captions, part.strides, options.label_seed, part.same_videos, categories)
