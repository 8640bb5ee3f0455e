"""Intervals by bootstrap over groups (videos, templates, questions): examples of one group are not independent."""

import numpy as np

CHUNK = 4_000_000  # numbers held at once


def resampled_sums(sums: np.ndarray, resamples: int, seed: int = 0) -> np.ndarray:
    """(resamples, …) sums over groups that are drawn with replacement, as many as there are.

    sums: (groups, …), each row the sum over the examples of one group: a drawn group brings every example of it (the
    cluster bootstrap: Davison and Hinkley 1997, section 3.8).
    """
    groups, draw = len(sums), np.random.default_rng(seed)
    parts, rows = [], max(1, CHUNK // sums.size)
    for start in range(0, resamples, rows):
        chosen = draw.integers(0, groups, (min(rows, resamples - start), groups))
        parts.append(sums[chosen].sum(1))
    return np.concatenate(parts)


def interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of resampled values."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def grouped_interval(values: np.ndarray, groups: np.ndarray, resamples: int, seed: int = 0) -> tuple[float, float]:
    """The interval of the mean of `values`: (n,) numbers, one an example; groups: (n,) integers from 0."""
    sums = np.stack([np.bincount(groups, weights=values), np.bincount(groups)], axis=1)
    drawn = resampled_sums(sums[sums[:, 1] > 0], resamples, seed)
    return interval(drawn[:, 0] / drawn[:, 1])
