"""Measure predictions made elsewhere, on a split of a dataset that was built here, and keep them as
a system of the study.

A file is CSV with a header, or JSON lines (its name ends in .jsonl). It has one row for each
example, in any order:

  example_id,label                     the chosen label
  example_id,<label>,<label>,…         a score for every label, higher is better
  example_id,score                     a score of the candidate itself, higher is better (where
                                       candidates are ranked)

  {"example_id": …, "label": …}
  {"example_id": …, "scores": {"<label>": …}}
  {"example_id": …, "score": …}

The ids are those of the dataset's split (its first column). Other columns are ignored. A file may
also come from lm-evaluation-harness (scripts/measure/harness_samples.py), which is recognised by
its first line.
Not a program: use --predictions with the evaluation of a study.
"""

import argparse
import csv
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.csv_files import as_written
from scripts.data.files import sha256_of, whole_set
from scripts.data.items import HUMAN
from scripts.running.program import UserError, cut, log, shown
from scripts.data.runs import facts_of
from scripts.data.tables import PREDICTIONS, provenance_of, read_table, write_table
from scripts.data.texts import csv_of, json_of, lines_in, text_of
from scripts.measure.answered import Answered
from scripts.measure.experiment import EXTERNAL, Run, Systems
from scripts.measure.harness_answers import read_answers
from scripts.measure.harness_samples import kind_of_samples, read_samples
from scripts.train.asking.answer import CUT

REMEDY = "give a CSV with a header, or JSON lines, of one prediction a row (--help)"
NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
# takes a run, the split's file, the split's name and the number of resamples; returns rows
Measure = Callable[[Run, Path, str, int], list[dict]]


def csv_rows(file: Path) -> pd.DataFrame:
    """Return the cells of a CSV file as text. The index names the place of each row, such as
    "row 2".
    """
    try:
        header = next(csv.reader(lines_in(text_of(file, REMEDY, REMEDY), str(file), REMEDY)), [])
    except csv.Error as error:
        raise UserError(f"{file}: its first line is not a header ({error}); {REMEDY}") from None
    if not header:
        raise UserError(f"{file}: its first line is empty; begin with the header, and {REMEDY}")
    table = csv_of(file, header, REMEDY, REMEDY).apply(
        lambda column: as_written(column.str.strip())
    )
    return table.set_axis("row " + pd.RangeIndex(2, len(table) + 2).astype(str))


def json_rows(file: Path) -> pd.DataFrame:
    """Return the values of a JSON-lines file; blank lines are skipped. The index names the place of
    each row, such as "line 2".
    """
    rows, places = [], []
    for number, line in enumerate(lines_in(text_of(file, REMEDY, REMEDY), str(file), REMEDY), 1):
        if not line.strip():
            continue
        value = json_of(line, f"{file}: line {number}", "mend it")
        scores = value.get("scores", {}) if isinstance(value, dict) else None
        if not isinstance(scores, dict):
            raise UserError(
                f'{file}: line {number} is not an object like {{"example_id": …, "label": …}}, or '
                "its scores are invalid; mend it"
            )
        rows.append(scores | value)
        places.append(f"line {number}")
    return pd.DataFrame(rows, places, dtype=object).drop(columns="scores", errors="ignore")


def answer_columns(rows: pd.DataFrame, answered: Answered, file: Path) -> list[str]:
    """Return the columns that hold the answers. Raises UserError if there are no such columns, or
    no ids.
    """
    ways = [["label"], *([["score"]] if answered.scored else []), *answered.labels]
    found = [names for names in ways if set(names) <= set(rows)]
    if "example_id" not in rows or not found:
        of_authors = ""
        if rows.shape[1] == 1:
            of_authors = "; a file as a paper's authors released it goes with --gold, not --dataset"
        raise UserError(
            f"{file}: its columns are {cut(', '.join(map(str, rows)), 200)}; give example_id and "
            f"{', or '.join(', '.join(names) for names in ways)}{of_authors}"
        )
    if len(found) > 1:  # a label beside scores may well be the right one
        raise UserError(
            f"{file}: answers in two ways, by {' and by '.join(', '.join(way) for way in found)}; "
            "leave one of them in the file"
        )
    return found[0]


def refuse(cells: pd.Series, wrong: np.ndarray, file: Path, why: Callable[[Any], str]) -> None:
    """Raise UserError with the place of the first wrong cell; why: gives the reason for a cell."""
    for place, cell in cells[wrong].items():
        raise UserError(f"{file}: {place}: {why(cell)}")


def example_rows(rows: pd.DataFrame, examples: pd.Series, file: Path, where: str) -> np.ndarray:
    """Return the (n,) row number of each example. Raises UserError for an unknown id, a repeated
    id, or a missing id.
    """
    ids = rows["example_id"]
    texts = ids.map(lambda value: isinstance(value, str) and value != "").to_numpy(bool)
    refuse(
        ids,
        ~texts,
        file,
        lambda cell: f"its example_id is {shown(cell)}; write the id of an example of {where}",
    )
    refuse(
        ids,
        ~ids.isin(set(examples)).to_numpy(),
        file,
        lambda cell: (
            f"{where} has no example {cut(cell)}; remove the row, or name the split of its example"
        ),
    )
    refuse(
        ids,
        ids.duplicated().to_numpy(),
        file,
        lambda cell: f"example {cut(cell)} is already in {ids.eq(cell).idxmax()}; keep one of them",
    )
    row = pd.Index(ids).get_indexer(examples)
    if len(lacking := examples[row < 0]):
        raise UserError(
            f"{file}: none of its {len(rows)} rows is for the example {cut(lacking.iloc[0])} "
            f"({len(lacking)} of {len(row)} examples of {where} have no row); give a prediction "
            "for each"
        )
    return row


def scores_of(
    rows: pd.DataFrame, names: list[str], answered: Answered, file: Path
) -> tuple[np.ndarray, list[str]]:
    """Return the (n, labels) scores, and the labels' names. If a row gives a chosen label, that
    label has the score 1 and the others 0. Raises UserError for an unknown label, or for a score
    that is not a finite number.
    """
    if names == ["label"]:
        chosen = rows["label"]
        fitting = [labels for labels in answered.labels if chosen.isin(labels).all()]
        labels = fitting[0] if fitting else answered.labels[0]
        refuse(
            chosen,
            ~chosen.isin(labels).to_numpy(),
            file,
            lambda cell: f"label {shown(cell)} is not one of {', '.join(labels)}",
        )
        return np.eye(len(labels))[pd.Index(labels).get_indexer(chosen)], labels
    scores = np.array([rows[name].map(number_of) for name in names], float).T
    with np.errstate(over="ignore"):
        finite = np.isfinite(scores.astype(np.float32))
    for name, right in zip(names, finite.T):
        for place, cell in rows[name][~right].items():
            raise UserError(f"{file}: {place}: {name} is {shown(cell)}, not a finite number")
    return scores, names


def number_of(value: Any) -> float:
    """Convert a cell or a JSON value to a number; NaN if it is not a number."""
    try:
        # float() would accept 1_000
        return float("nan") if isinstance(value, bool) or "_" in str(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def refuse_merged(scores: np.ndarray, rivals: pd.Series | None, ids: pd.Series, file: Path) -> None:
    """Raise UserError if different scores become equal in 32 bits, so that the ranking is lost.
    scores: (n, labels). rivals: the text of each row; the candidates of one text are ranked
    together. None: the labels of each row are ranked.
    """
    rounded = scores.astype(np.float32)
    lost = (rounded == rounded.max(axis=1, keepdims=True)).sum(axis=1) > (
        scores == scores.max(axis=1, keepdims=True)
    ).sum(axis=1)
    if rivals is not None:
        column = pd.DataFrame(
            {"rivals": pd.factorize(rivals)[0], "score": scores[:, -1], "kept": rounded[:, -1]}
        )
        distinct = column.groupby("rivals")[["score", "kept"]].transform("nunique")
        lost = (distinct["kept"] < distinct["score"]).to_numpy()
    if lost.any():
        at = int(np.argmax(lost))
        others = "each other" if rivals is None else "each other or to those beside it"
        raise UserError(
            f"{file}: the scores of {cut(ids.iloc[at])} are so close to {others} that 32 bits "
            "cannot hold the difference; give log-probabilities, or scores with larger differences"
        )


def read_predictions_file(
    file: Path, answered: Answered, split: Path
) -> tuple[np.ndarray, list[str], dict]:
    """Return the (n, labels) scores of a split's examples in their order, and the names of the
    scores. Also return the facts that the harness gives about its run. split: the file of the
    split.
    """
    facts: dict = {}
    examples = read_table(split, answered.columns[:1])[0].to_pandas()
    if (doubled := examples[examples.duplicated()]).size:
        raise UserError(f"{split}: example {cut(doubled.iloc[0])} occurs twice; build it again")
    kind = kind_of_samples(file)
    if kind == "answers":
        found, facts = read_answers(file, answered, split)
        return found.loc[examples].to_numpy(), list(found), facts
    if kind:
        rows, facts = read_samples(file, answered, split)
    else:
        rows = (json_rows if file.suffix in (".jsonl", ".json") else csv_rows)(file)
    if rows.empty:
        raise UserError(f"{file}: has no row; {REMEDY}")
    names = answer_columns(rows, answered, file)
    row = example_rows(rows, examples, file, f"{split.parent.name} {split.stem}")
    scores, labels = scores_of(rows, names, answered, file)
    return scores[row], labels, facts


def split_file(dataset: Path, split: str) -> Path:
    """Return the file of a dataset's split. If it is missing, raises UserError that names the
    splits of the dataset.
    """
    file = dataset / f"{split}.parquet"
    if not file.exists():
        known = sorted(other.stem for other in dataset.glob("*.parquet"))
        raise UserError(
            f"{dataset}: has no split {split}; "
            + (
                f"name one by --split: {', '.join(known)}"
                if known
                else (
                    "build it with `snakemake build`, or name the folder of a dataset, "
                    "results/build/<study>/<source>/<dataset>"
                )
            )
        )
    return file


def write_run(folder: Path, name: str, predictions: Path, answered: Answered, file: Path) -> Run:
    """Write predictions on a split (`file`) to a folder, in the form of a run with its run.json."""
    split, texts = file.stem, answered.columns[: 3 if answered.scored else 2]
    example, group, *rivals = texts
    schema = pa.schema([*((name, pa.string()) for name in texts), ("label", pa.int8())])
    table = read_table(file, schema.names, schema)
    scores, labels, harness = read_predictions_file(predictions, answered, file)
    refuse_merged(
        scores,
        table[rivals[0]].to_pandas() if rivals else None,
        table[example].to_pandas(),
        predictions,
    )
    same = {"run": name, "split": split, "selection": "direct", "epoch": 0}
    columns = {key: [value] * len(table) for key, value in same.items()} | {
        "example_id": table[example],
        "group_id": table[group],
        "label": table["label"],
        "score": list(scores.astype(np.float32)),
    }
    facts = {
        "run": name,
        "study": answered.study,
        "source": file.parent.parent.name,
        "dataset": file.parent.name,
        "model": name,
        "method": EXTERNAL,
        "seed": 0,
        "wording": None,
        "labels": labels,
        "train_examples": 0,
        "held_out_examples": 0,
        "splits": [split],
        "data": {split: answered.digest(file)},
        "data_options": provenance_of(file).get("options", {}),
        "predictions": {"file": predictions.name, "sha256": sha256_of(predictions)},
        **{name: {split: harness.pop(name)} for name in ("unread", CUT) if name in harness},
        **({"harness": harness} if harness else {}),
    }
    with whole_set(folder) as place:
        write_table(pa.table(columns), place / "predictions.parquet", PREDICTIONS, facts)
        (place / "run.json").write_text(
            json.dumps(facts, indent=1, ensure_ascii=False), encoding="utf-8"
        )
    return Run(folder, facts_of(folder / "run.json"))


def system_folder(file: Path, name: str, study: str) -> Path:
    """Return the folder where named predictions on a split (`file`) are kept:
    results/external/<study>/<source>/<dataset>/<split>/<name>.
    """
    place = file.parent
    if name == HUMAN:
        raise UserError(
            f"--name {HUMAN}: this name is kept for people's answers (docs/people.md); give another"
        )
    if not re.fullmatch(NAME, name):
        raise UserError(f"--name {cut(name)}: is not a valid name; use letters, digits, _, - and .")
    if place.parts[-4:-2] != ("build", study):
        raise UserError(
            f"--dataset {file.parent}: with --name, the dataset must be in results/build/{study}/; "
            "name its folder there, or leave --name out"
        )
    return place.parents[3] / "external" / study / place.parent.name / place.name / file.stem / name


def title_of(row: Mapping) -> str:
    """Return a row's metric in words, with its scoring where a study has several."""
    scoring = row.get("scoring")
    return row["metric"].replace("_", " ") + (f" ({scoring})" if pd.notna(scoring) else "")


def print_rows(rows: list[dict], also: Mapping[str, tuple[str, ...]]) -> None:
    """Print every metric of all examples in per cent, with its interval. also: for slices whose
    name begins with a key, the metrics to print.
    """
    print(f"{'':<52}{'%':>7}{'95 % interval':>18}{'n':>9}")
    for row in rows:
        if row["slice"] != "all" and not any(
            row["slice"].startswith(begin) and row["metric"] in of for begin, of in also.items()
        ):
            continue
        title = title_of(row) + ("" if row["slice"] == "all" else f", {row['slice']}")
        span = ""
        if row.get("ci_low") is not None:
            span = f"{row['ci_low'] * 100:.2f} to {row['ci_high'] * 100:.2f}"
        elif "ci_low" in row:
            span = "none of 1"
        print(f"{title:<52}{row['value'] * 100:>7.2f}{span:>18}{row['n']:>9,}")


def score_predictions(
    given: argparse.Namespace,
    answered: Answered,
    measure: Measure,
    also: Mapping[str, tuple[str, ...]],
) -> None:
    """Print the metrics of each file of predictions on a split of a dataset. If a name is given,
    keep the predictions as a system of the study. also: see print_rows().
    """
    file = split_file(given.dataset.resolve(), given.split)
    if given.name and len(given.predictions) > 1:
        raise UserError(
            f"--name {cut(given.name)}: {len(given.predictions)} files are given, but a name "
            "stands for one file; give one file"
        )
    for predictions in given.predictions:
        with tempfile.TemporaryDirectory() as place:
            folder = (
                system_folder(file, given.name, answered.study)
                if given.name
                else Path(place, "predictions")
            )
            run = write_run(folder, given.name or predictions.stem, predictions, answered, file)
            print(f"{predictions}: {file.parent.name} {given.split}")
            print_rows(measure(run, file, given.split, given.resamples), also)
        if given.name:
            log.info(
                "%s: kept; the next run of the workflow measures it with the experiments of %s",
                folder,
                file.parent.name,
            )


def external_systems(
    folders: list[Path], build: Path, answered: Answered
) -> dict[tuple[str, str, str], Systems]:
    """Return the systems that score_predictions() kept in these folders, by source, dataset and
    split. Raises UserError if the dataset has changed since the predictions were made.
    """
    systems: dict[tuple[str, str, str], Systems] = {}
    for folder in folders:
        facts = facts_of(folder / "run.json")
        for split, digest in facts["data"].items():
            file = build / facts["source"] / facts["dataset"] / f"{split}.parquet"
            if answered.digest(file) != digest:
                raise UserError(
                    f"{folder}: {file} has changed since these predictions; give them again "
                    f"(python -m scripts.studies.{answered.study}.evaluate --predictions FILE "
                    f"--name {facts['model']} …), or remove the folder"
                )
            known = systems.setdefault((facts["source"], facts["dataset"], split), {})
            known[facts["model"], facts["method"]] = [Run(folder, facts)]
    return systems
