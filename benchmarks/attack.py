"""An attack on the controls of a study: which simple models score higher than the controls?

    snakemake train --cores all --configfile presets/controls.yaml    # data and controls
    python -m benchmarks.attack timedial

The program takes every built dataset of the study that has controls. It fits all learners on all
views. The views are those that the study declares, and a few general ones: one text, both texts,
words by the first word, and how an option compares with the others. The committed controls choose
inside the training split. An attack looks at the evaluation split, so its result is a lead. Give a
lead a view of its own in scripts/studies/<study>/controls.py before a headline is published.

It prints one Markdown table for each dataset: the learners that score above the best committed
control by more than one standard error of the difference. It learns from at most 10,000 examples.
It takes minutes for each dataset.

    python -m benchmarks.attack timedial --by-folds

learns from the evaluation split itself, by folds of its groups. This is the score of a model that
has seen the labels of other test items. The texts of a view cannot give away more.
"""

import argparse
import importlib
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from threadpoolctl import threadpool_limits

from benchmarks.measure import options_of, table
from scripts.data.runs import facts_of
from scripts.data.studies import read_studies
from scripts.data.tables import PREDICTIONS, write_table
from scripts.measure.experiment import Run, read_scores
from scripts.measure.intervals import over_groups
from scripts.measure.study import Study
from scripts.running.identity import ROOT
from scripts.running.program import UserError
from scripts.studies.timedial.controls import FAR, distance, letters, sizes
from scripts.train.control import predictions_of, read_examples
from scripts.train.search import Search
from scripts.train.stack import decided, threshold_of
from scripts.train.view import View

RESAMPLES, MOST = 200, 10_000  # bootstrap draws; most examples to learn from (drawn by hash)
COLUMNS = ["split", "view", "learner", "reaches", "best committed", "which", "above it"]


def both(data: pd.DataFrame) -> pd.Series:
    """Join both texts into one."""
    return data["first"] + " ; " + data["second"]


def lengths(data: pd.DataFrame) -> np.ndarray:
    """Return (n, 4): the numbers of characters and words of both texts."""
    return np.column_stack(
        [
            one
            for side in ("first", "second")
            for one in (data[side].str.len(), data[side].str.split().str.len())
        ]
    ).astype(float)


def among_the_others(data: pd.DataFrame) -> np.ndarray:
    """Return (n, 4) features that compare an option with the other options of its choice: its
    length, its length minus their mean, its rank by length, and the mean share of common words.
    If the study has no choices, the options are the examples with the same first text.
    """
    group = data["choice_id" if "choice_id" in data else "first"]
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


def sizes_among_the_others(data: pd.DataFrame) -> np.ndarray:
    """Return (n, 9) features of each option of TimeDial:
      * the distances of its size to the sizes of the others, and the similarities of the letters,
        both in ascending order
      * the smallest distance between the sizes of the others
      * its length, and the difference in length to the option that is nearest in size

    A single other option counts as three.
    """
    read = data["second"].map(lambda text: (sizes(text), letters(text), len(text))).to_numpy()
    found = np.zeros((len(data), 9))
    for rows in data.groupby("choice_id", sort=False).indices.values():
        for row in rows:
            size, spelt, length = read[row]
            others = sorted(
                [read[other] for other in rows if other != row],
                key=lambda other: distance(size, other[0]),
            )
            far = [distance(size, other) for other, *_ in others]
            same = sorted(len(spelt & other) / len(spelt | other) for _, other, _ in others)
            rest = [distance(one[0], other[0]) for one, other in combinations(others[1:], 2)]
            found[row] = [
                *(far + 2 * far[-1:])[:3],
                *(same + 2 * same[-1:])[:3],
                min(rest, default=FAR),
                length,
                length - others[0][2],
            ]
    return found


OF_STUDY = {
    "timedial": {
        "sizes and letters": View("sizes and letters among options", numbers=sizes_among_the_others)
    }
}


def headline(
    study: Study, facts: dict, file: Path, data: pd.DataFrame, metric: str, scores: np.ndarray
) -> dict | None:
    """Return the row of metrics for the scores of a split; None if the split has another headline.
    The scores count as those of a model that is not trained. facts: those of a control.
    """
    labels = facts["labels"] if scores.shape[1] > 1 else facts["labels"][-1:]
    predictions = predictions_of(facts["run"], file.stem, data, scores, "direct")
    with tempfile.TemporaryDirectory() as folder:
        write_table(predictions, Path(folder) / "predictions.parquet", PREDICTIONS, {})
        run = Run(Path(folder), facts | {"labels": labels, "train_examples": 0})
        for row in study.measure_file(run, file, file.stem, RESAMPLES):
            if row["metric"] == metric and row["slice"] == "all" and row["seed"] is None:
                return row
    return None


def above(row: dict, best: dict) -> tuple[float, float]:
    """Return how far a row of metrics lies above another row of the same split, and the standard
    error of this difference, paired over the groups.
    """
    spread = over_groups(row["draws"] - best["draws"], row["effective_groups"])
    return row["value"] - best["value"], spread.variance**0.5


def attacked(
    view: View, train: pd.DataFrame, labels: int, exchangeable: bool, whole: bool
) -> Callable[[pd.DataFrame], dict[str, np.ndarray]]:
    """Fit every learner of a view; return a function from a table to the scores by learner."""
    searched = Search(view, train, labels, exchangeable)
    fitted = searched.fit(frozenset())
    left_out = searched.left_out()

    def scores(data: pd.DataFrame) -> dict[str, np.ndarray]:
        inputs, learnt = searched.read(data), fitted.learnt(data)
        found = {name: score(inputs, learnt) for name, score in fitted.scores.items()}
        return {
            name: decided(scores, threshold_of(train, left_out[name], whole))
            for name, scores in shared(view, data, found).items()
        }

    return scores


def shared(view: View, data: pd.DataFrame, found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the scores of each learner after the view's `shared`, which compares them with the
    scores of the other candidates.
    """
    share = view.shared or (lambda _, scores: scores)
    return {name: share(data, scores) for name, scores in found.items()}


def together(data: pd.DataFrame) -> np.ndarray:
    """Return (n,) the group of each example. Groups are joined if their choices have the same
    candidates: two dialogs may have exchanged their options, so one answer shows the other.
    """
    if "choice_id" not in data:
        return data["group_id"].to_numpy()
    names = data.groupby("choice_id")["second"].transform(lambda texts: "\n".join(sorted(texts)))
    group, options = pd.factorize(data["group_id"])[0], pd.factorize(names)[0]
    both = np.stack([group, options + group.max() + 1])
    graph = coo_array((np.ones(len(data)), both), shape=(both.max() + 1,) * 2)
    return connected_components(graph, directed=False)[1][group].astype(str)


def by_folds(
    view: View, measured: pd.DataFrame, labels: int, exchangeable: bool, whole: bool
) -> dict[str, np.ndarray]:
    """Return the scores of every learner of a view. The evaluation split is cut into folds;
    learners that are fitted on the other folds score each fold.
    """
    measured = measured.assign(group_id=together(measured))
    left_out = Search(view, measured, labels, exchangeable).left_out()
    found = {
        name: decided(scores, threshold_of(measured, scores, whole))
        for name, scores in left_out.items()
    }
    return shared(view, measured, found)


def leads(
    study: Study,
    description: dict,
    views: dict[str, View],
    folder: Path,
    runs: list[Run],
    every: bool,
    of_measured: bool,
) -> list[list]:
    """Return the learners that score above the best of these controls by more than a standard
    error, on each split of their dataset (folder).

    A row has COLUMNS. every: also list learners that are higher by less than that. of_measured:
    the learners learn by_folds() of the split.
    """
    widest = max((run.facts for run in runs), key=lambda facts: len(facts["labels"]))
    how, (learn, *measured) = description["methods"]["control"], widest["splits"]
    method = {"columns": description["columns"], "inputs": how["inputs"]}
    taught = how.get("teaches", [])
    exchangeable, whole = description.get("exchangeable", False), how.get("whole_groups", False)
    exchangeable &= not widest["data_options"].get("predict")
    train = read_examples(folder / f"{learn}.parquet", method, MOST, taught)
    splits = {}
    for split in measured:
        file = folder / f"{split}.parquet"
        data = read_examples(file, method, taught=taught if of_measured else ())
        reached = partial(headline, study, widest, file, data, description["headline"])
        committed = [
            (row["value"], run.facts["model"], row)
            for run in runs
            if (row := reached(read_scores(run, split, data["example_id"], "examples")[0]))
        ]
        if committed:
            splits[split] = data, reached, max(committed, key=lambda one: one[:2])
    found = []
    for name, view in views.items():
        print(f"{folder}: {name}", file=sys.stderr)
        labels = len(widest["labels"])
        scores_of = (
            partial(by_folds, view, labels=labels, exchangeable=exchangeable, whole=whole)
            if of_measured
            else attacked(view, train, labels, exchangeable, whole)
        )
        for split, (data, reached, (best, which, row_of_best)) in splits.items():
            for learner, scores in scores_of(data).items():
                if row := reached(scores):
                    higher, error = above(row, row_of_best)
                    if higher > error * (not every):
                        numbers = [row["value"], best, higher, error]
                        value, known, *more = [f"{100 * number:.1f}" for number in numbers]
                        found.append([split, name, learner, value, known, which, " ± ".join(more)])
    return found


def main(given: argparse.Namespace) -> None:
    description = read_studies(ROOT)[given.study]
    study = importlib.import_module(f"scripts.studies.{given.study}.evaluate").STUDY
    views = getattr(importlib.import_module(f"scripts.studies.{given.study}.controls"), "VIEWS", {})
    views = {name: view for name, view in views.items() if not view.averaged}  # needs vectors
    views = views | GENERAL | OF_STUDY.get(given.study, {})
    committed: dict[tuple[str, str], list[Run]] = {}
    for file in sorted(given.results.glob(f"train/{given.study}/*/run.json")):
        facts = facts_of(file)
        if facts.get("kind") == "control" and given.dataset in (facts["dataset"], ""):
            committed.setdefault((facts["source"], facts["dataset"]), []).append(
                Run(file.parent, facts)
            )
    if not committed:
        raise UserError(f"{given.results}/train/{given.study}: no controls; train some first")
    for (source, dataset), runs in committed.items():
        folder = given.results / "build" / given.study / source / dataset
        with threadpool_limits(1):  # more threads are slower on small tables
            found = leads(study, description, views, folder, runs, given.all, given.by_folds)
        print(f"\n{source}, {dataset}\n", flush=True)
        nothing = "No learner scores clearly above the committed controls."
        print(table(COLUMNS, found) if found else nothing, flush=True)


def arguments() -> argparse.ArgumentParser:
    options = options_of(__doc__)
    options.add_argument("study", help="its folder in scripts/studies/")
    options.add_argument("--results", type=Path, default=Path("results"), help="where both lie")
    options.add_argument("--dataset", default="", help="only datasets of this name")
    options.add_argument(
        "--by-folds", action="store_true", help="learn from the measured splits, by folds"
    )
    options.add_argument("--all", action="store_true", help="print all that is not below")
    return options


if __name__ == "__main__":
    main(arguments().parse_args())
