"""Read people's answers from filled sheets (scripts/people/sheet.py, docs/people.md), and join them
with the examples.

Beside the columns of table.py, the table has study, source, dataset, split and types of an answer.
"""

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.csv_files import as_written
from scripts.data.items import ANSWER_COLUMNS, ITEM, items_of
from scripts.data.texts import csv_of
from scripts.measure.elsewhere.table import refuse, table_of
from scripts.running.program import UserError, log

AGAIN = "write the sheet anew, and keep its columns (docs/people.md)"
KEY = ["source", "dataset", "split", "item", "system"]  # one person gives one answer to it
TYPES = r"([a-z][a-z0-9_]*(; [a-z][a-z0-9_]*)*)?"


def rows_of(file: Path) -> pd.DataFrame:
    """Return the table of a file. Raises UserError for a file without rows."""
    rows = csv_of(file, ANSWER_COLUMNS, AGAIN, "correct the path, or leave it out")
    rows = rows.apply(as_written).map(str.strip)
    if rows.empty:
        raise UserError(f"{file}: has no rows below its header; {AGAIN}, or leave it out")
    places = [f"row {row}" for row in range(2, len(rows) + 2)]
    items = rows["item"].str.removeprefix("i")  # without it a spreadsheet may read a number
    table = table_of(file, places, items, rows["answer"], 1.0)
    return table.assign(
        system=rows["person"], **rows[["study", "source", "dataset", "split", "types"]]
    )


def whole_of(dataset: str) -> str:
    """Return the name of the dataset before the options `limit` and `train_limit` cut it."""
    return re.sub(r"-(train_)?limit-\d+", "", dataset)


def are_for(answers: pd.DataFrame, facts: Mapping) -> pd.Series:
    """Return which answers are for a run's dataset, or for the whole dataset from which it was
    cut.
    """
    names = [facts["dataset"], whole_of(facts["dataset"])]
    return (answers["source"] == facts["source"]) & answers["dataset"].isin(names)


def read_people(
    files: list[Path],
    study: str,
    datasets: dict[tuple[str, str], list[str] | None],
    labels: list[str],
) -> pd.DataFrame:
    """Return the answers of all files, with `chosen`, the number of the label.

    datasets: by source and dataset, the splits that may have answers; None allows every split.
    Raises UserError for an answer to another study, dataset or split, and for an answer that is
    missing, repeated or not a label.
    """
    rows = pd.concat(map(rows_of, files), ignore_index=True)
    known = {" ".join(place): splits for place, splits in datasets.items()}
    place = rows["source"] + " " + rows["dataset"]
    other_split = [
        known.get(name) is not None and split not in (known[name] or [])
        for name, split in zip(place, rows["split"])
    ]
    wanted = "; ".join(
        sorted(f"{' or '.join(splits)} of {name}" for name, splits in known.items() if splits)
    )
    for wrong, why, remedy in (
        (
            rows["study"] != study,
            f"answers of the study {{study}}, not of {study}",
            "name the file where its study is",
        ),
        (
            ~place.isin(known),
            f"answers for {{source}} {{dataset}}, not for {', '.join(sorted(known))}",
            "take its rows out, or read them with what they are for",
        ),
        (
            other_split,
            "answers for split {split} of {source} {dataset}",
            f"write the sheet of a split that is wanted: {wanted}",
        ),
        (rows["system"] == "", "nobody is named in the column person", "name whoever answered"),
        (~rows["item"].str.fullmatch(ITEM), "item {item} is none of a sheet", AGAIN),
        (
            ~rows["types"].str.fullmatch(TYPES),
            "types {types} are no names with `; ` between them",
            AGAIN,
        ),
        (
            rows["candidate"] == "",
            "{system} has not answered item {item}",
            "answer it, or take its rows out",
        ),
        (~rows["candidate"].isin(labels), "answers {candidate!r}", f"write {' or '.join(labels)}"),
        (
            rows.duplicated(KEY),
            "{system} has answered item {item} of {source} {dataset} {split} above",
            "keep one of them",
        ),
    ):
        refuse(rows, wrong, why, remedy)
    return rows.assign(chosen=pd.Index(labels).get_indexer(rows["candidate"]))


def on_split(
    answers: pd.DataFrame, facts: Mapping, split: str, examples: pd.DataFrame
) -> pd.DataFrame | None:
    """Return the answers on one split of a run's dataset, or None if there are none. The column
    `at` is the place of each answer's example.

    facts: of a run; examples: example_id, unit (right or wrong as a whole). If the option limit
    cut the dataset, only answers on its examples count. Raises UserError for an item that is
    not an example, and for a unit that a person answered only in part.
    """
    part = answers[are_for(answers, facts) & (answers["split"] == split)]
    items = part["item"].map(lambda item: int(item, 16)).astype(np.uint64)
    part = part.assign(at=pd.Index(items_of(examples["example_id"])).get_indexer(items))
    if facts["data_options"].get("limit") is not None:
        log.info(
            "%s %s: %d of %d human answers are on items within the limit",
            *(facts["source"], facts["dataset"], (part["at"] >= 0).sum(), len(part)),
        )
        part = part[part["at"] >= 0].drop_duplicates(["item", "system"])
    why = "item {item} is not in split {split} of {source} {dataset}"
    refuse(part, part["at"] < 0, why, "write the sheet of the dataset that is measured")
    part = part.assign(unit=examples["unit"].to_numpy()[part["at"]])
    counts = part.groupby(["system", "unit"])["item"].transform("size")
    why = "{system} has answered only a part of the unit of item {item}"
    remedy = "answer the rest, or take those rows out"
    refuse(part, counts < part["unit"].map(examples["unit"].value_counts()), why, remedy)
    return part if len(part) else None


def people_given(
    given: argparse.Namespace, study: str, datasets: dict, labels: list[str]
) -> pd.DataFrame | None:
    """Return the answers that an evaluation is given (--people); None if there are none. datasets:
    from runs_by_dataset(). Answers on datasets of other experiments (--others) are ignored here.
    """
    if not given.people:
        return None
    sources = given.sources
    known: dict[tuple[str, str], list[str] | None] = {
        tuple(name.split("/", 1)): None for name in given.others
    }
    for source, dataset in datasets:
        splits = sources[sources[source].get("measured_on", source)]["evaluate"]
        known |= {(source, dataset): splits, (source, whole_of(dataset)): splits}
    return read_people(given.people, study, known, labels)
