"""Intervals by bootstrap over groups (videos, questions): examples of one group are not independent."""

import numpy as np

CHUNK = 4_000_000  # draws held at once


def grouped_interval(values: np.ndarray, groups: np.ndarray, resamples: int, seed: int = 0,
                     level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of the mean of `values`, groups drawn with replacement.

    values: (n,) numbers, one an example; groups: (n,) integers from 0. A resample draws as many groups as there
    are and takes every example of each (the cluster bootstrap: Davison and Hinkley 1997, section 3.8).
    """
    sums, sizes = np.bincount(groups, weights=values), np.bincount(groups)
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    draw = np.random.default_rng(seed)
    means, rows = [], max(1, CHUNK // len(sizes))
    for start in range(0, resamples, rows):
        chosen = draw.integers(0, len(sizes), (min(rows, resamples - start), len(sizes)))
        means.append(sums[chosen].sum(1) / sizes[chosen].sum(1))
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
