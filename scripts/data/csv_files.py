"""CSV that is safe to open, whatever texts from corpora stand in it.

A spreadsheet takes a cell that begins with =, +, - or @ for a formula. Such a cell is written with
an apostrophe in front, unless it is a number; reading takes the apostrophe away.
"""

import re
from pathlib import Path

import pandas as pd

from scripts.data.files import whole

NUMBER = re.compile(r"[-+]?[\d.,]+(?:e[-+]?\d+)?(?: ± [\d.,]+)?")
# the apostrophes, so that reading takes away what writing put there and no more
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def harmless(cell: object) -> object:
    """A cell of a CSV that is no formula."""
    risky = isinstance(cell, str) and FORMULA.match(cell) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if risky else cell


def write_csv(table: pd.DataFrame, file: Path) -> None:
    """Write a CSV, whole or not at all, without formulas."""
    texts = {
        name: table[name].map(harmless)
        for name in table
        if not pd.api.types.is_numeric_dtype(table[name])
    }
    with whole(file) as place:
        table.assign(**texts).to_csv(place, index=False)


def as_written(column: pd.Series) -> pd.Series:
    """The texts of a column of write_csv(), as they were."""
    return column.str.replace(r"^'(?='*[=+\-@\t\r])", "", regex=True)


def read_csv(file: Path) -> pd.DataFrame:
    """The cells of a CSV of write_csv(), as they were, all text."""
    return pd.read_csv(file, dtype=str, keep_default_na=False).apply(as_written)
