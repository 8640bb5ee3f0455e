"""The option `limit` of every study: an evaluation split is cut to at most so many of its items, by
hash.

An item is scored as a whole. A smaller limit keeps a part of the items of a larger one. What a
model learns from is never cut, nor what chooses the epoch. A model that is asked learns nothing; it
reads training examples for a threshold alone, and these are cut in the same way.
"""

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.keyed import cutoff_hash, keyed_hash
from scripts.running.program import log

LIMIT = 7  # marks the draw, so that the builders' other draws from the same ids differ


def limit_hashes(ids: pd.Series, *numbers: np.ndarray) -> np.ndarray:
    """The hash by which items are cut; numbers: values that separate items of one id."""
    return keyed_hash(ids, *numbers, LIMIT)


def limit_provenance(kept: int, of: int, items: str, where: str) -> dict:
    """The provenance of a cut split, which is also logged; where: the dataset and its split."""
    log.info("%s: cut to %d of %d %s by the option limit", where, kept, of, items)
    return {"limited": {"items": items, "kept": kept, "of": of}}


def limited(
    rows: pd.DataFrame, item: str, limit: int | None, items: str, where: str
) -> tuple[pd.DataFrame, dict]:
    """The rows of the `limit` items whose ids (column `item`) hash lowest, in their order, and the
    provenance of the cut. Without a limit all rows, and no provenance. items: the word for them.
    """
    if limit is None:
        return rows, {}
    ids = pd.Series(rows[item].unique(), dtype=object)
    hashes = limit_hashes(ids)
    kept_ids = ids[hashes <= cutoff_hash(hashes, limit)]
    return rows[rows[item].isin(set(kept_ids))], limit_provenance(
        len(kept_ids), len(ids), items, where
    )


def choosing(table: pa.Table, group: str, threshold: str, where: str) -> pa.Table:
    """The rows of a training split that choose a threshold: of so many groups (a column's name), or
    all. threshold: of the prompt, `train` or a limit.
    """
    limit = int(threshold) if threshold.isdecimal() else None
    groups = table.select([group]).to_pandas()
    return table.take(limited(groups, group, limit, "groups", where)[0].index.to_numpy())
