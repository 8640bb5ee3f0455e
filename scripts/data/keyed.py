"""Seeded choices that depend only on a key, not on its place or its neighbours.

A draw by key stays the same if a corpus grows, loses a row or is read in another order. It needs no
loop: every function takes and returns arrays.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

# splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


def keyed_hash(texts: "pd.Series", *numbers: np.ndarray | int) -> np.ndarray:
    """Return a uint64 per row from a text key and more integers (a position, a stride, a seed)."""
    import pandas as pd  # imported late: most training runs draw nothing

    mixed = pd.util.hash_array(texts.to_numpy(dtype=object), categorize=True)
    for number in numbers:
        mixed = mixed + GOLDEN + np.asarray(number).astype(np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * MIX_1
        mixed = (mixed ^ (mixed >> np.uint64(27))) * MIX_2
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed


def cutoff_hash(hashes: np.ndarray, keep: int) -> np.uint64:
    """Return the highest of the `keep` lowest hashes. A row is kept if its hash is at most this
    value. If there are no more than `keep` rows, all rows are kept.
    """
    return np.partition(hashes, keep - 1)[keep - 1] if keep < len(hashes) else np.uint64(2**64 - 1)


def keyed_uniform(texts: "pd.Series", *numbers: np.ndarray | int) -> np.ndarray:
    """Return a float in [0, 1) per row, from the same keys."""
    return (keyed_hash(texts, *numbers) >> np.uint64(11)) / float(2**53)
