"""Make a figure's title, its message: how far the best drawn model is above the best control.

The message uses the paired differences in the metrics (`…_above_control`). Which of them are clear
stands on the first screen and on the scorecard alone (scripts/publish/verdicts.py). Not a program.
"""

import re

import pandas as pd

from scripts.data.items import HUMAN
from scripts.measure.intervals import Estimate
from scripts.data.declared import ceilings
from scripts.measure.ladder import CONTROL_METHODS
from scripts.data.declared import method_of_blind
from scripts.publish.panels import Panel
from scripts.publish.selection import EQUAL, only, with_interval
from scripts.publish.table import signed

VALUES = ["value", "ci_low", "ci_high"]


def in_words(above: pd.DataFrame, at: str) -> str:
    """Return one difference with its interval, or those of the first and the last place. at: the
    column of the places.
    """
    if len(above) == 1:
        return with_interval(Estimate.of(above.iloc[0]), signed, " points")
    ends = above.sort_values(at).iloc[[0, -1]].to_dict("records")
    first, last = (f"{signed(row['value'])}{{}} at {at} {row[at]}" for row in ends)
    return f"{first.format(' points')}, {last.format('')}"


def message(rows: pd.DataFrame, metric: str, name: str, at: str = "", same: str = "") -> str:
    """Return a sentence. It is empty without a model that has a control, and if the best model has
    several numbers but there is no `at`.

    rows: metrics of one place or of the places in the column `at`, without models that have read
    the test. name: the column of the system's name, which begins with the model. The difference is
    paired with the best control of the same dataset. If the figure draws a better control of
    another dataset, the difference is to that control, without an interval. same: a column in
    which this control must have the model's value, because another value is another test.
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
    if same:
        controls = controls[controls[same].isin(both[same])]
    drawn = both[place].map(controls.groupby(place)["value"].max())
    is_better = drawn > both["value_reached"] - both["value"] + EQUAL
    both["value"] = both["value"].mask(is_better, both["value_reached"] - drawn)
    both[VALUES[1:]] = both[VALUES[1:]].mask(is_better)
    model = re.split(r", | \(", best)[0]
    first = "Best model: " if reached["model"].nunique() > 1 else ""
    return f"{first}{model}, beside the best control: {in_words(both, at)}"


def titled(panel: Panel, text: str) -> Panel:
    """Return the panel with the message as its title, and its plain title in the detail. Without a
    message the panel stays the same.
    """
    if not text:
        return panel
    return panel._replace(title=text, detail=", ".join(filter(None, [panel.title, panel.detail])))
