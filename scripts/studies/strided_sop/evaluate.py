"""Measure an experiment of strided sentence order prediction (Jain et al. 2020, section 3 and figure 3).

Metrics, as shares from 0 to 1, on each evaluation split:
  accuracy       at the epoch with the lowest loss on the held-out training videos
  peak_accuracy  at the epoch that was best on this very split: what the paper reports
  human_accuracy of people's answers (--people), where there are any, and more beside it: scripts/measure/people.py
Where the stride is told (the option predict) or spans are put in order (the option span): scripts/studies/strided_sop/tallies.py.
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
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.runs import read_predictions
from scripts.data.tables import METRICS, read_complete
from scripts.measure.arguments import evaluation_arguments, evaluation_given
from scripts.measure.bootstrap import resampling
from scripts.measure.experiment import Run, label_scores, replicates_of
from scripts.measure.external import Answered
from scripts.measure.people import System, people_rows
from scripts.measure.people_answers import Answers
from scripts.measure.study import Systems, evaluate
from scripts.measure.tally import MEASURES, metric_rows
from scripts.running.program import UserError, execute, shown
from scripts.studies.strided_sop.slices import READ
from scripts.studies.strided_sop.strides import strides_of, tells_of_pairs
from scripts.studies.strided_sop.tables import COUNT, NUMBER, STRIDED_PAIRS, TEXT
from scripts.studies.strided_sop.tallies import (
    Found,
    highest,
    order_tallies,
    pair_span_tallies,
    span_tallies,
    stride_tallies,
)

METRIC = {"held_out": "accuracy", "last": "accuracy", "direct": "accuracy", "peak": "peak_accuracy"}
ANSWERED = Answered(
    "strided_sop", ("pair_id", "video_id", "text_a", "text_b"), (["swapped", "in_order"],)
)
VARIANTS = [
    "size_matched",
    "same_videos",
    "hard",
]  # options of the data that stand in the metrics as they are
PAIRS = pa.schema(
    [
        STRIDED_PAIRS.field(name)
        for name in dict.fromkeys([*READ, "video_id", "first_position", "seconds_apart"])
    ]
)
SCHEMA = pa.schema(
    [
        *list(METRICS)[:5],
        *pa.schema(
            {
                "method": TEXT,
                "stride": COUNT,
                "size_matched": COUNT,
                "same_videos": COUNT,
                "hard": pa.bool_(),
                "context": TEXT,
                "seconds_apart": NUMBER,
                "train_stride": TEXT,
                "learn_from": TEXT,
                "predict": TEXT,
                "span": COUNT,
                "order_by": TEXT,
                "train_labels": TEXT,
                "objectives": TEXT,
            }
        ),
        *list(METRICS)[5:11],
        *MEASURES,
        METRICS.field("sample"),
    ]
)


class Dataset(NamedTuple):
    """A dataset that is measured on: its folder, its options, and by split its pairs (schema PAIRS)."""

    folder: Path
    options: dict
    pairs: dict[str, pd.DataFrame]


def read_dataset(folder: Path, options: dict, splits: list[str]) -> Dataset:
    """The splits of a dataset."""
    return Dataset(
        folder,
        options,
        {
            split: read_complete(folder / f"{split}.parquet", PAIRS, ["category"]).to_pandas()
            for split in splits
        },
    )


def judged(run: Run, evaluation: list[str]) -> pd.DataFrame:
    """A run's predictions on the evaluation splits: split, metric, example_id, group_id, label, right (0, 1; half of a tie).

    A control that sees no cue in a pair scores both orders alike: by expectation it is half right, not right by the labels' order.
    """
    table = read_predictions(
        run.folder, ["split", "selection", "example_id", "group_id", "label", "score"]
    )
    scores, options = label_scores(run, table), run.facts["data_options"]
    frame = table.drop_columns(["score"]).to_pandas()
    if not frame["label"].between(0, scores.shape[1] - 1).all():
        raise UserError(f"{run.folder}: a label of its predictions has no score; run it again")
    if options.get("predict") or options.get("span"):
        frame["scores"] = list(scores)
    frame["right"] = highest(scores)[np.arange(len(frame)), frame["label"]]
    frame["metric"] = frame["selection"].map(METRIC)
    frame = frame[frame["split"].isin(evaluation)]
    if frame.duplicated(["split", "metric", "example_id"]).any():
        raise UserError(f"{run.folder}: its predictions hold a pair twice; run it again")
    return frame


def tallies_of(judgements: list[pd.DataFrame], dataset: Dataset, split: str, metric: str) -> Found:
    """The tallies of one system on a split, and the videos; judgements: of each replicate, on the pairs of the split in their order."""
    pairs, options = dataset.pairs[split], dataset.options
    if predict := options.get("predict"):
        return stride_tallies(
            judgements, pairs, len(strides_of(options["stride"])), predict == "order_and_stride"
        )
    if order_by(options) == "permutations":
        return span_tallies(judgements, pairs, options["span"], dataset.folder / f"{split}.parquet")
    if options.get("span"):
        return pair_span_tallies(judgements, pairs, options["span"], options["stride"] + 1)
    return order_tallies(judgements, pairs, metric)


def rows_of(
    runs: list[Run], judgements: list[pd.DataFrame], dataset: Dataset, resamples: int
) -> list[dict]:
    """The rows of one model on a dataset, by split and metric."""
    by_part, rows = (
        [dict(list(judgement.groupby(["split", "metric"]))) for judgement in judgements],
        [],
    )
    plain = not dataset.options.get("predict") and not dataset.options.get("span")
    for run, of_run in zip(runs, by_part):
        if not of_run or of_run.keys() != by_part[0].keys():
            raise UserError(
                f"{run.folder}: its predictions are not on the splits that are measured, or not on those of the other "
                "replicates; run it again"
            )
    for split, metric in [part for part in by_part[0] if plain or part[1] == "accuracy"]:
        ids, ordered = dataset.pairs[split]["pair_id"], []
        for run, of_run in zip(runs, by_part):
            of_part = of_run[split, metric].set_index("example_id")
            if set(of_part.index) != set(ids):
                raise UserError(
                    f"{run.folder}: its predictions are not of the pairs that were built; run it again"
                )
            ordered.append(of_part.loc[ids])
        tallies, videos = tallies_of(ordered, dataset, split, metric)
        rows += [
            {"split": split} | row
            for row in metric_rows(tallies, replicates_of(runs), resampling(videos, resamples))
        ]
    return rows


def people_on(
    answers: Answers | None,
    split: str,
    judgements: dict[tuple, list[pd.DataFrame]],
    systems: Systems,
    resamples: int,
) -> list[dict]:
    """What people reached on a split, and every system on the same pairs (scripts/measure/people.py); judgements: of judged(), by system."""
    facts = next(iter(systems.values()))[0].facts
    if not tells_of_pairs(facts["data_options"]):
        if answers:
            answers.refuse(
                facts,
                "people are asked which of two comes first, which is not what {dataset} tells",
            )
        return []
    of_split = {
        name: [one[(one["split"] == split) & (one["metric"] == "accuracy")] for one in ones]
        for name, ones in judgements.items()
    }
    examples = (
        next(iter(of_split.values()))[0]
        .assign(unit=lambda rows: rows["example_id"])
        .reset_index(drop=True)
    )
    found = {
        name: System(
            {
                "accuracy": np.stack(
                    [
                        one.set_index("example_id")["right"]
                        .loc[examples["example_id"]]
                        .to_numpy(float)
                        for one in ones
                    ]
                )
            },
            replicates_of(systems[name]),
        )
        for name, ones in of_split.items()
    }
    answered = answers and answers.on_split(facts, split, examples)
    return people_rows(
        answered,
        examples,
        lambda rows, chosen: {"accuracy": (rows["label"] == chosen).to_numpy(float)},
        found,
        len(ANSWERED.labels[0]),
        resamples,
    )


def order_by(options: dict) -> str | None:
    """What puts the units of a dataset's spans in order: scores of their pairs, or of their permutations; None where it has no spans."""
    return options.get("order_by", "pairs") if options.get("span") else None


def of_file(run: Run, file: Path, split: str, resamples: int) -> list[dict]:
    """The rows of a run on one split of its dataset (file)."""
    return rows_of(
        [run],
        [judged(run, [split])],
        read_dataset(file.parent, run.facts["data_options"], [split]),
        resamples,
    )


def objectives_of(training: dict) -> str | None:
    """`sop 1, mlm 0.5`: the objectives of a run and their weights; None where it learns its own alone."""
    weights = training.get("objectives")
    try:
        return (
            ", ".join(f"{name} {weights[name]:g}" for name in sorted(weights, key="mlm".__eq__))
            if weights
            else None
        )
    except (TypeError, ValueError):
        raise UserError(
            f"a run.json has the objectives {shown(weights)}, which are none; run it again"
        ) from None


def context_of(options: dict) -> str | None:
    """`10 s`, `3 sentences`: the windows that were put in order; None for single captions."""
    if not (context := options.get("context")):
        return None
    try:
        return (
            f"{context['seconds']:g} s"
            if "seconds" in context
            else f"{context['sentences']:d} sentences"
        )
    except (KeyError, TypeError, ValueError):
        raise UserError(
            f"a run.json has the context {shown(context)}, which is none; run it again"
        ) from None


def options_told(options: dict) -> dict:
    """The options of a dataset as columns of metrics; the stride is missing where pairs of several are mixed."""
    stride, trained = options["stride"], options.get("train_stride")
    return {name: options[name] for name in VARIANTS} | {
        "stride": stride if isinstance(stride, int) else None,
        "context": context_of(options),
        "limit": options.get("limit"),
        "train_stride": str(stride if trained is None else trained)
        if trained is not None or isinstance(stride, str)
        else None,
        "learn_from": options.get("learn_from"),
        "predict": options.get("predict"),
        "span": options.get("span"),
        "order_by": order_by(options),
        "train_labels": options.get("train_labels"),
    }


def measure(
    datasets: dict[tuple, Systems],
    external: dict[tuple, Systems],
    build: Path,
    sources: dict,
    resamples: int,
    answers: Answers | None,
) -> list[dict]:
    """Every metric of the runs of an experiment (schema metrics, less the experiment); external: of external_systems(); answers: of
    answers_given()."""
    rows: list[dict] = []
    for (source, name), systems in datasets.items():
        facts, evaluation, first = (
            next(iter(systems.values()))[0].facts,
            sources[source]["evaluate"],
            len(rows),
        )
        dataset = read_dataset(build / source / name, facts["data_options"], evaluation)
        same = {
            "study": facts["study"],
            "source": source,
            "dataset": name,
            "sample": "sample" in sources[source],
        } | options_told(dataset.options)
        judgements = {
            system: [judged(run, evaluation) for run in runs] for system, runs in systems.items()
        }
        for (model, method), runs in systems.items():
            told = same | {
                "model": model,
                "method": method,
                "objectives": objectives_of(runs[0].facts["training"]),
            }
            rows += [
                told | row for row in rows_of(runs, judgements[model, method], dataset, resamples)
            ]
        for split in evaluation:
            elsewhere = external.get((source, name, split), {})
            of_elsewhere = {system: [judged(run, [split])] for system, [run] in elsewhere.items()}
            for (model, method), runs in elsewhere.items():
                rows += [
                    same | {"model": model, "method": method} | row
                    for row in rows_of(runs, of_elsewhere[model, method], dataset, resamples)
                ]
            rows += [
                same | {"split": split} | row
                for row in people_on(
                    answers, split, judgements | of_elsewhere, systems | elsewhere, resamples
                )
            ]
        seconds = {
            split: float(np.median(pairs["seconds_apart"]))
            for split, pairs in dataset.pairs.items()
        }
        rows[first:] = [row | {"seconds_apart": seconds[row["split"]]} for row in rows[first:]]
    return rows


def main(given: argparse.Namespace) -> None:
    evaluate(given, ANSWERED, SCHEMA, measure, of_file, {})


if __name__ == "__main__":
    execute(main, evaluation_given(evaluation_arguments(__doc__)))
