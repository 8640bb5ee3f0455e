"""The controls that are not searched: a logistic regression on named features, a ranking by
features, the most frequent label, a random one.
"""

import warnings

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, hstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from scripts.controls.folds import Scores
from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError
from scripts.text.text_features import FEATURES, frequency, in_context, shared_numbers
from scripts.text.trigrams import learn, trigram

# C of scikit-learn: of 0.01, 0.03, 0.1, 0.3 and 1 the best, cross-fitted on ActivityNet's pairs
REGULARIZATION = 0.1
# examples that a control learns from, drawn by hash: more examples change little and take minutes
MOST = 200_000
DRAW, COIN = 23, 29  # mark the draws of these examples, and of random predictions
ITERATIONS = 200  # of L-BFGS at most
LEAST_EXAMPLES = 2  # with a feature, so that its weight is learnt
LEAST = -30.0  # the log-probability of a label that the training data does not have


def matrix(table: pd.DataFrame, features: list[str], exchangeable: bool) -> csr_matrix:
    """(n, k) the named features side by side."""
    return hstack([FEATURES[name](table, exchangeable) for name in features], format="csr")


def classifier(features: list[str], train: pd.DataFrame, labels: int, exchangeable: bool) -> Scores:
    """A function from a table to (n, labels) log-probabilities, learnt from the training split."""
    known = train["label"].nunique()
    model = LogisticRegression(
        C=REGULARIZATION, fit_intercept=not exchangeable, max_iter=ITERATIONS, tol=1e-3
    )
    learnt = matrix(train, features, exchangeable)
    kept = np.flatnonzero(np.bincount(learnt.indices, minlength=learnt.shape[1]) >= LEAST_EXAMPLES)
    # no two labels, or no usable feature: no cue occurs anywhere, all lengths are the same
    if known < 2 or not len(kept):
        return tied(labels) if exchangeable else most_frequent(train, labels)
    # the point where it stops is near enough
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model.fit(learnt[:, kept], train["label"])

    def scores(table: pd.DataFrame) -> np.ndarray:
        found = np.full((len(table), labels), LEAST)
        for start in range(0, len(table), MOST):
            part = slice(start, start + MOST)
            found[part, model.classes_] = model.predict_log_proba(
                matrix(table[part], features, exchangeable)[:, kept]
            )
        return np.maximum(found, LEAST)

    return scores


def tied(labels: int) -> Scores:
    """A function from a table to (n, labels) log-probabilities, equal for all labels."""
    return lambda table: np.full((len(table), labels), -np.log(labels))


def most_frequent(train: pd.DataFrame, labels: int) -> Scores:
    """A function from a table to (n, labels) log-probabilities: the shares of the labels in the
    training split.
    """
    shares = np.bincount(train["label"], minlength=labels) / len(train)
    row = np.maximum(np.log(np.maximum(shares, 1e-300)), LEAST)
    return lambda table: np.tile(row, (len(table), 1))


def at_random(labels: int, choices: bool) -> Scores:
    """A function from a table to (n, labels) log-probabilities by a hash of the id. The candidates
    for one mask all tie.
    """
    if choices:
        return lambda table: np.zeros((len(table), 1))

    def scores(table: pd.DataFrame):
        drawn = (keyed_hash(table["example_id"], COIN) % np.uint64(labels)).astype(int)
        return np.where(
            np.arange(labels) == drawn[:, None], np.log(0.9), np.log(0.1 / (labels - 1))
        )

    return scores


def ranking(rank_by: list[str], train: pd.DataFrame) -> Scores:
    """A function from a table to (n, 1) ranks of the candidates, equal where all features are
    equal.
    """
    right = train[train["label"] == 1]
    model = learn(right) if "trigram" in rank_by else None
    known = {
        "in_context": in_context,
        "shared_numbers": shared_numbers,
        "frequency": lambda table: frequency(table, right["second"]),
        "trigram": lambda table: trigram(table, model),  # type: ignore[arg-type]  # then it is learnt
    }

    def scores(table: pd.DataFrame) -> np.ndarray:
        keys = np.column_stack(
            [
                -known[name[1:]](table) if name.startswith("-") else known[name](table)
                for name in rank_by
            ]
        )
        return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1, 1).astype(float)

    return scores


def fit(control: dict, train: pd.DataFrame, labels: int, exchangeable: bool) -> Scores:
    """The control's function from a table to (n, labels or 1) scores. Raises UserError for a
    control that the study cannot have.
    """
    choices = "choice_id" in train
    if "rank_by" in control:
        if not choices:
            raise UserError(
                "rank_by ranks the candidates for one mask, which this study does not have; name "
                "another control"
            )
        return ranking(control["rank_by"], train)
    if control.get("predicts") == "random":
        return at_random(labels, choices)
    if control.get("predicts") == "most_frequent":
        return most_frequent(train, labels)
    if "words_by_category" in control["features"] and "category" not in train:
        raise UserError(
            "words_by_category needs the category of a question, which this study does not have; "
            "name another control"
        )
    return classifier(control["features"], train, labels, exchangeable)


def learns(control: dict) -> bool:
    """Whether a control reads anything from the training split."""
    return (
        "features" in control
        or control.get("predicts") == "most_frequent"
        or bool({"frequency", "-frequency", "trigram"} & set(control.get("rank_by", [])))
    )
