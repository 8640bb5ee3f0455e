"""Decide what a difference to a control shows, and say in words why it shows nothing.

The scorecard, the first screen and the ladder take their verdicts from here. A difference is clear
by Holm's test over all cells and rungs of the study (with_clear() of scripts/publish/rungs.py). Few
groups (templates, videos) or two seeds make an interval too wide to tell.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scripts.measure.intervals import Estimate
from scripts.publish.selection import EQUAL, with_interval
from scripts.publish.table import percent, signed

ABOVE, LEVEL_WITH, BELOW = "above", "level", "below"
UNCLEAR, UNKNOWN = "unclear", "unknown"
MARGIN = 0.03  # a model is level with its control within this
FEW_GROUPS = 10  # fewer make Student's t wider by a sixth or more
WORDS = {
    ABOVE: "clearly above the control",
    UNCLEAR: "not clear",
    LEVEL_WITH: f"level with the control (within {MARGIN * 100:.0f} points)",
    BELOW: "below the control",
    UNKNOWN: "no interval, so no comparison with the control",
}


def with_verdicts(cells: pd.DataFrame, controls: pd.DataFrame, studies: Mapping) -> pd.DataFrame:
    """Return the cells with `verdict` (a key of WORDS; None without a control) and, for an unclear
    one, `why`. cells: from cells_of(); controls: from best_controls().

    If the probe's best control was measured under other conditions (context, training data) than
    the cell, a cell above its own control must also have an interval above that control's value.
    """
    best = cells["probe"].map(controls.set_index("probe")["value"])
    # then the distance is paired with the best, which is stronger than comparing intervals
    is_own = (cells["value"] - cells["above"] - best).abs() < EQUAL
    is_clear, is_above = cells["above_clear"], cells["above_clear"] & (cells["above"] > 0)
    is_weaker = is_above & ~is_own & (cells["ci_low"] <= best)
    kinds = [
        (None, cells["above"].isna()),
        (UNKNOWN, cells["above_low"].isna()),
        (ABOVE, is_above & ~is_weaker),
        (BELOW, is_clear & (cells["above"] < 0)),
        (LEVEL_WITH, (cells["above_low"] > -MARGIN) & (cells["above_high"] < MARGIN)),
    ]
    verdicts, conditions = zip(*kinds)
    cells = cells.assign(
        stronger=best.where(is_weaker), verdict=np.select(conditions, verdicts, UNCLEAR)
    )
    why = [
        why_unclear(row, "above", studies[row["study"]].get("groups", "groups"))
        if row["verdict"] == UNCLEAR
        else ""
        for row in cells.to_dict("records")
    ]
    return cells.assign(why=why)


def in_short(cell: Mapping) -> str:
    """Return a verdict in a word or a few: `above`, `not clear`, `too few seeds (2) to tell`."""
    return cell["why"].partition(",")[0] or cell["verdict"]


def distance_in(row: Mapping, name: str) -> Estimate:
    """Return a difference with its interval, from the columns <name>, <name>_low, <name>_high."""
    return Estimate(*(row[f"{name}{end}"] for end in ("", "_low", "_high")))


def why_unclear(row: Mapping, name: str, groups: str) -> str:
    """Return why a difference is not clear: `too few templates (3) to tell`. name: see
    distance_in(). groups: the study's word for its groups.
    """
    if pd.notna(stronger := row.get("stronger")):
        return f"not clear, another control reaches {percent(stronger)}"
    if row["groups"] < FEW_GROUPS:
        return f"too few {groups} ({row['groups']:.0f}) to tell"
    if row["seeds"] == 2 and pd.isna(row.get("wordings")):
        return "too few seeds (2) to tell"
    found = distance_in(row, name)
    among = f" among {row['tests']} comparisons" if found.clear else ""
    return f"not clear{among}, {with_interval(found, signed)}"
