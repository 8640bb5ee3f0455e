"""Tabulate how many words the two texts of a pair share, and who is right on such pairs: of the
error types of Jain et al. 2020 (table 1) those that a program can tell.

Repeated words: a run of RUN words of one text stands in the other one. No shared word: not even
"the". Accuracies are means over the runs of a model that was trained in one way.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.text.word_overlap import runs_of
from scripts.data.keyed import keyed_hash
from scripts.studies.strided_sop.strides import tells_of_pairs
from scripts.studies.strided_sop.tallies import highest
from scripts.data.tables import read_metrics, read_table
from scripts.measure.experiment import Run, read_scores
from scripts.publish.arguments import run_program
from scripts.publish.marks import notes_by_dataset
from scripts.publish.names import load, split_title
from scripts.studies.strided_sop.figures.metrics import PLAIN
from scripts.publish.systems import runs_by_title, runs_of_datasets
from scripts.publish.table import percent, publish_table

RUN = 4  # words
MOST, DRAW = 100_000, 31  # pairs of a split that are counted, drawn by hash
WORDS = ["Corpus", "Dataset", "Split", "Model"]
COLUMNS = [
    *WORDS,
    "Pairs",
    "All right (%)",
    "Repeated words (%)",
    "Of these right (%)",
    "No shared word (%)",
    "Of those right (%)",
]


def repeats(pairs: pd.DataFrame, run: int) -> np.ndarray:
    """(n,) whether a run of so many words of text_a stands in text_b."""
    first, second = (
        runs_of(pairs[name], run)[["text", "run"]].drop_duplicates()
        for name in ("text_a", "text_b")
    )
    found = np.zeros(len(pairs), bool)
    found[first.merge(second, on=["text", "run"])["text"].unique()] = True
    return found


def right_of(run: Run, split: str, pairs: pd.DataFrame) -> np.ndarray:
    """(n,) whether a run put each pair in the right order; half of a tie."""
    return highest(read_scores(run, split, pairs["pair_id"], "pairs")[0])[
        np.arange(len(pairs)), pairs["label"]
    ]


def rows_of(runs: list[Run], build: Path, title: str, models: dict) -> list[list[str]]:
    facts = runs[0].facts
    split = facts["splits"][1]
    pairs = read_table(
        build / facts["source"] / facts["dataset"] / f"{split}.parquet",
        ["pair_id", "text_a", "text_b", "label"],
    ).to_pandas()
    drawn = np.sort(np.argsort(keyed_hash(pairs["pair_id"], DRAW), kind="stable")[:MOST])
    counted = pairs.iloc[drawn].reset_index(drop=True)
    repeated, unlike = repeats(counted, RUN), ~repeats(counted, 1)
    systems = runs_by_title(runs, PLAIN, models)
    means = {
        name: np.mean([right_of(run, split, pairs)[drawn] for run in of], 0)
        for name, of in systems.items()
    }
    return [
        [
            title,
            facts["dataset"],
            split_title(split),
            name,
            f"{len(counted):,}",
            percent(right.mean()),
            percent(repeated.mean()),
            mean_on(right, repeated),
            percent(unlike.mean()),
            mean_on(right, unlike),
        ]
        for name, right in means.items()
    ]


def mean_on(right: np.ndarray, inside: np.ndarray) -> str:
    return percent(right[inside].mean()) if inside.any() else ""


def main(given: argparse.Namespace) -> None:
    metrics = read_metrics(given.metrics).to_pandas()
    sources, models, notes = load(given.sources), load(given.models), notes_by_dataset(metrics)
    rows = [
        row
        for place, runs in runs_of_datasets(given.train, given.runs).items()
        if tells_of_pairs(runs[0].facts["data_options"])
        for row in rows_of(
            runs, given.build, sources[place[0]]["title"] + notes.get(place, ""), models
        )
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    publish_table(given, table, WORDS)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets")
