"""Select rows of metrics by their settings, keep each system once, pair rows, and measure the
difference of two rows. The tables and claims of a paper are compared with these functions.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from fnmatch import fnmatchcase

import pandas as pd

from scripts.measure.intervals import SHARE, Estimate, difference, has_draws
from scripts.running.program import UserError
from scripts.measure.comparisons import CONTROL_METHODS

EQUAL = 1e-5  # shares that differ by less count as equal: a record keeps them to a millionth
# The columns that a comparison needs.
COMPARED = "value sd sd_beyond_groups seeds ci_low ci_high p_value effective_groups draws".split()
# The columns that are measured or describe a part of the examples; all others are settings.
MEASURED = ["metric", *COMPARED, *"n groups sample seed wording slice rung runs".split()]


def only(rows: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Return the rows whose columns have these values: one of a list; None: a missing value."""
    for column, value in values.items():
        one_of = list(value) if pd.api.types.is_list_like(value) else [value]
        rows = rows[rows[column].isna() if value is None else rows[column].isin(one_of)]
    return rows


def as_published(rows: pd.DataFrame, study: Mapping, named: Collection[str] = ()) -> pd.DataFrame:
    """Return the rows that a paper may have measured: no rows of extensions, and of altered
    experiments (other first weights, or a second objective) only the controls. named: columns of
    extensions that the paper also has.
    """
    if not len(rows):
        return rows
    extensions = [name for name in study.get("extensions", []) if name not in named]
    plain = rows.reindex(columns=extensions).isna().all(axis=1)
    if "objectives" not in named:  # else altered experiments are allowed, too
        is_altered = rows["experiment"].isin(study.get("altered", []))
        plain &= ~is_altered | rows["method"].isin(CONTROL_METHODS)
    return rows[plain]


def as_text(cells: pd.Series) -> pd.Series:
    """Return a column as settings write it: whole numbers without a point, `none` if missing."""

    def in_words(cell: object) -> str:
        is_number = isinstance(cell, (int, float)) and not isinstance(cell, bool)
        return f"{cell:g}" if is_number else str(cell)

    return cells.map(in_words).mask(cells.isna(), "none")


def fits(cell: str, wanted: str) -> bool:
    """Whether a value equals a text or matches a pattern with *; after `not `: does neither."""
    if wanted.startswith("not "):
        return not fits(cell, wanted.removeprefix("not "))
    return cell == wanted or ("*" in wanted and fnmatchcase(cell, wanted))


def selected(table: pd.DataFrame, settings: dict[str, str | list[str]]) -> pd.DataFrame:
    """Return the rows whose columns have these values (one of a list), compared as text. If the
    settings name a slice, a setting that is no column is a further part of the slice. Raises
    UserError for such a setting without a slice.
    """
    further = [column for column in settings if column not in table and settings[column] != "none"]
    if further and "slice" not in settings:
        raise UserError(
            f"published.csv or claims.yaml: a setting names {further[0]}, which is no column; "
            f"write one of {', '.join(table)}"
        )
    if further:
        parts = [settings["slice"], *(f"{column}={settings[column]}" for column in further)]
        settings = settings | {"slice": "; ".join(parts)}
    for column, value in settings.items():
        if column in table and len(table):
            wanted = value if isinstance(value, list) else [value]
            distinct = table[column].drop_duplicates()
            kept = [any(fits(cell, one) for one in wanted) for cell in as_text(distinct)]
            table = table[table[column].isin(distinct[kept])]
    return table


def rank(values: Iterable, order: Iterable) -> list[int]:
    """Return the place of each value in an order; an unknown value comes last."""
    places = {name: place for place, name in enumerate(dict.fromkeys(order))}
    return [places.get(value, len(places)) for value in values]


def settings_columns(metrics: pd.DataFrame, but: list[str]) -> list[str]:
    return [column for column in metrics if column not in [*MEASURED, "experiment", *but]]


def without_repeats(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each system once, from the experiment with the most seeds."""
    rows = rows.sort_values("seeds", ascending=False, kind="stable") if "seeds" in rows else rows
    return rows.drop_duplicates([*settings_columns(rows, []), "slice", "metric"]).sort_index()


def pairs_of(rows: pd.DataFrame, others: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the rows that have the same keys as one of the others, with the columns COMPARED of
    that row in `other`.
    """
    likes = others[keys].assign(other=others.reindex(columns=COMPARED).to_dict("records"))
    return rows.merge(likes, on=keys)


def distance(row: Mapping, other: Mapping, by_ends: bool = False) -> Estimate:
    """Return how far a row lies above another one. Rows without draws have no interval or, by_ends,
    one that excludes zero if their own intervals do not overlap.
    """
    if has_draws(row) and has_draws(other):
        return difference(row, other, SHARE)
    low, high = row["ci_low"] - other["ci_high"], row["ci_high"] - other["ci_low"]
    return Estimate(row["value"] - other["value"], *((low, high) if by_ends else (None, None)))


def with_interval(estimate: Estimate, in_words: Callable[[float], str], unit: str = "") -> str:
    """Return `+2.1 points (−0.3 to +4.5)`. in_words: writes a number. unit: of the value."""
    value, low, high = (None if pd.isna(number) else in_words(number) for number in estimate[:3])
    return f"{value}{unit}" + ("" if low is None else f" ({low} to {high})")
