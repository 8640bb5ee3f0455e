"""From sums by group to rows of metrics: the value of each seed with its interval, and the mean over the seeds.

A metric is a function of sums: an accuracy of right answers over answers, a weighted F1 of a confusion matrix. Summed up by
group (video, template, question, instance), the same sums give the value, and, of groups drawn with replacement, its interval.

Systems that were measured on the same groups draw the same ones (draws_of), so the interval of a paired difference is
that of the differences of their draws.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scripts.evaluate.bootstrap import interval, resampled_sums

Metric = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of (…, cells) sums and (…) counts


def share(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """A mean over examples: what is summed up, by how many there are."""
    return sums / counts


@dataclass(frozen=True)
class Tally:
    """What the metrics of one system are made of, on one slice of one split.

    slice    the slice's name
    metrics  by name, the function of the sums over the groups
    sums     (seeds, groups, …): of each seed the sum over the examples of each group
    counts   (groups,): how many examples each group has; a group without any takes no part
    """

    slice: str
    metrics: dict[str, Metric]
    sums: np.ndarray
    counts: np.ndarray


def sums_by_group(values: Sequence[np.ndarray], group: np.ndarray, groups: int) -> np.ndarray:
    """(seeds, groups) sums of each seed's (n,) values; group: (n,) integers from 0, groups: how many there are."""
    return np.stack([np.bincount(group, weights=seed, minlength=groups) for seed in values])


def values_of(tally: Tally) -> dict[str, np.ndarray]:
    """By metric the (seeds,) values."""
    total, count = tally.sums.sum(1), tally.counts.sum()
    return {name: metric(total, count) for name, metric in tally.metrics.items()}


def draws_of(tally: Tally, resamples: int) -> dict[str, np.ndarray]:
    """By metric the (seeds, resamples) values over drawn groups, the same groups for every seed."""
    totals = np.moveaxis(resampled_sums(np.moveaxis(tally.sums, 1, 0), resamples), 1, 0)
    counts = resampled_sums(tally.counts, resamples)
    return {name: metric(totals, counts) for name, metric in tally.metrics.items()}


def present(tally: Tally) -> Tally:
    """The tally without groups that have no example."""
    kept = tally.counts > 0
    return Tally(tally.slice, tally.metrics, tally.sums[:, kept], tally.counts[kept])


def metric_rows(tallies: Iterable[Tally], seeds: Sequence[int], resamples: int) -> list[dict]:
    """Rows (slice, metric, seed, value, sd, ci_low, ci_high, n, groups) of one system: of each seed, then of their mean.

    seeds: in the order of the tallies' sums; empty for a system that does not learn: its one row is the mean. The mean has
    no seed, its sd is over the seeds, its interval is that of the mean when groups are drawn. A slice without examples
    has no row.
    """
    rows = []
    for tally in map(present, tallies):
        if not len(tally.counts):
            continue
        values, draws = values_of(tally), draws_of(tally, resamples)
        for name in tally.metrics:
            same = {"slice": tally.slice, "metric": name, "n": int(tally.counts.sum()), "groups": len(tally.counts)}
            for seed, value, drawn in zip(seeds, values[name], draws[name]):
                low, high = interval(drawn)
                rows.append(same | {"seed": seed, "value": float(value), "sd": None, "ci_low": low, "ci_high": high})
            low, high = interval(draws[name].mean(0))
            sd = float(values[name].std(ddof=1)) if len(values[name]) > 1 else None
            rows.append(same | {"seed": None, "value": float(values[name].mean()), "sd": sd, "ci_low": low, "ci_high": high})
    return rows
