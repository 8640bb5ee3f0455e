"""The rungs of the ladder in published numbers: distances to each rung, and the highest rung that a
model clearly leaves behind. scripts/measure/ladder.py explains the rungs.
"""

from collections.abc import Mapping

import pandas as pd

from scripts.measure.intervals import LEVEL, holm
from scripts.measure.ladder import BLIND, CHANCE, RULES, RUNGS, TEXTS, UNPRETRAINED, WORDS
from scripts.publish.selection import only
from scripts.publish.table import percent
from scripts.publish.verdicts import why_unclear

TITLES = {
    CHANCE: "chance",
    BLIND: "itself, blind",
    RULES: "rules",
    WORDS: "words",
    TEXTS: "knowledge of texts",
    UNPRETRAINED: "the same network without pretraining",
}
VALUES = ["value", "ci_low", "ci_high", "p_value", "control"]
NOT_RUN = "not run beside it"  # of an experiment; another one may have it


def with_distances(rows: pd.DataFrame, metrics: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Return rows of systems with their distance to each rung: the columns above_<rung>,
    above_<rung>_low, _high, _p and _control; missing where the rung was not measured. metrics: rows
    of all metrics; on: the columns that identify a system.
    """
    means = only(metrics, seed=None, wording=None)
    for rung in RUNGS:
        ending, name = f"_above_{rung}", f"above_{rung}"
        beside = means[means["metric"].str.endswith(ending)]
        beside = beside.assign(metric=beside["metric"].str.removesuffix(ending))
        names = dict(
            zip(VALUES, (name, *(f"{name}_{of}" for of in ("low", "high", "p", "control"))))
        )
        beside = beside.rename(columns=names).drop_duplicates([*on, "metric"])
        rows = rows.merge(beside[[*on, "metric", *names.values()]], how="left", on=[*on, "metric"])
    return rows


def with_stands(rows: pd.DataFrame, groups: Mapping[str, str]) -> pd.DataFrame:
    """Return rows from with_distances() with `rung`, the highest rung that the model clearly leaves
    behind with all below it (missing where there is none), and `stands`, the same in words. Holm's
    test is over all differences of a study's rows. groups: each study's word for its groups.
    """
    found, order = [], []
    for study, of in rows.groupby("study", sort=False):
        p_values = of[[f"above_{rung}_p" for rung in RUNGS]].astype(float)
        adjusted = holm(p_values.to_numpy().ravel()).reshape(p_values.shape)
        for row, p_of_row in zip(of.to_dict("records"), adjusted):
            clear = {rung: bool(p <= 1 - LEVEL) for rung, p in zip(RUNGS, p_of_row)}
            found.append(climb(row, clear, int(p_values.count().sum()), groups[study]))
        order.extend(of.index)
    stands = pd.DataFrame(found, columns=["rung", "stands"], index=order)
    return rows.assign(**stands.reindex(rows.index))


def climb(
    row: dict, clear: dict[str, bool], tests: int, groups: str
) -> tuple[str | None, str | None]:
    """Return the highest rung that a model clearly leaves behind with all below it, and words that
    also name the rung where it stops and the rungs above chance that were not run. Both are None
    without any control but the blind model. clear: by rung,
    whether the difference is. tests: the number of differences.
    """
    measured = [rung for rung in RUNGS if pd.notna(row[f"above_{rung}"])]
    if measured in ([], [BLIND]):  # a record of an earlier release has no other rung
        return None, None
    missing = [TITLES[rung] for rung in RUNGS if rung not in (CHANCE, *measured)]
    left = []
    for rung in measured:
        if not clear[rung] or row[f"above_{rung}"] < 0:
            break
        left.append(rung)
    parts = [f"clearly above {TITLES[left[-1]]}"] if left else []
    if len(left) < len(measured):
        stop = measured[len(left)]
        beside = f"{TITLES[stop]} ({percent(row['value'] - row[f'above_{stop}'])})"
        why = why_unclear(row, f"above_{stop}", tests, groups)
        parts.append(f"below {beside}" if clear[stop] else f"beside {beside}: {why}")
    if missing:
        parts.append(f"{NOT_RUN}: {', '.join(missing)}")
    return left[-1] if left else None, "; ".join(parts)
