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

from scripts.measure.tally import Tally, share, sums_by_group

PART = 20_000  # spans whose orders are scored at a time
TIE = 1e-9  # scores of orders that differ by less tie


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


def told_by(scores: np.ndarray, length: int) -> np.ndarray:
    """(n, 1 + k(k-1)/2) whether the order that is told is the right one, and of each pair whether it stands right there; of orders that tie the
    mean. scores: (n, k!), in the order of orders()."""
    has = orders(length)
    values = np.column_stack([np.arange(len(has)) == 0, has]).astype(float)
    best = scores >= scores.max(1, keepdims=True) - TIE
    return best @ values / best.sum(1, keepdims=True)


def told_orders(odds: np.ndarray, length: int) -> np.ndarray:
    """What told_by() tells of orders that are scored by their pairs. odds: (n, k(k-1)/2) log-odds that the first unit of a pair comes before the
    second."""
    signs = np.where(orders(length), 1.0, -1.0).T
    parts = [told_by(odds[start : start + PART] @ signs, length) for start in range(0, len(odds), PART)]
    return np.concatenate(parts) if parts else np.empty((0, 1 + len(signs)))


def log_odds(judged: pd.DataFrame) -> np.ndarray:
    """(n,) the log-odds that the unit that comes first in the video comes first; judged: label (1: it was shown first) and scores (of swapped and
    in order)."""
    scores = np.stack(judged["scores"].to_list()).astype(float)
    return np.where(judged["label"] == 1, 1, -1) * (scores[:, 1] - scores[:, 0])


def tally_of(name: str, values: list[np.ndarray], where: str, video: np.ndarray, videos: int) -> Tally:
    """The tally of a metric: a share, of all columns of (n, columns) values; video: of each span its number, below `videos`."""
    return Tally(where, {name: share}, sums_by_group([one.sum(1) for one in values], video, videos), np.bincount(video, minlength=videos) * values[0].shape[1])


def by_distance(name: str, values: list[np.ndarray], length: int, video: np.ndarray, videos: int) -> list[Tally]:
    """The tallies of a metric of the pairs of spans, (n, k(k-1)/2) values: of all, and by how far apart the units of a pair stand."""
    distance = np.array([last - first for first, last in combinations(range(length), 2)])
    slices = {"all": distance > 0} | {f"distance={apart}": distance == apart for apart in range(1, length)}
    return [tally_of(name, [one[:, inside] for one in values], where, video, videos) for where, inside in slices.items()]


def whole_spans(told: list[np.ndarray], length: int, video: np.ndarray, videos: int) -> list[Tally]:
    """The tallies of the orders that were told, of each replicate those of told_by()."""
    return [tally_of("exact_order", [one[:, :1] for one in told], "all", video, videos),
            *by_distance("concordance", [one[:, 1:] for one in told], length, video, videos)]


def measures_of(judgements: list[pd.DataFrame], pairs: pd.DataFrame, length: int, step: int) -> tuple[list[Tally], pd.Index]:
    """The tallies of one system, and the videos; judgements: of each replicate label and scores of the pairs, in the order of `pairs`."""
    rows, starts = spans_of(pairs, length, step)
    video, videos = pd.factorize(pairs["video_id"].iloc[starts])
    odds = [log_odds(judgement)[rows] for judgement in judgements]
    alone = [(one > 0) + (one == 0) / 2 for one in odds]
    told = [told_orders(one, length) for one in odds]
    return [*whole_spans(told, length, video, len(videos)), *by_distance("pair_accuracy", alone, length, video, len(videos))], videos
