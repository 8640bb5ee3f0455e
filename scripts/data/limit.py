"""The options `limit` and `train_limit` of every study. `limit` cuts an evaluation split to a
maximum number of its items. `train_limit` cuts the training split and the split that chooses the
epoch to a maximum number of their examples. Both draw by hash.

An item is scored and learnt from as a whole. A smaller limit keeps a subset of the items of a
larger one. A model that is asked does not train; it uses training examples only for a threshold,
and `limit` cuts these in the same way.
"""

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.keyed import cutoff_hash, keyed_hash
from scripts.running.program import UserError, log

# identify these draws, so that the builders' other draws from the same ids differ
LIMIT, TRAIN_LIMIT = 7, 8


def limit_hashes(ids: pd.Series, *numbers: np.ndarray) -> np.ndarray:
    """Return the hashes by which items are cut; numbers: values that distinguish items with the
    same id.
    """
    return keyed_hash(ids, *numbers, LIMIT)


def limit_provenance(
    kept: int, of: int, items: str, where: str, option: str = "limit"
) -> dict[str, dict]:
    """Return the provenance of a cut split, and log it; where: the dataset and its split."""
    log.info("%s: cut to %d of %d %s by the option %s", where, kept, of, items, option)
    return {"limited": {"items": items, "kept": kept, "of": of}}


def limited(
    rows: pd.DataFrame, item: str, limit: int | None, items: str, where: str
) -> tuple[pd.DataFrame, dict]:
    """Return the rows of the `limit` items whose ids (column `item`) have the lowest hashes, in
    their order, and the provenance of the cut. Without a limit, return all rows and no provenance.
    items: the word for the items.
    """
    if limit is None:
        return rows, {}
    ids = pd.Series(rows[item].unique(), dtype=object)
    hashes = limit_hashes(ids)
    kept_ids = ids[hashes <= cutoff_hash(hashes, limit)]
    return rows[rows[item].isin(set(kept_ids))], limit_provenance(
        len(kept_ids), len(ids), items, where
    )


def learnt(ids: pd.Series, most: int | None, where: str) -> tuple[np.ndarray, dict]:
    """Return the places of at most `most` rows of a training split, and the provenance of the cut:
    the rows of the items (ids) with the lowest hashes, and of one item at least. None: all rows,
    and no provenance.
    """
    if most is None:
        return np.arange(len(ids)), {}
    sizes = ids.value_counts(sort=False)
    order = np.argsort(keyed_hash(sizes.index.to_series(), TRAIN_LIMIT), kind="stable")
    count = max(1, int((sizes.to_numpy()[order].cumsum() <= most).sum()))
    places = np.flatnonzero(ids.isin(sizes.index[order[:count]]))
    return places, limit_provenance(len(places), len(ids), "examples", where, "train_limit")


def of_lowest(ids: pd.Series, wanted: int | None, what: str, *numbers: int) -> pd.Series:
    """Return which rows belong to the `wanted` ids with the lowest hashes; None: all rows. numbers:
    distinguish draws from the same ids. what: names the option and the items in the UserError for
    fewer ids.
    """
    names = pd.Series(ids.unique(), dtype=object)
    if wanted is None:
        return pd.Series(True, ids.index)
    if wanted > len(names):
        raise UserError(f"{what} asks for {wanted}, but there are {len(names)}; ask for fewer")
    order = np.argsort(keyed_hash(names, *numbers), kind="stable")
    return ids.isin(names[order[:wanted]])


def choosing(table: pa.Table, group: str, threshold: str, where: str) -> pa.Table:
    """Return the rows of a training split that choose a threshold. threshold: the prompt's value,
    `train` or a number. `train` keeps all groups (values of the column `group`). A number keeps at
    most this many groups.
    """
    limit = int(threshold) if threshold.isdecimal() else None
    groups = table.select([group]).to_pandas()
    return table.take(limited(groups, group, limit, "groups", where)[0].index.to_numpy())
