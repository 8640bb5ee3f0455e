"""The columns that describe a strided pair: overlap, place, lengths, time, category. slices.py
makes slices of them.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.studies.strided_sop.tables import STRIDED_PAIRS


def overlaps(first: pa.Table, last: pa.Table) -> np.ndarray:
    """Return (n,) the share of each pair's shorter clip that lies in the other clip, from 0 to 1. A
    clip without length inside the other clip gives 1. A start after its end is exchanged with the
    end.
    """
    clips = [
        np.sort([captions[name].to_numpy() for name in ("start_s", "end_s")], axis=0)
        for captions in (first, last)
    ]
    (start, end), (other_start, other_end) = clips
    begin, until = np.maximum(start, other_start), np.minimum(end, other_end)
    shorter = np.minimum(end - start, other_end - other_start)
    shares = np.clip(until - begin, 0, None) / np.where(shorter > 0, shorter, 1)
    return np.where(shorter > 0, np.minimum(shares, 1), (until >= begin).astype(float))


def words(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the number of words of each cleaned text; one space separates two words."""
    return pc.add(pc.count_substring(texts, " "), 1).cast(pa.int32())


def described(
    pairs: pa.Table, first: pa.Table, last: pa.Table, categories: pa.Table | None
) -> pa.Table:
    """Return pairs with all columns (schema strided pairs). first, last: the captions of each pair,
    with `sentences`, the number of sentences of their video; categories: video_id and category_1,
    if known.
    """
    sentences = first["sentences"].to_numpy()
    places = pairs["first_position"].to_numpy() + pairs["second_position"].to_numpy()
    category = pa.nulls(len(pairs), pa.string())
    if categories is not None:
        row = pc.index_in(pairs["video_id"], categories["video_id"].combine_chunks())
        category = categories["category_1"].combine_chunks().take(row)
    columns = {
        "overlap": overlaps(first, last),
        "same_start": pc.equal(first["start_s"], last["start_s"]),
        "relative_position": places / 2 / np.maximum(sentences - 1, 1),
        "sentences": sentences,
        "words_a": words(pairs["text_a"]),
        "words_b": words(pairs["text_b"]),
        "seconds_apart": pc.subtract(last["start_s"], first["start_s"]),
        "category": category,
    }
    return pa.table(dict(zip(pairs.column_names, pairs.columns)) | columns, schema=STRIDED_PAIRS)
