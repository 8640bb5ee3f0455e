"""The learners of a searched control: each is fitted to a view, and cross-fitted.

A view is what a control may see: one text, the words of both, all candidates without the context.
A study declares its views as features (scripts/studies/<study>/controls.py, VIEWS). The learners
are shared:
  rule      a score that a study declares before looking at the test set; nothing is learnt
  learnt    a number that the view learns: a place in the video, a count, a trigram
  linear    a logistic regression on words, cues, pairs, mean word vectors and numbers. If the
            view has `by`, it is called crossed: each cue has a weight for each value of `by`
  apart     a logistic regression on numbers for each value of `by`
  boosted   gradient boosting on numbers, learnt numbers, and the score of the best linear learner

Search cross-fits each learner: it leaves out one fold of the groups at a time
(scripts/controls/folds.py). scripts/controls/stack.py chooses the best, or stacks them.
"""

import warnings
from collections.abc import Callable, Container, Sized
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, hstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from scripts.controls.folds import fold_of
from scripts.controls.view import Numbers, View
from scripts.text.rows_of_texts import RowsOfTexts

APART = (1.0, 100.0)  # C of the regressions of each value of `by`
LEAST_EXAMPLES = 2  # with a word, a cue or a pair, so that its weight is learnt
WORD = r"(?u)\b\w+\b"
WORDS = (
    {"ngram_range": (1, 2), "token_pattern": WORD},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
)
STACKED = 1.0  # C of the linear learner whose score boosting reads
ITERATIONS = 300  # of a logistic regression at most
LEAST = -30.0  # the log-probability of a label that the training data does not have


class Vectors(NamedTuple):
    """Word vectors: n words, and (n, d) their vectors."""

    words: list[str]
    numbers: np.ndarray


def exchanged(table: pd.DataFrame) -> pd.DataFrame:
    """The examples with their two texts exchanged."""
    return table.rename(columns={"first": "second", "second": "first"})


def columns(found: np.ndarray) -> np.ndarray:
    """(n, k) from (n,) or (n, k)."""
    return np.asarray(found, float).reshape(len(found), -1)


class Inputs(NamedTuple):
    """The inputs of the learners for n examples.

    rules (n, r); sparse (n, k): words, cues, crossed cues and numbers; numbers (n, j); turned: the
    numbers of the exchanged examples, where the texts are exchangeable; by (n,)
    """

    rules: np.ndarray
    sparse: csr_matrix
    numbers: np.ndarray
    turned: np.ndarray
    by: np.ndarray

    def rows(self, rows: np.ndarray) -> "Inputs":
        """Return the inputs of these examples."""
        return Inputs(*(part[rows] for part in self))


def nothing_of(table: pd.DataFrame) -> pd.Series:
    """The same value for all examples."""
    return pd.Series("", table.index)


def mean_vectors(
    view: View, train: pd.DataFrame, vectors: Vectors
) -> Callable[[pd.DataFrame], csr_matrix]:
    """A function from a table to (n, k (1 + d)): a one and the mean word vector of each text, in
    the columns of its value of `by`. Words weigh by tf-idf. Each of the d numbers is scaled to a
    standard deviation of one in training.
    """
    assert view.averaged
    texts, by = view.averaged, view.by or nothing_of
    weights = TfidfVectorizer(vocabulary=vectors.words, token_pattern=WORD, sublinear_tf=True)
    weights.fit(texts(train))

    def means(table: pd.DataFrame) -> np.ndarray:
        of_words = weights.transform(texts(table))
        return (of_words @ vectors.numbers) / np.maximum(np.asarray(of_words.sum(1)), 1e-9)

    scale, counts = StandardScaler().fit(means(train)), by(train).value_counts()
    values = counts.index[counts >= LEAST_EXAMPLES]

    def read(table: pd.DataFrame) -> csr_matrix:
        numbers = np.column_stack([np.ones(len(table)), scale.transform(means(table))])
        value, width = values.get_indexer(by(table)), numbers.shape[1]
        numbers[value < 0] = 0
        places = np.maximum(value, 0)[:, None] * width + np.arange(width)
        ends = np.arange(len(table) + 1) * width
        shape = len(table), len(values) * width
        return csr_matrix((numbers.ravel(), places.ravel(), ends), shape=shape)

    return read


def reader(
    view: View, train: pd.DataFrame, exchangeable: bool, vectors: Vectors | None = None
) -> Callable[..., Inputs]:
    """A function from a table to its Inputs, with the words, cues and scales of the training split.
    It reads no label of the training split.
    """
    both = pd.concat([train, exchanged(train)]) if exchangeable or view.each else train

    def crossed_cues(table: pd.DataFrame) -> list[str]:
        assert view.cues and view.by
        return [
            " ".join([f"by|{by}", *cues.split(), *(f"{cue}|{by}" for cue in cues.split())])
            for cues, by in zip(view.cues(table), view.by(table).str.replace(" ", "_"))
        ]

    counters: list[tuple[Callable, Any]] = [
        (view.words, TfidfVectorizer(min_df=LEAST_EXAMPLES, sublinear_tf=True, **how))
        for how in WORDS
        if view.words
    ]
    if view.cues:
        cues = CountVectorizer(analyzer=str.split, min_df=LEAST_EXAMPLES, binary=True)
        counters.append((crossed_cues if view.by else view.cues, cues))
    if view.pairs:
        counters.append((view.pairs, Pairs()))
    counters = [
        (texts, counter.transform if texts is view.pairs else RowsOfTexts(counter.transform))
        for texts, counter in counters
        if has_words(counter, texts(both))
    ]
    scale = StandardScaler().fit(numbers_of(view, both))
    averages = [mean_vectors(view, both, vectors)] if vectors and view.averaged else []

    def one_way(table: pd.DataFrame, numbers: np.ndarray) -> csr_matrix:
        parts = [rows_of(texts(table)).astype(float) for texts, rows_of in counters]
        parts += [average(table) for average in averages]
        return beside(hstack(parts) if parts else None, scale.transform(numbers))

    def read(table: pd.DataFrame) -> Inputs:
        numbers = of_turned = numbers_of(view, table)
        sparse = one_way(table, numbers)
        if exchangeable or view.each:
            of_turned = numbers_of(view, turned := exchanged(table))
            back = one_way(turned, of_turned)
            sparse = csr_matrix(sparse - back) if exchangeable else hstack([sparse, back], "csr")
        if view.each and not exchangeable:
            numbers = np.column_stack([numbers, of_turned])
        return Inputs(
            stacked(table, [columns(rule(table)) for rule in view.rules.values()]),
            sparse,
            numbers,
            of_turned,
            (view.by or nothing_of)(table).to_numpy(object),
        )

    return read


class Pairs:
    """A counter of pairs: a token of one text with a token of the other."""

    def products(self, texts: tuple[pd.Series, pd.Series]) -> tuple[np.ndarray, np.ndarray]:
        """(m,) the row and (m,) the number of each pair."""
        one, other = (side.transform(of) for side, of in zip(self.sides, texts))
        width, of_row = np.diff(other.indptr), np.diff(one.indptr) * np.diff(other.indptr)
        row = np.repeat(np.arange(len(of_row)), of_row)
        at = np.arange(len(row)) - np.repeat(np.cumsum(of_row) - of_row, of_row)
        left = one.indices[one.indptr[row] + at // width[row]].astype(np.int64)
        return row, left * other.shape[1] + other.indices[other.indptr[row] + at % width[row]]

    def fit(self, texts: tuple[pd.Series, pd.Series]) -> None:
        """Learn the frequent pairs. Raises ValueError where there is none."""
        count = partial(CountVectorizer, analyzer=str.split, min_df=LEAST_EXAMPLES, binary=True)
        self.sides = [count().fit(of) for of in texts]
        known, examples = np.unique(self.products(texts)[1], return_counts=True)
        self.known = known[examples >= LEAST_EXAMPLES]
        if not len(self.known):
            raise ValueError("no pair is frequent")

    def transform(self, texts: tuple[pd.Series, pd.Series]) -> csr_matrix:
        """(n, k) one for each known pair, each row of length one."""
        row, number = self.products(texts)
        place = np.minimum(np.searchsorted(self.known, number), len(self.known) - 1)
        row, place = (one[self.known[place] == number] for one in (row, place))
        length = np.sqrt(np.bincount(row, minlength=len(texts[0])))
        shape = len(texts[0]), len(self.known)
        return csr_matrix((1 / length[row], (row, place)), shape=shape)


def beside(matrix: csr_matrix | None, numbers: np.ndarray) -> csr_matrix:
    """Numbers, with sparse features beside them where there are some."""
    return hstack([*([] if matrix is None else [matrix]), csr_matrix(numbers)], format="csr")


def has_words(counter: Any, texts: Any) -> bool:
    """Fit a counter of words to texts. Returns whether it has a word to count."""
    try:
        counter.fit(texts)
    except ValueError:  # no word, or none that is frequent enough
        return False
    return True


def stacked(table: pd.DataFrame, parts: list[np.ndarray]) -> np.ndarray:
    """(n, k) from (n, …) side by side, also where there are no parts."""
    return np.column_stack([np.empty((len(table), 0)), *parts])


def numbers_of(view: View, table: pd.DataFrame) -> np.ndarray:
    """(n, k) the view's numbers, with a zero beside them."""
    return stacked(
        table, [np.zeros(len(table)), *([columns(view.numbers(table))] if view.numbers else [])]
    )


def log_probabilities(model: Any, features: Any, labels: int) -> np.ndarray:
    """(n, labels) of a fitted classifier; a label that it does not know has LEAST."""
    found = np.full((features.shape[0], labels), LEAST)
    with np.errstate(divide="ignore"):
        found[:, model.classes_] = np.log(model.predict_proba(features))
    return np.maximum(found, LEAST)


def linear(
    of_train: csr_matrix, label: np.ndarray, labels: int, penalty: float, exchangeable: bool
) -> Callable[[csr_matrix], np.ndarray]:
    """A logistic regression, as a function from features to (n, labels); C is `penalty`. With only
    one label in training, it always gives that label. For two labels liblinear is faster than
    L-BFGS, and its dual is faster still if there are more features than examples.
    """
    if len(known := np.unique(label)) < 2:
        return lambda features: np.where(
            np.arange(labels) == known, 0.0, np.full((features.shape[0], labels), LEAST)
        )
    how = {"solver": "liblinear", "dual": np.less(*of_train.shape), "tol": 0.05, "random_state": 0}
    model = LogisticRegression(
        C=penalty,
        fit_intercept=not exchangeable,
        max_iter=ITERATIONS,
        **(how if len(known) == 2 else {"tol": 1e-3}),
    )
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model.fit(of_train, label)
    return lambda features: log_probabilities(model, features, labels)


def boosted(
    forth: np.ndarray, back: np.ndarray, label: np.ndarray, labels: int, exchangeable: bool
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Gradient boosting on numbers of examples and of the exchanged ones. Where exchanging turns
    the label it learns both orders, and returns the mean of both.
    """
    learnt = np.vstack([forth, back]) if exchangeable else forth
    model = HistGradientBoostingClassifier(
        max_iter=100, max_leaf_nodes=8, l2_regularization=1.0, early_stopping=False, random_state=0
    )
    model.fit(learnt, np.r_[label, 1 - label] if exchangeable else label)

    def scores(forth: np.ndarray, back: np.ndarray) -> np.ndarray:
        found = log_probabilities(model, forth, labels)
        if exchangeable:
            found = (found + log_probabilities(model, back, labels)[:, ::-1]) / 2
        return found

    return scores


def apart(
    numbers: np.ndarray, by: np.ndarray, label: np.ndarray, labels: int, penalty: float
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A logistic regression on numbers for each value of `by`; another value has the shares of the
    labels.
    """
    models: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
    for value, rows in pd.Series(by).groupby(by).indices.items():
        known = np.unique(label[rows])
        if len(known) > 1:
            model = LogisticRegression(C=penalty, solver="newton-cholesky")
            models[value] = partial(
                log_probabilities, model.fit(numbers[rows], label[rows]), labels=labels
            )
        else:
            models[value] = partial(always, np.eye(labels)[known[0]])
    shares = np.bincount(label, minlength=labels) / len(label)

    def scores(numbers: np.ndarray, by: np.ndarray) -> np.ndarray:
        found = always(shares, numbers)
        for value, rows in pd.Series(by).groupby(by).indices.items():
            if value in models:
                found[rows] = models[value](numbers[rows])
        return found

    return scores


def always(shares: np.ndarray, numbers: Sized) -> np.ndarray:
    """(n, labels) the logarithms of the same shares for every example."""
    row = np.maximum(np.log(np.maximum(shares, np.exp(LEAST))), LEAST)
    return np.tile(row, (len(numbers), 1))


Scorer = Callable[[Inputs, np.ndarray], np.ndarray]  # of Inputs, and of (n, k) learnt numbers


class Fitted(NamedTuple):
    """All learners of a view, fitted to some folds: the learnt numbers of the view, and by name the
    scores from these numbers and Inputs.
    """

    learnt: Numbers
    scores: dict[str, Scorer]


def by_rule(place: int, rules: int, labels: int) -> Scorer:
    """The scores of a rule: (n, 1), or (n, labels). Labels that the study merges into the last one
    have the highest score of these. A rule with one score judges one of two labels. Where there are
    more (strides to predict), it prefers none.
    """

    def scores(given: Inputs, _: np.ndarray) -> np.ndarray:
        width = given.rules.shape[1] // rules
        found = given.rules[:, place * width : (place + 1) * width]
        if width == 1 and labels > 2:
            return np.zeros((len(found), labels))
        if width <= labels:
            return found
        return np.column_stack([found[:, : labels - 1], found[:, labels - 1 :].max(1)])

    return scores


def by_value(model: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Scorer:
    """The scores of regressions for each value of `by`."""
    return lambda given, _: model(given.numbers, given.by)


def by_number(place: int) -> Scorer:
    """Make a scorer that returns one learnt number of the view."""
    return lambda _, more: more[:, [place]]


def by_features(model: Callable[[csr_matrix], np.ndarray], scale: np.ndarray) -> Scorer:
    """The scores of a linear learner."""
    return lambda given, more: model(beside(given.sparse, more / scale))


class Search:
    """Every learner of a view on the training split, without any of its folds."""

    def __init__(
        self,
        view: View,
        train: pd.DataFrame,
        labels: int,
        exchangeable: bool,
        vectors: Vectors | None = None,
    ) -> None:
        self.view, self.train, self.labels, self.exchangeable = view, train, labels, exchangeable
        self.vectors = vectors
        self.fold = fold_of(train)
        self.folds = np.unique(self.fold)
        self.label = train["label"].to_numpy()
        self.read = reader(view, train, exchangeable, vectors)
        self.inputs = self.read(train)
        self.known: dict[frozenset, Numbers] = {}
        self.of_all: dict[str, Scorer] = {}

    def learnt(self, without: frozenset) -> Numbers:
        """A function from a table to (n, k): the numbers that the view learns from all folds
        except these. For an exchangeable pair: that of the example less that of the exchanged one.
        """
        if without not in self.known:
            part = self.train[~np.isin(self.fold, [*without])]
            numbers = [learn(part) for learn in self.view.learnt.values()]

            def of(table: pd.DataFrame) -> np.ndarray:
                return stacked(table, [number(table) for number in numbers])

            self.known[without] = (
                (lambda table: of(table) - of(exchanged(table))) if self.exchangeable else of
            )
        return self.known[without]

    def fit(self, without: frozenset, wanted: Container[str] | None = None) -> Fitted:
        """The wanted learners (None: all), fitted to all folds except these. Learnt numbers beside
        the examples are cross-fitted inside the remaining folds.
        """
        rows = np.flatnonzero(~np.isin(self.fold, [*without]))
        fold, label, inputs = self.fold[rows], self.label[rows], self.inputs.rows(rows)
        parts = [np.flatnonzero(fold == number) for number in np.unique(fold)]
        back = np.argsort(np.concatenate(parts))
        learnt = np.concatenate(
            [self.learnt(without | {fold[part[0]]})(self.train.iloc[rows[part]]) for part in parts]
        )[back]
        scores = {
            f"rule: {name}": by_rule(place, len(self.view.rules), self.labels)
            for place, name in enumerate(self.view.rules)
        }
        scores |= {
            f"learnt: {name}": by_number(place) for place, name in enumerate(self.view.learnt)
        }
        if self.view.only_rules:
            return Fitted(self.learnt(without), scores)
        if self.view.apart:
            for penalty in APART:
                if wanted is None or f"apart, C={penalty:g}" in wanted:
                    model = apart(inputs.numbers, inputs.by, label, self.labels, penalty)
                    scores[f"apart, C={penalty:g}"] = by_value(model)
            return Fitted(self.learnt(without), scores)
        scale = np.maximum(learnt.std(0), 1e-9)
        features = beside(inputs.sparse, learnt / scale)
        name = "crossed" if self.view.by else "linear"
        boosts = (self.view.numbers or self.view.learnt) and len(np.unique(label)) > 1
        boosts = boosts and (wanted is None or "boosted" in wanted)
        for penalty in self.view.penalties:
            learner = f"{name}, C={penalty:g}"
            if wanted is None or (learner in wanted) or (boosts and penalty == STACKED):
                straight = linear(features, label, self.labels, penalty, self.exchangeable)
                scores[learner] = by_features(straight, scale)
        if not boosts:
            return Fitted(self.learnt(without), scores)
        of_linear = scores[f"{name}, C={STACKED:g}"]
        of_others = [np.setdiff1d(np.arange(len(rows)), part) for part in parts]
        models = (
            linear(features[others], label[others], self.labels, STACKED, self.exchangeable)
            for others in of_others
        )
        said = np.concatenate([model(features[part]) for part, model in zip(parts, models)])[back]

        def joined(given: Inputs, more: np.ndarray, said: np.ndarray) -> list[np.ndarray]:
            return [
                np.column_stack([given.numbers, more, margins(said)]),
                np.column_stack([given.turned, -more, -margins(said)]),
            ]

        forth, back_again = joined(inputs, learnt, said)
        boost = boosted(forth, back_again, label, self.labels, self.exchangeable)
        scores["boosted"] = lambda given, more: boost(*joined(given, more, of_linear(given, more)))
        return Fitted(self.learnt(without), scores)

    def fit_all(self, wanted: list[str]) -> Fitted:
        """The wanted learners, fitted to all folds. Controls that share one fit it once."""
        if missing := [name for name in wanted if name not in self.of_all]:
            self.of_all |= self.fit(frozenset(), missing).scores
        return Fitted(self.learnt(frozenset()), self.of_all)

    @cached_property
    def left_out(self) -> dict[str, np.ndarray]:
        """(n, k) scores of the training split by learner; the other folds score each fold."""
        found: dict[str, dict[int, np.ndarray]] = {}
        parts = [np.flatnonzero(self.fold == number) for number in self.folds]
        for number, part in zip(self.folds, parts):
            fitted = self.fit(frozenset([number]))
            more, inputs = fitted.learnt(self.train.iloc[part]), self.inputs.rows(part)
            for name, scores in fitted.scores.items():
                found.setdefault(name, {})[number] = scores(inputs, more)
        order = np.argsort(np.concatenate(parts))
        return {
            name: np.concatenate([by_fold[number] for number in self.folds])[order]
            for name, by_fold in found.items()
            if len(by_fold) == len(self.folds)
        }


def margins(scores: np.ndarray) -> np.ndarray:
    """(n, labels - 1) how much likelier each label is than the first."""
    return scores[:, 1:] - scores[:, :1]
