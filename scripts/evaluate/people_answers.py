"""The answers of people, as pages of scripts/publish/labelling/page.py write them: read, checked, and joined with the examples.

Not a program.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.common.csv_files import as_written
from scripts.common.items import ANSWER_COLUMNS, ITEM, items_of
from scripts.common.program import UserError, cut, log, shown
from scripts.common.texts import csv_of
from scripts.evaluate.experiment import read_sources

REMEDY = "download the answers from the page anew (docs/people.md)"
PLACE = ["source", "dataset", "split", "item", "person"]
TYPES = r"([a-z][a-z0-9_]*(; [a-z][a-z0-9_]*)*)?"


def refuse(rows: pd.DataFrame, wrong: np.ndarray | pd.Series, why: str, remedy: str) -> None:
    """Raise UserError that names file and row of the first row that is wrong; why: a text with the row's columns in braces."""
    wrong = np.asarray(wrong, bool)
    if wrong.any():
        row = rows.iloc[int(np.argmax(wrong))]
        told = why.format(**{name: cut(str(value)) for name, value in row.items()}, shown=shown(row["answer"]))
        raise UserError(f"{row['file']}: row {row['row']}: {told}; {remedy}")


def answers_in(file: Path) -> pd.DataFrame:
    """The rows of a file as text: ANSWER_COLUMNS, file, row."""
    rows = csv_of(file, ANSWER_COLUMNS, REMEDY, "correct the path, or take it out of `people`").map(str.strip).apply(as_written)
    if rows.empty:
        raise UserError(f"{file}: holds nobody's answers; {REMEDY}, or take it out of `people`")
    return rows.assign(file=str(file), row=np.arange(2, len(rows) + 2))


def read_answers(files: list[Path], study: str, datasets: dict[tuple[str, str], list[str] | None], labels: list[str]) -> pd.DataFrame:
    """The rows of all files: ANSWER_COLUMNS as text, file, row, chosen (the number of the label), and item as a uint64.

    datasets: by source and dataset the splits that may be answered for, None for any. Raises UserError that names file and row of an
    answer to something else, of one that is missing or none of the labels, and of one that its person has given before.
    """
    rows = pd.concat(map(answers_in, files), ignore_index=True)
    refuse(rows, rows["study"] != study, "answers of the study {study}, not of " + study, "name the file in an experiment of its study")
    places = pd.Series(list(zip(rows["source"], rows["dataset"])), dtype=object)
    refuse(rows, ~places.isin(list(datasets)), "the study measures no dataset {source} {dataset}",
           f"take its rows out; it measures {', '.join(' '.join(names) for names in sorted(datasets))}")
    other = [datasets[place] is not None and split not in datasets[place] for place, split in zip(places, rows["split"])]
    measured = "; ".join(sorted({f"{' or '.join(splits)} of {source} {dataset}" for (source, dataset), splits in datasets.items() if splits}))
    refuse(rows, other, "split {split} of {source} {dataset} is not measured", f"make the page from a split that is: {measured}")
    refuse(rows, rows["person"] == "", "nobody is named in the column person", "name whoever answered")
    refuse(rows, ~rows["item"].str.fullmatch(ITEM), "item {item} is none of a page", REMEDY)
    refuse(rows, ~rows["types"].str.fullmatch(TYPES), "types {types} are no names with `; ` between them", REMEDY)
    refuse(rows, rows["answer"] == "", "{person} has not answered item {item}", "answer it on the page, or take its rows out")
    refuse(rows, ~rows["answer"].isin(labels), "answers {shown}", f"write {' or '.join(labels)}")
    refuse(rows, rows.duplicated(PLACE), "{person} has answered item {item} of {source} {dataset} {split} above", "keep one of them")
    return rows.assign(chosen=pd.Index(labels).get_indexer(rows["answer"]), item=rows["item"].map(lambda item: int(item, 16)).astype(np.uint64))


def answers_given(given: argparse.Namespace, study: str, datasets: dict, labels: list[str]) -> pd.DataFrame | None:
    """The answers that an evaluation is given (--people), None where there are none; datasets: of runs_by_dataset(). Those on datasets that other
    experiments of the study measure (--others) are read, and left to these."""
    if not given.people:
        return None
    sources = read_sources(given.sources, {source for source, _ in datasets})
    splits = {source: sources[sources[source].get("measured_on", source)]["evaluate"] for source, _ in datasets}
    first = {place: next(iter(systems.values()))[0].facts for place, systems in datasets.items()}
    wholes = {(source, whole_of(dataset, limit_of(first[source, dataset]))) for source, dataset in datasets}
    others = {tuple(name.split("/", 1)): None for name in given.others}
    return read_answers(given.people, study, others | {place: splits[place[0]] for place in {*datasets, *wholes}}, labels)


def limit_of(facts: dict) -> int | None:
    """How many items of each split a run's dataset is cut to."""
    return facts["data_options"].get("limit")


def whole_of(dataset: str, limit: int | None) -> str:
    """The name of the dataset that one of the option limit was cut from."""
    return dataset if limit is None else dataset.removesuffix(f"-limit-{limit}")


def refuse_answers(answers: pd.DataFrame | None, facts: dict, why: str) -> None:
    """Raise UserError, with the reason, where anybody answered for a run's dataset, or the whole one that it was cut from."""
    if answers is not None:
        there = answers["dataset"].isin([facts["dataset"], whole_of(facts["dataset"], limit_of(facts))])
        refuse(answers, (answers["source"] == facts["source"]) & there, why, "take its rows out")


def on_split(answers: pd.DataFrame | None, facts: dict, split: str, examples: pd.DataFrame) -> pd.DataFrame | None:
    """The answers on one split of a run's dataset, with `at`, the place of each one's example; None where there are none.

    facts: of a run; examples: example_id, unit (what is right or wrong as a whole: a pair, a question, an instance). Of a dataset cut by
    the option limit those count that are on its examples, whether they were given for it or for the whole one. Raises
    UserError for an item that is no example, and for a unit that a person has answered in part.
    """
    if answers is None:
        return None
    source, dataset, limit = facts["source"], facts["dataset"], limit_of(facts)
    here = answers["dataset"].isin([dataset, whole_of(dataset, limit)])
    part = answers[(answers["source"] == source) & here & (answers["split"] == split)]
    part = part.assign(at=pd.Index(items_of(examples["example_id"])).get_indexer(part["item"]))
    if limit is not None:
        log.info("%s %s: %d of %d human answers are on items within the limit", source, dataset, (part["at"] >= 0).sum(), len(part))
        part = part[part["at"] >= 0].drop_duplicates(["item", "person"])
    written = part.assign(item=part["item"].map("{:016x}".format))
    refuse(written, part["at"] < 0, "item {item} is not in split {split} of {source} {dataset}",
           "make the page from the dataset that is measured")
    unit = examples["unit"].to_numpy()[part["at"]]
    of_unit = examples.groupby("unit").size()
    answered = part.groupby([part["person"].to_numpy(), unit])["item"].transform("size").to_numpy() if len(part) else np.zeros(0)
    refuse(written, answered < of_unit.reindex(unit).to_numpy(), "{person} has answered a part of what belongs to item {item}",
           "answer the rest on the page, or take those rows out")
    return part.assign(unit=unit) if len(part) else None
