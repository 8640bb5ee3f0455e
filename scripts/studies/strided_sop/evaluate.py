"""Measure an experiment of strided sentence order prediction (Jain et al. 2020, section 3 and figure 3).

Metrics, as shares from 0 to 1, on each evaluation split:
  accuracy       at the epoch with the lowest loss on the held-out training videos
  peak_accuracy  at the epoch that was best on this very split: what the paper reports
  human_accuracy of people's answers (--people), where there are any, and more beside it: scripts/measure/people.py
Where the stride is told (the option predict): scripts/studies/strided_sop/predicted_strides.py. Where spans are put in order: scripts/studies/strided_sop/span_scores.py, by scores
of pairs, and order_scores.py, by scores of orders.
The accuracy stands on all pairs (slice all) and on slices of them (overlap=none, position=first_third, …:
scripts/studies/strided_sop/slices.py says which); the n of each partition's slices add up to that of all. Intervals are 95 %
intervals over videos. A row without seed is the mean over the replicates (seeds, or wordings of what a model is asked); its sd is
over them, its interval over videos and them.

Reads  <trained>/<run>/predictions.parquet and run.json of every run, and <build>/<source>/<dataset>/<split>.parquet of the
       splits measured on (schema strided pairs)
Writes a Parquet file (schema metrics: scripts/data/tables.py)

    python -m scripts.studies.strided_sop.evaluate --experiment activitynet_sop --runs RUN RUN … \\
        --trained results/train/strided_sop --build results/build/strided_sop --sources resources/sources.yaml --output /tmp/metrics.parquet

Predictions made elsewhere (scripts/measure/external.py), labels swapped and in_order; prints per cent:

    python -m scripts.studies.strided_sop.evaluate --predictions FILE --dataset results/build/strided_sop/activitynet/stride-0 --split val_1
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.running.program import UserError, execute, shown
from scripts.data.runs import read_predictions
from scripts.studies.strided_sop.strides import strides_of
from scripts.data.tables import read_complete
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.studies.strided_sop import order_scores, predicted_strides, span_scores
from scripts.measure.arguments import evaluation_arguments, evaluation_given
from scripts.measure.bootstrap import resampling
from scripts.measure.experiment import Run, label_scores, replicates_of
from scripts.measure.external import Answered
from scripts.measure.people import System, people_rows
from scripts.measure.people_answers import Answers
from scripts.studies.strided_sop.slices import READ, parts_of, slices_of
from scripts.measure.study import evaluate
from scripts.measure.tally import MEASURES, Tally, metric_rows, share, sums_by_group

METRIC = {"held_out": "accuracy", "last": "accuracy", "direct": "accuracy", "peak": "peak_accuracy"}
VARIANTS = ["size_matched", "same_videos", "hard"]  # options of the data that stand in the metrics as they are
ANSWERED = Answered("strided_sop", ("pair_id", "video_id", "text_a", "text_b"), (["swapped", "in_order"],))
SCHEMA = pa.schema([
    ("experiment", pa.string()), ("study", pa.string()), ("model", pa.string()), ("source", pa.string()),
    ("dataset", pa.string()), ("method", pa.string()), ("stride", pa.int32()), ("size_matched", pa.int32()),
    ("same_videos", pa.int32()), ("hard", pa.bool_()), ("context", pa.string()), ("seconds_apart", pa.float64()), ("train_stride", pa.string()),
    ("learn_from", pa.string()), ("predict", pa.string()), ("span", pa.int32()), ("order_by", pa.string()), ("train_labels", pa.string()), ("objectives", pa.string()), ("limit", pa.int64()), ("seed", pa.int64()), ("wording", pa.string()),
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
    if {"predict", "span"} & {name for name, value in run.facts["data_options"].items() if value}:
        frame["scores"] = list(scores)
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

    judgements: example_id, group_id and right of each replicate, on the same examples. Raises UserError that names the folder
    `where` if one has other examples than the first, or than the parts.
    """
    first = judgements[0]
    if any(set(other["example_id"]) != set(first["example_id"]) for other in judgements):
        raise UserError(f"{where}: its predictions are not of the same pairs as those of the other replicates; run it again")
    if parts is not None and set(parts.index) != set(first["example_id"]):
        raise UserError(f"{where}: its predictions are not of the pairs that were built; run it again")
    video, videos = pd.factorize(first["group_id"])
    right = [one.set_index("example_id")["right"].loc[first["example_id"]].to_numpy(float) for one in judgements]
    slices = {"all": np.ones(len(first), bool)} if parts is None else slices_of(parts.loc[first["example_id"]])
    return [Tally(name, {metric: share}, sums_by_group([one * inside for one in right], video, len(videos)),
                  np.bincount(video[inside], minlength=len(videos))) for name, inside in slices.items()], videos


def people_on(answers: Answers | None, split: str, judgements: dict[tuple, list[pd.DataFrame]],
              systems: dict[tuple, list[Run]], resamples: int) -> list[dict]:
    """What people reached on a split, and every system on the same pairs (scripts/measure/people.py); judgements: of judged(), by system."""
    facts = next(iter(systems.values()))[0].facts
    if facts["data_options"].get("predict"):
        if answers:
            answers.refuse(facts, "people are asked which comes first, but in {dataset} strides are told")
        return []
    if order_by(facts["data_options"]) == "permutations":
        if answers:
            answers.refuse(facts, "people are asked which of two comes first, but in {dataset} whole orders are told")
        return []
    of_split = {name: [one[(one["split"] == split) & (one["metric"] == "accuracy")] for one in ones] for name, ones in judgements.items()}
    examples = next(iter(of_split.values()))[0].assign(unit=lambda rows: rows["example_id"]).reset_index(drop=True)
    right = {name: np.stack([one.set_index("example_id")["right"].loc[examples["example_id"]].to_numpy(float) for one in ones])
             for name, ones in of_split.items()}
    found = {name: System({"accuracy": values}, replicates_of(systems[name])) for name, values in right.items()}
    answered = answers and answers.on_split(facts, split, examples)
    return people_rows(answered, examples, lambda rows, chosen: {"accuracy": (rows["label"] == chosen).to_numpy(float)}, found,
                       len(ANSWERED.labels[0]), resamples)


def of_system(runs: list[Run], judgements: list[pd.DataFrame], parts: dict[str, pd.DataFrame], resamples: int) -> list[dict]:
    """The rows of one model on one dataset, by split and metric; parts: by split those of its pairs."""
    replicates, rows = replicates_of(runs), []
    by_part = [dict(list(judgement.groupby(["split", "metric"]))) for judgement in judgements]
    for run, of_run in zip(runs, by_part):
        if not of_run or of_run.keys() != by_part[0].keys():
            raise UserError(f"{run.folder}: its predictions are not on the splits that are measured, or not on those of the other "
                            "replicates; run it again")
    for split, metric in by_part[0]:
        tallies, videos = tallies_of([of_run[split, metric] for of_run in by_part], metric, runs[-1].folder,
                                     parts[split] if metric == "accuracy" else None)
        rows += [{"split": split} | row for row in metric_rows(tallies, replicates, resampling(videos, resamples))]
    return rows


def on_same_pairs(runs: list[Run], judgements: list[pd.DataFrame], split: str, ids: pd.Series) -> list[pd.DataFrame]:
    """The judgements of each replicate at the epoch that is reported, on the pairs of a split (ids), in their order."""
    of_split = [one[(one["split"] == split) & (one["metric"] == "accuracy")].set_index("example_id") for one in judgements]
    for run, one in zip(runs, of_split):
        if set(one.index) != set(ids):
            raise UserError(f"{run.folder}: its predictions are not of the pairs that were built; run it again")
    return [one.loc[ids] for one in of_split]


def of_predictor(runs: list[Run], judgements: list[pd.DataFrame], resamples: int) -> list[dict]:
    """The rows of one model that tells the stride (scripts/studies/strided_sop/predicted_strides.py), by split."""
    rows, options = [], runs[0].facts["data_options"]
    for split, first in judgements[0][judgements[0]["metric"] == "accuracy"].groupby("split"):
        ordered = on_same_pairs(runs, judgements, split, first["example_id"])
        video, videos = pd.factorize(first["group_id"])
        tallies = predicted_strides.measures_of(ordered, len(strides_of(options["stride"])), options["predict"], video, len(videos))
        rows += [{"split": split} | row for row in metric_rows(tallies, replicates_of(runs), resampling(videos, resamples))]
    return rows


def of_orderer(runs: list[Run], judgements: list[pd.DataFrame], folder: Path, resamples: int) -> list[dict]:
    """The rows of one model whose scores put spans in order (scripts/studies/strided_sop/span_scores.py, order_scores.py), by split; folder: of the dataset."""
    rows, options = [], runs[0].facts["data_options"]
    schema = pa.schema([STRIDED_PAIRS.field(name) for name in ("pair_id", "video_id", "first_position", "stride")])
    for split in judgements[0]["split"].unique():
        file = folder / f"{split}.parquet"
        pairs = read_complete(file, schema).to_pandas()
        on_pairs = on_same_pairs(runs, judgements, split, pairs["pair_id"])
        if order_by(options) == "permutations":
            tallies, videos = order_scores.measures_of(on_pairs, pairs, options["span"], file)
        else:
            tallies, videos = span_scores.measures_of(on_pairs, pairs, options["span"], options["stride"] + 1)
        rows += [{"split": split} | row for row in metric_rows(tallies, replicates_of(runs), resampling(videos, resamples))]
    return rows


def order_by(options: dict) -> str | None:
    """What puts the units of a dataset's spans in order: scores of their pairs, or of their permutations; None where it has no spans."""
    return options.get("order_by", "pairs") if options.get("span") else None


def of_file(run: Run, file: Path, split: str, resamples: int) -> list[dict]:
    """The rows of a run on one split of its dataset (file)."""
    return of_system([run], [judged(run, [split])], parts_by_split(file.parent, [split]), resamples)


def objectives_of(training: dict) -> str | None:
    """`sop 1, mlm 0.5`: the objectives of a run and their weights; None where it learns its own alone."""
    weights = training.get("objectives")
    try:
        return ", ".join(f"{name} {weights[name]:g}" for name in sorted(weights, key="mlm".__eq__)) if weights else None
    except (TypeError, ValueError):
        raise UserError(f"a run.json has the objectives {shown(weights)}, which are none; run it again") from None


def context_of(options: dict) -> str | None:
    """`10 s`, `3 sentences`: the windows that were put in order; None for single captions."""
    if not (context := options.get("context")):
        return None
    try:
        return f"{context['seconds']:g} s" if "seconds" in context else f"{context['sentences']:d} sentences"
    except (KeyError, TypeError, ValueError):
        raise UserError(f"a run.json has the context {shown(context)}, which is none; run it again") from None


def options_told(options: dict) -> dict:
    """The options of a dataset as columns of metrics; the stride is missing where pairs of several are mixed."""
    stride, trained = options["stride"], options.get("train_stride")
    return {name: options[name] for name in VARIANTS} | {
        "stride": stride if isinstance(stride, int) else None, "context": context_of(options), "limit": options.get("limit"),
        "train_stride": str(stride if trained is None else trained) if trained is not None or isinstance(stride, str) else None,
        "learn_from": options.get("learn_from"), "predict": options.get("predict"), "span": options.get("span"), "order_by": order_by(options),
        "train_labels": options.get("train_labels")}


def seconds_by_split(folder: Path, evaluation: list[str]) -> dict[str, float]:
    """By split of a dataset the median of the seconds between the two of its pairs."""
    schema = pa.schema([STRIDED_PAIRS.field("seconds_apart")])
    return {split: float(np.median(read_complete(folder / f"{split}.parquet", schema)["seconds_apart"].to_numpy())) for split in evaluation}


def measure(datasets: dict[tuple, dict[tuple, list[Run]]], external: dict[tuple, dict[tuple, list[Run]]], build: Path, sources: dict,
            resamples: int, answers: Answers | None) -> list[dict]:
    """Every metric of the runs of an experiment (schema metrics, less the experiment); external: of external_systems(); answers: of
    answers_given()."""
    rows = []
    for (source, dataset), systems in datasets.items():
        facts, evaluation = next(iter(systems.values()))[0].facts, sources[source]["evaluate"]
        same = {"study": facts["study"], "source": source, "dataset": dataset, "sample": "sample" in sources[source]}
        same |= options_told(facts["data_options"])
        parts, first = parts_by_split(build / source / dataset, evaluation), len(rows)
        measured = partial(of_system, parts=parts, resamples=resamples)
        if facts["data_options"].get("predict"):
            measured = partial(of_predictor, resamples=resamples)
        if facts["data_options"].get("span"):
            measured = partial(of_orderer, folder=build / source / dataset, resamples=resamples)
        judgements = {name: [judged(run, evaluation) for run in runs] for name, runs in systems.items()}
        for (model, method), runs in systems.items():
            told = same | {"model": model, "method": method, "objectives": objectives_of(runs[0].facts["training"])}
            rows += [told | row for row in measured(runs, judgements[model, method])]
        for split in evaluation:
            elsewhere = external.get((source, dataset, split), {})
            of_elsewhere = {name: [judged(run, [split])] for name, [run] in elsewhere.items()}
            for (model, method), runs in elsewhere.items():
                rows += [same | {"model": model, "method": method} | row
                         for row in measured(runs, of_elsewhere[model, method])]
            rows += [same | {"split": split} | row for row in
                      people_on(answers, split, judgements | of_elsewhere, systems | elsewhere, resamples)]
        seconds = seconds_by_split(build / source / dataset, evaluation)
        rows[first:] = [row | {"seconds_apart": seconds[row["split"]]} for row in rows[first:]]
    return rows


def main(given: argparse.Namespace) -> None:
    evaluate(given, ANSWERED, SCHEMA, measure, of_file, {})


if __name__ == "__main__":
    execute(main, evaluation_given(evaluation_arguments(__doc__)))
