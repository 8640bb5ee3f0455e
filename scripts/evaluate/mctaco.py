"""Measure MC-TACO (Zhou et al. 2019, section 4): exact match and F1 by question, as the authors score them.

  exact_match  the share of questions of which every candidate is judged right
  f1           the mean over questions of the F1 of accepted candidates (precision is 1 where nothing is accepted, recall
               is 1 where nothing is likely, F1 is 0 where both are 0)
  consistency  of questions of duration and frequency with two accepted quantities or more ("1 hour", "9 hours"): the
               share in which no quantity between two accepted ones is turned down

On a file of predictions, one yes or no a line, in the order of the gold file; prints per cent, overall and by category:

    python -m scripts.evaluate.mctaco --gold test_9442.tsv --predictions FILE

On the runs of an experiment, as the workflow does: the same as shares from 0 to 1, beside always_yes, always_no, random
(its expected value) and, for consistency, the data's own labels (gold), with 95 % bootstrap intervals over questions, for the
last epoch, or the one best on held-out training questions where some are held out. A row without seed is the mean over the
seeds; its sd is over the seeds.

Reads  <trained>/<run>/predictions.parquet and run.json of every run, <build>/<source>/<dataset>/<split>.parquet
Writes a Parquet file (schema metrics: scripts/common/tables.py)

    python -m scripts.evaluate.mctaco --experiment mctaco --runs RUN RUN … --trained results/train/mctaco \\
        --build results/build/mctaco --sources resources/sources.yaml --output /tmp/metrics.parquet
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml

from scripts.build.unit_normalization import quantities
from scripts.clean.columns import mapped
from scripts.clean.mctaco import CATEGORIES, LABELS, read
from scripts.common.program import UserError, log, run, shown
from scripts.common.tables import ANSWERS, read_table, write_table
from scripts.common.texts import lines_in, text_of
from scripts.evaluate.arguments import evaluation_arguments, file_or_runs
from scripts.evaluate.bootstrap import interval, resampled_sums

SCHEMA = pa.schema([
    ("experiment", pa.string()), ("study", pa.string()), ("model", pa.string()), ("source", pa.string()),
    ("dataset", pa.string()), ("method", pa.string()), ("unit_normalization", pa.bool_()),
    ("train_questions", pa.int64()), ("train_pairs", pa.int64()), ("draw", pa.int64()), ("seed", pa.int64()),
    ("split", pa.string()), ("slice", pa.string()), ("metric", pa.string()), ("value", pa.float64()), ("sd", pa.float64()),
    ("ci_low", pa.float64()), ("ci_high", pa.float64()), ("n", pa.int64()), ("groups", pa.int64()), ("sample", pa.bool_()),
])


def f1_of(right: np.ndarray, accepted: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """F1 from counts: accepted candidates that are likely, accepted ones, likely ones; arrays of one shape."""
    precision = np.divide(right, accepted, out=np.ones(np.shape(right)), where=accepted > 0)
    recall = np.divide(right, likely, out=np.ones(np.shape(right)), where=likely > 0)
    both = precision + recall
    return np.divide(2 * precision * recall, both, out=np.zeros(np.shape(right)), where=both > 0)


def by_question(label: np.ndarray, accepted: np.ndarray, question: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(questions,) exact match and F1; label and accepted are (n,) 0 or 1, question is (n,) integers from 0."""
    wrong = np.bincount(question, weights=label != accepted)
    counts = (np.bincount(question, weights=some) for some in (label * accepted, accepted, label))
    return (wrong == 0).astype(float), f1_of(*counts)


def expected_at_random(label: np.ndarray, question: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(questions,) the expected exact match and F1 of a fair coin for each candidate: all outcomes, not one draw."""
    size, likely = np.bincount(question), np.bincount(question, weights=label).astype(int)
    f1 = np.zeros(len(size))
    for candidates, wanted in set(zip(size.tolist(), likely.tolist())):
        right, other = np.indices((wanted + 1, candidates - wanted + 1))  # accepted: likely candidates, others
        ways = np.outer(*([math.comb(some, k) for k in range(some + 1)] for some in (wanted, candidates - wanted)))
        outcomes = ways / 2.0**candidates * f1_of(right, right + other, np.full_like(right, wanted))
        f1[(size == candidates) & (likely == wanted)] = outcomes.sum()
    return 2.0 ** -size, f1


def scores(label: np.ndarray, accepted: np.ndarray, question: np.ndarray) -> dict[str, np.ndarray]:
    """Both metrics by question."""
    return dict(zip(("exact_match", "f1"), by_question(label, accepted, question)))


def score_file(gold: Path, predictions: Path) -> None:
    """Print exact match and F1 of a file of predictions, in per cent."""
    table = read(gold)
    label = mapped(table, "label", LABELS, gold, first_line=1).to_numpy()
    category = mapped(table, "category", CATEGORIES, gold, first_line=1)
    remedy = "give the predictions, one yes or no a line"
    words = pd.Series(lines_in(text_of(predictions, remedy, remedy), str(predictions), remedy) or [""], dtype=object).str.strip()
    wrong = words.index[~words.isin(LABELS)]
    if len(wrong):
        raise UserError(f"{predictions}: line {wrong[0] + 1} is {shown(words[wrong[0]])}; write yes or no")
    if len(words) != len(table):
        raise UserError(f"{predictions}: has {len(words)} lines, but {gold} has {len(table)}; line {min(len(words), len(table)) + 1} "
                        "is the first without its like; give one prediction for each row")
    question = pd.factorize(table["sentence"] + " " + table["question"])[0]
    found = scores(label, words.map(LABELS).to_numpy(), question)
    of_question = category.groupby(question).first().to_numpy()
    parts = {"overall": np.full(len(of_question), True)} | {name: of_question == name for name in CATEGORIES.values()}
    print(f"{'':<14}{'EM':>7}{'F1':>8}{'questions':>11}")
    for name, part in parts.items():
        if not part.any():
            continue
        print(f"{name:<14}{found['exact_match'][part].mean():>7.2%}{found['f1'][part].mean():>8.2%}{part.sum():>11,}".replace("%", ""))


def measured(values: dict[str, list[np.ndarray]], parts: dict[str, np.ndarray], resamples: int) -> list[dict]:
    """Rows for each metric and slice of questions: of each seed, and of their mean (seed: the place in the list, or None).

    values: by metric the (questions,) values of each seed, NaN where a question has none.
    """
    rows = []
    for metric, seeds in values.items():
        table = np.stack(seeds)
        for name, part in parts.items():
            some = table[:, part & ~np.isnan(table).any(0)]
            if not some.size:
                continue
            drawn = resampled_sums(some.T, resamples) / some.shape[1]
            same = {"metric": metric, "slice": name, "n": some.shape[1], "groups": some.shape[1]}
            for seed, (value, draws) in enumerate(zip(some.mean(1), drawn.T)):
                low, high = interval(draws)
                rows.append(same | {"seed": seed, "value": value, "sd": None, "ci_low": low, "ci_high": high})
            low, high = interval(drawn.mean(1))
            rows.append(same | {"seed": None, "value": some.mean(), "ci_low": low, "ci_high": high,
                                "sd": some.mean(1).std(ddof=1) if len(some) > 1 else None})
    return rows


def accepted_by(folder: Path, split: str, answers: pd.DataFrame) -> np.ndarray:
    """A run's judgement of each answer, in the order of the answers: 1 accepted, 0 not."""
    table = read_table(folder / "predictions.parquet", ["split", "selection", "example_id", "score"]).to_pandas()
    table = table[(table["split"] == split) & (table["selection"] != "peak")].set_index("example_id")
    if set(table.index) != set(answers["example_id"]):
        raise UserError(f"{folder}: its predictions are not of the answers that were built; run it again")
    return np.stack(table.loc[answers["example_id"], "score"].to_numpy()).argmax(1)


def consistency(accepted: np.ndarray, seconds: np.ndarray, question: np.ndarray) -> np.ndarray:
    """(questions,) 1 where the accepted quantities form one range, 0 where one between two of them is turned down.

    accepted: (n,) 0 or 1; seconds: (n,) the candidate's quantity, NaN where it has none; question: (n,) integers from 0.
    NaN where fewer than two different quantities are accepted: nothing can lie between them. A quantity of which one wording is
    accepted counts as accepted.
    """
    rows = pd.DataFrame({"question": question, "seconds": seconds, "accepted": accepted}).dropna()
    rows = rows.groupby(["question", "seconds"], as_index=False)["accepted"].max()  # sorted by both
    rank = rows.groupby("question").cumcount()
    chosen = rank[rows["accepted"] == 1].groupby(rows["question"]).agg(["min", "max", "size"])
    made = np.full(question.max() + 1, np.nan)
    some = chosen[chosen["size"] >= 2]
    made[some.index] = some["max"] - some["min"] + 1 == some["size"]
    return made


def of_dataset(answers: pd.DataFrame, tested: dict[str, list[tuple[dict, np.ndarray]]], resamples: int) -> list[dict]:
    """Every metric on one split of one dataset; tested: by model, the facts and judgements of each run."""
    label, question = answers["label"].to_numpy(), pd.factorize(answers["group_id"])[0]
    category = answers["category"].groupby(question).first().to_numpy()
    parts = {"all": np.full(len(category), True)} | {f"category={name}": category == name for name in CATEGORIES.values()}
    ranged = np.isin(category, ["duration", "frequency"])
    found = quantities(answers["answer"])
    seconds = np.sqrt((found["seconds_low"] * found["seconds_high"]).to_numpy(float))  # of a range, its middle on a log scale

    def values(judged: list[np.ndarray]) -> dict[str, list[np.ndarray]]:
        both = [by_question(label, one, question) for one in judged]
        coherent = [np.where(ranged, consistency(one, seconds, question), np.nan) for one in judged]
        return {"exact_match": [exact for exact, _ in both], "f1": [f1 for _, f1 in both], "consistency": coherent}

    exact, f1 = expected_at_random(label, question)
    rows = [{"model": "random"} | row for row in measured({"exact_match": [exact], "f1": [f1]}, parts, resamples)]
    for name, judged in (("always_yes", np.ones_like(label)), ("always_no", np.zeros_like(label)), ("gold", label)):
        rows += [{"model": name} | row for row in measured(values([judged]), parts, resamples)]
    rows = [row | {"method": "baseline"} for row in rows if row["seed"] is None]
    for model, runs in tested.items():
        facts = runs[0][0]
        for row in measured(values([judged for _, judged in runs]), parts, resamples):
            seed = None if row["seed"] is None else runs[row["seed"]][0]["seed"]
            rows.append(row | {"model": model, "method": facts["method"], "seed": seed,
                               "train_pairs": facts["train_examples"] + facts["held_out_examples"]})
    return rows


def measure(experiment: str, trained: Path, runs: list[str], build: Path, sources: dict, resamples: int) -> pa.Table:
    """Every metric of an experiment (schema metrics)."""
    grids: dict[tuple, dict[str, list[dict]]] = {}
    for name in runs:
        facts = json.loads((trained / name / "run.json").read_text())
        grids.setdefault((facts["source"], facts["dataset"]), {}).setdefault(facts["model"], []).append(facts)
    rows = []
    for (source, dataset), tested in grids.items():
        options = next(iter(tested.values()))[0]["data_options"]
        for split in sources[source]["evaluate"]:
            answers = read_table(build / source / dataset / f"{split}.parquet", ANSWERS.names).to_pandas()
            judged = {model: [(facts, accepted_by(trained / facts["run"], split, answers)) for facts in some]
                      for model, some in tested.items()}
            same = {"experiment": experiment, "study": "mctaco", "source": source, "dataset": dataset, "split": split,
                    "sample": "sample" in sources[source]} | options
            rows += [same | row for row in of_dataset(answers, judged, resamples)]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def main(given: argparse.Namespace) -> None:
    if given.gold:
        score_file(given.gold, given.predictions)
        return
    sources = yaml.safe_load(given.sources.read_text(encoding="utf-8"))
    table = measure(given.experiment, given.trained, given.runs, given.build, sources, given.resamples)
    write_table(table, given.output, SCHEMA, {"experiment": given.experiment, "bootstrap_resamples": given.resamples})
    log.info("%s: %d numbers of %d runs", given.experiment, len(table), len(given.runs))


def arguments() -> argparse.ArgumentParser:
    made = evaluation_arguments(__doc__, required=False)
    files = made.add_argument_group("a file of predictions")
    files.add_argument("--gold", type=Path, help="the gold file: sentence, question, answer, yes or no, category")
    files.add_argument("--predictions", type=Path, help="one yes or no a line, for each row of the gold file")
    return made


if __name__ == "__main__":
    run(main, file_or_runs(arguments(), ["gold", "predictions"]))
