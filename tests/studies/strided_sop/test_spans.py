"""Spans of three and more sentences: the pairs that are built, and the order that follows from
scores of pairs, against slow references.
"""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from scripts.studies.strided_sop.tallies import spans_of, order_outcomes_by_pairs
from tests.studies.strided_sop.conftest import LENGTHS


def spans_by_a_loop(length: int, step: int) -> set[tuple[str, int]]:
    return {
        (f"v{video:03}", start)
        for video, sentences in enumerate(LENGTHS)
        for start in range(1, sentences)
        if sentences >= 5 and start + (length - 1) * step <= sentences - 2
    }


@pytest.mark.parametrize("length, stride", [(2, 0), (3, 0), (4, 0), (3, 1)])
def test_all_pairs_of_every_span_are_there(built, length, stride):
    learnt, pairs = built(span=length, stride=stride).values()
    step = stride + 1
    wanted = spans_by_a_loop(length, step)
    rows, starts = spans_of(pairs, length, step)
    assert set(zip(pairs["video_id"].iloc[starts], pairs["first_position"].iloc[starts])) == wanted
    assert len(rows) == len(wanted)
    for span, start in zip(rows, starts):
        begin = pairs["first_position"].iloc[start]
        assert [
            (pairs["first_position"].iloc[pair], pairs["second_position"].iloc[pair])
            for pair in span
        ] == [
            (begin + first * step, begin + last * step)
            for first, last in combinations(range(length), 2)
        ]
    if length == 2:
        assert pairs.equals(built()["val"])
    counts = learnt["stride"].value_counts()
    assert sorted(counts.index) == [distance * step - 1 for distance in range(1, length)]
    assert counts.nunique() == 1


@given(st.integers(2, 5), st.integers(0, 1000))
@settings(max_examples=30)
def test_the_order_told_equals_brute_force(length, seed):
    random = np.random.default_rng(seed)
    pairs = list(combinations(range(length), 2))
    odds = random.integers(-2, 3, (6, len(pairs))).astype(float)  # whole numbers, so that many tie
    found = order_outcomes_by_pairs(odds, length)
    for one, values in zip(odds, found):
        sums = {}
        for order in permutations(range(length)):
            sums[order] = sum(
                log if order.index(first) < order.index(last) else -log
                for (first, last), log in zip(pairs, one)
            )
        best = [order for order, total in sums.items() if total == max(sums.values())]
        assert values[0] == pytest.approx(
            np.mean([order == tuple(range(length)) for order in best])
        )
        taus = [
            kendalltau(range(length), [order.index(unit) for unit in range(length)]).statistic
            for order in best
        ]
        assert 2 * values[1:].mean() - 1 == pytest.approx(np.mean(taus))
        for (first, last), share in zip(pairs, values[1:]):
            assert share == pytest.approx(
                np.mean([order.index(first) < order.index(last) for order in best])
            )
