"""Make a figure's title, its message: how far the best drawn model is above the control like for
like. The differences are those of the table of comparisons. Not a program.
"""

import re
from collections.abc import Iterable

import pandas as pd

from scripts.data.declared import method_of_blind
from scripts.data.items import HUMAN
from scripts.measure.comparisons import CONTROL_METHODS, LIKE
from scripts.publish.compared import estimate_of
from scripts.publish.panels import Panel
from scripts.publish.selection import only, with_interval
from scripts.publish.table import signed

SCRATCH = ", from scratch"
# the parts of a system's name: `MPNet-base`, ` (all-mpnet-base-v2)`, `, size-matched`
PARTS = re.compile(r" \([^()]*\)|.+?(?=, | \(| \+ |$)")


def in_words(rows: pd.DataFrame, at: str) -> str:
    """Return one difference with its interval, or those of the first and the last place. at: the
    column of the places.
    """
    if len(rows) == 1:
        return with_interval(estimate_of(rows.iloc[0], LIKE), signed, " points")
    ends = rows.sort_values(at).iloc[[0, -1]].to_dict("records")
    first, last = (
        f"{with_interval(estimate_of(row, LIKE), signed, unit)} at {at}\u00a0{row[at]}"
        for row, unit in zip(ends, (" points", ""))
    )
    return f"{first}, {last}"


def short_name(name: str, others: Iterable[str]) -> str:
    """Return a system's name without the parts that all systems of this model have: `MPNet-base,
    size-matched` of `MPNet-base (all-mpnet-base-v2), size-matched`. others: every shown name.
    """
    first, *rest = PARTS.findall(name)
    of_model = [set(parts[1:]) for parts in map(PARTS.findall, others) if parts[0] == first]
    shared = set.intersection(*of_model) - {SCRATCH}
    return first + "".join(part for part in rest if part not in shared)


def of_same_tests(rows: pd.DataFrame, name: str, at: str) -> pd.DataFrame:
    """Return the rows of the systems that ran on the same tests as most: only these have means that
    can be ranked. Tests of one place that differ have other numbers of items.
    """
    test = rows[[column for column in (at, "n", "scoring") if column in rows]]
    tests = test.apply(lambda row: str(tuple(row)), axis=1).groupby(rows[name], sort=False)
    taken = tests.agg(lambda of_system: "; ".join(sorted(of_system)))
    most = max(taken.unique(), key=lambda of_system: taken.eq(of_system).sum())
    return rows[rows[name].isin(taken.index[taken.eq(most)])]


def message(rows: pd.DataFrame, metric: str, name: str, at: str = "") -> str:
    """Return a sentence. It is empty without a model that has a control like for like, and if the
    best model has several numbers but there is no `at`.

    rows: metrics of one place or of the places in the column `at`, without models that have read
    the test, from with_comparisons(). name: the column of the system's name, which begins with the
    model.
    """
    rows = only(rows, seed=None, wording=None, metric=metric)
    is_model = ~rows["method"].isin(CONTROL_METHODS) & (rows["model"] != HUMAN)
    rows = rows[is_model & rows["method"].map(method_of_blind).isna()]
    rows = rows.dropna(subset=f"{LIKE}_difference")
    if rows.empty:
        return ""
    ranked = of_same_tests(rows, name, at)
    best = ranked.groupby(name, sort=False)["value"].mean().idxmax()
    found = ranked[ranked[name] == best]
    if len(found) != 1 and not at:
        return ""
    model = short_name(best, rows[name])
    if "released" in set(found["method"]) and "released" not in model:
        model += " (released predictions)"
    first = "Best model: " if ranked["model"].nunique() > 1 else ""
    return f"{first}{model}, beside the control like for like: {in_words(found, at)}"


def titled(panel: Panel, text: str) -> Panel:
    """Return the panel with the message as its title, and its plain title in the detail. Without a
    message the panel stays the same.
    """
    if not text:
        return panel
    return panel._replace(title=text, detail=", ".join(filter(None, [panel.title, panel.detail])))
