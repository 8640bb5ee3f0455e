"""Group texts that are near copies of each other.

Two texts are near copies if they share at least ALIKE of their different pairs of neighbouring
words, numbers counted as one word: the resemblance of shingles of Broder (1997). Near copies of
near copies are one group (connected components). So a template is mostly one group. Fewer texts
differ in numbers and signs alone.
"""

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import HashingVectorizer

ALIKE = 0.4
AT_ONCE = 500  # texts that are compared with all others at one time: bounds memory
PAIRS = HashingVectorizer(
    token_pattern=r"\w+", ngram_range=(2, 2), binary=True, norm=None, alternate_sign=False
)


def without_numbers(texts: pd.Series) -> pd.Series:
    return texts.str.lower().str.replace(r"\d+", "0", regex=True)


def but_for_numbers(texts: pd.Series) -> pd.Series:
    """Return what is equal for texts that differ in numbers and signs alone."""
    return texts.str.lower().str.replace(r"[\d\W]+", " ", regex=True).str.strip()


def near_copies(texts: pd.Series, declared: np.ndarray | None = None) -> np.ndarray:
    """Return (n,) the number of each text's group of near copies. declared: (n,) the numbers of
    groups that belong together, too.
    """
    code, different = pd.factorize(without_numbers(texts))
    declared = code if declared is None else declared
    pairs = PAIRS.transform(different).astype(np.float32).tocsr()
    count, turned = np.asarray(pairs.sum(1)).ravel(), pairs.T.tocsr()
    near = [np.column_stack([code, len(different) + declared])]
    for start in range(0, len(different), AT_ONCE):
        both = (pairs[start : start + AT_ONCE] @ turned).tocoo()
        either = count[both.row + start] + count[both.col] - both.data
        is_near = both.data >= ALIKE * either
        near.append(np.column_stack([both.row + start, both.col])[is_near])
    one, other = np.concatenate(near).T
    size = len(different) + declared.max() + 1
    graph = sparse.coo_array((np.ones(len(one), bool), (one, other)), (size, size))
    return connected_components(graph, directed=False)[1][code]
