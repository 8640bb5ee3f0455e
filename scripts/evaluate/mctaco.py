"""Measure MC-TACO (Zhou et al. 2019, section 4): exact match and F1 by question, as the authors score them.

  exact_match  the share of questions of which every candidate is judged right
  f1           the mean over questions of the F1 of accepted candidates (precision is 1 where nothing is accepted, recall
               is 1 where nothing is likely, F1 is 0 where both are 0)
  consistency  of questions of duration and frequency with two accepted quantities or more ("1 hour", "9 hours"): the
               share in which no quantity between two accepted ones is turned down

On a file of predictions, one yes or no a line, in the order of the gold file; prints per cent, overall and by category:

    python -m scripts.evaluate.mctaco --gold test_9442.tsv --predictions FILE

On the runs of an experiment, as the workflow does: the same as shares from 0 to 1, beside always_yes, always_no, random
(its expected value) and, for consistency, the data's own labels (gold), with 95 % intervals over questions, for the last
epoch, or the one with the lowest loss on held-out training questions where there are any. A row without seed is the mean over
the seeds; its sd is over the seeds, its interval over questions and seeds.

Reads  <trained>/<run>/predictions.parquet and run.json of every run, <build>/<source>/<dataset>/<split>.parquet
Writes a Parquet file (schema metrics: scripts/common/tables.py)

    python -m scripts.evaluate.mctaco --experiment mctaco --runs RUN RUN … --trained results/train/mctaco \\
        --build results/build/mctaco --sources resources/sources.yaml --output /tmp/metrics.parquet
"""

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.build.unit_normalization import quantities
from scripts.clean.columns import mapped
from scripts.clean.mctaco import CATEGORIES, LABELS, read
from scripts.common.program import UserError, execute, shown
from scripts.common.tables import ANSWERS
from scripts.common.texts import lines_in, text_of
from scripts.evaluate.arguments import evaluation_arguments, file_or_runs
from scripts.evaluate.bootstrap import resampling
from scripts.evaluate.experiment import Run, read_examples, read_scores, read_sources, runs_by_dataset, seeds_of, write_metrics
from scripts.evaluate.tally import MEASURES, Tally, metric_rows, share

SCHEMA = pa.schema([
    ("experiment", pa.string()), ("study", pa.string()), ("model", pa.string()), ("source", pa.string()),
    ("dataset", pa.string()), ("method", pa.string()), ("unit_normalization", pa.bool_()),
    ("train_questions", pa.int64()), ("train_pairs", pa.int64()), ("draw", pa.int64()), ("seed", pa.int64()),
    ("split", pa.string()), ("slice", pa.string()), ("metric", pa.string()), *MEASURES, ("sample", pa.bool_()),
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
    counts = (np.bincount(question, weights=counted) for counted in (label * accepted, accepted, label))
    return (wrong == 0).astype(float), f1_of(*counts)


def expected_at_random(label: np.ndarray, question: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(questions,) the expected exact match and F1 of a fair coin for each candidate: all outcomes, not one draw."""
    size, likely = np.bincount(question), np.bincount(question, weights=label).astype(int)
    f1 = np.zeros(len(size))
    for candidates, wanted in set(zip(size.tolist(), likely.tolist())):
        right, other = np.indices((wanted + 1, candidates - wanted + 1))  # accepted: likely candidates, others
        ways = np.outer(*([math.comb(number, k) for k in range(number + 1)] for number in (wanted, candidates - wanted)))
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
        raise UserError(f"{predictions}: has {len(words)} lines, but {gold} has {len(table)}; line "
                        f"{min(len(words), len(table)) + 1} is the first without its like; give one prediction for each row")
    question = pd.factorize(table["sentence"] + " " + table["question"])[0]
    found = scores(label, words.map(LABELS).to_numpy(), question)
    of_question = category.groupby(question).first().to_numpy()
    parts = {"overall": np.full(len(of_question), True)} | {name: of_question == name for name in CATEGORIES.values()}
    print(f"{'':<14}{'EM':>6}{'F1':>8}{'questions':>11}")
    for name, part in parts.items():
        if not part.any():
            continue
        exact, f1 = (found[metric][part].mean() * 100 for metric in ("exact_match", "f1"))
        print(f"{name:<14}{exact:>6.2f}{f1:>8.2f}{part.sum():>11,}")


def tallies_of(values: dict[str, list[np.ndarray]], parts: dict[str, np.ndarray]) -> list[Tally]:
    """Each metric on each slice of questions; values: by metric the (questions,) values of each seed, NaN where a question
    has none."""
    stacked = {metric: np.stack(seeds) for metric, seeds in values.items()}
    return [Tally(name, {metric: share}, table, (part & ~np.isnan(table).any(0)).astype(int))
            for metric, table in stacked.items() for name, part in parts.items()]


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
    several = chosen[chosen["size"] >= 2]
    coherent = np.full(question.max() + 1, np.nan)
    coherent[several.index] = several["max"] - several["min"] + 1 == several["size"]
    return coherent


def question_values(answers: pd.DataFrame, judgements: list[np.ndarray]) -> dict[str, list[np.ndarray]]:
    """By metric the (questions,) values of each judgement; NaN where a question has none.

    judgements: (n,) 1 where an answer is accepted, in the order of the answers.
    """
    label, question = answers["label"].to_numpy(), pd.factorize(answers["group_id"])[0]
    ranged = np.isin(answers["category"].groupby(question).first(), ["duration", "frequency"])
    found = quantities(answers["answer"])
    seconds = np.sqrt((found["seconds_low"] * found["seconds_high"]).to_numpy(float))  # of a range, its middle on a log scale
    both = [by_question(label, accepted, question) for accepted in judgements]
    coherent = [np.where(ranged, consistency(accepted, seconds, question), np.nan) for accepted in judgements]
    return {"exact_match": [exact for exact, _ in both], "f1": [f1 for _, f1 in both], "consistency": coherent}


def of_dataset(answers: pd.DataFrame, split: str, systems: dict[tuple, list[Run]], resamples: int) -> list[dict]:
    """Every metric on one split of one dataset; systems: the runs by model and method."""
    label, (question, questions) = answers["label"].to_numpy(), pd.factorize(answers["group_id"])
    drawn = resampling(questions, resamples)
    category = answers["category"].groupby(question).first().to_numpy()
    parts = {"all": np.full(len(category), True)} | {f"category={name}": category == name for name in CATEGORIES.values()}
    exact, f1 = expected_at_random(label, question)
    baselines = {"random": {"exact_match": [exact], "f1": [f1]}} | {
        name: question_values(answers, [accepted]) for name, accepted in (
            ("always_yes", np.ones_like(label)), ("always_no", np.zeros_like(label)), ("gold", label))}
    rows = [{"model": name, "method": "baseline"} | row for name, values in baselines.items()
            for row in metric_rows(tallies_of(values, parts), [], drawn)]
    for (model, method), runs in systems.items():
        facts = runs[0].facts
        accepted = [read_scores(run, split, answers["example_id"], "answers")[0].argmax(1) for run in runs]
        same = {"model": model, "method": method, "train_pairs": facts["train_examples"] + facts["held_out_examples"]}
        seeds = seeds_of(runs)
        rows += [same | row for row in metric_rows(tallies_of(question_values(answers, accepted), parts), seeds, drawn)]
    return rows


def measure(datasets: dict[tuple, dict[tuple, list[Run]]], build: Path, sources: dict, resamples: int) -> list[dict]:
    """Every metric of the runs of an experiment (schema metrics, less the experiment)."""
    rows = []
    for (source, dataset), systems in datasets.items():
        options = next(iter(systems.values()))[0].facts["data_options"]
        for split in sources[source]["evaluate"]:
            answers = read_examples(build / source / dataset / f"{split}.parquet", ANSWERS, 2)
            same = {"study": "mctaco", "source": source, "dataset": dataset, "split": split,
                    "sample": "sample" in sources[source]} | options
            rows += [same | row for row in of_dataset(answers, split, systems, resamples)]
    return rows


def main(given: argparse.Namespace) -> None:
    if given.gold:
        score_file(given.gold, given.predictions)
        return
    datasets = runs_by_dataset(given.trained, given.runs)
    sources = read_sources(given.sources, {source for source, _ in datasets})
    rows = measure(datasets, given.build, sources, given.resamples)
    write_metrics(rows, SCHEMA, given)


def arguments() -> argparse.ArgumentParser:
    options = evaluation_arguments(__doc__, required=False)
    files = options.add_argument_group("a file of predictions")
    files.add_argument("--gold", type=Path, help="the gold file: sentence, question, answer, yes or no, category")
    files.add_argument("--predictions", type=Path, help="one yes or no a line, for each row of the gold file")
    return options


if __name__ == "__main__":
    execute(main, file_or_runs(arguments(), ["gold", "predictions"]))
