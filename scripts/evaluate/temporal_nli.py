"""Measure an experiment of temporal-expression NLI (Thukral et al. 2021, tables 5 to 7 and figure 1).

Metrics, as shares from 0 to 1, on the evaluation split, at the epoch that was best on dev (templates held out of train):
  accuracy, weighted_f1  of all pairs, and of each slice of them (by way of choosing times, premise, hypothesis, …)
  confusion              the share of pairs with this label and this prediction (of two labels where a model knows two)
Scoring is ternary, and binary with neutral and contradiction as one label (a model that knows two labels has binary
scoring only). The majority baseline predicts the most frequent label of the evaluation split. Intervals are 95 %
bootstrap intervals over templates. A row without seed is the mean over the seeds; its sd is over the seeds.

Reads  <trained>/<run>/predictions.parquet and run.json of every run, <build>/<source>/<dataset>/<split>.parquet
Writes a Parquet file (schema metrics: scripts/common/tables.py)

    python -m scripts.evaluate.temporal_nli --experiment nli --runs RUN RUN … --trained results/train/temporal_nli \\
        --build results/build/temporal_nli --sources resources/sources.yaml --output /tmp/metrics.parquet
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml

from scripts.common.program import UserError, log, run
from scripts.common.tables import NLI, read_table, write_table
from scripts.evaluate.arguments import evaluation_arguments
from scripts.evaluate.bootstrap import interval, resampled_sums

LABELS = ["entailment", "neutral", "contradiction"]
BINARY = np.array([0, 1, 1])  # entailment, or not
NAMES = {"ternary": LABELS, "binary": ["entailment", "not_entailment"]}
# What figure 1 and sections 5.1 to 5.3 break down by: a column, or two together.
SLICES = {
    "temp_order": ["choice", "premise_type", ("choice", "premise_type"), "tense", "premise_position"],
    "temp_duration": ["choice", "hypothesis_type", "next_cycle", "premise_form", ("choice", "next_cycle"),
                      ("choice", "hypothesis_type")],
    "cross_unit": ["unit_pair", "premise_type", ("unit_pair", "premise_type"), "direction", "premise_position",
                   "hypothesis_position", ("unit_pair", "direction")],
}
SCHEMA = pa.schema([
    ("experiment", pa.string()), ("study", pa.string()), ("model", pa.string()), ("source", pa.string()),
    ("dataset", pa.string()), ("challenge_set", pa.string()), ("method", pa.string()), ("seed", pa.int64()),
    ("split", pa.string()), ("scoring", pa.string()), ("slice", pa.string()), ("metric", pa.string()),
    ("value", pa.float64()), ("sd", pa.float64()), ("ci_low", pa.float64()), ("ci_high", pa.float64()),
    ("n", pa.int64()), ("groups", pa.int64()), ("sample", pa.bool_()),
])


def accuracy(confusion: np.ndarray) -> np.ndarray:
    """(…) from (…, labels, predicted) counts."""
    return np.trace(confusion, axis1=-2, axis2=-1) / confusion.sum((-2, -1))


def weighted_f1(confusion: np.ndarray) -> np.ndarray:
    """(…) from (…, labels, predicted) counts: the F1 of each label, weighted by how often it occurs."""
    support, predicted = confusion.sum(-1), confusion.sum(-2)
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    f1 = 2 * right / np.maximum(support + predicted, 1)
    return (f1 * support).sum(-1) / support.sum(-1)


METRICS = {"accuracy": accuracy, "weighted_f1": weighted_f1}


def confusions(label: np.ndarray, predicted: np.ndarray, group: np.ndarray, labels: int) -> np.ndarray:
    """(groups, labels, labels) counts by group, label and prediction; all three are (n,) integers from 0."""
    groups = group.max() + 1
    cell = (group * labels + label) * labels + predicted
    return np.bincount(cell, minlength=groups * labels**2).reshape(groups, labels, labels)


def measured(label: np.ndarray, predictions: list[np.ndarray], group: np.ndarray, resamples: int) -> list[dict]:
    """Accuracy and weighted F1 of each seed's predictions, and of their mean (seed: the place in the list, or None)."""
    group = np.unique(group, return_inverse=True)[1]
    labels = int(max(label.max(), *(predicted.max() for predicted in predictions))) + 1
    rows = []
    counts = [confusions(label, predicted, group, labels) for predicted in predictions]
    resampled = [resampled_sums(some, resamples) for some in counts]
    for metric, of in METRICS.items():
        values = [float(of(some.sum(0))) for some in counts]
        draws = np.stack([of(some) for some in resampled])
        same = {"metric": metric, "n": len(label), "groups": int(group.max()) + 1}
        for seed, value in enumerate(values):
            low, high = interval(draws[seed])
            rows.append(same | {"seed": seed, "value": value, "sd": None, "ci_low": low, "ci_high": high})
        low, high = interval(draws.mean(0))
        rows.append(same | {"seed": None, "value": float(np.mean(values)), "ci_low": low, "ci_high": high,
                            "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None})
    return rows


def slices(pairs: pd.DataFrame, challenge_set: str) -> dict[str, np.ndarray]:
    """Which rows belong to each slice: `all`, `choice=year`, `choice=year; premise_type=fixed`, …"""
    parts = {"all": np.arange(len(pairs))}
    for columns in SLICES[challenge_set]:
        columns = [columns] if isinstance(columns, str) else list(columns)
        for values, rows in pairs.groupby(columns, sort=True).indices.items():
            values = values if isinstance(values, tuple) else (values,)
            parts["; ".join(f"{column}={str(value).lower()}" for column, value in zip(columns, values))] = rows
    return parts


def predictions(folder: Path, split: str, pairs: pd.DataFrame) -> tuple[dict, np.ndarray]:
    """A run's facts, and its predicted score column for each pair, in the order of the pairs."""
    facts = json.loads((folder / "run.json").read_text())
    table = read_table(folder / "predictions.parquet", ["split", "selection", "example_id", "score"]).to_pandas()
    table = table[(table["split"] == split) & (table["selection"] != "peak")].set_index("example_id")
    if set(table.index) != set(pairs["example_id"]):
        raise UserError(f"{folder}: its predictions are not of the pairs that were built; run it again")
    return facts, np.stack(table.loc[pairs["example_id"], "score"].to_numpy()).argmax(1)


def by_scoring(facts: dict, predicted: np.ndarray) -> dict[str, np.ndarray]:
    """A model's predictions under each scoring that it can have."""
    if len(facts["labels"]) < len(LABELS):
        return {"binary": predicted}
    return {"ternary": predicted, "binary": BINARY[predicted]}


def systems(pairs: pd.DataFrame, split: str, tested: dict[tuple, list[Path]]) -> dict[tuple, list]:
    """By model, method and scoring: the seed and the predictions of each run; the majority baseline first."""
    label = pairs["label"].to_numpy()
    found = {("majority", "majority", scoring): [(None, np.full(len(gold), np.bincount(gold).argmax()))]
             for scoring, gold in (("ternary", label), ("binary", BINARY[label]))}
    for (model, method), folders in tested.items():
        for folder in folders:
            facts, predicted = predictions(folder, split, pairs)
            for scoring, some in by_scoring(facts, predicted).items():
                found.setdefault((model, method, scoring), []).append((facts["seed"], some))
    return found


def of_dataset(pairs: pd.DataFrame, split: str, tested: dict[tuple, list[Path]], resamples: int) -> list[dict]:
    """Every metric on one split of one dataset; tested: the runs' folders by model and method."""
    challenge_set, label = pairs["challenge_set"].iloc[0], pairs["label"].to_numpy()
    parts, group = slices(pairs, challenge_set), pairs["group_id"].to_numpy()
    rows, found = [], systems(pairs, split, tested)
    for (model, method, scoring), runs in found.items():
        seeds, predicted = zip(*runs)
        gold = label if scoring == "ternary" else BINARY[label]
        same = {"challenge_set": challenge_set, "model": model, "method": method, "split": split, "scoring": scoring}
        learns = method not in ("majority", "direct")
        for name, part in parts.items():
            for row in measured(gold[part], [some[part] for some in predicted], group[part], resamples):
                if row["seed"] is None or learns:  # what does not learn has no seed: its one row is the mean
                    seed = None if row["seed"] is None else seeds[row["seed"]]
                    rows.append(same | row | {"slice": name, "seed": seed})
        finest = scoring == "ternary" or (model, method, "ternary") not in found
        if finest and model != "majority":
            names = NAMES[scoring]
            mean = np.mean([np.bincount(gold * len(names) + some, minlength=len(names) ** 2) for some in predicted], 0)
            rows += [same | {"slice": f"label={true}; predicted={told}", "metric": "confusion", "seed": None, "n": len(gold),
                             "groups": len(set(group)), "value": count / len(gold)}
                     for (true, told), count in zip(product(names, names), mean)]
    return rows


def measure(experiment: str, trained: Path, runs: list[str], build: Path, sources: dict, resamples: int) -> pa.Table:
    """Every metric of an experiment (schema metrics)."""
    grids: dict[tuple, dict[tuple, list[Path]]] = {}
    for name in runs:
        facts = json.loads((trained / name / "run.json").read_text())
        tested = grids.setdefault((facts["source"], facts["dataset"]), {})
        tested.setdefault((facts["model"], facts["method"]), []).append(trained / name)
    rows = []
    for (source, dataset), tested in grids.items():
        facts = json.loads((next(iter(tested.values()))[0] / "run.json").read_text())
        reduced = facts["data_options"]["test_templates"] is not None
        for split in sources[source]["evaluate"]:
            pairs = read_table(build / source / dataset / f"{split}.parquet", NLI.names).to_pandas()
            same = {"experiment": experiment, "study": facts["study"], "source": source, "dataset": dataset, "sample": reduced}
            rows += [same | row for row in of_dataset(pairs, split, tested, resamples)]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def main(given: argparse.Namespace) -> None:
    sources = yaml.safe_load(given.sources.read_text(encoding="utf-8"))
    table = measure(given.experiment, given.trained, given.runs, given.build, sources, given.resamples)
    write_table(table, given.output, SCHEMA, {"experiment": given.experiment, "bootstrap_resamples": given.resamples})
    log.info("%s: %d numbers of %d runs", given.experiment, len(table), len(given.runs))


if __name__ == "__main__":
    run(main, evaluation_arguments(__doc__).parse_args())
