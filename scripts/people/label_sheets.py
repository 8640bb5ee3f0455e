"""Sheets that people fill in (CSV): labels (docs/label.md), and a page's answers (docs/people.md).
The majority decides on a label.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.csv_files import as_written, write_csv
from scripts.data.files import whole_set
from scripts.data.items import ANSWER_COLUMNS, ITEM, items_of
from scripts.running.program import UserError, cut, log, parser, shown
from scripts.data.tables import read_table, write_table
from scripts.data.texts import csv_of

# what is to be labelled, as a dataset of the study and as a sheet
ITEMS, SHEET = ("test.parquet", "labels.csv")
AGAIN = "download the answers from the page anew (docs/people.md)"
ANSWER_KEY = ["source", "dataset", "split", "item", "person"]  # what one person answers once
TYPES = r"([a-z][a-z0-9_]*(; [a-z][a-z0-9_]*)*)?"


class Form(NamedTuple):
    """How a study's items are labelled."""

    study: str
    columns: list[str]  # of the sheet; the last is label
    labels: list[str]  # two; the first one says yes
    keys: list[str]  # what a person labels once
    what: str  # what a row is, for messages
    # columns of ITEMS, from rows of the sheet
    of_item: Callable[[pd.DataFrame], dict[str, pd.Series]]
    # rows of sheets with all keys; raises UserError for one that is wrong
    checked: Callable[[pd.DataFrame], pd.DataFrame]


def write_items(
    folder: Path, table: pd.DataFrame, schema: pa.Schema, provenance: dict, sheet: pd.DataFrame
) -> None:
    with whole_set(folder) as place:
        write_table(
            pa.Table.from_pandas(table, schema, preserve_index=False),
            place / ITEMS,
            schema,
            provenance,
        )
        write_csv(sheet, place / SHEET)


def rows_of(file: Path, columns: list[str], remedy: str) -> pd.DataFrame:
    """The rows of a CSV as text, each with its file and row. Raises UserError where none is."""
    rows = (
        csv_of(file, columns, remedy, "correct the path, or leave it out")
        .apply(as_written)
        .map(str.strip)
    )
    if rows.empty:
        raise UserError(f"{file}: has no rows below its header; {remedy}, or leave it out")
    return rows.assign(file=str(file), row=np.arange(2, len(rows) + 2))


def refuse(rows: pd.DataFrame, wrong: np.ndarray | pd.Series, why: str, remedy: str) -> None:
    """Raise UserError that names file and row of the first row that is wrong; why: a text with the
    row's columns in braces.
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
    """The rows of all files of a page's answers: ANSWER_COLUMNS, file, row, and chosen (the number
    of the label).

    datasets: by source and dataset the splits that may be answered for, None for any. Raises
    UserError for an answer to something else, one that is missing or none of the labels, and one
    that stands twice.
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
    """(answers,) where the example of each answer stands among these; -1 where it does not."""
    items = answers["item"].map(lambda item: int(item, 16)).astype(np.uint64)
    return pd.Index(items_of(example_ids)).get_indexer(items)


def read_sheets(files: list[Path], form: Form) -> pd.DataFrame:
    """The rows of all sheets, one a person; white space is one space, but for line breaks."""
    rows = pd.concat(
        [rows_of(file, form.columns, "save it as CSV in UTF-8 with commas") for file in files],
        ignore_index=True,
    )
    texts = rows[form.columns].replace({"\r\n": "\n", r"[^\S\n]+": " "}, regex=True)
    rows = rows.assign(**texts.assign(label=texts["label"].str.lower()))
    refuse(
        rows,
        ~rows["label"].isin([*form.labels, ""]),
        f"label is {{label!r}}, not {' or '.join(form.labels)}",
        "correct it, or leave it empty",
    )
    return rows


def sheets_of_page(files: list[Path], folder: Path, form: Form) -> pd.DataFrame:
    """The answers of a page as rows of sheets, one a person; folder: what the page was made from.
    An item is known by its texts, so its sheet may be in any order.
    """
    sheet = rows_of(folder / SHEET, form.columns, "make it again").replace("\r\n", "\n", regex=True)
    texts = form.of_item(sheet)
    made = read_table(folder / ITEMS, ["example_id", *texts]).to_pandas()
    rows = made.merge(sheet.assign(**texts).drop_duplicates([*texts]), on=[*texts], how="left")
    if (lost := rows["row"].isna()).any():
        raise UserError(
            f"{folder / SHEET}: has no row of {shown(rows.loc[lost, [*texts][-1]].iloc[0])}, which "
            f"{ITEMS} beside it has; restore it, or make both again"
        )
    answers = read_answers(files, form.study, {folder.resolve().parts[-2:]: ["test"]}, form.labels)
    answers = answers.assign(
        at=places_of(answers, made["example_id"]), given=pd.factorize(answers["file"])[0]
    )
    refuse(
        answers,
        answers["at"] < 0,
        "item {item} is not among what the page was made from",
        f"name its folder by --made, not {folder}",
    )
    answers = answers.sort_values(["given", "person", "at"], kind="stable", ignore_index=True)
    return (
        rows.iloc[answers["at"]][form.columns]
        .reset_index(drop=True)
        .assign(
            row=answers["row"],
            file=answers["file"] + ", " + answers["person"].map(cut),
            label=answers["answer"],
        )
    )


def decided(rows: pd.DataFrame, form: Form) -> pd.DataFrame:
    """One row for each key with the label of the majority; ties and blanks are left out. Raises
    UserError for a key that a sheet has twice, and where nothing is left.
    """
    refuse(
        rows,
        rows.duplicated(["file", *form.keys]),
        "repeats a row above of the same sheet",
        "keep one of them",
    )
    yes, no = form.labels
    rows = rows.assign(
        votes=(rows["label"] == yes).astype(int) - (rows["label"] == no),
        labelled=rows["label"] != "",
    )
    table = rows.assign(
        **rows.groupby(form.keys)[["votes", "labelled"]].transform("sum")
    ).drop_duplicates(form.keys)
    blank, even = (table["labelled"] == 0).sum(), (table["votes"] == 0).sum()
    if even:
        log.info(
            "%d %s are left out, which nobody labelled, and %d, on which people differ evenly",
            blank,
            form.what,
            even - blank,
        )
    table = table[table["votes"] != 0]
    if table.empty:
        raise UserError(
            f"{', '.join(rows['file'].unique())}: no {form.what} is labelled; write {yes} or {no} "
            "into the column label"
        )
    return table.assign(label=np.where(table["votes"] > 0, yes, no)).reset_index(drop=True)


def labels_given(given: argparse.Namespace, form: Form) -> pd.DataFrame:
    """What people decided in all --sheets and --answers: a row for each key (decided())."""
    if not given.sheets and not given.answers:
        raise UserError(
            "neither --sheets nor --answers names a file; name the labelled sheets, or the answers "
            "of a page"
        )
    if given.answers and not given.made:
        raise UserError("--answers needs --made; name the folder that the page was made from")
    tables = [read_sheets(given.sheets, form)] if given.sheets else []
    tables += [sheets_of_page(given.answers, given.made, form)] if given.answers else []
    return decided(form.checked(pd.concat(tables, ignore_index=True)), form)


def labelling_arguments(doc: str) -> argparse.ArgumentParser:
    options = parser(doc)
    options.add_argument(
        "--sheets",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="labelled sheets, one a person",
    )
    options.add_argument(
        "--answers",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="answers that a page handed out (docs/people.md)",
    )
    options.add_argument(
        "--made",
        type=Path,
        metavar="FOLDER",
        help="with --answers: the folder that the page was made from",
    )
    options.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="the file to write"
    )
    return options
