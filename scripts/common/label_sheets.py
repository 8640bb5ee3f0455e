"""Labels that people wrote into sheets (CSV) or gave on a page (docs/people.md): read, checked, and one for each row by the majority of
those who labelled it.

Not a program.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.common.csv_files import as_written
from scripts.common.items import ANSWER_COLUMNS, items_of
from scripts.common.program import UserError, cut, log, parser, shown
from scripts.common.tables import read_table
from scripts.common.texts import csv_of

REMEDY = "save it as CSV in UTF-8 with commas"


def read_sheets(files: list[Path], columns: list[str], labels: list[str]) -> pd.DataFrame:
    """The rows of all sheets, columns as text, white space as one space but for line breaks; one sheet is one person's.

    `label` is one of labels or empty. Raises UserError that names file and row of another one.
    """
    tables = []
    for file in files:
        rows = csv_of(file, columns, REMEDY, "correct the path").apply(as_written)
        rows = rows.replace("\r\n", "\n", regex=True).replace(r"[^\S\n]+", " ", regex=True).apply(lambda column: column.str.strip())
        rows["label"] = rows["label"].str.lower()
        wrong = rows[~rows["label"].isin([*labels, ""])]
        if len(wrong):
            raise UserError(f"{file}: row {wrong.index[0] + 2}: label is {shown(wrong['label'].iloc[0])}, not {' or '.join(labels)}; "
                            "correct it, or leave it empty")
        tables.append(rows.assign(file=str(file), row=rows.index + 2))
    return pd.concat(tables, ignore_index=True)


def answers_on_page(files: list[Path], folder: Path, columns: list[str], labels: list[str], texts: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """The same of answers that a page handed out, one person's as one sheet; folder: what the page was made from, labels.csv and test.parquet;
    texts: what test.parquet has of the rows of labels.csv, by which a sheet that was sorted is still known.

    Raises UserError that names file and row of an answer that is none of labels, and of an item that is not in the folder.
    """
    sheet = csv_of(folder / "labels.csv", columns, REMEDY, "make it again").apply(as_written).replace("\r\n", "\n", regex=True)
    known = texts(sheet)
    made = read_table(folder / "test.parquet", ["example_id", *known]).to_pandas()
    place = first_places(known, made[[*known]])
    items = pd.Index([f"{item:016x}" for item in items_of(made["example_id"])])
    if (place < 0).any():
        text = made[known.columns[-1]].iloc[int(np.argmax(place < 0))]
        raise UserError(f"{folder / 'labels.csv'}: has no row of {shown(text)}, which test.parquet beside it has; restore it, or make both again")
    source, dataset = folder.resolve().parts[-2:]
    tables = []
    for file in files:
        rows = csv_of(file, ANSWER_COLUMNS, "download the answers from the page anew", "correct the path").apply(as_written)
        rows = rows.assign(file=str(file), row=rows.index + 2)
        here = (rows["source"] == source) & (rows["dataset"] == dataset) & (rows["split"] == "test")
        refuse(rows, ~here, "is an answer on {source} {dataset} {split}", f"name the folder of that, not {folder}, by --made")
        refuse(rows, rows["person"].str.strip() == "", "nobody is named in the column person", "name whoever answered")
        refuse(rows, ~rows["item"].isin(items), "item {item} is not among what the page was made from", f"name its folder by --made, not {folder}")
        refuse(rows, ~rows["answer"].isin(labels), "answer is {answer}", f"write {' or '.join(labels)}, or download the answers from the page anew")
        for person, own in rows.assign(asked=items.get_indexer(rows["item"])).sort_values("asked", kind="stable").groupby("person"):
            of_person = sheet.iloc[place[own["asked"]]][columns].reset_index(drop=True)
            tables.append(of_person.assign(label=own["answer"].to_numpy(), file=f"{file}, {cut(person)}", row=own["row"].to_numpy()))
    if not tables:
        raise UserError(f"{', '.join(map(str, files))}: no answer is in it; download the answers from the page anew")
    return pd.concat(tables, ignore_index=True)


def first_places(known: pd.DataFrame, wanted: pd.DataFrame) -> np.ndarray:
    """(n,) where each row that is wanted first stands among those known; -1 where it does not."""
    index = pd.MultiIndex.from_frame(known)
    unique = ~index.duplicated()
    at = index[unique].get_indexer(pd.MultiIndex.from_frame(wanted))
    return np.where(at < 0, -1, np.flatnonzero(unique)[at])


def labels_given(given: argparse.Namespace, columns: list[str], labels: list[str], texts: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """The rows of all --sheets and --answers: columns, file, row; texts: see answers_on_page()."""
    if not given.sheets and not given.answers:
        raise UserError("neither --sheets nor --answers names a file; name the labelled sheets, or the answers of a page")
    if given.answers and not given.made:
        raise UserError("--answers needs --made; name the folder that the page was made from")
    tables = [read_sheets(given.sheets, columns, labels)] if given.sheets else []
    return pd.concat([*tables, *([answers_on_page(given.answers, given.made, columns, labels, texts)] if given.answers else [])], ignore_index=True)


def labelling_arguments(doc: str) -> argparse.ArgumentParser:
    """The arguments of the programs that make data of labels."""
    options = parser(doc)
    options.add_argument("--sheets", type=Path, nargs="+", default=[], metavar="FILE", help="labelled sheets, one a person")
    options.add_argument("--answers", type=Path, nargs="+", default=[], metavar="FILE", help="answers that a page handed out (docs/people.md)")
    options.add_argument("--made", type=Path, metavar="FOLDER", help="with --answers: the folder that the page was made from")
    options.add_argument("--output", type=Path, required=True, metavar="FILE", help="the file to write")
    return options


def refuse(rows: pd.DataFrame, wrong: pd.Series, why: str, remedy: str) -> None:
    """Raise UserError that names file and row of the first row that is wrong; why: a text with the row's columns in braces."""
    if wrong.any():
        first = rows[wrong].iloc[0]
        told = why.format(**{name: cut(str(value)) for name, value in first.items()})
        raise UserError(f"{first['file']}: row {first['row']}: {told}; {remedy}")


def decided(rows: pd.DataFrame, keys: list[str], labels: list[str], what: str) -> pd.DataFrame:
    """One row for each key, as it first stands, with the label of the majority.

    Left out, and told of: what nobody labelled, and what as many found the one as the other. Raises UserError for a key that a sheet
    has twice, and where nothing is left.
    """
    refuse(rows, rows.duplicated(["file", *keys]), "repeats a row above of the same sheet", "keep one of them")
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
