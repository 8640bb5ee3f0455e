"""Contrast pairs: each item of an evaluation split, beside a counterpart that differs in one thing.

The id of a counterpart is its original's id followed by COUNTERPART. A dataset with contrast pairs
holds only items that have a counterpart. A system is right on a pair if it is right on both items
(Gardner et al. 2020, contrast consistency).
"""

import numpy as np
import pandas as pd

COUNTERPART = ":counterpart"


def is_counterpart(ids: pd.Series) -> np.ndarray:
    """Return (n,) whether each id is the id of a counterpart."""
    return ids.str.endswith(COUNTERPART).to_numpy(bool)


def contrast_pairs(ids: np.ndarray | pd.Index) -> np.ndarray:
    """Return (pairs, 2), the places of each original and its counterpart; (0, 2) without pairs."""
    names = pd.Index(ids)
    originals = np.flatnonzero(~is_counterpart(names.to_series()))
    places = names.get_indexer(names[originals] + COUNTERPART)
    return np.column_stack([originals, places])[places >= 0]
