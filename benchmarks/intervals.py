"""What the intervals cover, and what comparisons find, by simulation: the percentile bootstrap of before beside the intervals of now.

    python -m benchmarks.intervals --times 2000

Groups of uneven size (log-normal) have shares that vary between them (within-group correlation 0.15); seeds agree on most
examples, and differ in how good they are. A good 95 % interval covers the truth in 95 of 100 cases and is narrow. Then: two
systems on the same examples of which one is better by 5 points, told by a paired difference and by intervals that do
not overlap; and the slope over five strides of the same videos. Prints Markdown.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from scripts.common.intervals import slope
from scripts.evaluate.bootstrap import Resampling, resampling
from scripts.evaluate.tally import Replicate, Tally, metric_rows, share
from scripts.evaluate.temporal_nli import weighted_f1

LABELS = np.array([0.5, 0.3, 0.2])  # how often each label of the weighted F1 is the right one


@dataclass(frozen=True)
class World:
    """What examples are drawn from; sd_seeds: how far a seed shifts every group's share, own: the share of examples on which
    seeds (and systems) do not agree more than by chance."""

    groups: int
    share: float
    seeds: int = 1
    per_group: float = 8
    uneven: float = 0.7
    correlation: float = 0.15
    sd_seeds: float = 0.02
    own: float = 0.25


def shares_of_groups(world: World, groups: int, draw: np.random.Generator) -> np.ndarray:
    """(groups,) how often each group is right, which is the world's share on average."""
    if world.correlation == 0:
        return np.full(groups, world.share)
    total = 1 / world.correlation - 1
    return draw.beta(world.share * total, (1 - world.share) * total, groups)


def truth(world: World, draw: np.random.Generator) -> float:
    """The share over all groups and seeds: shifts beyond 0 and 1 are lost."""
    if world.seeds == 1:
        return world.share
    return float(np.clip(shares_of_groups(world, 2_000_000, draw) + draw.normal(0, world.sd_seeds, 2_000_000), 0, 1).mean())


def answers(world: World, gains: list[float], draw: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    """For each gain (of a system, in share) the (seeds, n) right answers on the same examples, and the (n,) groups of these."""
    sizes = np.maximum(1, np.round(draw.lognormal(np.log(world.per_group), world.uneven, world.groups))).astype(int)
    group, every = np.repeat(np.arange(world.groups), sizes), shares_of_groups(world, world.groups, draw)
    shared, systems = draw.random(len(group)), []
    for gain in gains:
        shift = draw.normal(0, world.sd_seeds, (world.seeds, 1)) if world.seeds > 1 else 0
        hard = np.where(draw.random((world.seeds, len(group))) < world.own, draw.random((world.seeds, len(group))), shared)
        systems.append(hard < every[group] + gain + shift)
    return systems, group


def tally_of(right: np.ndarray, group: np.ndarray, groups: int) -> Tally:
    """The share of right answers; right: (seeds, n)."""
    return Tally("all", {"share": share}, np.stack([np.bincount(group, seed, groups) for seed in right]),
                 np.bincount(group, minlength=groups))


def confusion_tally(right: np.ndarray, group: np.ndarray, groups: int, draw: np.random.Generator) -> Tally:
    """The weighted F1 of three labels; a wrong answer is one of the other two labels."""
    label = draw.choice(3, len(group), p=LABELS)
    told = np.where(right, label, (label + draw.integers(1, 3, right.shape)) % 3)
    cells = [np.bincount((group * 3 + label) * 3 + seed, minlength=groups * 9).reshape(groups, 3, 3) for seed in told]
    return Tally("all", {"weighted_f1": weighted_f1}, np.stack(cells), np.bincount(group, minlength=groups))


def true_f1(right: float) -> float:
    """The weighted F1 where a share is right and the rest is spread evenly over the other labels."""
    confusion = np.where(np.eye(3) == 1, right, (1 - right) / 2) * LABELS[:, None]
    return float(weighted_f1(confusion, np.float64(1)))


def percentiles(tally: Tally, resamples: int, draw: np.random.Generator) -> tuple[float, float]:
    """The interval of before: groups drawn with replacement, the percentiles of the mean over the seeds."""
    groups, metric = len(tally.counts), next(iter(tally.metrics.values()))
    times = draw.multinomial(groups, np.full(groups, 1 / groups), resamples).astype(float)
    sums = np.tensordot(times, np.moveaxis(tally.sums, 1, 0), 1)
    values = metric(np.moveaxis(sums, 1, 0), times @ tally.counts).mean(0)
    return tuple(np.quantile(values, [0.025, 0.975]))


def drawn_over(groups: int, resamples: int) -> Resampling:
    """The draws over the groups of a world."""
    return resampling(range(groups), resamples)


def mean_row(tally: Tally, world: World, drawn: Resampling) -> dict:
    """The row of metrics over the seeds."""
    return metric_rows([tally], [Replicate(seed) for seed in range(world.seeds)], drawn)[-1]


def coverage(world: World, times: int, resamples: int, f1: bool = False, before: bool = True) -> np.ndarray:
    """(2, 2): of the interval before and now, in how many per cent of cases it covers the truth, and its mean width in points."""
    draw, found = np.random.default_rng([world.groups, world.seeds, int(1000 * world.share)]), np.zeros((2, 2))
    wanted, drawn = truth(world, draw), drawn_over(world.groups, resamples)
    wanted = true_f1(wanted) if f1 else wanted
    for _ in range(times):
        (right,), group = answers(world, [0.0], draw)
        tally = confusion_tally(right, group, world.groups, draw) if f1 else tally_of(right, group, world.groups)
        row = mean_row(tally, world, drawn)
        both = [percentiles(tally, resamples, draw) if before else (0, 0), (row["ci_low"], row["ci_high"])]
        found += [[low <= wanted <= high, high - low] for low, high in both]
    return found / times * 100


def comparisons(world: World, gain: float, systems: int, times: int, resamples: int) -> dict[str, float]:
    """Systems in a row, each better by `gain` than the one before: in how many per cent of cases the last is told from the first.

    By intervals that do not overlap, and by the slope over the systems (of two, their difference), and whether that covers it.
    """
    draw, drawn = np.random.default_rng([world.groups, world.seeds, 7]), drawn_over(world.groups, resamples)
    found = dict.fromkeys(("apart", "paired", "covered"), 0)
    for _ in range(times):
        right, group = answers(world, [gain * place for place in range(systems)], draw)
        rows = [mean_row(tally_of(each, group, world.groups), world, drawn) for each in right]
        told = slope(rows, range(systems))
        found["apart"] += rows[-1]["ci_low"] > rows[0]["ci_high"]
        found["paired"] += told.clear and told.value > 0
        found["covered"] += told.ci_low <= gain <= told.ci_high
    return {name: count / times * 100 for name, count in found.items()}


def table(head: list[str], rows: list[list]) -> None:
    """Print a table in Markdown."""
    for cells in [head, ["---:"] * len(head), *rows]:
        print("| " + " | ".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True)
    print()


def main(given: argparse.Namespace) -> None:
    head = ["groups", "truth", "seeds", "covered before (%)", "covered now (%)", "width before (points)", "width now (points)"]
    for title, f1, uneven, every_seeds in (("Shares", False, 0.7, (1, 2, 3, 5)), ("Shares, very uneven groups", False, 1.2, (1, 3)),
                                           ("Weighted F1", True, 0.7, (1, 3))):
        print(f"{title}:\n")
        rows = []
        for groups in (2, 3, 5, 8, 10, 30, 100):
            for right in (0.5, 0.8, 0.95):
                for seeds in every_seeds:
                    (covered, width), (now, width_now) = coverage(
                        World(groups, right, seeds, uneven=uneven), given.times, given.resamples, f1)
                    rows.append([groups, f"{right:g}", seeds, covered, now, width, width_now])
        table(head, rows)
    print("Differences and slopes, in per cent of cases:\n")
    rows = []
    for what, world, gain, systems in (
            ("5 points, 300 items, independent systems", World(300, 0.88, 1, 1, 0, 0, own=1), 0.05, 2),
            ("5 points, 300 items, 4 of 10 apart", World(300, 0.70, 1, 1, 0, 0, own=0.4), 0.05, 2),
            ("no gain, 300 items, 4 of 10 apart", World(300, 0.70, 1, 1, 0, 0, own=0.4), 0.0, 2),
            ("5 points, 300 items, 3 seeds", World(300, 0.70, 3, 1, 0, 0, own=0.4), 0.05, 2),
            ("5 points, 10 uneven groups", World(10, 0.60), 0.05, 2),
            ("1 point a stride, 200 videos", World(200, 0.60, 1, 4), 0.01, 5),
            ("no slope, 200 videos", World(200, 0.60, 1, 4), 0.0, 5),
            ("1 point a stride, 200 videos, 3 seeds", World(200, 0.60, 3, 4), 0.01, 5),
            ("1 point a stride, 8 videos", World(8, 0.60, 1, 20), 0.01, 5)):
        rows.append([what, *comparisons(world, gain, systems, given.times, given.resamples).values()])
    table(["case", "intervals do not overlap", "paired interval excludes 0", "paired interval covers the truth"], rows)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--times", type=int, default=1000, help="simulated cases of each kind; default: %(default)s")
    asked.add_argument("--resamples", type=int, default=1000, help="draws of each interval; default: %(default)s")
    main(asked.parse_args())
