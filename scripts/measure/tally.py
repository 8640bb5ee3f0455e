"""Turn sums by group into rows of metrics. Each replicate has a row with its value and interval;
one more row has the mean over the replicates.

A replicate of a system is one of its runs. A model that is trained has one replicate for each seed.
A model that is asked in words has one for each wording. A model that is asked and also learns from
a few examples has one for each seed and wording.

A metric is a function of sums: accuracy divides right answers by answers, weighted F1 reads a
confusion matrix. The examples are summed by group (video, template, question, instance). These sums
give the value. With weighted groups (bootstrap.py) they give its draws. Rows that are compared
carry their draws, which are paired by the groups' ids.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from scripts.data.options import DatasetOptions
from scripts.data.tables import METRICS, table_schema
from scripts.measure.intervals import beyond_draws, share_over_seeds, variance_over_groups
from scripts.measure.bootstrap import Crossed, Resampling, blocks_there, drawn_sums

# takes (…, cells) sums and (…) counts; the counts may be fractions
Metric = Callable[[np.ndarray, np.ndarray], np.ndarray]
DRAWS = pa.list_(pa.list_(pa.float32()))  # see variance_over_groups()
# the columns that metric_rows() fills, beside slice, metric, seed and wording
FLOATS = "value sd sd_beyond_groups ci_low ci_high p_value effective_groups".split()
MEASURES = table_schema(
    "value sd sd_beyond_groups seeds ci_low ci_high p_value n groups effective_groups draws "
    "kind_of_control chosen rung",
    **dict.fromkeys(FLOATS, "float64"),
    **dict.fromkeys(("seeds", "n", "groups"), "int64"),
    draws=DRAWS,
    chosen="bool",
)


def metrics_schema(
    options: type[DatasetOptions], others: Mapping[str, pa.DataType] = {}
) -> pa.Schema:
    """Return the schema of a study's metrics: METRICS, the method, the columns of its options, the
    study's other columns, MEASURES and the runs.
    """
    names = METRICS.names
    columns = {
        name: pa.type_for_alias(kind)
        for name, kind in options.columns().items()
        if name not in names
    }
    place, metric = names.index("dataset") + 1, names.index("metric") + 1
    fields = list(METRICS)
    return pa.schema(
        [
            *fields[:place],
            ("method", pa.string()),
            *{**columns, **others}.items(),
            *fields[place:metric],
            *MEASURES,
            METRICS.field("sample"),
            ("runs", pa.string()),
        ]
    )


class Replicate(NamedTuple):
    seed: int
    wording: str | None = None


def share(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the mean over examples: their sum divided by their count."""
    return sums / counts


@dataclass(frozen=True)
class Tally:
    """The sums from which the metrics of one system are computed, on one slice of one split.

    slice    the slice's name
    metrics  the metric functions by name; each takes the sums over the groups
    sums     (replicates, groups, …): for each replicate, the sum over the examples of each group
    counts   (groups,): the number of examples in each group; a group without examples is ignored
    compared its rows are compared with other rows; slice `all` always is
    """

    slice: str
    metrics: dict[str, Metric]
    sums: np.ndarray
    counts: np.ndarray
    compared: bool = False


def sums_by_group(values: Iterable[np.ndarray], group: np.ndarray, groups: int) -> np.ndarray:
    """Return the (replicates, groups) sums of each replicate's (n,) values; group: (n,) integers
    from 0.
    """
    return np.stack(
        [np.bincount(group, weights=replicate, minlength=groups) for replicate in values]
    )


def share_tally(
    name: str,
    metric: str,
    values: Iterable[np.ndarray],
    inside: np.ndarray,
    group: np.ndarray,
    groups: int,
    compared: bool = False,
) -> Tally:
    """Return the tally of a share on a slice. values: for each replicate (n,); inside: (n,) which
    examples belong to the slice; group: (n,) integers from 0.
    """
    sums = sums_by_group((np.where(inside, one, 0) for one in values), group, groups)
    counts = np.bincount(group[inside], minlength=groups)
    return Tally(name, {metric: share}, sums, counts, compared)


def values_of(tally: Tally) -> dict[str, np.ndarray]:
    total, count = tally.sums.sum(1), tally.counts.sum()
    return {name: metric(total, count) for name, metric in tally.metrics.items()}


def draws_of(tally: Tally, drawn: Resampling | Crossed) -> dict[str, np.ndarray]:
    """Return for each metric its (replicates, ways, resamples) values over weighted groups, for
    variance_over_groups(). All replicates use the same weights.
    """
    ways = (*drawn.ways, drawn.both) if isinstance(drawn, Crossed) else (drawn,)
    of_ways = [draws_of_way(tally, way) for way in ways]
    effective = [effective_drawn(tally.counts, way) for way in ways]
    least = effective_drawn(tally.counts, drawn)
    if len(ways) == 1 or least <= 1:
        return {name: np.stack([draws[name] for draws in of_ways], 1) for name in tally.metrics}
    # one factor, that of the fewest groups, is right for all ways
    scales = [(beyond_draws(groups) / beyond_draws(least)) ** 0.5 for groups in effective]
    return {
        name: np.stack(
            [
                value[:, None] + scale * (draws[name] - value[:, None])
                for draws, scale in zip(of_ways, scales)
            ],
            1,
        )
        for name, value in values_of(tally).items()
    }


def draws_of_way(tally: Tally, drawn: Resampling) -> dict[str, np.ndarray]:
    """Return for each metric its (replicates, resamples) values over groups of one kind."""
    totals = np.moveaxis(drawn_sums(np.moveaxis(tally.sums, 1, 0), drawn), 1, 0)
    counts = drawn_sums(tally.counts, drawn)
    return {name: metric(totals, counts) for name, metric in tally.metrics.items()}


def means_of(values: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Return (systems, …) the means over the replicates of each system; values: (replicates, …)."""
    if len(sizes) == len(values):
        return values
    ends = np.cumsum(sizes)
    return np.stack([values[end - size : end].mean(0) for size, end in zip(sizes, ends)])


def effective_drawn(counts: np.ndarray, drawn: Resampling | Crossed) -> float:
    """Return the effective number of drawn groups; for two groupings, the lower number."""
    if isinstance(drawn, Crossed):
        return min(effective_drawn(counts, way) for way in drawn.ways)
    return effective_groups(blocks_there(counts, drawn)[1])


def present(tally: Tally) -> Tally:
    """Return the tally with zeros in the sums of groups that have no example."""
    there = (tally.counts > 0).reshape(1, -1, *[1] * (tally.sums.ndim - 2))
    return replace(tally, sums=np.where(there, tally.sums, 0))


def effective_groups(counts: np.ndarray) -> float:
    """Return how many groups of equal size give as much information as groups of these sizes (Kish
    1965).
    """
    return float(counts.sum() ** 2 / (counts**2).sum())


def sd_beyond_groups(
    values: np.ndarray, draws: np.ndarray, replicates: Sequence[Replicate], effective: float
) -> float | None:
    """Return the standard deviation between seeds beyond the variation on single groups. The draws
    contain that variation already. Return 0 for several wordings of one seed, since wordings are
    not a random sample. Return None for a single replicate, or for at most one effective group.

    values: (replicates,); draws: (replicates, ways, resamples); effective: from effective_groups().
    """
    if len(replicates) < 2 or effective <= 1:
        return None
    seeds = np.unique([one.seed for one in replicates], return_inverse=True)[1]
    mean = (np.unique(seeds)[:, None] == seeds) / np.bincount(seeds)[:, None]  # over wordings
    if len(mean) < 2:
        return 0.0
    values, draws = mean @ values, np.tensordot(mean, draws, 1)
    on_groups = variance_over_groups(draws - draws.mean(0), effective).sum() / (len(mean) - 1)
    return float(np.sqrt(max(0.0, values.var(ddof=1) - on_groups)))


def metric_rows(
    tallies: Iterable[Tally], replicates: Sequence[Replicate], drawn: Resampling | Crossed
) -> list[dict]:
    """Return the rows (slice, metric, seed, wording and MEASURES) of one system: a row for each
    replicate, then a row for their mean.

    replicates: in the order of the tallies' sums; empty for a system that has only the row of the
    mean. drawn: the draws over the groups of all tallies. The row of a replicate has an interval
    over the groups. The row of the mean has no seed and no wording; its sd is over the replicates,
    and its interval is over groups and seeds. On compared slices the mean and the single wordings
    carry their draws. A slice without examples has no row.
    """
    [rows] = rows_by_system(tallies, [replicates], drawn)
    return rows


def rows_by_system(
    tallies: Iterable[Tally], systems: Sequence[Sequence[Replicate]], drawn: Resampling | Crossed
) -> list[list[dict]]:
    """Return metric_rows() of each system, with one draw of the groups for all systems. The
    tallies' sums contain the replicates of one system after another.
    """
    sizes = [len(replicates) or 1 for replicates in systems]
    rows: list[list[dict]] = [[] for _ in systems]
    for tally in map(present, tallies):
        if not tally.counts.any():
            continue
        values, draws = values_of(tally), draws_of(tally, drawn)
        effective = effective_drawn(tally.counts, drawn)
        has = tally.counts > 0
        groups = len(np.unique(drawn.first[has])) if isinstance(drawn, Crossed) else has.sum()
        same = {
            "slice": tally.slice,
            "n": int(tally.counts.sum()),
            "groups": int(groups),
            "effective_groups": effective,
        }
        unpaired = {} if tally.slice == "all" or tally.compared else {"draws": None}
        for name in tally.metrics:
            measured = measures(values[name], draws[name], systems, sizes, effective)
            for found, of_system in zip(rows, measured):
                found += [same | {"metric": name} | row | unpaired for row in of_system]
    return rows


def measures(
    values: np.ndarray,
    draws: np.ndarray,
    systems: Sequence[Sequence[Replicate]],
    sizes: Sequence[int],
    effective: float,
) -> Iterator[list[dict]]:
    """Yield the rows of one metric of each system: a row for each replicate, then a row for their
    mean. values: (replicates,); draws: (replicates, ways, resamples); sizes: of the systems;
    effective: from effective_groups().
    """
    means = means_of(draws, sizes)
    single, mean = (variance_over_groups(each, effective).tolist() for each in (draws, means))
    for replicates, size, end, of_mean, variance in zip(
        systems, sizes, np.cumsum(sizes), means.astype(np.float32), mean
    ):
        places = slice(end - size, end)
        of_system = values[places].tolist()
        rows = [
            one._asdict()
            | {"sd": None, "seeds": 1, "draws": list(drawn) if one.wording else None}
            | share_over_seeds(value, of_one, effective, None, 1)._asdict()
            for one, value, drawn, of_one in zip(
                replicates, of_system, draws[places].astype(np.float32), single[places]
            )
        ]
        beyond = sd_beyond_groups(values[places], draws[places], replicates, effective)
        seeds = len({one.seed for one in replicates})
        rows.append(
            {
                "seed": None,
                "wording": None,
                "sd": float(values[places].std(ddof=1)) if len(replicates) > 1 else None,
                "sd_beyond_groups": beyond,
                "seeds": seeds,
                "draws": list(of_mean),
            }
            | share_over_seeds(
                float(values[places].mean()), variance, effective, beyond, seeds
            )._asdict()
        )
        yield rows
