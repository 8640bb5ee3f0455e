"""An attack on the controls of a study: which generic learners score higher than the controls?

    snakemake train --cores all --configfile presets/controls.yaml    # data and controls
    python -m benchmarks.attack timedial

The program takes every built dataset of the study that has controls. It fits every learner to every
set of features. Neither knows anything of the study. The controls choose inside the training split;
an attack looks at the evaluation split, so its result is a lead. Give a lead a view of its own in
scripts/studies/<study>/controls.py before a headline is published.

It prints one Markdown table for each dataset: what scores above the best committed control by more
than one standard error of the difference, and the budget: features, learners, CPU minutes. The best
of N methods is a maximum, so say N beside it. It learns from at most 10,000 examples.

    python -m benchmarks.attack timedial --by-folds

learns from the evaluation split itself, by folds of its groups: the score of a model that has seen
the labels of other test items.
"""

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, hstack
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler
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
from scripts.train.control import predictions_of, read_examples
from scripts.train.folds import fold_of
from scripts.train.search import exchanged, log_probabilities
from scripts.train.stack import decided, threshold_of

RESAMPLES, MOST = 200, 10_000  # bootstrap draws; most examples to learn from (drawn by hash)
COLUMNS = ["split", "features", "learner", "reaches", "best committed", "which", "above it"]
WORD = r"(?u)\b\w+\b"
SIDES, NUMBERS = ("first", "second"), 4  # the texts; numbers that are read from each
Features = Callable[[pd.DataFrame], csr_matrix]


def words(train: pd.DataFrame) -> Features:
    """Words and pairs of neighbours of each text."""
    counters = [
        TfidfVectorizer(ngram_range=(1, 2), token_pattern=WORD, min_df=2).fit([*train[side], "x x"])
        if train[side].str.contains(r"\w").sum() > 1
        else HashingVectorizer(n_features=2)
        for side in SIDES
    ]
    return lambda data: hstack(
        [counter.transform(data[side]) for counter, side in zip(counters, SIDES)], format="csr"
    )


def pairs(train: pd.DataFrame) -> Features:
    """Each word of one text with each word of the other."""
    counter = HashingVectorizer(
        analyzer=lambda sets: [f"{one}>{other}" for one in sets[0] for other in sets[1]],
        n_features=2**18,
        alternate_sign=False,
    )
    return lambda data: counter.transform(
        [*zip(*(data[side].str.lower().str.findall(WORD).map(set) for side in SIDES))]
    )


def numbers(train: pd.DataFrame) -> Features:
    """The first numbers of each text, their logarithms, differences across the texts, lengths."""

    def read(data: pd.DataFrame) -> csr_matrix:
        found = []
        for side in SIDES:
            of_text = data[side].str.findall(r"\d+(?:\.\d+)?").to_list()
            rows = [[float(one) for one in row[:NUMBERS]] for row in of_text]
            found.append(np.array([row + [0.0] * (NUMBERS - len(row)) for row in rows]))
        logs = [np.log1p(np.minimum(one, 1e9)) for one in found]
        length = [np.log1p(data[side].str.len().to_numpy(float))[:, None] for side in SIDES]
        less = [logs[0] - logs[1], np.sign(found[0] - found[1]), length[0] - length[1]]
        return csr_matrix(np.hstack([*logs, *less, *length]))

    return read


def everything(train: pd.DataFrame) -> Features:
    """All of these."""
    parts = [make(train) for make in (words, pairs, numbers)]
    return lambda data: hstack([part(data) for part in parts], format="csr")


def dense(width: int):
    """A few dimensions of sparse features; few features stay as they are."""
    if width <= 64:
        return FunctionTransformer(lambda found: found.toarray())
    return TruncatedSVD(64, random_state=0)


FEATURES = {"words": words, "pairs": pairs, "numbers": numbers, "all": everything}
LEARNERS = {
    "linear": lambda width: LogisticRegression(C=1.0, max_iter=300),
    "boosted": lambda width: make_pipeline(
        dense(width), HistGradientBoostingClassifier(max_leaf_nodes=8, random_state=0)
    ),
    "network": lambda width: make_pipeline(
        dense(width), MaxAbsScaler(), MLPClassifier((64,), early_stopping=True, random_state=0)
    ),
}


def fitted(
    make: Callable, learner: Callable, labels: int, turns: bool, train: pd.DataFrame
) -> Callable[[pd.DataFrame], np.ndarray]:
    """Fit a learner to features; return a function from a table to (n, labels) scores. Where
    exchanging the texts turns the label, it learns both orders.
    """
    if turns:
        train = pd.concat([train, exchanged(train).assign(label=1 - train["label"])])
    read = make(train)
    given = read(train)
    model = learner(given.shape[1]).fit(given, train["label"])
    return lambda data: log_probabilities(model, read(data), labels)


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


def by_folds(fit: Callable, data: pd.DataFrame) -> np.ndarray:
    """Return (n, labels) the scores of a table; what is fitted on the other folds scores a fold."""
    fold = fold_of(data)
    rows = [np.flatnonzero(fold == number) for number in np.unique(fold)]
    found = [fit(data.drop(data.index[one]))(data.iloc[one]) for one in rows]
    return np.concatenate(found)[np.argsort(np.concatenate(rows))]


def leads(
    study: Study, description: dict, folder: Path, runs: list[Run], of_measured: bool
) -> list[list]:
    """Return what scores above the best of these controls by more than a standard error, on each
    split of their dataset (folder).
    """
    widest = max((run.facts for run in runs), key=lambda facts: len(facts["labels"]))
    how, (learn, *measured) = description["methods"]["control"], widest["splits"]
    method = {"columns": description["columns"], "inputs": how["inputs"]}
    turns = description.get("exchangeable", False) and not widest["data_options"].get("predict")
    train, labels = read_examples(folder / f"{learn}.parquet", method, MOST), len(widest["labels"])
    splits, found = {}, []
    for split in measured:
        data = read_examples(file := folder / f"{split}.parquet", method)
        reached = partial(headline, study, widest, file, data, description["headline"])
        rows = [
            (row["value"], run.facts["model"], row)
            for run in runs
            if (row := reached(read_scores(run, split, data["example_id"], "examples")[0]))
        ]
        if rows:
            splits[split] = data, reached, max(rows, key=lambda one: one[:2])
    for (features, make), (name, learner) in product(FEATURES.items(), LEARNERS.items()):
        print(f"{folder}: {features}, {name}", file=sys.stderr)
        fit = partial(fitted, make, learner, labels, turns)
        scores_of = partial(by_folds, fit) if of_measured else fit(train)
        threshold = None
        if how.get("whole_groups"):
            threshold = threshold_of(train, by_folds(fit, train), True)
        for split, (data, reached, (best, which, row_of_best)) in splits.items():
            if row := reached(decided(scores_of(data), threshold)):
                higher, error = above(row, row_of_best)
                if higher > error:
                    numbers = [row["value"], best, higher, error]
                    value, known, *more = [f"{100 * number:.1f}" for number in numbers]
                    found.append([split, features, name, value, known, which, " ± ".join(more)])
    return found


def main(given: argparse.Namespace) -> None:
    description = read_studies(ROOT)[given.study]
    study = importlib.import_module(f"scripts.studies.{given.study}.evaluate").STUDY
    committed: dict[tuple[str, str], list[Run]] = {}
    for file in sorted(given.results.glob(f"train/{given.study}/*/run.json")):
        facts = facts_of(file)
        if facts.get("kind") == "control" and given.dataset in (facts["dataset"], ""):
            place = facts["source"], facts["dataset"]
            committed.setdefault(place, []).append(Run(file.parent, facts))
    if not committed:
        raise UserError(f"{given.results}/train/{given.study}: no controls; train some first")
    for (source, dataset), runs in committed.items():
        started = time.process_time()
        with threadpool_limits(1):  # more threads are slower on small tables
            folder = given.results / "build" / given.study / source / dataset
            found = leads(study, description, folder, runs, given.by_folds)
        minutes = (time.process_time() - started) / 60
        tried = f"{len(FEATURES)} sets of features × {len(LEARNERS)} learners"
        print(f"\n{source}, {dataset}: {tried}, {minutes:.1f} CPU minutes\n", flush=True)
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
    return options


if __name__ == "__main__":
    main(arguments().parse_args())
