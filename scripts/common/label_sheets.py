"""Labels that people wrote into sheets (CSV) or gave on a page (docs/people.md): read, checked, and one for each row by the majority of
those who labelled it.

Not a program.
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.common.csv_files import as_written, read_csv
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
        rows = rows.replace(r"[^\S\n]+", " ", regex=True).apply(lambda column: column.str.strip())
        rows["label"] = rows["label"].str.lower()
        wrong = rows[~rows["label"].isin([*labels, ""])]
        if len(wrong):
            raise UserError(f"{file}: row {wrong.index[0] + 2}: label is {shown(wrong['label'].iloc[0])}, not {' or '.join(labels)}; "
                            "correct it, or leave it empty")
        tables.append(rows.assign(file=str(file), row=rows.index + 2))
    return pd.concat(tables, ignore_index=True)


def answers_on_page(files: list[Path], folder: Path, columns: list[str], labels: list[str]) -> pd.DataFrame:
    """The same of answers that a page handed out, one person's as one sheet; folder: what the page was made from, labels.csv and test.parquet.

    Raises UserError that names file and row of an answer that is none of labels, and of an item that is not in the folder.
    """
    sheet = read_csv(folder / "labels.csv") if (folder / "labels.csv").is_file() else None
    ids = read_table(folder / "test.parquet", ["example_id"])["example_id"].to_pandas()
    if sheet is None or len(sheet) != len(ids) or not {*columns} <= {*sheet}:
        raise UserError(f"{folder}: its labels.csv is not that of its test.parquet; make both again")
    place = pd.Series(range(len(ids)), items_of(ids)).rename(lambda item: f"{item:016x}")
    tables = []
    for file in files:
        rows = csv_of(file, ANSWER_COLUMNS, "download the answers from the page anew", "correct the path").apply(as_written)
        rows = rows.assign(file=str(file), row=rows.index + 2)
        refuse(rows, ~rows["item"].isin(place.index), f"item {{item}} is not in {folder}; name the folder that the page was made from")
        refuse(rows, ~rows["answer"].isin(labels), f"answer is {{answer}}, not {' or '.join(labels)}; download the answers from the page anew")
        for person, own in rows.assign(place=place.reindex(rows["item"]).to_numpy()).sort_values("place", kind="stable").groupby("person"):
            of_person = sheet.iloc[own["place"]][columns].reset_index(drop=True)
            tables.append(of_person.assign(label=own["answer"].to_numpy(), file=f"{file}, {cut(person)}", row=own["row"].to_numpy()))
    return pd.concat(tables, ignore_index=True)


def labels_given(given: argparse.Namespace, columns: list[str], labels: list[str]) -> pd.DataFrame:
    """The rows of all --sheets and --answers: columns, file, row."""
    if not given.sheets and not given.answers:
        raise UserError("neither --sheets nor --answers names a file; name the labelled sheets, or the answers of a page")
    if given.answers and not given.made:
        raise UserError("--answers needs --made; name the folder that the page was made from")
    tables = [read_sheets(given.sheets, columns, labels)] if given.sheets else []
    return pd.concat([*tables, *([answers_on_page(given.answers, given.made, columns, labels)] if given.answers else [])], ignore_index=True)


def labelling_arguments(doc: str) -> argparse.ArgumentParser:
    """The arguments of the programs that make data of labels."""
    options = parser(doc)
    options.add_argument("--sheets", type=Path, nargs="+", default=[], metavar="FILE", help="labelled sheets, one a person")
    options.add_argument("--answers", type=Path, nargs="+", default=[], metavar="FILE", help="answers that a page handed out (docs/people.md)")
    options.add_argument("--made", type=Path, metavar="FOLDER", help="with --answers: the folder that the page was made from")
    options.add_argument("--output", type=Path, required=True, metavar="FILE", help="the file to write")
    return options


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
