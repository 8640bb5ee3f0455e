"""Cut pairs to a size (the options size_matched and train_pairs), and several strides to equally
many pairs of each.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError
from scripts.studies.strided_sop.options import Options
from scripts.studies.strided_sop.tables import Split, Step, Tables

SIZE = 2  # the number of the draw of pairs: other draws from the same key differ
HIGHEST = np.uint64(2**64 - 1)
BITS = 16  # the first bits of a hash, used to count pairs
SHIFT = np.uint64(64 - BITS)


def by_stride(ids: Tables, strides: list[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Return each stride with the hashes of its pairs, table by table."""
    for pairs in ids():
        stride, hashes = pairs["stride"].to_numpy(), hashes_of(pairs)
        yield from ((one, hashes[stride == one]) for one in strides)


def hashes_of(pairs: pa.Table) -> np.ndarray:
    """Return the hash that decides the cut to a size: pairs with the lowest hashes are kept."""
    return keyed_hash(pairs["pair_id"].to_pandas(), SIZE)


def are_lowest(pairs: pa.Table, highest: dict[int, np.uint64]) -> np.ndarray:
    """Return (n,) whether the hash of each pair is at most the highest kept one of its stride."""
    strides = sorted(highest)
    limits = np.array([highest[stride] for stride in strides], np.uint64)
    return hashes_of(pairs) <= limits[np.searchsorted(strides, pairs["stride"].to_numpy())]


def lowest_of_each(ids: Tables, counted: dict[int, np.ndarray], size: int) -> Step:
    """Return a step that keeps `size` pairs of each stride. counted: pairs by the first bits of
    their hashes. Memory holds only the hashes near the limits.
    """
    up_to = {stride: counts.cumsum() for stride, counts in counted.items()}
    near = {stride: int(np.searchsorted(sums, size)) for stride, sums in up_to.items()}
    held = {stride: [np.array([], np.uint64)] for stride in counted}
    for stride, hashes in by_stride(ids, list(counted)):
        held[stride].append(hashes[hashes >> SHIFT == near[stride]])
    highest = dict.fromkeys(counted, HIGHEST)
    for stride, sums in up_to.items():
        if size < sums[-1]:
            place = size - sums[near[stride]] + counted[stride][near[stride]] - 1
            highest[stride] = np.sort(np.concatenate(held[stride]))[place]
    return lambda pairs: pairs.filter(pa.array(are_lowest(pairs, highest)))


def cut_to_size(
    ids: Tables, split: Split, options: Options, matched: int | None = None, most: int | None = None
) -> Step:
    """Return a step that keeps equally many pairs of each stride: `most`, or as many as all strides
    together need for `matched` pairs (those of the stride size_matched), or else as many as the
    largest stride has. ids: pair_id and stride of all pairs. Raises UserError if no pair is kept,
    or if there are fewer than `most`.
    """
    counted = {stride: np.zeros(1 << BITS, np.int64) for stride in split.strides}
    for stride, hashes in by_stride(ids, split.strides):
        counted[stride] += np.bincount((hashes >> SHIFT).astype(np.int64), minlength=1 << BITS)
    largest = split.strides[-1]
    size, setting = counted[largest].sum(), f"stride {options.stride} mixes stride {largest}"
    if most:
        if most > size:
            raise UserError(
                f"{split.name}.parquet: train_pairs is {most}, but {split.cleaned} split "
                f"{split.name} has {size} pairs of stride {largest}; ask for fewer"
            )
        size = most
    elif matched is not None:
        size = -(-matched // len(split.strides))
        setting = f"size_matched names stride {options.size_matched}"
    if size == 0:
        raise UserError(
            f"{split.name}.parquet: {setting}, which has no pairs in {split.cleaned} split "
            f"{split.name}; name a smaller stride"
        )
    return lowest_of_each(ids, counted, size)
