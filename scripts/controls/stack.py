"""Choose the best learner of a searched control, or stack the learners of several views, inside the
training split.

search() cross-fits every learner (scripts/controls/search.py). A view with `parts` (all views of
words of a study) also has a stack: a logistic regression on the cross-fitted scores of the best
learner of each kind and part. Its own value comes from the same folds. A stack is chosen only if it
is better than the best single learner by more than a standard error. Where whole groups count, the
likelihood of the labels decides that: the share of whole groups is too noisy. Of equal learners the
first is chosen, so a study names its simplest part first.

A CoupledView may then decide the examples of a group together (scripts/controls/together.py), if
that is better by more than a standard error of the difference. Both decisions are about the same
groups, so this error is paired. The evaluation splits are read after the choice.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.special import log_expit
from threadpoolctl import threadpool_limits

from scripts.controls.folds import as_margin, block_fold_of, enough_folds, rights_of, value_of
from scripts.controls.lsa import word_vectors
from scripts.controls.search import STACKED, Search, Vectors, always, linear, margins
from scripts.controls.together import Coupled, CoupledView, Couplings, Together, left_out_margins
from scripts.controls.view import Numbers, View

STACK, TOGETHER = "stack", "together"


class Found(NamedTuple):
    """The control of a view: the chosen learner, and the value of each learner on the folds left
    out (no value if too few folds have a group). `scores` is a function from a table to
    (n, labels) log-probabilities or (n, 1) ranks.
    """

    learner: str
    values: dict[str, float]
    scores: Numbers

    @property
    def value(self) -> float | None:
        """The value of the chosen learner."""
        return self.values.get(self.learner)


def decided(table: pd.DataFrame, scores: np.ndarray) -> np.ndarray:
    """The log-probabilities of two labels, from ranks that choose above 0. Other scores, and ranks
    of candidates, stay as they are. No threshold is tuned for a metric: none is for a fine-tuned
    model either.
    """
    if scores.shape[1] > 1 or "choice_id" in table:
        return scores
    return np.column_stack([log_expit(-scores), log_expit(scores)])


def most_frequent(train: pd.DataFrame, labels: int) -> Numbers:
    """The shares of the labels in training, for every example; used where groups are too few."""
    shares = np.bincount(train["label"], minlength=labels) / len(train)
    return lambda table: always(shares, table)


class Fit(NamedTuple):
    """What is fitted to the training split: a Search for each part, by name, and the cross-fitted
    scores of its learners, by the names of part and learner.
    """

    searches: dict[str, Search]
    left_out: dict[tuple[str, str], np.ndarray]

    def scores(self, names: list[tuple[str, str]]) -> Callable[[pd.DataFrame], list[np.ndarray]]:
        """A function from a table to (n, k): the scores of these learners, side by side, as they
        are fitted to the whole training split.
        """
        fitted = {
            part: self.searches[part].fit_all([one for of, one in names if of == part])
            for part in {part for part, _ in names}
        }

        def of(table: pd.DataFrame) -> list[np.ndarray]:
            read = {
                part: (self.searches[part].read(table), fit.learnt(table))
                for part, fit in fitted.items()
            }
            return [fitted[part].scores[name](*read[part]) for part, name in names]

        return of


def parts_of(
    view: View, train: pd.DataFrame, vectors: Vectors | None
) -> dict[str, tuple[View, Vectors | None]]:
    """The views to search, by name, each with its word vectors. A part that averages vectors is
    there with vectors learnt from the training texts (LSA), and with those that are given.
    """
    if not view.parts:
        return {"": (view, vectors)}
    found: dict[str, tuple[View, Vectors | None]] = {}
    for name, part in view.parts.items():
        if part.averaged:
            found[f"{name} (LSA)"] = part, word_vectors(part.averaged(train))
        if vectors or not part.averaged:
            found[name] = part, vectors
    return found


class BlockSearch(Search):
    """A search whose folds keep the groups of a block together."""

    def __init__(self, view: View, train: pd.DataFrame, *given: Any) -> None:
        super().__init__(view, train, *given)
        self.fold = block_fold_of(train)
        self.folds = np.unique(self.fold)


Known = dict[tuple, Search]  # by view and, where it averages vectors, these


def fit_parts(
    view: View,
    train: pd.DataFrame,
    labels: int,
    exchangeable: bool,
    vectors: Vectors | None,
    known: Known,
    more: pd.DataFrame | None,
) -> Fit:
    """Cross-fit every learner of a view, or of its parts, where it is not known."""
    searches = {}
    for name, (part, of_part) in parts_of(view, train, vectors).items():
        key = id(part), id(of_part) if part.averaged else None
        if key not in known:
            learnt = pd.concat([train, more], ignore_index=True) if part.more else train
            known[key] = BlockSearch(part, learnt, labels, exchangeable, of_part)
        searches[name] = known[key]
    left_out = {
        (name, learner): scores[: len(train)]
        for name, searched in searches.items()
        for learner, scores in searched.left_out.items()
    }
    return Fit(searches, left_out)


def best_of_each_kind(values: dict[tuple[str, str], float]) -> list[tuple[str, str]]:
    """The best learner of each part and kind (linear, boosted); every rule and learnt number."""
    best: dict[tuple[str, str], tuple[str, str]] = {}
    for name in sorted(values, key=lambda name: values[name]):
        best[name[0], name[1].partition(", C=")[0]] = name
    return sorted(best.values())


class Stack:
    """A logistic regression on the margins of learners, each divided by its spread. Without folds
    of `train`, or of all of it.
    """

    def __init__(self, left_out: list[np.ndarray], label: np.ndarray, labels: int, turns: bool):
        self.label, self.labels, self.turns = label, labels, turns
        self.spread = np.ones(1)
        features = self.features(left_out)
        self.spread = np.maximum(features.std(0), 1e-9)
        self.inputs = features / self.spread

    def features(self, scores: list[np.ndarray]) -> np.ndarray:
        """(n, k) the margins of all learners."""
        parts = [margins(one) if one.shape[1] > 1 else one for one in scores]
        return np.column_stack(parts) / self.spread

    def fit(self, rows: np.ndarray) -> Callable[[csr_matrix], np.ndarray]:
        """The regression, learnt from some rows: a function from features to (n, labels)."""
        return linear(
            csr_matrix(self.inputs[rows]), self.label[rows], self.labels, STACKED, self.turns
        )

    def join(self) -> Callable[[list[np.ndarray]], np.ndarray]:
        """A function from the scores of all learners to (n, labels), learnt from all rows."""
        model = self.fit(np.ones(len(self.label), bool))
        return lambda scores: model(csr_matrix(self.features(scores)))

    def left_out(self, fold: np.ndarray) -> np.ndarray:
        """(n, labels) its scores of each fold, learnt from the other folds."""
        found = np.zeros((len(fold), self.labels))
        for number in np.unique(fold):
            found[fold == number] = self.fit(fold != number)(
                csr_matrix(self.inputs[fold == number])
            )
        return found


def search(
    view: View,
    train: pd.DataFrame,
    labels: int,
    exchangeable: bool,
    vectors: Vectors | None = None,
    whole: bool = False,
    known: Known | None = None,
    more: pd.DataFrame | None = None,
) -> Found:
    """The control of a view; the evaluation splits take no part in the choice.

    train: example_id, group_id, first, second, label; choice_id and category where the study has
    them, and the columns of its `teaches`. whole: see value_of(). known: what other searches on
    the same training split have fitted; this one adds to it. more: what View.more of a part
    gives; no value counts these examples.
    """
    fold, label = block_fold_of(train), train["label"].to_numpy()
    if not enough_folds(fold) and not view.only_rules:
        return Found("most frequent label", {}, most_frequent(train, labels))
    with threadpool_limits(1):
        known = {} if known is None else known
        fitted = fit_parts(view, train, labels, exchangeable, vectors, known, more)
        values = {name: value_of(train, scores, whole) for name, scores in fitted.left_out.items()}
        best = max(values, key=lambda name: values[name])
        chosen, said, stack = [best], named(best), None
        said_values = {named(name): value for name, value in values.items()}
        if view.parts and not view.only_rules and len(np.unique(label)) > 1:
            kept = best_of_each_kind(values)
            stack = Stack([fitted.left_out[name] for name in kept], label, labels, exchangeable)
            value = said_values[STACK] = value_of(train, stack.left_out(fold), whole)
            alone = Stack([fitted.left_out[best]], label, labels, exchangeable)
            if whole and "choice_id" not in train:
                better = likelier(stack.left_out(fold), alone.left_out(fold), label)
            else:
                better = value > values[best] + standard_error(train, values[best], whole)
            if better:
                chosen, said = kept, STACK
        of_learners = fitted.scores(chosen)
        is_stack = stack and said == STACK
        join = stack.join() if is_stack else first
        left_out = stack.left_out(fold) if is_stack else fitted.left_out[best]

        decide = None
        if isinstance(view, CoupledView) and view.coupled:
            decided_so = decision(view.coupled, train, left_out, said_values[said], whole)
            said_values[TOGETHER] = decided_so.value
            if decided_so.is_better:
                said, decide = TOGETHER, decided_so.margins

    def scores(table: pd.DataFrame) -> np.ndarray:
        with threadpool_limits(1):
            alone = join(of_learners(table))
            if decide:
                return decided(table, decide(table, as_margin(alone))[:, None])
        return decided(table, view.shared(table, alone) if view.shared else alone)

    return Found(said, said_values, scores)


class Decision(NamedTuple):
    """The decision of the examples of a group together: its value, whether it is better than one
    example at a time, and a function from a table and the margins alone to the margins together.
    """

    value: float
    is_better: bool
    margins: Callable[[pd.DataFrame, np.ndarray], np.ndarray]


def decision(
    coupled: Coupled, train: pd.DataFrame, left_out: np.ndarray, value: float, whole: bool
) -> Decision:
    """Learn to decide groups together. left_out: the cross-fitted scores of one example at a time,
    with this value.
    """
    label, margin = train["label"].to_numpy(), as_margin(left_out)
    couplings, fold = Couplings.of(train, coupled), block_fold_of(train)
    joint = left_out_margins(margin, label, couplings, fold)
    alone, together = (
        rights_of(train, one[:, None], whole).astype(float) for one in (margin, joint)
    )
    gain, of_joint = together - alone, float(together.mean())
    learnt = Together.learn(margin, label, couplings, np.ones(len(label), bool))
    return Decision(
        of_joint,
        of_joint > value and bool(gain.mean() > gain.std() / np.sqrt(len(gain))),
        lambda table, margin: learnt.margins(margin, Couplings.of(table, coupled)),
    )


def likelier(scores: np.ndarray, others: np.ndarray, label: np.ndarray) -> bool:
    """Whether log-probabilities give the labels more than others do, by more than a standard error
    of the mean difference.
    """
    rows = np.arange(len(label))
    gain = scores[rows, label] - others[rows, label]
    return bool(gain.mean() > gain.std() / np.sqrt(len(gain)))


def first(scores: list[np.ndarray]) -> np.ndarray:
    """The scores of the only learner."""
    return scores[0]


def named(name: tuple[str, str]) -> str:
    """The name of a learner, after that of its part."""
    return ": ".join(filter(None, name))


def standard_error(train: pd.DataFrame, value: float, whole: bool) -> float:
    """The standard error of a value: a share of choices, of groups or of examples."""
    unit = "group_id" if whole else "example_id"
    if "choice_id" in train:
        unit = "choice_id"
    return float(np.sqrt(value * (1 - value) / train[unit].nunique()))
