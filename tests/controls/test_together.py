"""The examples of a group are decided together where their labels agree by similarity, and only by
what the training split shows.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.controls.folds import block_fold_of
from scripts.controls.stack import search
from scripts.controls.together import CoupledView, Couplings, Together, best_margins
from scripts.controls.view import View

pytestmark = pytest.mark.slow  # it trains many times
SIZES = (1, 4, 4, 4, 5, 6, 30)  # examples of a group


def grouped(seed: int, groups: int = 140) -> pd.DataFrame:
    """Draw groups of one to thirty examples. Each has one of two kinds, which has one label in the
    group; `hint` says the label of an example in three of four cases.
    """
    draw = np.random.default_rng(seed)
    size = np.resize(SIZES, groups)
    group = np.repeat(np.arange(groups), size)
    kind = draw.integers(2, size=len(group))
    label = draw.integers(2, size=(groups, 2))[group, kind]
    hint = np.where(draw.random(len(group)) < 0.75, label, 1 - label)
    return pd.DataFrame(
        {
            "example_id": [f"{seed}:{row}" for row in range(len(group))],
            "group_id": [f"{seed}:{number}" for number in group],
            "first": "",
            "second": "",
            "kind": kind,
            "hint": hint,
            "label": label,
        }
    )


def same_kind(table: pd.DataFrame, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    kind = table["kind"].to_numpy()
    return (kind[some] == kind[others]).astype(float)[:, None]


ALONE = View("a hint", numbers=lambda table: table["hint"].to_numpy())
COUPLED = CoupledView("a hint, and which examples agree", numbers=ALONE.numbers, coupled=same_kind)


def whole(found, test: pd.DataFrame) -> float:
    right = pd.Series(found.scores(test).argmax(1) == test["label"].to_numpy())
    return right.groupby(test["group_id"].to_numpy()).all().mean()


def test_a_planted_coupling_is_found_together_and_not_one_by_one():
    train, test = grouped(1), grouped(2)
    alone, together = (search(view, train, 2, False, whole=True) for view in (ALONE, COUPLED))
    assert together.learner == "together" and "together" not in alone.values
    assert whole(together, test) > whole(alone, test) + 0.15
    right = together.scores(test).argmax(1) == test["label"]
    of_thirty = test.groupby("group_id")["label"].transform("size") == 30
    assert right[of_thirty].mean() > 0.85


def test_where_no_label_follows_from_another_each_example_is_decided_alone():
    draw = np.random.default_rng(3)
    train = grouped(1).assign(kind=lambda table: draw.integers(2, size=len(table)))
    train["label"] = draw.integers(2, size=len(train))
    train["hint"] = np.where(draw.random(len(train)) < 0.75, train["label"], 1 - train["label"])
    found = search(COUPLED, train, 2, False, whole=True)
    assert found.learner != "together" and "together" in found.values


def test_groups_that_share_a_block_stay_in_one_fold():
    table = grouped(1).assign(block=lambda table: table["group_id"].str[-1])
    assert pd.Series(block_fold_of(table)).groupby(table["block"]).nunique().eq(1).all()


@given(st.integers(1, 6), st.integers(0, 10_000))
def test_enumeration_is_brute_force(size, seed):
    draw = np.random.default_rng(seed)
    alone, weight = draw.normal(size=size), draw.normal(size=(size, size))
    weight = (weight + weight.T) * (1 - np.eye(size))

    def total(signs: np.ndarray) -> float:
        pairs = sum(weight[i, j] * signs[i] * signs[j] for i in range(size) for j in range(i))
        return (alone @ signs + pairs) / 2

    ways = [np.array(signs) for signs in product((-1.0, 1.0), repeat=size)]
    best = [
        max(total(way) for way in ways if way[place] > 0)
        - max(total(way) for way in ways if way[place] < 0)
        for place in range(size)
    ]
    np.testing.assert_allclose(best_margins(alone, weight), best, atol=1e-9)


@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_the_order_of_the_rows_changes_no_margin_and_no_weight_changes_nothing(weight):
    table = grouped(4, 21)
    margin = np.random.default_rng(0).normal(size=len(table))
    learnt = Together(1.0, np.array([weight]), 0.0)
    found = learnt.margins(margin, Couplings.of(table, same_kind))
    order = np.random.default_rng(1).permutation(len(table))
    shuffled = Couplings.of(table.iloc[order], same_kind)
    np.testing.assert_allclose(learnt.margins(margin[order], shuffled), found[order], atol=1e-9)
    assert weight or np.allclose(found, margin)
