"""Generic learners that know nothing of a study: words, pairs of words, raw numbers.

The network is the family that filters leave out (scripts/measure/filtered.py), so no searched view
has it. It learns from scratch, from few dimensions of the words: singular vectors, and the features
that differ most by label. benchmarks.attack tries all of these learners.
"""

from functools import partial

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from scripts.controls.folds import Scores
from scripts.controls.search import WORD, exchanged, log_probabilities

SIDES, NUMBERS = ("first", "second"), 4  # texts; numbers read from each
FREQUENT, NARROW = 4096, 64  # words, or pairs, with singular vectors; these, and words by label
FEATURES = ("words", "pairs", "numbers", "words pairs numbers")
LEARNERS = ("linear", "boosted", "network")


def word_pairs(data: pd.DataFrame) -> list[list[str]]:
    """Return each word of one text with each word of the other."""
    sets = [data[side].str.lower().str.findall(WORD).map(set) for side in SIDES]
    return [[f"{one}>{other}" for one in ones for other in others] for ones, others in zip(*sets)]


def read_numbers(data: pd.DataFrame) -> np.ndarray:
    """Return the first numbers of each text, logarithms, differences across the texts, lengths."""
    rows = [data[side].str.findall(r"\d+(?:\.\d+)?") for side in SIDES]
    padded = [[([*map(float, row), *[0] * NUMBERS])[:NUMBERS] for row in of] for of in rows]
    found = np.minimum(np.array(padded, float), 1e9)
    logs, length = np.log1p(found), np.log1p([data[side].str.len() for side in SIDES])[..., None]
    less = [logs[0] - logs[1], np.sign(found[0] - found[1]), length[0] - length[1]]
    return np.hstack([*found, *logs, *length, *less])


def frequency(given: csr_matrix, label: pd.Series) -> np.ndarray:
    """Return how much of each feature the examples have; it reads no label."""
    return np.asarray(given.sum(0)).ravel()


def learner_of(features: str, learner: str) -> BaseEstimator:
    """Return a learner (LEARNERS) of features (FEATURES), not yet fitted."""
    hashed = partial(HashingVectorizer, n_features=2**18, alternate_sign=False)
    of_text = {"ngram_range": (1, 2), "token_pattern": WORD}
    words = [(make_pipeline(hashed(**of_text), TfidfTransformer()), side) for side in SIDES]
    parts = {
        "words": make_column_transformer(*words),
        "pairs": make_pipeline(FunctionTransformer(word_pairs), hashed(analyzer=list)),
        "numbers": make_pipeline(FunctionTransformer(read_numbers), StandardScaler()),
    }
    for name in () if learner == "linear" else ("words", "pairs"):
        vectors = make_pipeline(
            SelectKBest(frequency, k=FREQUENT), TruncatedSVD(NARROW, random_state=0)
        )
        few = make_union(vectors, SelectKBest(chi2, k=NARROW))
        parts[name] = make_pipeline(parts[name], few, FunctionTransformer(csr_matrix.toarray))
    learners = {
        "linear": [VarianceThreshold(), LogisticRegression(tol=1e-3)],
        "boosted": [HistGradientBoostingClassifier(max_leaf_nodes=8, random_state=0)],
        "network": [StandardScaler(), MLPClassifier((64,), early_stopping=True, random_state=0)],
    }
    read = make_union(*(parts[name] for name in features.split()))
    return make_pipeline(read, *learners[learner])


def both_ways(data: pd.DataFrame, turns: bool) -> pd.DataFrame:
    """Return the examples, and the exchanged ones where that turns the label."""
    return pd.concat([data, exchanged(data).assign(label=1 - data["label"])]) if turns else data


def fit(learner: BaseEstimator, train: pd.DataFrame, labels: int, turns: bool) -> Scores:
    """Fit a learner; return a function from a table to (n, labels) log-probabilities. Where
    exchanging the texts turns the label, it learns both orders and returns the mean of both.
    """
    learner.fit(both := both_ways(train, turns), both["label"])

    def scores(data: pd.DataFrame) -> np.ndarray:
        found = log_probabilities(learner, data, labels)
        if turns:
            found = (found + log_probabilities(learner, exchanged(data), labels)[:, ::-1]) / 2
        return found

    return scores
