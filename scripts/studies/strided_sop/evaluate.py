"""Measure strided sentence order prediction (Jain et al. 2020, section 3 and figure 3).

  accuracy       at the epoch with the lowest loss on the held-out training videos
  peak_accuracy  at the epoch with the best accuracy on the evaluation split, as in the paper
  human_accuracy of people's answers (--people), if there are any; scripts/measure/people.py has
                 further columns

scripts/studies/strided_sop/tallies.py measures two more tasks: predicting the stride (the option
predict) and ordering spans (the option span). Accuracy is measured on all pairs (slice all) and on
slices (overlap=none, position=first_third, …: scripts/studies/strided_sop/slices.py). The n of each
partition's slices add up to the n of all. Groups are videos.

External predictions have the labels swapped and in_order.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.tables import read_complete
from scripts.measure.bootstrap import resampling
from scripts.measure.experiment import Run, label_scores, replicates_of
from scripts.measure.filtered import Filter
from scripts.measure.answered import Answered
from scripts.measure.people import System, people_rows
from scripts.measure.study import Part, Study, run_evaluation
from scripts.measure.tally import metric_rows, metrics_schema
from scripts.running.program import UserError
from scripts.studies.strided_sop.options import Options
from scripts.studies.strided_sop.slices import READ
from scripts.studies.strided_sop.strides import strides_of
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.studies.strided_sop.tallies import Found, highest, order_tallies, pair_span_tallies
from scripts.studies.strided_sop.tallies import span_tallies, stride_tallies

METRIC = {"held_out": "accuracy", "last": "accuracy", "direct": "accuracy", "peak": "peak_accuracy"}
ANSWERED = Answered(
    "strided_sop", ("pair_id", "video_id", "text_a", "text_b"), (["swapped", "in_order"],)
)
PAIRS = pa.schema(
    [
        STRIDED_PAIRS.field(name)
        for name in dict.fromkeys([*READ, "video_id", "first_position", "seconds_apart", "label"])
    ]
)
SCHEMA = metrics_schema(Options, {"seconds_apart": pa.float64(), "objectives": pa.string()})


# ---- the paper's metric


def read_pairs(file: Path) -> pd.DataFrame:
    """Return the pairs of a split (schema PAIRS), with example_id and group_id. Raises UserError if
    the split has no pairs.
    """
    pairs = read_complete(file, PAIRS, ["category"]).to_pandas()
    if pairs.empty:
        raise UserError(f"{file}: no pairs; the log of its build says why")
    return pairs.assign(example_id=pairs["pair_id"], group_id=pairs["video_id"])


def judged(run: Run, split: str) -> pd.DataFrame:
    """Return a run's predictions on a split: metric, example_id, group_id, label, right (0, 1; a
    tie gives half).

    A control that sees no cue in a pair scores both orders equally. It then gets half, the expected
    value; the order of the labels does not decide.
    """
    table = run.predictions(["split", "selection", "example_id", "group_id", "label", "score"])
    scores, options = label_scores(run, table), run.facts["data_options"]
    frame = table.drop_columns(["score"]).to_pandas()
    if options.get("predict") or options.get("span"):
        frame["scores"] = list(scores)
    frame["right"] = highest(scores)[np.arange(len(frame)), frame["label"]]
    frame["metric"] = frame["selection"].map(METRIC)
    return frame[frame["split"] == split]


def rows_of(
    pairs: pd.DataFrame, part: Part, resamples: int, people: pd.DataFrame | None
) -> list[dict]:
    rows, found = [], {}
    for (model, method), runs in part.systems.items():
        judgements = [judged(run, part.split) for run in runs]
        objectives = objectives_of(runs[0].facts.get("training", {}))
        same = {"model": model, "method": method, "objectives": objectives}
        rows += [same | row for row in system_rows(runs, judgements, pairs, part, resamples)]
        if people is not None:
            found[model, method] = accuracy_of(runs, judgements, pairs)
    rows += people_rows(
        people,
        pairs.assign(unit=pairs["pair_id"]),
        lambda part, chosen: {"accuracy": (part["label"] == chosen).to_numpy(float)},
        found,
        len(ANSWERED.labels[0]),
        resamples,
    )
    seconds = float(np.median(pairs["seconds_apart"]))
    return [row | {"seconds_apart": seconds} for row in rows]


def system_rows(
    runs: list[Run], judgements: list[pd.DataFrame], pairs: pd.DataFrame, part: Part, resamples: int
) -> list[dict]:
    """Return the rows of one model, by metric. judgements: from judged()."""
    by_metric, rows = [dict(list(one.groupby("metric"))) for one in judgements], []
    plain = not part.options.get("predict") and not part.options.get("span")
    # A run that was scored with saved weights has no peak.
    shared = [name for name in by_metric[0] if all(name in one for one in by_metric)]
    for metric in [name for name in shared if plain or name == "accuracy"]:
        ordered = []
        for run, of_run in zip(runs, by_metric):
            of_metric = of_run[metric].set_index("example_id")
            if set(of_metric.index) != set(pairs["pair_id"]):
                raise UserError(
                    f"{run.folder}: its predictions belong to other pairs than the dataset's; run "
                    "it again"
                )
            ordered.append(of_metric.loc[pairs["pair_id"]])
        tallies, videos = tallies_of(ordered, pairs, part, metric)
        rows += metric_rows(tallies, replicates_of(runs), resampling(videos, resamples))
    return rows


# ---- beside the paper: strides, spans, two objectives, windows, people


def tallies_of(
    judgements: list[pd.DataFrame], pairs: pd.DataFrame, part: Part, metric: str
) -> Found:
    """Return the tallies of one system, and the videos. judgements: for each replicate a table over
    the pairs, in their order.
    """
    options = part.options
    if predict := options.get("predict"):
        return stride_tallies(
            judgements, pairs, len(strides_of(options["stride"])), predict == "order_and_stride"
        )
    if order_by(options) == "permutations":
        return span_tallies(judgements, pairs, options["span"])
    if options.get("span"):
        return pair_span_tallies(judgements, pairs, options["span"], options["stride"] + 1)
    return order_tallies(judgements, pairs, metric)


def order_by(options: dict) -> str | None:
    """Return how a dataset's spans are put in order: by scores of their pairs, or of their
    permutations; None without spans.
    """
    return options.get("order_by", "pairs") if options.get("span") else None


def objectives_of(training: dict) -> str | None:
    """Return the objectives of a run and their weights, for example `sop 1, mlm 0.5`; None without
    a second objective.
    """
    weights = training.get("objectives")
    if not weights:
        return None
    return ", ".join(
        f"{name} {weights[name]:g}" for name in sorted(weights, key=lambda name: name == "mlm")
    )


def context_of(options: dict) -> str | None:
    """Return the windows that are put in order: `10 s`, `3 sentences`; None for single captions."""
    if not (context := options.get("context")):
        return None
    if "seconds" in context:
        return f"{context['seconds']:g} s"
    return f"{context['sentences']} sentences"


def columns_of(options: dict) -> dict:
    """Return the options of a dataset as columns of metrics. The stride is missing for a mixture of
    strides.
    """
    stride, trained = options["stride"], options.get("train_stride")
    if isinstance(stride, str):
        stride, trained = None, stride if trained is None else trained
    return options | {
        "stride": stride,
        "context": context_of(options),
        "train_stride": None if trained is None else str(trained),
        "order_by": order_by(options),
    }


def accuracy_of(runs: list[Run], judgements: list[pd.DataFrame], pairs: pd.DataFrame) -> System:
    """Return whether each run of a system is right on each pair, for the comparison with people."""
    right = [
        one[one["metric"] == "accuracy"].set_index("example_id")["right"].loc[pairs["pair_id"]]
        for one in judgements
    ]
    return System({"accuracy": np.stack(right).astype(float)}, replicates_of(runs))


FILTER = Filter("pair_id", ("video_id",))
STUDY = Study(
    ANSWERED, SCHEMA, read_pairs, rows_of, unit="pair_id", columns=columns_of, filters=FILTER
)


if __name__ == "__main__":
    run_evaluation(__doc__, STUDY)
