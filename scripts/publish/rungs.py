"""The rungs of the ladder in published numbers: distances to each rung, and the highest rung that a
model clearly leaves behind. scripts/measure/ladder.py explains the rungs.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scripts.measure.intervals import LEVEL, holm
from scripts.measure.ladder import BLIND, CHANCE, OWN, RULES, RUNGS, TEXTS, UNPRETRAINED, WORDS
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
CONTROL, SAME_VIEW = "control", "same_view"  # the best control on the test, of all or of one view
NOT_RUN = "not run in this experiment"  # another one may have it


def with_distances(rows: pd.DataFrame, metrics: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Return rows of systems with their distance to each rung, to the best control and to that of
    the same view: the columns above_<what>, above_<what>_low, _high, _p and _control; missing where
    it was not measured. metrics: rows of all metrics; on: the columns that identify a system.
    """
    means = only(metrics, seed=None, wording=None)
    for what in (*RUNGS, CONTROL, SAME_VIEW):
        ending, name = f"_above_{what}", f"above_{what}"
        beside = means[means["metric"].str.endswith(ending)]
        beside = beside.assign(metric=beside["metric"].str.removesuffix(ending))
        names = dict(
            zip(VALUES, (name, *(f"{name}_{of}" for of in ("low", "high", "p", "control"))))
        )
        beside = beside.rename(columns=names).drop_duplicates([*on, "metric"])
        rows = rows.merge(beside[[*on, "metric", *names.values()]], how="left", on=[*on, "metric"])
    return rows


def with_clear(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows from with_distances() with above_<what>_clear for each rung and the best control,
    and `tests`, the number of comparisons. A difference is clear if p < 0.05 by Holm's test over
    all differences of a study's rows. Where the best control is that of a rung, the two are one
    comparison. A model is clearly above the best control only if it is clearly above the controls
    of all rungs.
    """
    names = [f"above_{what}" for what in (*RUNGS, CONTROL)]
    p_values = rows[[f"{name}_p" for name in names]].astype(float)
    best = rows[f"above_{CONTROL}_control"]
    is_best = pd.DataFrame({name: rows[f"{name}_control"].eq(best) for name in names[:-1]})
    p_values[f"above_{CONTROL}_p"] = p_values[f"above_{CONTROL}_p"].mask(is_best.any(axis=1))
    adjusted = pd.DataFrame(np.nan, rows.index, names)
    tests = pd.Series(0, rows.index)
    for _, of in p_values.groupby(rows["study"], sort=False):
        adjusted.loc[of.index] = holm(of.to_numpy().ravel()).reshape(of.shape)
        tests[of.index] = np.count_nonzero(of.notna())
    shared = adjusted[names[:-1]].where(is_best).min(axis=1)
    best_p = adjusted[names[-1]].fillna(shared)
    of_all = adjusted[[f"above_{rung}" for rung in RUNGS if rung not in OWN]].max(axis=1)
    is_above = rows[names[-1]] > 0
    adjusted[names[-1]] = best_p.mask(is_above, np.fmax(best_p, of_all))
    return rows.assign(tests=tests, **(adjusted <= 1 - LEVEL).add_suffix("_clear"))


def with_stands(rows: pd.DataFrame, studies: Mapping[str, Mapping]) -> pd.DataFrame:
    """Return rows from with_clear() with `rung`, the highest rung that the model clearly leaves
    behind with all below it (missing where there is none), and `stands`, the same in words.
    """
    found = [
        climb(row, studies[row["study"]].get("groups", "groups")) for row in rows.to_dict("records")
    ]
    stands = pd.DataFrame(found, columns=["rung", "stands"], index=rows.index)
    return rows.assign(**stands)


def climb(row: dict, groups: str) -> tuple[str | None, str | None]:
    """Return the highest rung that a model clearly leaves behind with all below it, and words that
    also name the rung where it stops and the rungs above chance that were not run. Both are None
    without any control but the blind model.
    """
    measured = [rung for rung in RUNGS if pd.notna(row[f"above_{rung}"])]
    if measured in ([], [BLIND]):  # a record of an earlier release has no other rung
        return None, None
    missing = [TITLES[rung] for rung in RUNGS if rung not in (CHANCE, *measured)]
    left = []
    for rung in measured:
        if not row[f"above_{rung}_clear"] or row[f"above_{rung}"] < 0:
            break
        left.append(rung)
    parts = [f"clearly above {TITLES[left[-1]]}"] if left else []
    if len(left) < len(measured):
        stop = measured[len(left)]
        beside = f"{TITLES[stop]} ({percent(row['value'] - row[f'above_{stop}'])})"
        why = why_unclear(row, f"above_{stop}", groups)
        is_clear = row[f"above_{stop}_clear"]
        parts.append(f"below {beside}" if is_clear else f"beside {beside}: {why}")
    if missing:
        parts.append(f"{NOT_RUN}: {', '.join(missing)}")
    return left[-1] if left else None, "; ".join(parts)
