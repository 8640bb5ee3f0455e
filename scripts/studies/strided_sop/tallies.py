"""Compute tallies from the scores of a system on one split. They count how well the system predicts
the order of pairs, their stride, or the order of whole spans.

judgements: for each replicate a table of the examples of the dataset, in its order, with label and
scores (log-probabilities of the labels) or right. If labels, strides or orders tie, each gets an
equal part of the example.

Order of pairs (order_tallies)
  accuracy, peak_accuracy  the share of pairs with the right order, over all pairs; accuracy also on
                           the slices of slices.py

Stride of pairs, alone or with the order (stride_tallies). The prediction is the label with the
highest score. With order and stride together, the score of one sums the probabilities over
the other.
  stride_accuracy  the share of pairs with the right stride; 1/n by chance for n strides, because
                   each stride has equally many pairs
  stride_error     the mean of |predicted - stride|, as a share of the largest stride
  confusion        slice `stride=2; predicted=3`: the share of pairs of stride 2 with the predicted
                   stride 3
  order_accuracy   with the order: the share of pairs with the right order, and on slices `stride=2`
  both_accuracy    with the order: the share of pairs whose highest label has both right

Order of spans of k units. The prediction is the order with the highest score of all k! (k <= 6). A
model of pairs (pair_span_tallies) scores each pair of units: the log-odds that the first comes
before the second. The score of an order is the sum over its pairs. A model that reads all units at
once (span_tallies) scores each order.
  exact_order      the share of spans with every unit in its place; 1/k! by chance
  concordance      the share of pairs of units in the order of the video, (τ + 1) / 2 of Kendall's
                   τ; slices `distance=d` are the pairs of units d places apart
  pair_accuracy    for a model of pairs, slices `distance=d` and all: the share of pairs that the
                   model orders right, before an order of the span is chosen
"""

from itertools import combinations, permutations
from math import factorial

import numpy as np
import pandas as pd

from scripts.measure.tally import Tally, share, sums_by_group
from scripts.studies.strided_sop.slices import parts_of, slices_of

PART = 20_000  # spans whose orders are scored at a time
TIE = 1e-9  # scores of orders that differ by less than this tie
# the tallies of a system, and the videos, their groups
Found = tuple[list[Tally], pd.Index]


class Videos:
    """The videos of examples, as the groups of tallies. of: (n,) the video of each example."""

    def __init__(self, of: pd.Series):
        self.number, self.names = pd.factorize(of)

    def tally(
        self,
        metric: str,
        values: list[np.ndarray],
        where: str = "all",
        inside: np.ndarray | None = None,
        each: int = 1,
    ) -> Tally:
        """Return the tally of a share.

        values: for each replicate (n,) sums over `each` things; inside: (n,) the examples of a
        slice.
        """
        inside = np.ones(len(self.number), bool) if inside is None else inside
        return Tally(
            where,
            {metric: share},
            sums_by_group([one * inside for one in values], self.number, len(self.names)),
            np.bincount(self.number[inside], minlength=len(self.names)) * each,
        )


def highest(scores: np.ndarray) -> np.ndarray:
    """Return (n, k) 1 for the highest score of each row. Tied scores share the 1."""
    is_highest = scores == scores.max(1, keepdims=True)
    return is_highest / is_highest.sum(1, keepdims=True)


def scores_of(judgement: pd.DataFrame) -> np.ndarray:
    """Return (n, labels) the scores of a judgement."""
    return np.stack(judgement["scores"].to_list()).astype(float)


def order_tallies(judgements: list[pd.DataFrame], pairs: pd.DataFrame, metric: str) -> Found:
    """Return the tallies of the order of pairs."""
    videos, right = Videos(pairs["video_id"]), [one["right"].to_numpy(float) for one in judgements]
    slices = slices_of(parts_of(pairs)) if metric == "accuracy" else {"all": None}
    return [
        videos.tally(metric, right, name, inside) for name, inside in slices.items()
    ], videos.names


def stride_tallies(
    judgements: list[pd.DataFrame], pairs: pd.DataFrame, strides: int, with_order: bool
) -> Found:
    """Return the tallies of the stride of pairs."""
    label, videos = judgements[0]["label"].to_numpy(), Videos(pairs["video_id"])
    row, scores = np.arange(len(pairs)), list(map(scores_of, judgements))
    stride, of_stride = label, scores
    if with_order:
        shares = [np.exp(one - one.max(1, keepdims=True)).reshape(-1, strides, 2) for one in scores]
        stride, of_stride = label // 2, [one.sum(2) for one in shares]
    chosen = [highest(one) for one in of_stride]
    distance = np.abs(np.arange(strides) - stride[:, None]) / max(strides - 1, 1)
    found = [
        videos.tally("stride_accuracy", [one[row, stride] for one in chosen]),
        videos.tally("stride_error", [(one * distance).sum(1) for one in chosen]),
    ]
    found += [
        videos.tally("confusion", [one[:, said] for one in chosen], name, stride == true)
        for true in range(strides)
        for said, name in enumerate(f"stride={true}; predicted={one}" for one in range(strides))
    ]
    if with_order:
        order = [highest(one.sum(1))[row, label % 2] for one in shares]
        found += [
            videos.tally("order_accuracy", order),
            videos.tally("both_accuracy", [highest(one)[row, label] for one in scores]),
        ]
        found += [
            videos.tally("order_accuracy", order, f"stride={true}", stride == true)
            for true in range(strides)
        ]
    return found, videos.names


# ---- spans


def orders(length: int) -> np.ndarray:
    """Return (k!, k(k-1)/2) for each order of k units: whether it has the first unit of each pair
    of combinations(range(k), 2) before the second. The right order comes first.
    """
    places = np.argsort(list(permutations(range(length))), axis=1)
    return np.stack(
        [places[:, first] < places[:, last] for first, last in combinations(range(length), 2)],
        axis=1,
    )


def order_outcomes(scores: np.ndarray, length: int) -> np.ndarray:
    """Return (n, 1 + k(k-1)/2) whether the predicted order is right, and for each pair whether the
    order has it right. Tied orders count with their mean. scores: (n, k!), in the order of
    orders().
    """
    has = orders(length)
    values = np.column_stack([np.arange(len(has)) == 0, has]).astype(float)
    best = scores >= scores.max(1, keepdims=True) - TIE
    return best @ values / best.sum(1, keepdims=True)


def order_outcomes_by_pairs(odds: np.ndarray, length: int) -> np.ndarray:
    """Return order_outcomes() of orders that are scored by their pairs. odds: (n, k(k-1)/2)
    log-odds that the first unit of a pair comes before the second.
    """
    signs = np.where(orders(length), 1.0, -1.0).T
    parts = [
        order_outcomes(odds[start : start + PART] @ signs, length)
        for start in range(0, len(odds), PART)
    ]
    return np.concatenate(parts) if parts else np.empty((0, 1 + len(signs)))


def by_distance(metric: str, values: list[np.ndarray], length: int, videos: Videos) -> list[Tally]:
    """Return the tallies of a metric of the pairs of spans, from (n, k(k-1)/2) values: over all
    pairs, and by the distance between the units of a pair.
    """
    distance = np.array([last - first for first, last in combinations(range(length), 2)])
    slices = {"all": distance > 0} | {
        f"distance={gap}": distance == gap for gap in range(1, length)
    }
    return [
        videos.tally(
            metric, [one[:, inside].sum(1) for one in values], where, each=int(inside.sum())
        )
        for where, inside in slices.items()
    ]


def whole_spans(outcomes: list[np.ndarray], length: int, videos: Videos) -> list[Tally]:
    """Return the tallies of predicted orders. outcomes: for each replicate from
    order_outcomes().
    """
    return [
        videos.tally("exact_order", [one[:, 0] for one in outcomes]),
        *by_distance("concordance", [one[:, 1:] for one in outcomes], length, videos),
    ]


def spans_of(pairs: pd.DataFrame, length: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the pairs of each span (n, k(k-1)/2), in the order of
    combinations(range(k), 2), and the rows of the pairs of first and last unit (n,). A span counts
    only if all its pairs exist.

    pairs: video_id, first_position, stride. step: places from one unit to the next.
    """
    place = pd.MultiIndex.from_frame(pairs[["video_id", "first_position", "stride"]])
    starts = np.flatnonzero(pairs["stride"].to_numpy() == (length - 1) * step - 1)
    video, start = (pairs.iloc[starts][name] for name in ("video_id", "first_position"))
    found = []
    for first, last in combinations(range(length), 2):
        stride = np.full(len(starts), (last - first) * step - 1)
        pair = pd.MultiIndex.from_arrays([video, start + first * step, stride])
        found.append(place.get_indexer(pair))
    rows = np.column_stack(found)
    whole = (rows >= 0).all(1)
    return rows[whole], starts[whole]


def pair_span_tallies(
    judgements: list[pd.DataFrame], pairs: pd.DataFrame, length: int, step: int
) -> Found:
    """Return the tallies of the order of spans, by scores of their pairs.

    label: 1 if the unit shown first comes first in the video.
    """
    rows, starts = spans_of(pairs, length, step)
    videos = Videos(pairs["video_id"].iloc[starts])
    signs = [np.where(one["label"] == 1, 1, -1) for one in judgements]
    odds = [(sign * np.diff(scores_of(one))[:, 0])[rows] for sign, one in zip(signs, judgements)]
    alone = [(one > 0) + (one == 0) / 2 for one in odds]
    return [
        *whole_spans([order_outcomes_by_pairs(one, length) for one in odds], length, videos),
        *by_distance("pair_accuracy", alone, length, videos),
    ], videos.names


def rows_by_order(candidates: pd.DataFrame, length: int) -> np.ndarray:
    """Return (n, k!) the row of each order of each span, in the order of permutations(range(k)).
    candidates: pair_id (its end names the order), video_id, first_position.
    """
    named = {
        "".join(map(str, order)): place for place, order in enumerate(permutations(range(length)))
    }
    order = candidates["pair_id"].str.rpartition(":")[2].map(named)
    span = candidates.groupby(["video_id", "first_position"], sort=False).ngroup().to_numpy()
    rows = np.empty((span.max() + 1, factorial(length)), int)
    rows[span, order] = np.arange(len(candidates))
    return rows


def span_tallies(judgements: list[pd.DataFrame], candidates: pd.DataFrame, length: int) -> Found:
    """Return the tallies of the order of spans, by scores of their orders."""
    rows = rows_by_order(candidates, length)
    videos = Videos(candidates["video_id"].iloc[rows[:, 0]])
    outcomes = [order_outcomes(np.diff(scores_of(one))[:, 0][rows], length) for one in judgements]
    return whole_spans(outcomes, length, videos), videos.names
