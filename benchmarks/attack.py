"""An attack on the controls of a study: which simple model reaches more than they do?

    snakemake train --cores all --configfile presets/controls.yaml    # data and controls
    python -m benchmarks.attack timedial

Takes every dataset of the study that was built and has controls, and fits all learners of all
views: those that the study declares, and views that any study has (one text, both, how an option
stands among the others). The committed controls choose inside the training split; an attack looks
at what is measured, so what it finds is a lead. Give a lead a view of its own in
scripts/studies/<study>/controls.py before a headline is published. Prints Markdown: what reaches
more than the best committed control by more than one standard error. Learns from at most 10,000
examples. Takes minutes a dataset.
"""

import argparse
import importlib
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measure import options_of, table
from scripts.data.runs import facts_of
from scripts.data.studies import read_studies
from scripts.data.tables import PREDICTIONS, write_table
from scripts.measure.experiment import Run, read_scores
from scripts.measure.study import Study
from scripts.running.identity import ROOT
from scripts.running.program import UserError
from scripts.train.control import predictions_of, read_examples
from scripts.train.search import Search, View, with_even_odds

RESAMPLES, MOST = 200, 10_000  # bootstrap draws; examples to learn from, drawn by hash
COLUMNS = ["dataset", "split", "view", "learner", "reaches", "best committed", "which"]


def both(data: pd.DataFrame) -> pd.Series:
    """Both texts as one."""
    return data["first"] + " ; " + data["second"]


def lengths(data: pd.DataFrame) -> np.ndarray:
    """(n, 4) characters and words of both texts."""
    return np.column_stack(
        [
            one
            for side in ("first", "second")
            for one in (data[side].str.len(), data[side].str.split().str.len())
        ]
    ).astype(float)


def among_the_others(data: pd.DataFrame) -> np.ndarray:
    """(n, 4) an option's length, and its words' share, less those of the others of its group."""
    group = data["choice_id" if "choice_id" in data else "group_id"]
    words = data["second"].str.lower().str.split().map(set)
    alike = pd.Series(0.0, data.index)
    for rows in group.groupby(group, sort=False).indices.values():
        sets = [words.iloc[row] for row in rows]
        alike.iloc[rows] = [
            np.mean([len(one & other) / max(len(one | other), 1) for other in sets]) for one in sets
        ]
    length = data["second"].str.len()
    return np.column_stack(
        [
            length,
            length - length.groupby(group).transform("mean"),
            length.groupby(group).rank(),
            alike,
        ]
    )


GENERAL = {
    "first text": View("the first text", words=lambda data: data["first"]),
    "second text": View("the second text", words=lambda data: data["second"]),
    "both texts": View("words of both", words=both, numbers=lengths),
    "words by first word": View(
        "words of the second by the first word of it",
        cues=lambda data: data["second"].str.lower(),
        by=lambda data: data["second"].str.split().str[0].fillna(""),
    ),
    "among the others": View("lengths and shared words among options", numbers=among_the_others),
}  # fmt: skip


def headline(
    study: Study, facts: dict, file: Path, data: pd.DataFrame, metric: str, scores: np.ndarray
) -> tuple[float, float] | None:
    """What scores of a split reach and their standard error, in per cent; None where the split has
    another headline. They are measured as of a model that learnt nothing; facts: of a control.
    """
    labels = facts["labels"] if scores.shape[1] > 1 else facts["labels"][-1:]
    predictions = predictions_of(facts["run"], file.stem, data, scores, "direct")
    with tempfile.TemporaryDirectory() as folder:
        write_table(predictions, Path(folder) / "predictions.parquet", PREDICTIONS, {})
        run = Run(Path(folder), facts | {"labels": labels, "train_examples": 0})
        for row in study.measure_file(run, file, file.stem, RESAMPLES):
            if row["metric"] == metric and row["slice"] == "all" and row["seed"] is None:
                return 100 * row["value"], 100 * (row["ci_high"] - row["ci_low"]) / 3.92
    return None


def attacked(
    name: str, view: View, train: pd.DataFrame, labels: int, exchangeable: bool
) -> dict[tuple[str, str], Callable[[pd.DataFrame], np.ndarray]]:
    """Every learner of a view, by both names: a function from a table to scores."""
    searched = Search(view, train, labels, exchangeable)
    fitted = searched.fit(frozenset())
    left_out = searched.left_out()

    def of(learner: str) -> Callable[[pd.DataFrame], np.ndarray]:
        def scores(data: pd.DataFrame) -> np.ndarray:
            return fitted.scores[learner](searched.read(data), fitted.learnt(data))

        return with_even_odds(view, train, left_out[learner], scores)

    return {(name, learner): of(learner) for learner in left_out}


def main(given: argparse.Namespace) -> None:
    description = read_studies(ROOT)[given.study]
    study = importlib.import_module(f"scripts.studies.{given.study}.evaluate").STUDY
    views = getattr(importlib.import_module(f"scripts.studies.{given.study}.controls"), "VIEWS", {})
    committed: dict[tuple[str, str], list[Run]] = {}
    for file in sorted(given.results.glob(f"train/{given.study}/*/run.json")):
        facts = facts_of(file)
        if facts.get("kind") == "control":
            committed.setdefault((facts["source"], facts["dataset"]), []).append(
                Run(file.parent, facts)
            )
    if not committed:
        raise UserError(f"{given.results}/train/{given.study}: no controls; train some first")
    found = []
    for (source, dataset), runs in committed.items():
        if given.dataset not in dataset:
            continue
        folder = given.results / "build" / given.study / source / dataset
        facts, how = runs[0].facts, description["methods"]["control"]
        (learn, *measured), predicts = facts["splits"], facts["data_options"].get("predict")
        method = {"columns": description["columns"], "inputs": how["inputs"]}
        taught = method | {"inputs": [*how["inputs"], *how.get("teaches", [])]}
        labels = len(max((run.facts["labels"] for run in runs), key=len))
        exchangeable = description.get("exchangeable", False) and not predicts
        train = read_examples(folder / f"{learn}.parquet", taught, MOST)
        learners = {}
        for name, view in (views | GENERAL).items():
            print(f"{source} {dataset}: {name}", file=sys.stderr)
            learners |= attacked(name, view, train, labels, exchangeable)
        for split in measured:
            file = folder / f"{split}.parquet"
            data = read_examples(file, method)

            widest = max((run.facts for run in runs), key=lambda facts: len(facts["labels"]))
            reached = partial(headline, study, widest, file, data, description["headline"])
            ids = data["example_id"]
            committed_values = [
                (value[0], run.facts["model"])
                for run in runs
                if (value := reached(read_scores(run, split, ids, "examples")[0]))
            ]
            if not committed_values:
                continue
            best, which = max(committed_values)
            for (view_name, learner), scores in learners.items():
                value, error = reached(scores(data)) or (0.0, 0.0)
                if value > best + error * (not given.all):
                    reaches = f"{value:.1f} ± {error:.1f}"
                    place = [f"{source} {dataset}", split]
                    found.append([*place, view_name, learner, reaches, f"{best:.1f}", which])
    print(
        table(COLUMNS, found) if found else "Nothing here reaches more than the committed controls."
    )


def arguments() -> argparse.ArgumentParser:
    options = options_of(__doc__)
    options.add_argument("study", help="its folder in scripts/studies/")
    options.add_argument("--results", type=Path, default=Path("results"), help="where both lie")
    options.add_argument("--dataset", default="", help="only datasets with this in their name")
    options.add_argument("--all", action="store_true", help="print all that is not below")
    return options


if __name__ == "__main__":
    main(arguments().parse_args())
