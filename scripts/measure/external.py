"""Measure predictions made elsewhere, on a split of a dataset that was built here, and keep them as
a system of the study.

A file has one of the forms of scripts/measure/elsewhere/: CSV or JSON lines (rows.py), samples of
lm-evaluation-harness (harness.py), a log of inspect_ai (inspect_logs.py). It is recognised by its
content. Use --predictions with the evaluation of a study.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.files import sha256_of, whole_set
from scripts.data.items import HUMAN
from scripts.running.program import UserError, cut, log
from scripts.running.project_version import ROOT
from scripts.data.runs import facts_of
from scripts.data.tables import PREDICTIONS, provenance_of, read_table, write_table
from scripts.data.yaml_files import read_yaml
from scripts.measure.answered import Answered
from scripts.measure.experiment import EXTERNAL, Run, Systems
from scripts.measure.elsewhere.harness import is_sample, read_samples
from scripts.measure.elsewhere.inspect_logs import ZIP, is_log, read_log
from scripts.measure.elsewhere.rows import read_rows
from scripts.measure.elsewhere.table import Elsewhere, scores_of
from scripts.train.asking.answer import SHARES

MOST_OF_LINE = 1 << 28  # bytes of a first line that is read to know the form of a file
MODELS = ROOT / "resources/models.yaml"
NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
# takes a run, the split's file, the split's name and the number of resamples; returns rows
Measure = Callable[[Run, Path, str, int], list[dict]]


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


def read_elsewhere(file: Path, answered: Answered, split: Path) -> Elsewhere:
    """Return the answers of a file in any form. split: the file of the split."""
    try:
        with file.open("rb") as opened:
            line = opened.readline(MOST_OF_LINE)
    except OSError:
        line = b""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if is_sample(value):
        return read_samples(file, answered, split)
    if line.startswith(ZIP) or is_log(value) or line.strip() == b"{":
        return read_log(file, answered, split)
    return read_rows(file, answered, split)


def split_file(dataset: Path, split: str) -> Path:
    """Return the file of a dataset's split. If it is missing, raises UserError that names the
    splits of the dataset.
    """
    file = dataset / f"{split}.parquet"
    if not file.exists():
        remedy = "build it with `snakemake build`, or name the folder of a dataset, "
        remedy += "results/build/<study>/<source>/<dataset>"
        if known := sorted(other.stem for other in dataset.glob("*.parquet")):
            remedy = f"name one by --split: {', '.join(known)}"
        raise UserError(f"{dataset}: has no split {split}; {remedy}")
    return file


def write_run(folder: Path, name: str, predictions: Path, answered: Answered, file: Path) -> Run:
    """Write predictions on a split (`file`) to a folder, in the form of a run with its run.json."""
    split, texts = file.stem, answered.columns[: 3 if answered.scored else 2]
    example, group, *rivals = texts
    schema = pa.schema([*((name, pa.string()) for name in texts), ("label", pa.int8())])
    table = read_table(file, schema.names, schema)
    made = read_elsewhere(predictions, answered, file)
    where = f"{file.parent.name} {split}"
    scores, labels = scores_of(made, table[example].to_pandas(), answered, predictions, where)
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
        **{name: {split: made.facts[name]} for name in SHARES if name in made.facts},
        "made_by": {name: made.facts[name] for name in made.facts if name not in SHARES},
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
    if name in read_yaml(MODELS):
        raise UserError(
            f"--name {name}: resources/models.yaml has a model of this name; give another name, "
            f"such as {name}_elsewhere"
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
            span = "one group"
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
            folder = Path(place, "predictions")
            if given.name:
                folder = system_folder(file, given.name, answered.study)
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
