"""Labels that people wrote into sheets (CSV): read, checked, and one for each row by the majority of those who labelled it.

Not a program.
"""

from pathlib import Path

import pandas as pd

from scripts.common.csv_files import as_written
from scripts.common.program import UserError, cut, log, shown
from scripts.common.texts import csv_of

REMEDY = "save it as CSV in UTF-8 with commas"


def read_sheets(files: list[Path], columns: list[str], labels: list[str]) -> pd.DataFrame:
    """The rows of all sheets, columns as text, white space as one space but for line breaks; one sheet is one person's.

    `label` is one of labels or empty. Raises UserError that names file and row of another one.
    """
    tables = []
    for file in files:
        rows = csv_of(file, columns, REMEDY, "correct the path").apply(as_written)
        rows = rows.replace(r"[^\S\n]+", " ", regex=True).apply(lambda column: column.str.strip())
        rows["label"] = rows["label"].str.lower()
        wrong = rows[~rows["label"].isin([*labels, ""])]
        if len(wrong):
            raise UserError(f"{file}: row {wrong.index[0] + 2}: label is {shown(wrong['label'].iloc[0])}, not {' or '.join(labels)}; "
                            "correct it, or leave it empty")
        tables.append(rows.assign(file=str(file), row=rows.index + 2))
    return pd.concat(tables, ignore_index=True)


def refuse(rows: pd.DataFrame, wrong: pd.Series, why: str) -> None:
    """Raise UserError that names file and row of the first row that is wrong."""
    if wrong.any():
        first = rows[wrong].iloc[0]
        raise UserError(f"{first['file']}: row {first['row']}: {why.format(**{name: cut(str(value)) for name, value in first.items()})}")


def decided(rows: pd.DataFrame, keys: list[str], labels: list[str], what: str) -> pd.DataFrame:
    """One row for each key, as it first stands, with the label of the majority.

    Left out, and told of: what nobody labelled, and what as many found the one as the other. Raises UserError for a key that a sheet
    has twice, and where nothing is left.
    """
    refuse(rows, rows.duplicated(["file", *keys]), "repeats a row above of the same sheet; keep one of them")
    votes = (rows["label"] == labels[0]).astype(int) - (rows["label"] == labels[1])
    said = pd.DataFrame({"votes": votes, "labelled": rows["label"] != ""}).groupby([rows[key] for key in keys], sort=False).sum()
    table = rows.drop_duplicates(keys).drop(columns=["label", "file", "row"]).merge(said, left_on=keys, right_index=True)
    unlabelled, tied = table["labelled"] == 0, (table["labelled"] > 0) & (table["votes"] == 0)
    if unlabelled.any() or tied.any():
        log.info("%d %s are left out, which nobody labelled, and %d, on which people differ evenly", unlabelled.sum(), what, tied.sum())
    table = table[table["votes"] != 0]
    if table.empty:
        raise UserError(f"{', '.join(rows['file'].unique())}: no {what} is labelled; write {' or '.join(labels)} into the column label")
    label = table["votes"].gt(0).map({True: labels[0], False: labels[1]})
    return table.assign(label=label).drop(columns=["votes", "labelled"]).reset_index(drop=True)
