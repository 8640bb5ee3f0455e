"""The option limit: fewer evaluation pairs, drawn by hash.

Pairs are drawn by the hash of the video and of the place of the first sentence. So all strides are
compared on nearly the same places. Spans are drawn by hash of their place. The draw ignores the
control of hard pairs, so the control is right on about half of the drawn hard pairs.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.keyed import cutoff_hash
from scripts.data.limit import limit_hashes, limit_provenance
from scripts.studies.strided_sop.options import Options
from scripts.studies.strided_sop.tables import Step, Tables


def place_hashes(pairs: pa.Table, with_stride: bool) -> np.ndarray:
    """Return the hash that decides the limit. Pairs of any stride that begin at one place have the
    same hash; with_stride: in a mixture each stride has another hash.
    """
    columns = ["first_position"]
    if with_stride:
        columns.append("stride")
    return limit_hashes(
        pairs["video_id"].to_pandas(), *(pairs[name].to_numpy() for name in columns)
    )


def in_kept_spans(pairs: pa.Table, highest: np.uint64, length: int, step: int) -> np.ndarray:
    """Return (n,) whether each pair is in a kept span: a span of `length` units with a hash of at
    most `highest`. The units of a span are `step` places apart.
    """
    first, sentences = (
        pairs[name].to_numpy().astype(np.int64) for name in ("first_position", "sentences")
    )
    video, gap = pairs["video_id"].to_pandas(), (pairs["stride"].to_numpy() + 1) // step
    is_kept = np.zeros(len(pairs), bool)
    for place in range(length - 1):  # the place of the pair's first unit in the span
        start = first - place * step
        fits = (
            (start >= 1) & (start + (length - 1) * step <= sentences - 2) & (place + gap < length)
        )
        is_kept |= fits & (limit_hashes(video, start.astype(np.int32)) <= highest)
    return is_kept


def limited(read: Tables, strides: list[int], options: Options, where: str) -> tuple[Step, dict]:
    """Return a step that keeps at most `limit` pairs, or the pairs of at most `limit` spans, and
    the provenance of the cut.
    """
    length, limit, items = options.span, options.limit or 0, "pairs"
    mixed = length is None and len(strides) > 1
    if length is None:
        hashes = np.concatenate([place_hashes(pairs, mixed) for pairs in read()])
    else:  # count the pair of the first and the last unit of each span
        items = "spans"
        counted = (pairs.filter(pc.field("stride") == strides[-1]) for pairs in read())
        hashes = np.concatenate([place_hashes(pairs, False) for pairs in counted])
    highest = cutoff_hash(hashes, limit)

    def step(pairs: pa.Table) -> pa.Table:
        if length is None:
            is_kept = place_hashes(pairs, mixed) <= highest
        else:
            is_kept = in_kept_spans(pairs, highest, length, options.step)
        return pairs.filter(pa.array(is_kept))

    return step, limit_provenance(min(limit, len(hashes)), len(hashes), items, where)
