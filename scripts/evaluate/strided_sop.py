"""Measure an experiment of strided sentence order prediction (Jain et al. 2020, section 3 and figure 3).

Metrics, as shares from 0 to 1, on each evaluation split:
  accuracy       at the epoch that was best on the held-out training videos
  peak_accuracy  at the epoch that was best on this very split: what the paper reports
  human_accuracy of human answers (--human), where there are any
Intervals are 95 % bootstrap intervals over videos. A row without seed is the mean over the seeds; its sd is over the
seeds, and its interval that of the mean over seeds when videos are drawn.

Reads  <trained>/<run>/predictions.parquet and run.json of every run
Writes a Parquet file (schema metrics: scripts/common/tables.py)

    python -m scripts.evaluate.strided_sop --experiment activitynet_sop --runs RUN RUN … \\
        --trained results/train/strided_sop --sources resources/sources.yaml --output /tmp/metrics.parquet

--human names a CSV with the columns source, dataset, split, pair_id, answer (in_order or swapped), as made by
scripts/build/annotation_sheet.py and filled in by people.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml

from scripts.common.program import UserError, cut, log, run
from scripts.common.tables import read_table, write_table
from scripts.evaluate.arguments import evaluation_arguments
from scripts.evaluate.bootstrap import grouped_interval
from scripts.evaluate.human_answers import read_answers

METRIC = {"held_out": "accuracy", "last": "accuracy", "peak": "peak_accuracy"}
SCHEMA = pa.schema([
    ("experiment", pa.string()), ("study", pa.string()), ("model", pa.string()), ("source", pa.string()),
    ("dataset", pa.string()), ("stride", pa.int32()), ("size_matched", pa.int32()), ("seed", pa.int64()),
    ("split", pa.string()), ("slice", pa.string()), ("metric", pa.string()), ("value", pa.float64()),
    ("sd", pa.float64()), ("ci_low", pa.float64()), ("ci_high", pa.float64()), ("n", pa.int64()),
    ("groups", pa.int64()), ("sample", pa.bool_()),
])


def read_run(folder: Path, evaluation: list[str]) -> tuple[dict, pd.DataFrame]:
    """A run's facts, and its predictions on the evaluation splits with a column `right`."""
    facts = json.loads((folder / "run.json").read_text())
    table = read_table(folder / "predictions.parquet")
    labels = table["label"].to_numpy()
    scores = np.stack(table["score"].to_numpy(zero_copy_only=False))
    frame = table.select(["split", "selection", "example_id", "group_id", "label"]).to_pandas()
    frame["right"] = scores.argmax(1) == labels
    return facts, frame[frame["split"].isin(evaluation)]


def measured(right: pd.Series, groups: pd.Series, resamples: int) -> dict:
    """value, ci_low, ci_high, n and groups of a mean over examples."""
    codes, names = pd.factorize(groups)
    low, high = grouped_interval(right.to_numpy(float), codes, resamples)
    return {"value": float(right.mean()), "ci_low": low, "ci_high": high, "n": len(right), "groups": len(names)}


def human_rows(answers: pd.DataFrame, human: Path, facts: dict, gold: pd.DataFrame, resamples: int) -> list[dict]:
    """The human accuracy on the dataset of a run, a row a split; empty when nobody answered for it."""
    answers = answers[(answers["source"] == facts["source"]) & (answers["dataset"] == facts["dataset"])]
    known = dict(zip(facts["labels"], range(len(facts["labels"]))))
    joined = answers.merge(gold.drop_duplicates(["split", "example_id"]), how="left",
                           left_on=["split", "pair_id"], right_on=["split", "example_id"])
    lost = joined[joined["label"].isna()]
    if len(lost):
        raise UserError(f"{human}: pair {cut(lost['pair_id'].iloc[0])} is not in split {cut(lost['split'].iloc[0])} of "
                        f"{facts['source']} {facts['dataset']}; make the sheet from the dataset that is evaluated")
    joined["right"] = joined["answer"].map(known) == joined["label"]
    return [{"split": split, "metric": "human_accuracy", **measured(part["right"], part["group_id"], resamples)}
            for split, part in joined.groupby("split")]


def measure(experiment: str, folders: list[Path], sources: dict, resamples: int, human: Path | None) -> pa.Table:
    """Every metric of an experiment (schema metrics)."""
    grids: dict[tuple, list] = {}
    for folder in folders:
        source = json.loads((folder / "run.json").read_text())["source"]
        facts, frame = read_run(folder, sources[source]["evaluate"])
        grids.setdefault((source, facts["dataset"], facts["model"]), []).append((facts, frame))
    rows, asked = [], set()
    labels = next(iter(grids.values()))[0][0]["labels"]
    answers = read_answers(human, {key[:2] for key in grids}, labels) if human else None
    for (source, dataset, model), runs in grids.items():
        facts = runs[0][0]
        same = {"experiment": experiment, "study": facts["study"], "source": source, "dataset": dataset,
                "stride": facts["data_options"]["stride"], "size_matched": facts["data_options"]["size_matched"],
                "slice": "all", "sample": "sample" in sources[source]}
        values = []
        for facts, frame in runs:
            for (split, selection), part in frame.groupby(["split", "selection"]):
                values.append({"seed": facts["seed"], "split": split, "metric": METRIC[selection],
                               **measured(part["right"], part["group_id"], resamples)})
        rows += [same | {"model": model, "sd": None} | value for value in values]
        everything = pd.concat([frame for _, frame in runs])
        spread = pd.DataFrame(values).groupby(["split", "metric"])["value"].std()  # missing for one seed
        for (split, selection), part in everything.groupby(["split", "selection"]):
            mean = part.groupby("example_id", sort=False).agg(right=("right", "mean"), group_id=("group_id", "first"))
            sd = spread[split, METRIC[selection]]
            rows.append(same | {"model": model, "seed": None, "split": split, "metric": METRIC[selection],
                                "sd": None if pd.isna(sd) else sd, **measured(mean["right"], mean["group_id"], resamples)})
        if human and (source, dataset) not in asked:
            asked.add((source, dataset))
            rows += [same | {"model": "human", "seed": None, "sd": None} | row
                     for row in human_rows(answers, human, facts, everything, resamples)]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def main(given: argparse.Namespace) -> None:
    sources = yaml.safe_load(given.sources.read_text(encoding="utf-8"))
    table = measure(given.experiment, [given.trained / name for name in given.runs], sources, given.resamples, given.human)
    write_table(table, given.output, SCHEMA, {"experiment": given.experiment, "bootstrap_resamples": given.resamples})
    log.info("%s: %d numbers of %d runs", given.experiment, len(table), len(given.runs))


def arguments() -> argparse.ArgumentParser:
    made = evaluation_arguments(__doc__, build=False)
    made.add_argument("--human", type=Path, help="CSV of human answers")
    return made


if __name__ == "__main__":
    run(main, arguments().parse_args())
