"""Read the table of comparisons, and put its differences and verdicts beside rows of metrics. It
makes no verdict: scripts/measure/comparisons.py does.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.tables import read_table
from scripts.measure.comparisons import BLIND, CANNOT_TELL, KINDS, LIKE, MORE, SCHEMA, SHORTCUT
from scripts.measure.comparisons import SOLVER, TITLES, UNCLEAR
from scripts.measure.comparisons import comparisons_beside
from scripts.measure.intervals import Estimate
from scripts.publish.names import model_title
from scripts.publish.selection import only, with_interval
from scripts.publish.table import percent, signed

SYSTEM = ["experiment", "source", "dataset", "split", "slice", "scoring", "model", "method"]
VALUES = ["difference", "ci_low", "ci_high", "p_value", "control", "control_value", "verdict"]
VALUES += ["words", "family", "least_difference"]
COLUMNS = {f"{kind}_{name}": (kind, name) for kind in KINDS for name in VALUES}
# the columns of a table, with the kinds that they show
IN_TABLES = (LIKE, SHORTCUT, MORE, SOLVER, BLIND)


def read_comparisons(metrics: Path) -> pd.DataFrame:
    """Return the comparisons beside a table of metrics, over all wordings."""
    rows = read_table(comparisons_beside(metrics), SCHEMA.names, SCHEMA).to_pandas()
    return only(rows, wording=None)


def with_comparisons(
    rows: pd.DataFrame, comparisons: pd.DataFrame, on: Sequence[str]
) -> pd.DataFrame:
    """Return rows of metrics with the columns COLUMNS: for each kind the control, its value, the
    difference and its verdict; missing where the kind was not measured. on: the columns that
    identify a system. A comparison that two experiments share stands beside both.
    """
    keys = [name for name in (*on, "metric") if name in rows]
    texts = dict.fromkeys(keys, object)  # pandas makes a column without values a float column
    rows, comparisons = rows.astype(texts), comparisons.astype(texts)
    for kind in KINDS:
        names = {name: f"{kind}_{name}" for name in VALUES}
        of_kind = only(comparisons, kind=kind).rename(columns=names).drop_duplicates(keys)
        rows = rows.merge(of_kind[[*keys, *names.values()]], how="left", on=keys)
    return rows.copy()  # in one piece: pandas warns of many


def estimate_of(row: Mapping, kind: str) -> Estimate:
    """Return the difference to the control of a kind, from the columns of with_comparisons()."""
    return Estimate(*(row[f"{kind}_{name}"] for name in ("difference", "ci_low", "ci_high")))


def words_beside(row: Mapping, kind: str) -> str:
    """Return the verdict on a kind of control in words, empty without one. It counts all tests of
    the family, but the interval beside it is for one test: the words say so where the two differ.
    """
    words, ends = row[f"{kind}_words"], [row[f"{kind}_ci_low"], row[f"{kind}_ci_high"]]
    if not isinstance(words, str):
        return ""
    differ = row[f"{kind}_verdict"] in (UNCLEAR, CANNOT_TELL) and np.prod(ends) > 0
    return f"{words}; the interval is for one test" if differ else words


def cell_of(row: Mapping, kind: str, models: Mapping) -> str:
    """Return `bag of words 52.0: +6.5 (3.8 to 9.1), clearly above`; empty where the kind was not
    measured. A blind model has no name.
    """
    if pd.isna(row[f"{kind}_difference"]):
        return ""
    name = "" if kind == BLIND else f"{model_title(row[f'{kind}_control'], dict(models))} "
    text = f"{name}{percent(row[f'{kind}_control_value'])}: "
    text += with_interval(estimate_of(row, kind), signed)
    return ", ".join(filter(None, [text, words_beside(row, kind)]))


def cells_of(row: Mapping, models: Mapping) -> dict[str, str]:
    """Return the cells of a table: the control of each kind (IN_TABLES), by the kind's title."""
    return {f"Beside: {TITLES[kind]}": cell_of(row, kind, models) for kind in IN_TABLES}
