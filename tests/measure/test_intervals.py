"""Draws, intervals and differences, against slow references, textbook values, theory and
simulation.
"""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.intervals import World, comparisons, coverage, differing_seeds
from scripts.measure.intervals import (
    Part,
    difference,
    half_width,
    mean_of,
    over_groups,
    p_value_of,
    share_interval,
    slope,
    student_t,
    wilson,
)
from scripts.measure.bootstrap import BLOCKS, grouped, resampling
from scripts.measure.tally import Replicate, Tally, draws_of, metric_rows, share, sums_by_group
from tests.rows import each_row

MASK = 2**64 - 1


def shares(sums: np.ndarray, counts: np.ndarray) -> Tally:
    return Tally("all", {"accuracy": share}, sums, counts)


def rows_of(
    values: list[np.ndarray], groups: np.ndarray, seeds: list[int] = (), resamples: int = 400
) -> list[dict]:
    """Return the rows of one metric, a mean of (n,) values of each seed; groups: (n,) integers from
    0.
    """
    counts = np.bincount(groups)
    drawn = resampling([f"g{group}" for group in range(len(counts))], resamples)
    tally = shares(sums_by_group(values, groups, len(counts)), counts)
    return metric_rows([tally], [Replicate(seed) for seed in seeds], drawn)


def slow_weight(block: int, draw: int) -> float:
    """Return a weight in Python's whole numbers, from the description of SplitMix64's finaliser."""

    def mixed(number):
        number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & MASK
        number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK
        return number ^ number >> 31

    number = mixed(mixed(block + 1) + (draw + 1) * 0x9E3779B97F4A7C15 & MASK)
    return -math.log(((number >> 11) + 0.5) / 2**53)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40))
@settings(max_examples=30)
def test_draws_and_interval_equal_a_slow_reference(examples):
    """The reference adds one example after another, each with the weight of its group."""
    codes = np.unique([group for group, _ in examples], return_inverse=True)[1]
    values = np.array([float(right) for _, right in examples])
    (row,) = rows_of([values], codes, resamples=50)
    block = {
        code: int(pd.util.hash_array(np.array([f"g{code}"], object))[0]) % BLOCKS
        for code in set(codes)
    }
    draws = []
    for draw in range(50):
        weights = [slow_weight(block[code], draw) for code in codes]
        draws.append(sum(weight for weight, value in zip(weights, values) if value) / sum(weights))
    np.testing.assert_allclose(row["draws"], [draws], rtol=1e-5)
    sizes = list(np.bincount(codes))
    effective = sum(sizes) ** 2 / sum(size**2 for size in sizes)
    value = sum(values) / len(values)
    assert row["value"] == pytest.approx(value)
    assert row["effective_groups"] == pytest.approx(effective)
    if len(sizes) == 1:
        assert row["ci_low"] is row["ci_high"] is None
    elif 0 < value < 1:
        variance = (
            sum((draw - sum(draws) / 50) ** 2 for draw in draws)
            / 50
            * (effective + 1)
            / (effective - 1)
        )
        half = (
            student_t(max(1, round(effective - 1, 3))) * math.sqrt(variance) / (value * (1 - value))
        )
        wanted = [
            1 / (1 + math.exp(-(math.log(value / (1 - value)) + side * half))) for side in (-1, 1)
        ]
        # draws are stored in 32 bits, and few groups have large quantiles of t
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(wanted, abs=5e-4)


@each_row(
    "freedom, wanted",
    """
        1          | 12.7062
        2          | 4.30265
        3          | 3.18245
        5          | 2.57058
        10         | 2.22814
        30         | 2.04227
        100        | 1.98397
        1000       | 1.96234
        10000000.0 | 1.95996
    """,
)
def test_quantile_of_t_is_that_of_the_tables(freedom, wanted):
    assert student_t(freedom) == pytest.approx(wanted, rel=2e-5)


def test_all_right_is_not_certain():
    """For 20 of 20, the interval is Wilson's, from the roots of its equation."""
    (row,) = rows_of([np.ones(20)], np.arange(20))
    assert row["ci_high"] == 1 and row["ci_low"] == pytest.approx(20 / (20 + 1.959964**2), abs=1e-6)
    for value, groups in ((0.0, 7), (1.0, 7), (0.3, 20)):
        roots = np.roots([1 + 1.959964**2 / groups, -(2 * value + 1.959964**2 / groups), value**2])
        assert wilson(value, groups) == pytest.approx(np.clip(sorted(roots.real), 0, 1), abs=1e-6)


def test_wordings_of_a_seed_do_not_count_as_seeds():
    """Three seeds asked in three wordings have the interval of three seeds: wordings with the same
    answers change nothing. The reference is the formula of docs/statistics.md.
    """
    draw, groups = np.random.default_rng(2), np.arange(2000) // 2
    values = [(draw.random(2000) < rate).astype(float) for rate in (0.5, 0.6, 0.7)]
    [*single, mean] = rows_of(values, groups, [1, 2, 3])
    sums = sums_by_group([one for one in values for _ in "abc"], groups, 1000)
    replicates = [Replicate(seed, wording) for seed in (1, 2, 3) for wording in "abc"]
    drawn = resampling([f"g{one}" for one in range(1000)], 400)
    [*_, asked] = metric_rows([shares(sums, np.full(1000, 2))], replicates, drawn)
    names = ["value", "seeds", "sd_beyond_groups", "ci_low", "ci_high"]
    assert [asked[name] for name in names] == pytest.approx([mean[name] for name in names])
    [control] = rows_of([(draw.random(2000) < 0.55).astype(float)], groups)
    assert difference(asked, control)[:4] == pytest.approx(difference(mean, control)[:4])
    value, by_seed = mean["value"], np.var([row["value"] for row in single], ddof=1)
    own = np.mean([row["value"] * (1 - row["value"]) / 2000 for row in single])
    on_groups = np.var(mean["draws"]) * 1001 / 999
    variance = on_groups * 1.9623**2 + (by_seed - own) / 3 * 4.3027**2
    half = math.sqrt(variance) / (value * (1 - value))
    odds = math.log(value / (1 - value))
    wanted = [1 / (1 + math.exp(-(odds + side * half))) for side in (-1, 1)]
    assert [asked["ci_low"], asked["ci_high"]] == pytest.approx(wanted, abs=2e-3)


@pytest.mark.slow
@each_row(
    "sd, seeds, wordings",
    """
        0    | 3 | 3
        0.05 | 2 | 1
        0.08 | 2 | 3
    """,
)
def test_intervals_of_seeds_that_differ(sd, seeds, wordings):
    """The means of seeds cover the truth, and equal systems rarely differ clearly."""
    covered, width, clear = differing_seeds(sd, seeds, wordings, 250, 200)
    assert 90 <= covered and width < 75 and clear <= 8


def test_wordings_are_no_sample():
    """The interval of the wordings' mean is over groups alone; that of seeds is wider."""
    draw, groups = np.random.default_rng(2), np.arange(2000) // 2
    values = [(draw.random(2000) < rate).astype(float) for rate in (0.5, 0.6, 0.7)]
    tally = shares(sums_by_group(values, groups, 1000), np.full(1000, 2))
    drawn = resampling(range(1000), 400)
    mean = metric_rows([tally], [Replicate(1, wording) for wording in "abc"], drawn)[-1]
    seeds = metric_rows([tally], [Replicate(seed) for seed in (1, 2, 3)], drawn)[-1]
    assert mean["value"] == seeds["value"] and mean["sd"] == seeds["sd"]
    assert mean["ci_high"] - mean["ci_low"] < 0.05 < seeds["ci_high"] - seeds["ci_low"]


def test_p_values():
    """p is below 0.05 if the interval excludes 0."""
    draw = np.random.default_rng(3)
    right, other = ((draw.random(500) < rate).astype(float) for rate in (0.6, 0.55))
    rows = [rows_of([values], np.arange(500))[0] for values in (right, other)]
    found = difference(*rows)
    assert 0 < found.p_value < 1 and (found.p_value < 0.05) == found.clear
    ends_at_zero = Part(found.value**2 / student_t(7, 1e-3) ** 2, 7)
    assert p_value_of(found.value, [ends_at_zero]) == pytest.approx(1e-3)
    two = [Part(2.0, 50), Part(3.0, 2)]
    assert p_value_of(half_width(two, 0.017), two) == pytest.approx(0.017)
    assert difference(rows[0], rows[0]).p_value == 1


def test_draws_pair_by_id_in_any_order_and_beside_any_others():
    sums, counts = np.random.default_rng(3).random((1, 60)), np.full(60, 2)
    ids = np.array([f"video {number}" for number in range(60)])
    shuffled = np.random.default_rng(4).permutation(60)
    both = [
        draws_of(shares(sums[:, order], counts[order]), resampling(ids[order], 100))["accuracy"]
        for order in (np.arange(60), shuffled)
    ]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-6)
    more = resampling([*ids, *(f"other {number}" for number in range(500))], 100)
    padded = shares(np.pad(sums, ((0, 0), (0, 500))), np.pad(counts, (0, 500)))
    np.testing.assert_allclose(draws_of(padded, more)["accuracy"], both[0], rtol=1e-6)
    other = resampling([f"elsewhere {number}" for number in range(60)], 100)
    apart = draws_of(shares(sums, counts), other)["accuracy"]
    assert abs(np.corrcoef(apart[0, 0], both[0][0, 0])[0, 1]) < 0.4


def test_an_interval_stays_within_a_share_and_around_its_value():
    draw = np.random.default_rng(7)
    for value in (0.001, 0.5, 0.999, 0.0, 1.0):
        low, high = share_interval(value, [over_groups(draw.normal(value, 0.3, 100), 3)], 3)
        assert 0 <= low <= value <= high <= 1 and high - low > 0.3


@pytest.mark.slow
@each_row(
    "groups, truth, seeds, f1, below",
    """
        2   | 0.5  | 1 | false | 101
        10  | 0.8  | 2 | true  | 101
        30  | 0.5  | 5 | false | 99
        100 | 0.95 | 3 | false | 99
    """,
)
def test_intervals_cover_what_they_say(groups, truth, seeds, f1, below):
    """In a short form of benchmarks/intervals.py, intervals cover the truth in at least 91 % of
    cases, and with many groups in at most 99 %.
    """
    covered, width = coverage(World(groups, truth, seeds), 250, 200, f1)
    assert 91 <= covered <= below and width < 100


@pytest.mark.slow
@each_row(
    "world, gain, systems, detected",
    [
        (World(300, 0.7, 1, 1, 0, 0, alone_share=0.4), 0.0, 2, (0, 6)),
        (World(12, 0.6, 3), 0.05, 2, (0, 60)),
        (World(200, 0.6, 1, 4), 0.02, 5, (95, 100)),
    ],
)
def test_differences_and_slopes_cover_what_they_say(world, gain, systems, detected):
    """Two systems, or five strides, have the same examples. detected: the bounds of how often (%) a
    test finds the better one.
    """
    found = comparisons(world, gain, systems, 250, 200)
    assert found["covered"] >= 91
    assert detected[0] <= found["paired"] <= detected[1]
    assert found["apart"] <= found["paired"]


def test_a_difference_of_shares_that_do_not_vary_is_not_certain():
    """20 right of 20 are compared with 0 of 20, and with themselves."""
    right, wrong = (rows_of([np.full(20, value)], np.arange(20))[0] for value in (1.0, 0.0))
    found = difference(right, wrong)
    assert found.value == 1 and 0.6 < found.ci_low < 0.95 and found.clear
    assert not difference(right, right).clear and difference(right, right).ci_high > 0.05


def test_a_slope_and_a_mean_equal_a_slow_reference():
    """The reference is the line of least squares through each draw; means are over two systems."""
    draw = np.random.default_rng(8)
    groups = np.arange(400) // 4
    rows = [
        rows_of(
            [(draw.random(400) < rate + seed).astype(float) for seed in (-0.1, 0, 0.1)],
            groups,
            [1, 2, 3],
        )[-1]
        for rate in (0.5, 0.55, 0.7)
    ]
    strides = [0, 1, 4]
    found = slope(rows, strides)
    slopes = [
        np.polyfit(strides, [row["draws"][0][number] for row in rows], 1)[0]
        for number in range(400)
    ]
    assert found.value == pytest.approx(np.polyfit(strides, [row["value"] for row in rows], 1)[0])
    share_of = [
        (place - 5 / 3) / sum((other - 5 / 3) ** 2 for other in strides) for place in strides
    ]
    parts = [weight**2 * row["sd_beyond_groups"] ** 2 / 3 for weight, row in zip(share_of, rows)]
    assert min(parts[0], parts[2]) > 0
    of_seeds = student_t(sum(parts) ** 2 / sum(part**2 / 2 for part in parts)) ** 2 * sum(parts)
    half = math.sqrt(student_t(99) ** 2 * np.var(slopes) * 101 / 99 + of_seeds)
    assert (found.ci_low, found.ci_high) == pytest.approx(
        (found.value - half, found.value + half), rel=1e-3
    )
    mean = mean_of(rows[:2])
    assert mean.value == pytest.approx((rows[0]["value"] + rows[1]["value"]) / 2)
    assert mean.ci_low < mean.value < mean.ci_high
    assert mean_of(rows[:1])[:3] == (rows[0]["value"], rows[0]["ci_low"], rows[0]["ci_high"])


@pytest.mark.parametrize("of_second", [0.0, 0.25])
def test_differences_of_items_in_two_groupings_vary_as_their_own_clusters_say(of_second):
    """The reference is the formula of two-way clustering on the difference of each item (Cameron,
    Gelbach and Miller 2011). Both systems vary with the template; of_second: how far the second
    one also varies on its own.
    """
    draw, items = np.random.default_rng(5), 4000
    template, time = draw.integers(0, 60, items), draw.integers(0, 50, items)
    shift, own = draw.normal(0, 0.2, 60)[template], draw.normal(0, of_second, 60)[template]
    luck = draw.random(items)
    right = [(luck < 0.5 + by).astype(float) for by in (shift, shift + own + 0.03)]
    group, drawn = grouped(pd.DataFrame({"first": template, "second": time}), 2000)
    counts = np.bincount(group)
    rows = [
        metric_rows([shares(sums_by_group([one], group, len(counts)), counts)], [], drawn)[0]
        for one in right
    ]
    each = right[0] - right[1]

    def variance(clusters):
        return (np.bincount(clusters, each - each.mean()) ** 2).sum() / items**2

    ways = [variance(clusters) for clusters in (template, time, template * 50 + time)]
    wanted = max(ways[0], ways[1], ways[0] + ways[1] - ways[2])
    (part, _) = difference(*rows).parts
    assert part.variance == pytest.approx(wanted, rel=0.15)


def test_of_one_group_nothing_is_told():
    (row,) = rows_of([np.array([0.0, 1.0, 1.0])], np.zeros(3, int))
    assert row["groups"] == 1
    assert row["ci_low"] is None
    assert difference(row, row)[:4] == (0, None, None, None)
    assert not difference(row, row).clear
