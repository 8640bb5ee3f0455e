"""CSV files that are safe to open, even with texts of a corpus in them.

A spreadsheet reads a cell that begins with =, +, - or @ as a formula. Such a cell is written with
an apostrophe in front, unless it is a number. Reading removes the apostrophe.
"""

import re
from pathlib import Path

import pandas as pd

from scripts.data.files import whole

NUMBER = re.compile(r"[-+]?[\d.,]+(?:e[-+]?\d+)?(?: ± [\d.,]+)?")
# includes apostrophes at the start, so that reading removes only the one that writing added
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def harmless(cell: object) -> object:
    """Return a cell of a CSV that a spreadsheet does not read as a formula."""
    risky = isinstance(cell, str) and FORMULA.match(cell) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if risky else cell


def write_csv(table: pd.DataFrame, file: Path) -> None:
    """Write a CSV without formulas, completely or not at all."""
    texts = {
        name: table[name].map(harmless)
        for name in table
        if not pd.api.types.is_numeric_dtype(table[name])
    }
    with whole(file) as place:
        table.assign(**texts).to_csv(place, index=False)


def as_written(column: pd.Series) -> pd.Series:
    """Return the original texts of a column of write_csv()."""
    return column.str.replace(r"^'(?='*[=+\-@\t\r])", "", regex=True)


def read_csv(file: Path) -> pd.DataFrame:
    """Return the original cells of a CSV of write_csv(), all as text."""
    return pd.read_csv(file, dtype=str, keep_default_na=False).apply(as_written)
