"""Measure an experiment of strided sentence order prediction (Jain et al. 2020, section 3 and figure 3).

Metrics, as shares from 0 to 1, on each evaluation split:
  accuracy       at the epoch with the lowest loss on the held-out training videos
  peak_accuracy  at the epoch that was best on this very split: what the paper reports
  human_accuracy of human answers (--human), where there are any
The accuracy stands on all pairs (slice all) and on slices of them (overlap=none, position=first_third, …:
scripts/evaluate/strided_slices.py says which); the n of each partition's slices add up to that of all. Intervals are 95 %
intervals over videos. A row without seed is the mean over the seeds; its sd is over the seeds, its interval over videos and seeds.

Reads  <trained>/<run>/predictions.parquet and run.json of every run, and <build>/<source>/<dataset>/<split>.parquet of the
       splits measured on (schema strided pairs)
Writes a Parquet file (schema metrics: scripts/common/tables.py)

    python -m scripts.evaluate.strided_sop --experiment activitynet_sop --runs RUN RUN … \\
        --trained results/train/strided_sop --build results/build/strided_sop --sources resources/sources.yaml --output /tmp/metrics.parquet

--human names a CSV with the columns source, dataset, split, pair_id, answer (in_order or swapped), as made by
scripts/build/annotation_sheet.py and filled in by people: one answer a pair. Experiments may share one: answers of datasets
that only others measure (--others) are left to them.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.common.program import UserError, cut, execute
from scripts.common.runs import read_predictions
from scripts.common.tables import STRIDED_PAIRS, read_complete
from scripts.evaluate.arguments import evaluation_arguments
from scripts.evaluate.bootstrap import resampling
from scripts.evaluate.experiment import Run, label_scores, read_sources, runs_by_dataset, seeds_of, write_metrics
from scripts.evaluate.human_answers import read_answers
from scripts.evaluate.strided_slices import READ, parts_of, slices_of
from scripts.evaluate.tally import MEASURES, Tally, metric_rows, share, sums_by_group

METRIC = {"held_out": "accuracy", "last": "accuracy", "direct": "accuracy", "peak": "peak_accuracy"}
VARIANTS = ["stride", "size_matched", "same_videos", "hard"]  # options of the data that stand in the metrics
SCHEMA = pa.schema([
    ("experiment", pa.string()), ("study", pa.string()), ("model", pa.string()), ("source", pa.string()),
    ("dataset", pa.string()), ("method", pa.string()), ("stride", pa.int32()), ("size_matched", pa.int32()),
    ("same_videos", pa.int32()), ("hard", pa.bool_()), ("seed", pa.int64()),
    ("split", pa.string()), ("slice", pa.string()), ("metric", pa.string()), *MEASURES, ("sample", pa.bool_()),
])


def judged(run: Run, evaluation: list[str]) -> pd.DataFrame:
    """A run's predictions on the evaluation splits: split, metric, example_id, group_id, label, right (0, 1; half of a tie).

    A control that sees no cue in a pair scores both orders alike: by expectation it is half right, not right by the labels' order.
    """
    table = read_predictions(run.folder, ["split", "selection", "example_id", "group_id", "label", "score"])
    scores = label_scores(run, table)
    frame = table.drop_columns(["score"]).to_pandas()
    if not frame["label"].between(0, scores.shape[1] - 1).all():
        raise UserError(f"{run.folder}: a label of its predictions has no score; run it again")
    highest = scores == scores.max(1, keepdims=True)
    frame["right"] = highest[np.arange(len(frame)), frame["label"]] / highest.sum(1)
    frame["metric"] = frame["selection"].map(METRIC)
    frame = frame[frame["split"].isin(evaluation)]
    if frame.duplicated(["split", "metric", "example_id"]).any():
        raise UserError(f"{run.folder}: its predictions hold a pair twice; run it again")
    return frame


def parts_by_split(folder: Path, evaluation: list[str]) -> dict[str, pd.DataFrame]:
    """By split of a dataset the part of each pair of every partition (parts_of)."""
    schema = pa.schema([STRIDED_PAIRS.field(name) for name in READ])
    return {split: parts_of(read_complete(folder / f"{split}.parquet", schema, ["category"]).to_pandas()) for split in evaluation}


def tallies_of(judgements: list[pd.DataFrame], metric: str, where: Path,
               parts: pd.DataFrame | None = None) -> tuple[list[Tally], pd.Index]:
    """The right answers by video, on all pairs and, where their parts are given, on each slice; and the videos.

    judgements: example_id, group_id and right of each seed, on the same examples. Raises UserError that names the folder
    `where` if a seed has other examples than the first, or than the parts.
    """
    first = judgements[0]
    if any(set(seed["example_id"]) != set(first["example_id"]) for seed in judgements):
        raise UserError(f"{where}: its predictions are not of the same pairs as those of the other seeds; run it again")
    if parts is not None and set(parts.index) != set(first["example_id"]):
        raise UserError(f"{where}: its predictions are not of the pairs that were built; run it again")
    video, videos = pd.factorize(first["group_id"])
    right = [seed.set_index("example_id")["right"].loc[first["example_id"]].to_numpy(float) for seed in judgements]
    slices = {"all": np.ones(len(first), bool)} if parts is None else slices_of(parts.loc[first["example_id"]])
    return [Tally(name, {metric: share}, sums_by_group([seed * inside for seed in right], video, len(videos)),
                  np.bincount(video[inside], minlength=len(videos))) for name, inside in slices.items()], videos


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
    rows = []
    for split, part in joined.groupby("split"):
        tallies, videos = tallies_of([part], "human_accuracy", human)
        rows += [{"split": split} | row for row in metric_rows(tallies, [], resampling(videos, resamples))]
    return rows


def of_system(runs: list[Run], judgements: list[pd.DataFrame], parts: dict[str, pd.DataFrame], resamples: int) -> list[dict]:
    """The rows of one model on one dataset, by split and metric; parts: by split those of its pairs."""
    seeds, rows = seeds_of(runs), []
    by_part = [dict(list(judgement.groupby(["split", "metric"]))) for judgement in judgements]
    for run, of_seed in zip(runs, by_part):
        if not of_seed or of_seed.keys() != by_part[0].keys():
            raise UserError(f"{run.folder}: its predictions are not on the splits that are measured, or not on those of the other "
                            "seeds; run it again")
    for split, metric in by_part[0]:
        tallies, videos = tallies_of([of_seed[split, metric] for of_seed in by_part], metric, runs[-1].folder,
                                     parts[split] if metric == "accuracy" else None)
        rows += [{"split": split} | row for row in metric_rows(tallies, seeds, resampling(videos, resamples))]
    return rows


def measure(datasets: dict[tuple, dict[tuple, list[Run]]], build: Path, sources: dict, resamples: int, human: Path | None,
            others: set[tuple]) -> list[dict]:
    """Every metric of the runs of an experiment (schema metrics, less the experiment); others: datasets of other experiments."""
    rows = []
    if human:
        labels = next(iter(next(iter(datasets.values())).values()))[0].facts["labels"]
        answers = read_answers(human, set(datasets) | others, labels)
    for (source, dataset), systems in datasets.items():
        facts, evaluation = next(iter(systems.values()))[0].facts, sources[source]["evaluate"]
        same = {"study": facts["study"], "source": source, "dataset": dataset, "sample": "sample" in sources[source]}
        same |= {name: facts["data_options"][name] for name in VARIANTS}
        parts = parts_by_split(build / source / dataset, evaluation)
        for (model, method), runs in systems.items():
            judgements = [judged(run, evaluation) for run in runs]
            rows += [same | {"model": model, "method": method} | row for row in of_system(runs, judgements, parts, resamples)]
        if human:
            part = answers[(answers["source"] == source) & (answers["dataset"] == dataset)]
            rows += [same | {"model": "human", "method": "human"} | row
                     for row in human_rows(part, human, facts, judgements[0], resamples)]
    return rows


def main(given: argparse.Namespace) -> None:
    datasets = runs_by_dataset(given.trained, given.runs)
    sources = read_sources(given.sources, {source for source, _ in datasets})
    others = {tuple(name.split("/", 1)) for name in given.others}
    rows = measure(datasets, given.build, sources, given.resamples, given.human, others)
    write_metrics(rows, SCHEMA, given)


def arguments() -> argparse.ArgumentParser:
    options = evaluation_arguments(__doc__)
    options.add_argument("--human", type=Path, help="CSV of human answers")
    options.add_argument("--others", nargs="+", default=[], metavar="SOURCE/DATASET",
                         help="datasets that it may hold answers of and that are not measured here")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
