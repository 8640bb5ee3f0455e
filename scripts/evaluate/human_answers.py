"""The answers of people on sheets of scripts/build/annotation_sheet.py, filled in and joined into one CSV.

Not a program.
"""

from pathlib import Path

import pandas as pd

from scripts.common.csv_files import as_written
from scripts.common.program import UserError, cut, shown
from scripts.common.texts import csv_of

COLUMNS = ["source", "dataset", "split", "pair_id", "answer"]
KEY = COLUMNS[:-1]
REMEDY = "save the sheet anew as CSV in UTF-8 (python -m scripts.evaluate.strided_sop --help)"


def answers_in(file: Path) -> pd.DataFrame:
    """The rows with an answer, columns COLUMNS, as text; a row without one is left out."""
    rows = csv_of(file, COLUMNS, REMEDY, "correct the path, or leave human_labels out").map(str.strip)
    return rows[rows["answer"] != ""].apply(as_written)


def read_answers(file: Path, datasets: set[tuple[str, str]], labels: list[str]) -> pd.DataFrame:
    """answers_in() a file, once they are in order.

    datasets: (source, dataset) of those that may be answered for; labels: what may be answered. Raises UserError that names the row of
    another dataset or another answer, and of a pair that was answered before: to count it again would weigh it double.
    """
    rows = answers_in(file)

    def refuse(wrong: pd.Series, why: str, remedy: str) -> None:
        if wrong.any():
            row = rows[wrong].iloc[0]
            told = why.format(**{name: cut(value) for name, value in row.items()}, shown=shown(row["answer"]))
            raise UserError(f"{file}: row {rows.index[wrong][0] + 2}: {told}; {remedy}")

    places = pd.Series(list(zip(rows["source"], rows["dataset"])), rows.index, dtype=object)
    refuse(~places.isin(list(datasets)), "the study measures no dataset {source} {dataset}",
           f"take its rows out; it measures {', '.join(' '.join(names) for names in sorted(datasets))}")
    refuse(~rows["answer"].isin(labels), "answers {shown}", f"write {' or '.join(labels)}")
    refuse(rows.duplicated(KEY), "pair {pair_id} of {source} {dataset} {split} has an answer above", "keep one of them")
    return rows
