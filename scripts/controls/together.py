"""Decide the examples of a group together.

An example alone has a margin: how much likelier the last label is. CoupledView says how similar two
examples of a group are, in a few numbers. A logistic regression learns the label of an example from
its margin and, for each number, from the labels of the group's other examples, each times its
similarity (pseudo-likelihood, Besag 1975). A group is then decided as a whole: the labels that are
likeliest together. All labels of the FREE least sure examples are tried.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from scripts.controls.view import View

FREE = 10  # examples of a group whose labels are all tried: 1,024 ways
PENALTY = 0.1  # C of the logistic regression
ITERATIONS = 500  # of the logistic regression at most
ROUNDS = 5  # in which the labels of a larger group settle

Coupled = Callable[[pd.DataFrame, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class CoupledView(View):
    """A view of two labels whose groups are decided together.

    coupled  how similar two examples of a group are: (n, k), of a table and two times n rows
    """

    coupled: Coupled | None = None


def pairs_within(group: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """(m,) and (m,): the rows of each example and each other example of its group."""
    blocks = [rows for rows in pd.Series(group).groupby(group.to_numpy()).indices.values()]
    some = np.concatenate([np.repeat(rows, len(rows)) for rows in blocks])
    others = np.concatenate([np.tile(rows, len(rows)) for rows in blocks])
    return some[some != others], others[some != others]


class Couplings(NamedTuple):
    """The pairs of examples of a table that stand in one group, and (m, k) how similar they are."""

    some: np.ndarray
    others: np.ndarray
    similar: np.ndarray
    groups: list[np.ndarray]

    @classmethod
    def of(cls, table: pd.DataFrame, coupled: Coupled) -> "Couplings":
        """Compare the examples of each group."""
        some, others = pairs_within(table["group_id"])
        groups = table.groupby("group_id", sort=False).indices.values()
        return cls(some, others, coupled(table, some, others), [*groups])

    def support(self, signs: np.ndarray) -> np.ndarray:
        """(n, k) the signs of the others of a group, each times its similarity."""
        weighed = (self.similar * signs[self.others, None]).T
        return np.column_stack(
            [np.bincount(self.some, one, minlength=len(signs)) for one in weighed]
        )


class Together(NamedTuple):
    """What is learnt: the weight of the own margin, of each similarity, and a constant."""

    own: float
    weights: np.ndarray
    constant: float

    @classmethod
    def learn(
        cls, margin: np.ndarray, label: np.ndarray, couplings: Couplings, rows: np.ndarray
    ) -> "Together":
        """Learn from some rows, which are whole groups. label: (n,) 0 or 1."""
        inputs = np.column_stack([margin, couplings.support(2.0 * label - 1)])
        model = LogisticRegression(C=PENALTY, max_iter=ITERATIONS)
        [found], [constant] = (model.fit(inputs[rows], label[rows]).coef_, model.intercept_)
        return cls(found[0], found[1:], constant)

    def margins(self, margin: np.ndarray, couplings: Couplings) -> np.ndarray:
        """(n,) how much likelier the best labels of the group with this example's last label are
        than the best with its first.
        """
        alone, weight = self.own * margin + self.constant, couplings.similar @ self.weights
        found, place = np.zeros(len(margin)), np.zeros(len(margin), int)
        of_group = np.zeros(len(margin), int)
        for number, rows in enumerate(couplings.groups):
            of_group[rows], place[rows] = number, np.arange(len(rows))
        order = np.argsort(of_group[couplings.some], kind="stable")
        counts = np.bincount(of_group[couplings.some], minlength=len(couplings.groups))
        for rows, pairs in zip(couplings.groups, np.split(order, np.cumsum(counts)[:-1])):
            of_pairs = np.zeros((len(rows), len(rows)))
            of_pairs[place[couplings.some[pairs]], place[couplings.others[pairs]]] = weight[pairs]
            found[rows] = group_margins(alone[rows], of_pairs)
        return found


def left_out_margins(
    margin: np.ndarray, label: np.ndarray, couplings: Couplings, fold: np.ndarray
) -> np.ndarray:
    """(n,) the margins of each fold, decided together by what the other folds say. margin: alone,
    cross-fitted.
    """
    found = np.zeros(len(margin))
    for number in np.unique(fold):
        learnt = Together.learn(margin, label, couplings, fold != number)
        found[fold == number] = learnt.margins(margin, couplings)[fold == number]
    return found


def group_margins(alone: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) best_margins() of a group of any size. Beyond FREE examples, the surer ones have the
    margin that the likely labels of the others give them, and keep this label.
    """
    if len(alone) <= FREE:
        return best_margins(alone, weight)
    found = alone
    for _ in range(ROUNDS):
        found = alone + weight @ np.sign(found)
    free, sure = np.split(np.argsort(np.abs(found), kind="stable"), [FREE])
    given = alone[free] + weight[np.ix_(free, sure)] @ np.sign(found[sure])
    found[free] = best_margins(given, weight[np.ix_(free, free)])
    return found


def best_margins(alone: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) the log-odds of the best labels with each example's last label against the best with its
    first. alone: (n,) log-odds. weight: (n, n) the log-odds that the label of one gives another.
    """
    signs = 2.0 * ((np.arange(2 ** len(alone))[:, None] >> np.arange(len(alone))) & 1) - 1
    total = signs @ (alone / 2) + np.einsum("ai,ij,aj->a", signs, weight, signs) / 4
    best = [np.where(signs == sign, total[:, None], -np.inf).max(0) for sign in (1, -1)]
    return best[0] - best[1]
