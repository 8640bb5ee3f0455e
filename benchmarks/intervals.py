"""Simulate how often intervals cover the truth, and how often comparisons find a difference.

    python -m benchmarks.intervals --times 2000

Groups have uneven sizes (log-normal), and their shares vary (within-group correlation 0.15). Seeds
agree on most examples and differ in how good they are. A good 95 % interval covers the truth in
95 of 100 cases and is narrow. Three comparisons follow:
  * Two systems on the same examples, one better by 5 points, compared by a paired difference and by
    intervals that do not overlap.
  * The slope over five strides of the same videos.
  * Items with two kinds of groups. Pairs of temporal NLI, for example, belong to a template and to
    a pair of times.
Last come seeds that differ more, with one wording or three: how often the interval of a mean covers
the truth, and how often two systems without a difference differ clearly (p < 0.05).
Prints Markdown.
"""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.measure import options_of, table
from scripts.measure.intervals import difference, slope
from scripts.measure.bootstrap import Resampling, crossed, resampling
from scripts.measure.tally import Replicate, Tally, metric_rows, share
from scripts.studies.temporal_nli.evaluate import counts_of, weighted_f1

LABELS = np.array([0.5, 0.3, 0.2])  # how often each label is the right one, for the weighted F1
# Title, whether it is for the weighted F1, how uneven groups are, numbers of seeds.
KINDS = [
    ("Shares", False, 0.7, (1, 2, 3, 5)),
    ("Shares, very uneven groups", False, 1.2, (1, 3)),
    ("Weighted F1", True, 0.7, (1, 3)),
]
TRUTHS = (0.5, 0.8, 0.95)
COVERED = ["groups", "truth", "seeds", "covered (%)", "width (points)"]
COMPARED = [
    "case",
    "intervals do not overlap",
    "paired interval excludes 0",
    "paired interval covers the truth",
]


# Templates, pairs of times, items; how far (sd) a template, and a pair of times, shift a share.
TWO_WAYS = [
    (30, 500, 3000, 0.0, 0.0),
    (30, 500, 3000, 0.1, 0.0),
    (30, 42, 1000, 0.0, 0.1),
    (30, 42, 1000, 0.1, 0.1),
    (60, 60, 3000, 0.1, 0.1),
]
CROSSED = ["templates", "times", "items", "sd of templates", "sd of times"]
CROSSED += ["by template (%)", "by both (%)", "width by template (points)", "width by both"]

# Templates, pairs of times, items; how far (sd) a template and a pair of times shift both systems,
# and how far a template shifts the second system alone.
DIFFERENCES = [
    (60, 60, 3000, 0.0, 0.0),
    (60, 60, 3000, 0.1, 0.0),
    (60, 60, 3000, 0.0, 0.1),
    (30, 42, 1000, 0.1, 0.0),
    (30, 42, 1000, 0.1, 0.1),
]
PAIRED = ["templates", "times", "items", "sd of both", "sd of the second", "covered (%)"]
PAIRED += ["no difference: p < 0.05 (%)", "width / its truth (%)"]

# How far seeds differ (sd), numbers of seeds and of wordings.
SEEDS = [*product((0.0, 0.02, 0.03, 0.05, 0.08), (2, 3, 5), (1, 3))]
DIFFERING = ["sd of seeds", "seeds", "wordings", "covered (%)", "width (points)"]
DIFFERING += ["no difference: p < 0.05 (%)"]


@dataclass(frozen=True)
class World:
    """The distribution of examples.

    sd_seeds: how far a seed shifts the share of every group. alone_share: the share of examples on
    which seeds, wordings and systems agree only by chance. Each seed is asked in every wording.
    """

    groups: int
    share: float
    seeds: int = 1
    per_group: float = 8
    uneven: float = 0.7
    correlation: float = 0.15
    sd_seeds: float = 0.02
    alone_share: float = 0.25
    wordings: int = 1

    @property
    def shifts(self) -> np.ndarray:
        """How far each wording shifts the share of every group: the same for all seeds."""
        return np.linspace(-0.05, 0.05, self.wordings) * (self.wordings > 1)

    @property
    def replicates(self) -> list[Replicate]:
        wordings = [str(number) for number in range(self.wordings)]
        return [Replicate(*one) for one in product(range(self.seeds), wordings)]


def items(groups: int, right: float, seeds: int = 1, alone_share: float = 0.4) -> World:
    """Return a world without groups, whose two systems answer a share of items independently."""
    return World(groups, right, seeds, 1, 0, 0, alone_share=alone_share)


# Title, the world, the gain of each system over the one before, the number of systems.
CASES = [
    ("5 points, 300 items, independent systems", items(300, 0.88, alone_share=1), 0.05, 2),
    ("5 points, 300 items, 4 of 10 apart", items(300, 0.70), 0.05, 2),
    ("no gain, 300 items, 4 of 10 apart", items(300, 0.70), 0.0, 2),
    ("5 points, 300 items, 3 seeds", items(300, 0.70, 3), 0.05, 2),
    ("5 points, 10 uneven groups", World(10, 0.60), 0.05, 2),
    ("1 point a stride, 200 videos", World(200, 0.60, 1, 4), 0.01, 5),
    ("no slope, 200 videos", World(200, 0.60, 1, 4), 0.0, 5),
    ("1 point a stride, 200 videos, 3 seeds", World(200, 0.60, 3, 4), 0.01, 5),
    ("1 point a stride, 8 videos", World(8, 0.60, 1, 20), 0.01, 5),
]


def shares_of_groups(world: World, groups: int, draw: np.random.Generator) -> np.ndarray:
    """Return (groups,) how often each group is right; the average is the world's share."""
    if world.correlation == 0:
        return np.full(groups, world.share)
    total = 1 / world.correlation - 1
    return draw.beta(world.share * total, (1 - world.share) * total, groups)


def truth(world: World, draw: np.random.Generator) -> float:
    """Return the share over all groups and seeds. Shares are clipped to 0 and 1."""
    if world.seeds == 1:
        return world.share
    shares = shares_of_groups(world, 2_000_000, draw) + draw.normal(0, world.sd_seeds, 2_000_000)
    shares += draw.choice(world.shifts, len(shares))
    return float(np.clip(shares, 0, 1).mean())


def answers(
    world: World, gains: list[float], draw: np.random.Generator
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return, for each gain of a system, the (replicates, n) right answers on the same examples.
    Also return the (n,) groups of the examples.
    """
    sizes = draw.lognormal(np.log(world.per_group), world.uneven, world.groups).round().clip(1)
    group = np.repeat(np.arange(world.groups), sizes.astype(int))
    every, shared = shares_of_groups(world, world.groups, draw), draw.random(len(group))
    systems = []
    for gain in gains:
        seeds = draw.normal(0, world.sd_seeds, (world.seeds, 1)) if world.seeds > 1 else 0
        shift = np.reshape(seeds + world.shifts, (-1, 1))
        alone, other = draw.random((2, world.seeds * world.wordings, len(group)))
        hard = np.where(alone < world.alone_share, other, shared)
        systems.append(hard < every[group] + gain + shift)
    return systems, group


def tally_of(right: np.ndarray, group: np.ndarray, groups: int) -> Tally:
    """Return the tally of the share of right answers; right: (replicates, n)."""
    sums = np.stack([np.bincount(group, seed, groups) for seed in right])
    return Tally("all", {"share": share}, sums, np.bincount(group, minlength=groups))


def f1_tally(right: np.ndarray, group: np.ndarray, groups: int, draw: np.random.Generator) -> Tally:
    """Return the tally of the weighted F1 of three labels; wrong answers have the other labels."""
    label = draw.choice(3, len(group), p=LABELS)
    answers = np.where(right, label, (label + draw.integers(1, 3, right.shape)) % 3)
    counts = np.stack([counts_of(label, seed, group, 3, groups) for seed in answers])
    return Tally("all", {"weighted_f1": weighted_f1}, counts, np.bincount(group, minlength=groups))


def true_f1(right: float) -> float:
    """Return the weighted F1 if a share is right and the rest is spread evenly over the other
    labels.
    """
    said = LABELS * right + (1 - LABELS) * (1 - right) / 2
    return float(sum(LABELS * 2 * LABELS * right / (LABELS + said)))


def mean_row(tally: Tally, world: World, drawn: Resampling) -> dict:
    """Return the row of metrics over the seeds and wordings."""
    return metric_rows([tally], world.replicates, drawn)[-1]


def covered(row: dict, wanted: float) -> tuple[bool, float]:
    """Return whether a row's interval covers the truth, and its width."""
    return row["ci_low"] <= wanted <= row["ci_high"], row["ci_high"] - row["ci_low"]


def coverage(world: World, times: int, resamples: int, f1: bool = False) -> np.ndarray:
    """Return how often (%) the interval covers the truth, and its mean width in points."""
    draw = np.random.default_rng([world.groups, world.seeds, int(1000 * world.share)])
    wanted, drawn = truth(world, draw), resampling(range(world.groups), resamples)
    wanted, found = true_f1(wanted) if f1 else wanted, np.zeros(2)
    for _ in range(times):
        (right,), group = answers(world, [0.0], draw)
        if f1:
            tally = f1_tally(right, group, world.groups, draw)
        else:
            tally = tally_of(right, group, world.groups)
        row = mean_row(tally, world, drawn)
        found += covered(row, wanted)
    return found / times * 100


def comparisons(
    world: World, gain: float, systems: int, times: int, resamples: int
) -> dict[str, float]:
    """Compare systems in a row, each better by `gain` than the one before. Return how often (%) a
    test finds the last one better.

    The tests are intervals that do not overlap, and the slope over the systems (the difference, if
    there are two). Also return how often the slope's interval covers the gain.
    """
    draw = np.random.default_rng([world.groups, world.seeds, 7])
    drawn = resampling(range(world.groups), resamples)
    found = dict.fromkeys(("apart", "paired", "covered"), 0)
    for _ in range(times):
        right, group = answers(world, [gain * place for place in range(systems)], draw)
        rows = [mean_row(tally_of(each, group, world.groups), world, drawn) for each in right]
        estimate = slope(rows, range(systems))
        found["apart"] += rows[-1]["ci_low"] > rows[0]["ci_high"]
        found["paired"] += estimate.clear and estimate.value > 0
        found["covered"] += estimate.ci_low <= gain <= estimate.ci_high
    return {name: count / times * 100 for name, count in found.items()}


def differing_seeds(sd: float, seeds: int, wordings: int, times: int, resamples: int) -> np.ndarray:
    """Return how often (%) the interval of a mean over seeds that differ covers the truth, and its
    width in points. Also return how often two equal systems differ clearly.
    """
    world = World(300, 0.6, seeds, sd_seeds=sd, wordings=wordings)
    draw = np.random.default_rng([seeds, wordings, int(1000 * sd)])
    wanted, drawn = truth(world, draw), resampling(range(world.groups), resamples)
    found = np.zeros(3)
    for _ in range(times):
        right, group = answers(world, [0.0, 0.0], draw)
        row, other = (mean_row(tally_of(each, group, world.groups), world, drawn) for each in right)
        found += [*covered(row, wanted), difference(row, other).p_value < 0.05]
    return found / times * 100


def two_ways(
    templates: int, times: int, items: int, sds: tuple[float, float], cases: int, resamples: int
) -> np.ndarray:
    """Return how often (%) two intervals cover a share of 0.7, and their mean widths in points. The
    intervals are by template, and by template and pair of times.
    """
    draw, found = np.random.default_rng([templates, times, items]), np.zeros(4)
    for _ in range(cases):
        template, time = draw.integers(0, templates, items), draw.integers(0, times, items)
        shifts = [draw.uniform(-1, 1, of) * sd * 3**0.5 for of, sd in zip((templates, times), sds)]
        right = draw.random(items) < 0.7 + shifts[0][template] + shifts[1][time]
        cells, cell = np.unique(template * times + time, return_inverse=True)
        ways = (
            (resampling(range(templates), resamples), template, templates),
            (crossed(cells // times, cells % times, resamples), cell, len(cells)),
        )
        for place, (drawn, group, groups) in enumerate(ways):
            (row,) = metric_rows([tally_of(right[None], group, groups)], [], drawn)
            found[place::2] += covered(row, 0.7)
    return found / cases * 100


def paired_two_ways(
    templates: int, times: int, items: int, sds: tuple[float, float], cases: int, resamples: int
) -> np.ndarray:
    """Return how often (%) the interval of a difference without a true value covers 0, how often
    its p-value is below 0.05, and its mean width in per cent of the true one (3.92 sd). Two
    systems are right on 0.7 of the items. They share half of their luck on an item.
    """
    draw, found, values = np.random.default_rng([templates, times, items, 2]), np.zeros(3), []
    for _ in range(cases):
        template, time = draw.integers(0, templates, items), draw.integers(0, times, items)
        cells, cell = np.unique(template * times + time, return_inverse=True)
        drawn = crossed(cells // times, cells % times, resamples)
        both = sum(
            draw.uniform(-1, 1, of)[place] * sds[0] * 3**0.5
            for of, place in ((templates, template), (times, time))
        )
        alone = draw.uniform(-1, 1, templates)[template] * sds[1] * 3**0.5
        luck, shares = draw.random(items), draw.random(items) < 0.5
        rows = []
        for shift in (both, both + alone):
            own = np.where(shares, luck, draw.random(items))
            right = own < 0.7 + shift
            rows += metric_rows([tally_of(right[None], cell, len(cells))], [], drawn)
        estimate = difference(*rows)
        values.append(estimate.value)
        covers = estimate.ci_low <= 0 <= estimate.ci_high
        found += covers, estimate.p_value < 0.05, estimate.ci_high - estimate.ci_low
    return found / cases / (1, 1, 3.92 * np.std(values)) * 100


def main(given: argparse.Namespace) -> None:
    many = given.times, given.resamples

    def show(title: str, head: list[str], rows: Iterable[tuple[Iterable, Iterable]]) -> None:
        """Print a table. A row: the cells that tell its case, and its numbers."""
        rows = [[*case, *(f"{number:.1f}" for number in found)] for case, found in rows]
        print(f"{title}:\n\n{table(head, rows)}\n", flush=True)

    for title, f1, uneven, numbers_of_seeds in KINDS:
        worlds = [
            World(groups, right, seeds, uneven=uneven)
            for groups, right, seeds in product(given.groups, TRUTHS, numbers_of_seeds)
        ]
        cases = (((one.groups, one.share, one.seeds), coverage(one, *many, f1)) for one in worlds)
        show(title, COVERED, cases)
    cases = (((name,), comparisons(*case, *many).values()) for name, *case in CASES)
    show("Differences and slopes, in per cent of cases", COMPARED, cases)
    crossed_cases = ((case, two_ways(*case[:3], case[3:], *many)) for case in TWO_WAYS)
    show("Items that go together in two ways", CROSSED, crossed_cases)
    paired = ((case, paired_two_ways(*case[:3], case[3:], *many)) for case in DIFFERENCES)
    show("Their differences, paired", PAIRED, paired)
    differing = ((case, differing_seeds(*case, *many)) for case in SEEDS)
    show("Seeds that differ, 300 groups", DIFFERING, differing)


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument("--times", type=int, default=1000, help="cases of each kind; %(default)s")
    options.add_argument("--groups", type=int, nargs="+", default=[2, 3, 5, 8, 10, 30, 100])
    options.add_argument("--resamples", type=int, default=1000, help="draws; default: %(default)s")
    main(options.parse_args())
