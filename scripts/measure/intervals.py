"""95 % intervals of shares and of differences, from draws over groups
(scripts/measure/bootstrap.py) and from seeds.

A part is a variance with its degrees of freedom: one over groups, one over seeds. Each part has its
own quantile of t, and the squares of the parts' half-widths add up (Banerjee 1961). One t with the
degrees of freedom of Welch and Satterthwaite is too narrow for two or three seeds that differ much.
benchmarks/intervals.py measures the coverage of the intervals.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from scripts.running.program import UserError

LEVEL = 0.95
POWER = 0.8  # of the smallest difference that could have been seen
Z = 1.959963984540054  # the normal distribution's quantile for LEVEL
LEAST_LOG_P = math.log(1e-100)  # smaller p-values are 0


class Part(NamedTuple):
    """A variance, and the degrees of freedom of its estimate."""

    variance: float
    freedom: float


NOTHING = Part(0.0, math.inf)  # what does not vary
SHARE, NUMBER = (0.0, 1.0), (-math.inf, math.inf)  # the possible values of a metric


def student_t(freedom: float, outside: float = 1 - LEVEL) -> float:
    """Return the quantile t of Student's t distribution: the share `outside` does not lie between
    -t and t. freedom: less than 1 counts as 1.
    """
    from scipy.special import stdtrit  # imported here: it takes 0.25 s, which figures do not need

    return -float(stdtrit(max(1.0, freedom), outside / 2))


def pooled(parts: Iterable[Part]) -> Part:
    """Return the sum of independent parts of one kind, with the degrees of freedom of Welch and
    Satterthwaite.
    """
    parts = [part for part in parts if part.variance > 0]
    if not parts:
        return NOTHING
    variance = sum(part.variance for part in parts)
    return Part(variance, variance**2 / sum(part.variance**2 / part.freedom for part in parts))


def half_width(parts: Iterable[Part], outside: float = 1 - LEVEL) -> float:
    """Return half of the interval of a sum of independent parts of different kinds (Banerjee 1961).
    outside: the share that the interval leaves out.
    """
    varying = [part for part in parts if part.variance > 0]
    return math.sqrt(sum(part.variance * student_t(part.freedom, outside) ** 2 for part in varying))


def p_value_of(value: float, parts: Sequence[Part]) -> float:
    """Return the two-sided p-value: the share that is left out by the interval that ends at 0."""
    if not value or not half_width(parts):
        return float(not value)
    low, high = LEAST_LOG_P, 0.0
    if half_width(parts, math.exp(low)) <= abs(value):
        return 0.0
    while high - low > 1e-12:  # halved until it holds: scipy.optimize takes longer to import
        middle = (low + high) / 2
        is_wider = half_width(parts, math.exp(middle)) > abs(value)
        low, high = (middle, high) if is_wider else (low, middle)
    return math.exp(low)


def beyond_draws(groups: float) -> float:
    """Return the variance of a mean over groups, as a multiple of the variance of its draws.

    With weights from Exp(1), the draws have (groups - 1) / (groups + 1) of that variance.
    """
    return (groups + 1) / (groups - 1)


def variance_over_groups(draws: np.ndarray, groups: float) -> np.ndarray:
    """Return (…) the variance of values over their groups, 0 for one group. draws: (…, ways,
    resamples) values over weighted groups.

    Groups of one kind have one way. Two kinds (templates, and pairs of times) have three: the
    groups of each kind, and their intersection. The variance is that of two-way clustering
    (Cameron, Gelbach and Miller 2011): the sum of the first two, less that of the intersection,
    which both contain. It is at least the variance of each kind. The draws of a difference are
    differences of draws, so its variance is as exact as that of a value.
    """
    if groups <= 1:
        return np.zeros(draws.shape[:-2])
    of_ways = np.moveaxis(draws.var(-1) * beyond_draws(groups), -1, 0)
    if len(of_ways) == 1:
        return of_ways[0]
    first, second, both = of_ways
    return np.maximum(np.maximum(first, second), first + second - both)


def over_groups(draws: np.ndarray, groups: float) -> Part:
    """Return the variance of a value over its groups, with its freedom; draws: (ways, resamples),
    or (resamples,) of groups of one kind.
    """
    return Part(float(variance_over_groups(np.atleast_2d(draws), groups)), groups - 1)


def has_draws(row: Mapping) -> bool:
    return isinstance(row.get("draws"), (list, np.ndarray))


def draws_in(row: Mapping) -> np.ndarray:
    """Return (ways, resamples) the draws of a row, which a table holds as lists."""
    return np.atleast_2d(np.stack(row["draws"])).astype(float)


def over_seeds(sd: float | None, seeds: int) -> Part:
    """Return the variance of the mean over seeds, which is 0 for less than two seeds. sd: the
    standard deviation between the means of seeds, beyond the variation on groups.
    """
    if seeds < 2 or sd is None or math.isnan(sd):
        return NOTHING
    return Part(sd**2 / seeds, seeds - 1)


def wilson(value: float, groups: float) -> tuple[float, float]:
    """Return Wilson's interval (1927) of a share over a number of groups, where each group is all
    right or all wrong.
    """
    middle = value + Z**2 / (2 * groups)
    half = Z * math.sqrt(value * (1 - value) / groups + Z**2 / (4 * groups**2))
    low, high = (middle - half) / (1 + Z**2 / groups), (middle + half) / (1 + Z**2 / groups)
    # rounding must not put the value outside the interval
    return min(value, max(0.0, low)), max(value, min(1.0, high))


def share_interval(value: float, parts: Sequence[Part], groups: float) -> tuple[float, float]:
    """Return the interval of a share from 0 to 1, computed on the scale of its log odds. A share of
    0 or 1 does not vary between draws, so its interval is Wilson's, with the groups as trials.
    """
    if value <= 0 or value >= 1:
        return wilson(min(1.0, max(0.0, value)), groups)
    odds, half = math.log(value / (1 - value)), half_width(parts) / (value * (1 - value))
    low, high = (
        1 / (1 + math.exp(-max(-700.0, min(700.0, end)))) for end in (odds - half, odds + half)
    )
    return min(low, value), max(high, value)


class Estimate(NamedTuple):
    """A mean, a difference or a slope with its interval. A difference or slope has a two-sided
    p-value for the hypothesis that it is zero, and the parts of its variance. With one group, all
    fields but the value are missing.
    """

    value: float
    ci_low: float | None
    ci_high: float | None
    p_value: float | None = None
    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, row: Mapping) -> "Estimate":
        """Return the value of a row of metrics with its interval."""
        return cls(*(row[name] for name in ("value", "ci_low", "ci_high")))

    @property
    def clear(self) -> bool:
        """True if the p-value is at most 0.05; without a p-value, if the interval excludes zero."""
        if self.ci_low is None or self.ci_high is None:
            return False
        if self.p_value is not None:
            return self.p_value <= 1 - LEVEL
        return self.ci_low > 0 or self.ci_high < 0


def combination(
    rows: Sequence[Mapping], coefficients: Sequence[float], bounds: tuple[float, float] = NUMBER
) -> Estimate:
    """Return the weighted sum of the rows' values with its interval; a difference has the
    coefficients 1 and -1. bounds: the possible values of a row. The interval holds no value that
    the sum cannot have: with few seeds, t alone reaches beyond 100 points.

    rows: metrics with value, sd, seeds, effective_groups and draws (draws_in()). The draws are
    paired by the groups that the rows share; other groups vary independently. The seeds of two rows
    are not paired. A share of 0 or 1 does not vary in its draws. Beside one that varies it is a
    constant: the interval is that of the other row (moved). Where no row varies, Wilson's intervals
    count.
    """
    value = float(sum(weight * row["value"] for row, weight in zip(rows, coefficients)))
    groups = min(row["effective_groups"] for row in rows)
    if groups <= 1:
        return Estimate(value, None, None)
    if not all(map(has_draws, rows)):
        raise UserError(
            "a row has no draws, so it has no paired difference; take rows over all seeds and "
            "examples of results/evaluate/<name>/metrics.parquet (a record has its differences in "
            "comparisons.parquet)"
        )
    every = [draws_in(row) for row in rows]
    length = min(draws.shape[1] for draws in every)  # draws are paired by their number
    draws = np.sum([weight * own[:, :length] for own, weight in zip(every, coefficients)], 0)
    of_groups, of_seeds = [over_groups(draws, groups)], []
    varying = [row["value"] not in (0, 1) for row in rows]
    for row, weight in zip(rows, coefficients):
        sd = row.get("sd_beyond_groups")
        if sd is None or math.isnan(sd):
            sd = row["sd"]  # metrics of releases before 0.2 have only sd: wider intervals
        variance, freedom = over_seeds(sd, row["seeds"])
        of_seeds.append(Part(weight**2 * variance, freedom))
        if not any(varying):
            low, high = wilson(row["value"], row["effective_groups"])
            error = weight * (high - low) / (2 * Z)
            of_groups.append(Part(error**2, row["effective_groups"] - 1))
    parts = [pooled(of_groups), pooled(of_seeds)]
    p_value = p_value_of(value, parts)
    if bounds == SHARE and varying.count(True) == 1:
        place = varying.index(True)
        weight, alone = coefficients[place], rows[place]["value"]
        own = [Part(part.variance / weight**2, part.freedom) for part in parts]
        ends = share_interval(alone, own, groups)
        low, high = sorted(value + weight * (end - alone) for end in ends)
        return Estimate(value, low, high, p_value, tuple(parts))
    half = half_width(parts)
    least, most = (
        sum(end(weight * bound for bound in bounds) for weight in coefficients)
        for end in (min, max)
    )
    low, high = max(least, value - half), min(most, value + half)
    return Estimate(value, low, high, p_value, tuple(parts))


def least_difference(estimate: Estimate, tests: int = 1) -> float | None:
    """Return the smallest true difference that a comparison with this spread finds in four of five
    cases (power 80 %), among `tests` tests by Bonferroni; None without a spread.
    """
    found = half_width(estimate.parts, (1 - LEVEL) / tests)
    return found + half_width(estimate.parts, 2 * (1 - POWER)) if found else None


def share_over_seeds(
    value: float, variance: float, groups: float, sd: float | None, seeds: int
) -> Estimate:
    """Return a mean share over seeds with its interval, which is missing with one group. variance:
    from variance_over_groups(); sd: see over_seeds().
    """
    if groups <= 1:
        return Estimate(value, None, None)
    parts = [Part(variance, groups - 1), over_seeds(sd, seeds)]
    return Estimate(value, *share_interval(value, parts, groups))


def mean_of(rows: Sequence[Mapping]) -> Estimate:
    """Return the mean of a share over systems that were trained on different draws of the training
    data. The variation over these draws is treated like the variation over seeds. The mean of rows
    on record, which have no draws over groups, has no interval.
    """
    values, groups = [row["value"] for row in rows], rows[0]["effective_groups"]
    if len(rows) == 1:
        return Estimate.of(rows[0])
    mean = float(np.mean(values))
    if not all(map(has_draws, rows)):
        return Estimate(mean, None, None)
    draws = np.mean([draws_in(row) for row in rows], 0)
    sd, variance = float(np.std(values, ddof=1)), float(variance_over_groups(draws, groups))
    return share_over_seeds(mean, variance, groups, sd, len(rows))


def difference(row: Mapping, other: Mapping, bounds: tuple[float, float] = NUMBER) -> Estimate:
    return combination([row, other], [1, -1], bounds)


def slope(rows: Sequence[Mapping], over: Sequence[float]) -> Estimate:
    """Return how much a share rises for each 1 of `over`: the slope of the least-squares line,
    computed on every draw.
    """
    places = np.asarray(over, float) - np.mean(over)
    return combination(rows, places / (places**2).sum(), SHARE)
