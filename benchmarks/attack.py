"""Attack the controls of a study with generic learners, which know nothing of the study.

    snakemake train --cores all --configfile presets/controls.yaml    # data and controls
    python -m benchmarks.attack timedial

fits every learner to every set of features, for each built dataset that has controls. It prints the
score of every method with its CPU minutes, and the best of all beside the best committed control.
Controls choose inside the training split. An attack looks at the evaluation split, so it finds a
lead and no control. Give a lead a view of its own in scripts/studies/<study>/controls.py.
With --by-folds it learns from the evaluation split itself: from the labels of other test items.
"""

import argparse
import importlib
import tempfile
import time
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupKFold, cross_val_predict
from threadpoolctl import threadpool_limits

from benchmarks.measure import options_of, table
from scripts.data.runs import facts_of
from scripts.data.studies import read_studies
from scripts.data.tables import PREDICTIONS, write_table
from scripts.measure.experiment import Run, read_scores
from scripts.measure.intervals import draws_in, over_groups
from scripts.measure.study import Study
from scripts.running.project_version import ROOT
from scripts.running.program import UserError
from scripts.controls.control import predictions_on, read_examples
from scripts.controls.generic import FEATURES, LEARNERS, both_ways, fit, learner_of

RESAMPLES, MOST, FOLDS = 200, 10_000, 5  # bootstrap draws; most examples to learn from


def joined(data: pd.DataFrame) -> pd.Series:
    """Return the groups of examples; those whose choices offer the same options are one."""
    if "choice_id" not in data:
        return data["group_id"]
    offered = data.groupby("choice_id")["second"].transform(lambda of: "\n".join(sorted(of)))
    group, option = (pd.factorize(one)[0] for one in (data["group_id"], offered))
    size = 2 * [group.max() + option.max() + 2]
    edges = coo_matrix((np.ones(len(data)), (group, option + group.max() + 1)), shape=size)
    return pd.Series(connected_components(edges, False)[1][group], data.index)


def by_folds(model: BaseEstimator, data: pd.DataFrame, turns: bool) -> np.ndarray:
    """Return (n, labels) scores; what is fitted to the other folds scores a fold."""
    both = both_ways(data.assign(group=joined(data)), turns)
    how = {"groups": both["group"], "cv": GroupKFold(FOLDS), "method": "predict_proba"}
    found = cross_val_predict(model, both, both["label"], **how)
    return np.log(np.maximum(found[: len(data)], 1e-13))


def headline(
    study: Study, facts: dict, file: Path, data: pd.DataFrame, metric: str, scores: np.ndarray
) -> dict | None:
    """Return the row of metrics for scores of a split (file), or None; facts: of a control. If the
    dataset holds things out of training, only these count.
    """
    labels = facts["labels"] if scores.shape[1] > 1 else facts["labels"][-1:]
    predictions = predictions_on(file.stem, data, scores, facts["run"], "direct")
    with tempfile.TemporaryDirectory() as folder:
        write_table(predictions, Path(folder) / "predictions.parquet", PREDICTIONS, {})
        run = Run(Path(folder), facts | {"labels": labels, "train_examples": 0})
        rows = study.measure_file(run, file, file.stem, RESAMPLES)
    means = [row for row in rows if row["metric"] == metric and row["seed"] is None]
    parts = {row["slice"]: row for row in reversed(means)}
    return parts.get("part=unseen", parts.get("all"))


def attack(study: Study, description: dict, folder: Path, runs: list[Run], of_test: bool) -> None:
    """Print what every method reaches on each split of a dataset (folder) with these controls."""
    facts = max((run.facts for run in runs), key=lambda facts: len(facts["labels"]))
    how, (learn, *measured) = description["methods"]["control"], facts["splits"]
    method = {"columns": description["columns"], "inputs": how["inputs"]}
    turns = description.get("exchangeable", False) and not facts["data_options"].get("predict")
    train = read_examples(folder / f"{learn}.parquet", method, MOST)

    def scores_of(model: BaseEstimator, data: pd.DataFrame) -> np.ndarray:
        if of_test:
            return by_folds(model, data, turns)
        return fit(model, train, len(facts["labels"]), turns)(data)

    for split in measured:
        data = read_examples(file := folder / f"{split}.parquet", method)
        reached = partial(headline, study, facts, file, data, description["headline"])
        scored = ((run, read_scores(run, split, data["example_id"], "examples")[0]) for run in runs)
        known = {run.facts["model"]: row for run, scores in scored if (row := reached(scores))}
        found, cells, minutes = {}, {}, 0.0
        for name in product(FEATURES, LEARNERS) if known else ():
            started = time.process_time()
            found[", ".join(name)] = row = reached(scores_of(learner_of(*name), data))
            minutes += (took := (time.process_time() - started) / 60)
            cells.setdefault(name[0], []).append(f"{100 * row['value']:.1f} ({took:.1f})")
        if not known:
            continue
        control, best = (max(of, key=lambda one: of[one]["value"]) for of in (known, found))
        row, other = found[best], known[control]
        draws = draws_in(row) - draws_in(other)
        error = over_groups(draws, row["effective_groups"]).variance ** 0.5
        value, known_value, error = (100 * one for one in (row["value"], other["value"], error))
        where = f"{folder.parent.name}, {folder.name}, {split}, {row['slice']}"
        print(f"\n{where}: per cent (CPU minutes)\n")
        print(table(["features", *LEARNERS], [[name, *cells[name]] for name in cells]))
        print(f"\nThe best of {len(found)} methods tried ({best}) has {value:.1f}:", end=" ")
        print(
            f"{value - known_value:+.1f} ± {error:.1f} beside {control}, the best control,", end=" "
        )
        print(f"with {known_value:.1f}. {minutes:.1f} CPU minutes.", flush=True)


def main(given: argparse.Namespace) -> None:
    description = read_studies(ROOT)[given.study]
    study = importlib.import_module(f"scripts.studies.{given.study}.evaluate").STUDY
    files = sorted(given.results.glob(f"train/{given.study}/*-control-*/run.json"))
    runs = [Run(file.parent, facts_of(file)) for file in files]
    places = {(run.facts["source"], run.facts["dataset"]) for run in runs}
    places = {place for place in places if not given.dataset or place[1] in given.dataset}
    if not places:
        raise UserError(f"{given.results}/train/{given.study}: no controls; train some first")
    for place in sorted(places):
        of_place = [run for run in runs if (run.facts["source"], run.facts["dataset"]) == place]
        folder = Path(given.results, "build", given.study, *place)
        with threadpool_limits(1):  # more threads are slower on small tables
            attack(study, description, folder, of_place, given.by_folds)


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument("study", help="its folder in scripts/studies/")
    options.add_argument("--results", type=Path, default=Path("results"), help="where both lie")
    options.add_argument("--dataset", nargs="*", help="only datasets of these names")
    options.add_argument("--by-folds", action="store_true", help="learn from the measured split")
    main(options.parse_args())
