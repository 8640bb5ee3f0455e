"""A bag of words that says which of two texts comes second:
it sees words and pairs of neighbouring words, no more.

A logistic regression on the words of the second text less those of the first. Without an intercept
it is antisymmetric: swapped texts get minus the score. Not a program.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from scripts.data.keyed import keyed_hash

FOLDS = 5
# the draw of folds, apart from the other draws from the same key
# (scripts/studies/strided_sop/build.py)
FOLD = 4
# C of scikit-learn: of 0.01, 0.03, 0.1, 0.3 and 1 the best,
# cross-fitted on the training pairs of ActivityNet
REGULARIZATION = 0.1


def words_and_bigrams() -> HashingVectorizer:
    """Counts of words and bigrams in lower case, hashed: no vocabulary is learnt, so memory is
    bounded and nothing leaks.
    """
    return HashingVectorizer(
        ngram_range=(1, 2),
        token_pattern=r"(?u)\b\w+\b",
        n_features=2**18,
        alternate_sign=False,
        norm=None,
    )


def difference_features(first: Sequence[str], second: Sequence[str], vectorizer) -> csr_matrix:
    """(n, features): the vector of each second text less that of its first;
    `vectorizer` has a `transform` of texts.
    """
    return csr_matrix(vectorizer.transform(second) - vectorizer.transform(first))


def fitted(features: csr_matrix, labels: np.ndarray) -> LogisticRegression:
    """A logistic regression on difference features; labels: 1 or 0. Deterministic."""
    # The dual form: by coordinates, without the threads of a linear algebra library, which fight
    # over busy cores.
    model = LogisticRegression(
        C=REGULARIZATION,
        fit_intercept=False,
        solver="liblinear",
        dual=True,
        max_iter=1000,
        random_state=0,
    )
    return model.fit(features, labels)


def fold_of(groups: pd.Series) -> np.ndarray:
    """(n,) the fold, from 0 to FOLDS - 1, of each row's group: by a hash,
    so that it is the same in every table.
    """
    return (keyed_hash(groups, FOLD) % np.uint64(FOLDS)).astype(int)


def fold_weights(features: csr_matrix, labels: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """(FOLDS, features): row k is learnt from all folds but k.

    Where what is left for a fold has one label only, or nothing at all, nothing is learnt: its
    weights are zero.
    """
    weights = np.zeros((FOLDS, features.shape[1]))
    for number in range(FOLDS):
        others = np.flatnonzero(fold != number)
        if len(np.unique(labels[others])) == 2:
            weights[number] = fitted(features[others], labels[others]).coef_[0]
    return weights


def margins(features: csr_matrix, fold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n,) of each row, by the weights that did not see its fold: above 0 where label 1 is
    likelier, 0 where undecided.
    """
    margin = np.zeros(features.shape[0])
    for number in range(FOLDS):
        mine = np.flatnonzero(fold == number)
        margin[mine] = features[mine] @ weights[number]
    return margin
