"""Find which of many ids are known, in time that hardly grows with their number.

Not a program. Ids are kept in the order of their hashes, so a binary search finds an id. If the
hashes of two ids are equal, the ids themselves are compared, so the answer is exact. An id takes
about 25 bytes of memory.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.keyed import keyed_hash


class SortedIds(NamedTuple):
    """Ids in the order of their hashes; `rows`: the original row of each id."""

    hashes: np.ndarray
    ids: pa.Array
    rows: np.ndarray

    def rows_of(self, ids: pa.Array, hashes: np.ndarray) -> np.ndarray:
        """Return the first row of each id (with its hash); -1 for an id that is not known."""
        found = np.full(len(ids), -1, np.int64)
        pending, place = np.arange(len(ids)), np.searchsorted(self.hashes, hashes)
        while len(pending):
            here = place < len(self.hashes)
            here[here] = self.hashes[place[here]] == hashes[pending[here]]
            pending, place = pending[here], place[here]
            same = pc.equal(self.ids.take(pa.array(place)), ids.take(pa.array(pending))).to_numpy(
                zero_copy_only=False
            )
            found[pending[same]] = self.rows[place[same]]
            pending, place = pending[~same], place[~same] + 1  # the next id with this hash
        return found


def hashes_of(ids: pa.Array) -> np.ndarray:
    """Return the (n,) uint64 hashes of ids."""
    return keyed_hash(pd.Series(ids.to_pylist(), dtype=object))


def sorted_ids(ids: pa.Array, hashes: np.ndarray) -> SortedIds:
    """Return ids, which may occur several times, in the order of their hashes."""
    rows = np.argsort(hashes, kind="stable")
    return SortedIds(hashes[rows], ids.take(pa.array(rows)), rows)


class Seen:
    """The ids that were seen so far.

    They are stored in sorted runs. Each run is more than twice as long as the next one. So the
    number of runs grows by one with each doubling of the ids. A batch is looked up in every run,
    and an id moves at most that often to a longer run.
    """

    def __init__(self) -> None:
        self.runs: list[SortedIds] = []

    def new(self, ids: pa.Array, hashes: np.ndarray) -> np.ndarray:
        """Return (n,) whether each id is seen for the first time; afterwards all these ids count as
        seen.
        """
        batch = sorted_ids(ids, hashes)
        new = batch.rows_of(ids, hashes) == np.arange(len(ids))
        for run in self.runs:
            new &= run.rows_of(ids, hashes) < 0
        run = batch if new.all() else sorted_ids(ids.filter(pa.array(new)), hashes[new])
        while self.runs and len(self.runs[-1].ids) <= 2 * len(run.ids):
            longer = self.runs.pop()
            run = sorted_ids(
                pa.concat_arrays([longer.ids, run.ids]), np.concatenate([longer.hashes, run.hashes])
            )
        self.runs.append(run)
        return new
