"""Measure an experiment of strided sentence order prediction (Jain et al. 2020, section 3 and figure 3).

Metrics, as shares from 0 to 1, on each evaluation split:
  accuracy       at the epoch with the lowest loss on the held-out training videos
  peak_accuracy  at the epoch that was best on this very split: what the paper reports
  human_accuracy of human answers (--human), where there are any
Intervals are 95 % bootstrap intervals over videos. A row without seed is the mean over the seeds; its sd is over the
seeds, and its interval that of the mean over seeds when videos are drawn.

Reads  <trained>/<run>/predictions.parquet and run.json of every run
Writes a Parquet file (schema metrics: scripts/common/tables.py)

    python -m scripts.evaluate.strided_sop --experiment activitynet_sop --runs RUN RUN … \\
        --trained results/train/strided_sop --sources resources/sources.yaml --output /tmp/metrics.parquet

--human names a CSV with the columns source, dataset, split, pair_id, answer (in_order or swapped), as made by
scripts/build/annotation_sheet.py and filled in by people: one answer a pair, of the datasets that are measured.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.common.program import UserError, cut, execute
from scripts.common.runs import read_predictions
from scripts.evaluate.arguments import evaluation_arguments
from scripts.evaluate.experiment import Run, label_scores, read_sources, runs_by_dataset, write_metrics
from scripts.evaluate.human_answers import read_answers
from scripts.evaluate.tally import Tally, metric_rows, share, sums_by_group

METRIC = {"held_out": "accuracy", "last": "accuracy", "peak": "peak_accuracy"}
SCHEMA = pa.schema([
    ("experiment", pa.string()), ("study", pa.string()), ("model", pa.string()), ("source", pa.string()),
    ("dataset", pa.string()), ("stride", pa.int32()), ("size_matched", pa.int32()), ("seed", pa.int64()),
    ("split", pa.string()), ("slice", pa.string()), ("metric", pa.string()), ("value", pa.float64()),
    ("sd", pa.float64()), ("ci_low", pa.float64()), ("ci_high", pa.float64()), ("n", pa.int64()),
    ("groups", pa.int64()), ("sample", pa.bool_()),
])


def judged(run: Run, evaluation: list[str]) -> pd.DataFrame:
    """A run's predictions on the evaluation splits: split, metric, example_id, group_id, label, right."""
    table = read_predictions(run.folder, ["split", "selection", "example_id", "group_id", "label", "score"])
    scores = label_scores(run, table)
    frame = table.drop_columns(["score"]).to_pandas()
    if not frame["label"].between(0, scores.shape[1] - 1).all():
        raise UserError(f"{run.folder}: a label of its predictions has no score; run it again")
    frame["right"] = scores.argmax(1) == frame["label"]
    frame["metric"] = frame["selection"].map(METRIC)
    frame = frame[frame["split"].isin(evaluation)]
    if frame.duplicated(["split", "metric", "example_id"]).any():
        raise UserError(f"{run.folder}: its predictions hold a pair twice; run it again")
    return frame


def tally_of(judgements: list[pd.DataFrame], metric: str, where: Path) -> Tally:
    """The right answers by video; judgements: example_id, group_id and right of each seed, on the same examples.

    Raises UserError that names the folder `where` if a seed has other examples than the first.
    """
    first = judgements[0]
    if any(set(seed["example_id"]) != set(first["example_id"]) for seed in judgements):
        raise UserError(f"{where}: its predictions are not of the same pairs as those of the other seeds; run it again")
    video, videos = pd.factorize(first["group_id"])
    right = [seed.set_index("example_id")["right"].loc[first["example_id"]].to_numpy(float) for seed in judgements]
    return Tally("all", {metric: share}, sums_by_group(right, video, len(videos)), np.bincount(video))


def human_rows(answers: pd.DataFrame, human: Path, facts: dict, gold: pd.DataFrame, resamples: int) -> list[dict]:
    """The human accuracy on the dataset of a run, a row a split; empty when nobody answered for it.

    answers: those of read_answers() on this dataset, one a pair; gold: split, example_id, group_id and label of its pairs.
    """
    known = dict(zip(facts["labels"], range(len(facts["labels"]))))
    joined = answers.merge(gold.drop_duplicates(["split", "example_id"]), how="left",
                           left_on=["split", "pair_id"], right_on=["split", "example_id"])
    lost = joined[joined["label"].isna()]
    if len(lost):
        raise UserError(f"{human}: pair {cut(lost['pair_id'].iloc[0])} is not in split {cut(lost['split'].iloc[0])} of "
                        f"{facts['source']} {facts['dataset']}; make the sheet from the dataset that is evaluated")
    joined["right"] = joined["answer"].map(known) == joined["label"]
    return [{"split": split} | row for split, part in joined.groupby("split")
            for row in metric_rows([tally_of([part], "human_accuracy", human)], [], resamples)]


def of_system(runs: list[Run], judgements: list[pd.DataFrame], resamples: int) -> list[dict]:
    """The rows of one model on one dataset, by split and metric."""
    seeds, rows = [run.facts["seed"] for run in runs], []
    by_part = [dict(list(judgement.groupby(["split", "metric"]))) for judgement in judgements]
    for run, parts in zip(runs, by_part):
        if not parts or parts.keys() != by_part[0].keys():
            raise UserError(f"{run.folder}: its predictions are not on the splits that are measured, or not on those of the other "
                            "seeds; run it again")
    for split, metric in by_part[0]:
        tally = tally_of([parts[split, metric] for parts in by_part], metric, runs[-1].folder)
        rows += [{"split": split} | row for row in metric_rows([tally], seeds, resamples)]
    return rows


def measure(datasets: dict[tuple, dict[tuple, list[Run]]], sources: dict, resamples: int, human: Path | None) -> list[dict]:
    """Every metric of the runs of an experiment (schema metrics, less the experiment)."""
    rows = []
    if human:
        labels = next(iter(next(iter(datasets.values())).values()))[0].facts["labels"]
        answers = read_answers(human, set(datasets), labels)
    for (source, dataset), systems in datasets.items():
        facts = next(iter(systems.values()))[0].facts
        same = {"study": facts["study"], "source": source, "dataset": dataset, "stride": facts["data_options"]["stride"],
                "size_matched": facts["data_options"]["size_matched"], "sample": "sample" in sources[source]}
        for (model, _), runs in systems.items():
            judgements = [judged(run, sources[source]["evaluate"]) for run in runs]
            rows += [same | {"model": model} | row for row in of_system(runs, judgements, resamples)]
        if human:
            part = answers[(answers["source"] == source) & (answers["dataset"] == dataset)]
            rows += [same | {"model": "human"} | row for row in human_rows(part, human, facts, judgements[0], resamples)]
    return rows


def main(given: argparse.Namespace) -> None:
    datasets = runs_by_dataset(given.trained, given.runs)
    sources = read_sources(given.sources, {source for source, _ in datasets})
    rows = measure(datasets, sources, given.resamples, given.human)
    write_metrics(rows, SCHEMA, given)


def arguments() -> argparse.ArgumentParser:
    options = evaluation_arguments(__doc__, build=False)
    options.add_argument("--human", type=Path, help="CSV of human answers")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
