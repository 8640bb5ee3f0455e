"""Filter a split: keep the units (pairs, questions, instances) that searched controls cannot tell.

Compare adversarial filtering (Le Bras et al. 2020). The judges are the searched controls of a
dataset, one after the other, the best in training first. They learnt from the training split alone,
so no judge has seen the label of a unit that it judges. Units about which a judge is equally sure
form a stratum. Each stratum keeps as many units that the judge gets right as wrong. So the
judges are near 50 % on what is left, by construction. A judge that is right on less than half drops
nothing, and no judge drops a unit on which it makes no choice. A solver is no judge: it declares
the answer, so it would leave nothing.

Is that hard for other learners, too? One family takes no part in the filter: a small network that
learns from scratch (scripts/controls/generic.py). The metric `left_out` is the share of units on
which it is surer of the right answer than of the wrong one, before the filter (slice all) and after
it. Two right options count by their mean against the mean of the wrong ones, so chance is 50 %.
verdict() calls units hard only if this family is near chance on them.

A filter needs a left-out control in the experiment (`models: [..., left_out_network]`). It is a
slice of the evaluation, `filter=even`. No dataset changes, and recorded scores are enough.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash
from scripts.measure.bootstrap import grouped
from scripts.measure.experiment import Run, Systems, read_scores
from scripts.measure.tally import metric_rows, share_tally

EVEN, LEFT_OUT = "filter=even", "left_out"  # the slice and the metric
CHANCE, HIGHEST, LEAST = 0.5, 0.6, 0.1  # of the left-out family; the least share of units left
DRAW = 31  # the number of this draw
STRATUM = 50  # units in a group that counts as equally sure


class Filter(NamedTuple):
    """How a study filters. unit: the column of units that are right or wrong as a whole; groups:
    the columns of groups that are resampled, see grouped(); within: columns whose values are
    filtered one by one; slices: columns, with spaces, whose values are also measured alone;
    chooses: whether an example is one option of its unit.
    """

    unit: str
    groups: Sequence[str]
    within: Sequence[str] = ()
    slices: Sequence[str] = ()
    chooses: bool = False


def sure_of(scores: np.ndarray, label: np.ndarray, unit: np.ndarray, chooses: bool) -> np.ndarray:
    """Return (units,) how much surer a control is of the right answer than of the wrong one; below
    0 it is wrong. scores: (n, labels); unit: (n,) integers from 0.
    """
    if chooses:
        right, wrong = (
            np.bincount(unit, np.where(label == side, scores[:, -1], 0))
            / np.bincount(unit, label == side)
            for side in (1, 0)
        )
        return right - wrong
    is_label = np.eye(scores.shape[1], dtype=bool)[label]
    margin = scores[is_label] - np.where(is_label, -np.inf, scores).max(1)
    return pd.Series(margin).groupby(unit).min().to_numpy()


def balanced(sure: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Return (n,) which units are kept. Each stratum of equally sure units keeps as many right as
    wrong units, those with the lowest hashes. A tie is dropped, because the judge made no choice.
    """
    decided = np.flatnonzero(sure)
    rows = decided[np.lexsort([hashes[decided], np.abs(sure[decided])])]
    strata = max(len(rows) // STRATUM, 1)
    table = pd.DataFrame(
        {"stratum": np.arange(len(rows)) * strata // max(len(rows), 1), "right": sure[rows] > 0},
        index=rows,
    ).iloc[np.argsort(hashes[rows])]
    right = table.groupby("stratum")["right"]
    fewer = np.minimum(right.transform("sum"), right.transform("size") - right.transform("sum"))
    kept = np.zeros(len(sure), bool)
    kept[table.index[table.groupby(["stratum", "right"]).cumcount() < fewer]] = True
    return kept


def after_filter(name: str) -> str:
    """Return the name of a slice after the filter."""
    return EVEN if name == "all" else f"{EVEN}; {name}"


def verdict(before: Mapping, after: Mapping) -> str:
    """Return what the units after a filter are, from the rows of the left-out family before and
    after it. Hard: the family is not clearly above chance, and its interval ends below HIGHEST.
    """
    if after["n"] < LEAST * before["n"]:
        return f"cannot be filtered, {after['n']:,} of {before['n']:,} are left"
    is_hard = after["ci_low"] <= CHANCE and after["ci_high"] < HIGHEST
    return "hard" if is_hard else "not hard"


def controls_of(systems: Systems, kind: str) -> list[Run]:
    """Return the controls of a kind: `search` or `left_out`."""
    runs = [of[0] for (_, method), of in systems.items() if method == "control"]
    return [run for run in runs if kind in run.facts.get("control", {})]


def filtered(
    examples: pd.DataFrame,
    systems: Systems,
    split: str,
    how: Filter,
    resamples: int,
    solvers: Collection[str],
) -> tuple[np.ndarray, list[dict]]:
    """Return (n,) which examples of a split the filter keeps, and the rows of the left-out family.
    Without a left-out control, or without judges, no example is kept. solvers: names of controls.
    """
    judges, left_out = (controls_of(systems, kind) for kind in ("search", LEFT_OUT))
    judges = [run for run in judges if run.facts["model"] not in solvers]
    if not judges or not left_out:
        return np.zeros(len(examples), bool), []
    unit, names = pd.factorize(examples[how.unit])
    first = examples.drop_duplicates(how.unit)

    def sure(run: Run) -> np.ndarray:
        scores = read_scores(run, split, examples["example_id"], "examples")[0]
        return sure_of(scores, examples["label"].to_numpy(), unit, how.chooses)

    kept, cell = np.ones(len(names), bool), np.zeros(len(names), int)
    if how.within:
        cell = first.groupby(list(how.within), dropna=False).ngroup().to_numpy()
    hashes = keyed_hash(pd.Series(names), DRAW)
    for judge in sorted(judges, key=lambda run: -(run.facts.get("training_value") or 0)):
        of_judge = sure(judge)
        for number in np.unique(cell):
            rows = np.flatnonzero(kept & (cell == number))
            said = of_judge[rows]
            if (said > 0).sum() > (said < 0).sum():
                kept[rows] = balanced(said, hashes[rows]) | (said == 0)
    group, drawn = grouped(first[list(how.groups)], resamples)
    groups = len(drawn.block)
    parts = {"all": np.ones(len(names), bool)}
    for columns in map(str.split, how.slices):
        for values, rows in first.reset_index().groupby(columns).indices.items():
            values = values if isinstance(values, tuple) else (values,)
            name = "; ".join(f"{column}={value}" for column, value in zip(columns, values))
            parts[name] = np.isin(np.arange(len(names)), rows)
    found: list[dict] = []
    for run in left_out:
        right = (np.sign(sure(run)) + 1) / 2
        tallies = [
            share_tally(name, LEFT_OUT, [right], inside, group, groups)
            for part, of_part in parts.items()
            for name, inside in ((part, of_part), (after_filter(part), of_part & kept))
        ]
        same = {"model": run.facts["model"], "method": run.facts["method"]}
        rows_of_run = metric_rows(tallies, [], drawn)
        found += [same | row | {"draws": None} for row in rows_of_run]
    return kept[unit], found
