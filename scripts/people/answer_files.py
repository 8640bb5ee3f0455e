"""Files of a page's answers (CSV, docs/people.md)."""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.csv_files import as_written
from scripts.data.items import ANSWER_COLUMNS, ITEM, items_of
from scripts.running.program import UserError, cut
from scripts.data.texts import csv_of

AGAIN = "download the answers from the page anew (docs/people.md)"
ANSWER_KEY = ["source", "dataset", "split", "item", "person"]  # one person gives one answer to it
TYPES = r"([a-z][a-z0-9_]*(; [a-z][a-z0-9_]*)*)?"


def rows_of(file: Path, columns: list[str], remedy: str) -> pd.DataFrame:
    """Read the rows of a CSV as text, each with its file and row. Raises UserError for no rows."""
    rows = (
        csv_of(file, columns, remedy, "correct the path, or leave it out")
        .apply(as_written)
        .map(str.strip)
    )
    if rows.empty:
        raise UserError(f"{file}: has no rows below its header; {remedy}, or leave it out")
    return rows.assign(file=str(file), row=np.arange(2, len(rows) + 2))


def refuse(rows: pd.DataFrame, wrong: np.ndarray | pd.Series, why: str, remedy: str) -> None:
    """Raise a UserError that names the file and the row of the first wrong row. why: a text that
    may contain the row's columns in braces.
    """
    wrong = np.asarray(wrong, bool)
    if wrong.any():
        first = rows.iloc[int(wrong.argmax())]
        row = {name: cut(str(value)) for name, value in first.items()}
        raise UserError(f"{first['file']}: row {first['row']}: {why.format(**row)}; {remedy}")


def read_answers(
    files: list[Path],
    study: str,
    datasets: dict[tuple[str, str], list[str] | None],
    labels: list[str],
) -> pd.DataFrame:
    """Read the rows of all answer files of a page: ANSWER_COLUMNS, file, row, and chosen (the
    number of the label).

    datasets: by source and dataset, the splits that may have answers; None allows every split.
    Raises UserError for an answer to another study, dataset or split, and for an answer that is
    missing, repeated or not a label.
    """
    rows = pd.concat([rows_of(file, ANSWER_COLUMNS, AGAIN) for file in files], ignore_index=True)
    known = {" ".join(place): splits for place, splits in datasets.items()}
    place = rows["source"] + " " + rows["dataset"]
    other_split = [
        known.get(name) is not None and split not in known[name]
        for name, split in zip(place, rows["split"])
    ]
    wanted = "; ".join(
        sorted(f"{' or '.join(splits)} of {name}" for name, splits in known.items() if splits)
    )
    for wrong, why, remedy in (
        (
            rows["study"] != study,
            "answers of the study {study}, not of " + study,
            "name the file where its study is",
        ),
        (
            ~place.isin(known),
            "answers for {source} {dataset}, not for " + ", ".join(sorted(known)),
            "take its rows out, or read them with what they are for",
        ),
        (
            other_split,
            "answers for split {split} of {source} {dataset}",
            f"make the page from a split that is wanted: {wanted}",
        ),
        (rows["person"] == "", "nobody is named in the column person", "name whoever answered"),
        (~rows["item"].str.fullmatch(ITEM), "item {item} is none of a page", AGAIN),
        (
            ~rows["types"].str.fullmatch(TYPES),
            "types {types} are no names with `; ` between them",
            AGAIN,
        ),
        (
            rows["answer"] == "",
            "{person} has not answered item {item}",
            "answer it on the page, or take its rows out",
        ),
        (~rows["answer"].isin(labels), "answers {answer!r}", f"write {' or '.join(labels)}"),
        (
            rows.duplicated(ANSWER_KEY),
            "{person} has answered item {item} of {source} {dataset} {split} above",
            "keep one of them",
        ),
    ):
        refuse(rows, wrong, why, remedy)
    return rows.assign(chosen=pd.Index(labels).get_indexer(rows["answer"]))


def places_of(answers: pd.DataFrame, example_ids: pd.Series) -> np.ndarray:
    """Return the place of each answer's example among `example_ids`, (answers,); -1 if missing."""
    items = answers["item"].map(lambda item: int(item, 16)).astype(np.uint64)
    return pd.Index(items_of(example_ids)).get_indexer(items)
