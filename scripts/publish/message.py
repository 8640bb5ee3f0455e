"""Make a figure's title, its message: how far the best drawn model is above the best control.

The message uses the paired differences in the metrics (`…_above_control`). Not a program.
"""

import re

import pandas as pd

from scripts.data.items import HUMAN
from scripts.data.declared import ceilings
from scripts.measure.ladder import CONTROL_METHODS
from scripts.data.declared import method_of_blind
from scripts.publish.names import joined
from scripts.publish.panels import Panel
from scripts.publish.selection import EQUAL, only

CONTROL, ABOVE, BELOW = "the best control", "above", "below"
VALUES = ["value", "ci_low", "ci_high"]


def stands(row: pd.Series) -> str:
    """Return `above` or `below` if the difference's interval excludes zero; else an empty text."""
    below = BELOW if row["ci_high"] < 0 else ""
    return ABOVE if row["ci_low"] > 0 else below


def of_one(row: pd.Series) -> str:
    """Return the words for one place: `is 3.1 points above the best control (1.2 to 4.9)`."""
    value, low, high = row[VALUES] * 100
    if not (side := stands(row)):
        ends = f", {low:+.1f} to {high:+.1f}" if pd.notna(low) else ""
        return f"is not clearly above {CONTROL} ({value:+.1f}{ends})".replace("-", "−")
    least, most = sorted([abs(low), abs(high)])
    return f"is {abs(value):.1f} points {side} {CONTROL} ({least:.1f} to {most:.1f})"


def of_several(above: pd.DataFrame, at: str) -> str:
    """Return the words for several places: `is above the best control at stride 0, below it at
    stride 3`. at: the column of the places.
    """
    sides = above.apply(stands, axis=1)

    def places(side: str) -> str:
        names = [str(place) for place in sorted(above.loc[sides == side, at].unique())]
        return f"{at}{'s' * (len(names) > 1)} {joined(names)}"

    found = [side for side in (ABOVE, BELOW) if side in set(sides)]
    if not found:
        return f"is nowhere clearly above {CONTROL}"
    if (sides == found[0]).all():
        return f"is {found[0]} {CONTROL} at every {at}"
    if len(found) > 1:
        return f"is above {CONTROL} at {places(ABOVE)}, below it at {places(BELOW)}"
    return f"is {found[0]} {CONTROL} {'only ' * (found[0] == ABOVE)}at {places(found[0])}"


def message(rows: pd.DataFrame, metric: str, name: str, at: str = "") -> str:
    """Return a sentence. It is empty without a model that has a control, and if the best model has
    several numbers but there is no `at`.

    rows: metrics of one place or of the places in the column `at`, without models that have read
    the test. name: the column of the system's name, which begins with the model. The difference is
    paired with the best control of the same dataset. If the figure draws a better control of
    another dataset, the difference is to that control, without an interval.
    """
    place = at or "metric"
    rows = only(rows, seed=None, wording=None)
    is_control, is_score = rows["method"].isin(CONTROL_METHODS), rows["metric"] == metric
    controls = rows[is_control & is_score & ~rows["model"].isin(ceilings())]
    is_model = ~is_control & (rows["model"] != HUMAN) & rows["method"].map(method_of_blind).isna()
    above = rows[is_model & (rows["metric"] == f"{metric}_above_control")].assign(metric=metric)
    reached = rows[is_model & is_score & rows[name].isin(above[name])]
    if reached.empty:
        return ""
    best = reached.groupby(name, sort=False)["value"].mean().idxmax()
    both = reached[reached[name] == best].merge(
        above[[name, place, *VALUES]], on=[name, place], suffixes=("_reached", "")
    )
    if len(both) != 1 and not at:
        return ""
    drawn = both[place].map(controls.groupby(place)["value"].max())
    is_better = drawn > both["value_reached"] - both["value"] + EQUAL
    both["value"] = both["value"].mask(is_better, both["value_reached"] - drawn)
    both[VALUES[1:]] = both[VALUES[1:]].mask(is_better)
    stand = of_several(both, at) if len(both) > 1 else of_one(both.iloc[0])
    model = re.split(r", | \(| \+ ", best)[0]
    several = reached["model"].nunique() > 1
    return f"The best model, {model}, {stand}" if several else f"{model} {stand}"


def titled(panel: Panel, text: str) -> Panel:
    """Return the panel with the message as its title, and its plain title in the detail. Without a
    message the panel stays the same.
    """
    if not text:
        return panel
    return panel._replace(title=text, detail=", ".join(filter(None, [panel.title, panel.detail])))
