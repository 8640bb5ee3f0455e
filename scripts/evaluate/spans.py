"""How well spans of k units are put in order by the scores of their pairs: the metrics of one system on one split.

Not a program. A model of pairs scores each pair of units of a span: the log-odds that the one comes before the other. The order told is that of the
k! (k <= 6) whose pairs have the highest sum of log-odds; of several that tie each counts as much.
  exact_order      the share of spans whose every unit is in its place; 1/k! by chance
  concordance      the share of pairs of units that stand in the order of the video, (τ + 1) / 2 of Kendall's τ; and on slices `distance=d`, those of
                   units d places apart
  pair_accuracy    slices `distance=d` and all: the same of the pairs by themselves, before an order is found
"""

from itertools import combinations, permutations

import numpy as np
import pandas as pd

from scripts.evaluate.tally import Tally, share, sums_by_group

PART = 20_000  # spans whose orders are scored at a time
TIE = 1e-9  # sums of log-odds that differ by less tie


def spans_of(pairs: pd.DataFrame, length: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the pairs of each span (n, k(k-1)/2), in the order of combinations(range(k), 2), and the rows of the pairs that they begin
    with (n,). pairs: video_id, first_position, stride; a span is there where all its pairs are. step: places from one unit to the next."""
    place = pd.MultiIndex.from_frame(pairs[["video_id", "first_position", "stride"]])
    starts = np.flatnonzero(pairs["stride"].to_numpy() == (length - 1) * step - 1)
    begun = pairs.iloc[starts]
    rows = np.column_stack([place.get_indexer(pd.MultiIndex.from_arrays([
        begun["video_id"], begun["first_position"] + first * step, np.full(len(begun), (last - first) * step - 1)]))
        for first, last in combinations(range(length), 2)])
    whole = (rows >= 0).all(1)
    return rows[whole], starts[whole]


def orders(length: int) -> np.ndarray:
    """(k!, k(k-1)/2) of each order of k units whether it has the first of each pair of combinations(range(k), 2) before the second; the right
    order first."""
    places = np.argsort(list(permutations(range(length))), axis=1)
    return np.stack([places[:, first] < places[:, last] for first, last in combinations(range(length), 2)], axis=1)


def told_orders(odds: np.ndarray, length: int) -> np.ndarray:
    """(n, 1 + k(k-1)/2) whether the order that is told is the right one, and of each pair whether it stands right there; of orders that tie the
    mean. odds: (n, k(k-1)/2) log-odds that the first unit of a pair comes before the second."""
    has = orders(length)
    values = np.column_stack([np.arange(len(has)) == 0, has]).astype(float)
    told = np.empty((len(odds), values.shape[1]))
    for start in range(0, len(odds), PART):
        sums = odds[start : start + PART] @ np.where(has, 1.0, -1.0).T
        best = sums >= sums.max(1, keepdims=True) - TIE
        told[start : start + PART] = best @ values / best.sum(1, keepdims=True)
    return told


def log_odds(judged: pd.DataFrame) -> np.ndarray:
    """(n,) the log-odds that the unit that comes first in the video comes first; judged: label (1: it was shown first) and scores (of swapped and
    in order)."""
    scores = np.stack(judged["scores"].to_list()).astype(float)
    return np.where(judged["label"] == 1, 1, -1) * (scores[:, 1] - scores[:, 0])


def measures_of(judgements: list[pd.DataFrame], pairs: pd.DataFrame, length: int, step: int) -> tuple[list[Tally], pd.Index]:
    """The tallies of one system, and the videos; judgements: of each replicate label and scores of the pairs, in the order of `pairs`."""
    rows, starts = spans_of(pairs, length, step)
    video, videos = pd.factorize(pairs["video_id"].iloc[starts])
    odds = [log_odds(judgement)[rows] for judgement in judgements]
    told = [told_orders(one, length) for one in odds]
    alone = [(one > 0) + (one == 0) / 2 for one in odds]
    spans, distance = np.bincount(video, minlength=len(videos)), np.array([last - first for first, last in combinations(range(length), 2)])

    def tally(name: str, values: list[np.ndarray], where: str) -> Tally:
        return Tally(where, {name: share}, sums_by_group([one.sum(1) for one in values], video, len(videos)), spans * values[0].shape[1])

    found = [tally("exact_order", [one[:, :1] for one in told], "all")]
    for name, values in (("concordance", [one[:, 1:] for one in told]), ("pair_accuracy", alone)):
        found.append(tally(name, values, "all"))
        found += [tally(name, [one[:, distance == apart] for one in values], f"distance={apart}") for apart in range(1, length)]
    return found, videos
