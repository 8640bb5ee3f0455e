"""Read the captions of a cleaned split, table by table, each of whole videos. A large corpus has
more captions than fit into memory.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.data.keyed import cutoff_hash, keyed_hash
from scripts.data.tables import CAPTIONS, read_complete, read_table
from scripts.data.texts import json_of, text_of
from scripts.running.program import UserError

VIDEO = 3  # the number of the draw of videos: other draws from the same key differ
AT_ONCE = 1 << 18  # captions made into pairs at a time


def shards(cleaned: Path, split: str) -> list[Path]:
    """Return the Parquet files of a cleaned split, in order."""
    manifest = cleaned / split / "manifest.json"
    if not manifest.exists():
        return [cleaned / f"{split}.parquet"]
    try:
        return [
            manifest.parent / shard["file"]
            for shard in json_of(text_of(manifest), str(manifest))["shards"]
        ]
    except (KeyError, TypeError):
        raise UserError(f"{manifest}: names no shards; clean the source again") from None


def in_whole_videos(captions: pa.Table) -> Iterator[pa.Table]:
    """Return captions in tables of whole videos, each of at least AT_ONCE captions (the last may
    have fewer).
    """
    is_first = captions["position"].to_numpy() == 0
    firsts, begin = np.append(np.flatnonzero(is_first), len(captions)), 0
    while len(captions) - begin > AT_ONCE:
        end = int(firsts[np.searchsorted(firsts, begin + AT_ONCE)])
        yield captions.slice(begin, end - begin)
        begin = end
    yield captions.slice(begin)


def video_hashes(captions: pa.Table) -> np.ndarray:
    return keyed_hash(captions["video_id"].to_pandas(), VIDEO)


def captions_of(cleaned: Path, split: str, max_videos: int | None) -> Iterator[pa.Table]:
    """Return the captions of a split. The option max_videos keeps the videos with the lowest hashes
    of their ids.
    """
    files = shards(cleaned, split)
    if max_videos is not None:
        videos = [
            read_table(file, ["video_id"], CAPTIONS).group_by("video_id").aggregate([])
            for file in files
        ]
        highest = cutoff_hash(np.concatenate([*map(video_hashes, videos)]), max_videos)
    for file in files:
        captions = read_complete(file, CAPTIONS)
        if max_videos is not None:
            captions = captions.filter(pa.array(video_hashes(captions) <= highest))
        yield from in_whole_videos(captions)


def with_counts(captions: pa.Table) -> pa.Table:
    """Return captions with the number of sentences of their video, and the number of their row."""
    video = captions["video_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    sentences = np.bincount(video)[video].astype(np.int32)
    counted = captions.append_column("sentences", pa.array(sentences))
    return counted.append_column("row", pa.array(np.arange(len(captions))))


def categories_of(cleaned: Path) -> pa.Table | None:
    """Return the videos of a source with known categories: video_id, category_1; None if the source
    has no videos.parquet.
    """
    file = cleaned / "videos.parquet"
    schema = pa.schema(dict.fromkeys(["video_id", "category_1"], pa.string()))
    return read_complete(file, schema, ["category_1"]).combine_chunks() if file.exists() else None
