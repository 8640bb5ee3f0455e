"""Columns of a raw table with the names of ours."""

from pathlib import Path

import pandas as pd

from scripts.running.program import UserError, shown


def mapped(table: pd.DataFrame, column: str, names: dict, file: Path, first_line: int) -> pd.Series:
    """A column with other names. Raises UserError with the line of a value that has none; row 0 stands in `first_line`."""
    unknown = table[~table[column].isin(names)]
    if len(unknown):
        raise UserError(f"{file}: line {unknown.index[0] + first_line}: {column} is {shown(unknown[column].iloc[0])}, not one of "
                        f"{', '.join(map(str, names))}; mend it, or fetch the file again")
    return table[column].map(names)
