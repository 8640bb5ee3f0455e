"""Intervals by bootstrap over groups (videos, templates, questions): examples of one group are not independent."""

import numpy as np

CHUNK = 4_000_000  # numbers held at once


def resampled_sums(sums: np.ndarray, resamples: int, seed: int = 0) -> np.ndarray:
    """(resamples, …) sums over groups that are drawn with replacement, as many as there are.

    sums: (groups, …), each row the sum over the examples of one group: a drawn group brings every example of it (the
    cluster bootstrap: Davison and Hinkley 1997, section 3.8). The same number of groups and the same seed draw the same
    groups, whatever is summed up.
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
