"""Measure HellaSwag (Zellers et al. 2019): the share of items whose right ending scores highest.

  accuracy  of items with one right ending of four, over all items (slice all) and by source
            (domain=activitynet, domain=wikihow). A tie counts as wrong. A control's tie counts as
            the expected value of a random choice. Groups are videos and articles.

External predictions give a score of every ending, or a label right or wrong.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.running.program import execute
from scripts.studies.hellaswag.options import Options
from scripts.studies.hellaswag.tables import CHOICES
from scripts.measure.arguments import evaluation_arguments, evaluation_given
from scripts.measure.bootstrap import resampling
from scripts.measure.experiment import read_examples, replicates_of
from scripts.measure.answered import Answered
from scripts.measure.people import System, people_rows
from scripts.measure.study import Part, Study, evaluate
from scripts.measure.tally import Tally, metric_rows, metrics_schema, share, sums_by_group
from scripts.measure.ranking import checked, outranked, outranked_by_chance, scores_of

SCHEMA = metrics_schema(Options, {"train_examples": pa.int64()})
PRINTED = {"domain=": ("accuracy",)}  # metrics of slices to print for external predictions
ANSWERED = Answered(
    "hellaswag",
    ("example_id", "group_id", "context", "candidate"),
    (["wrong", "right"],),
    scored=True,
)


# ---- the paper's metric


def read_endings(file: Path) -> pd.DataFrame:
    """Return the endings of a split (schema choices), with `instance`, the number of their item."""
    return checked(read_examples(file, CHOICES, 2), file)


def rows_of(
    endings: pd.DataFrame, part: Part, resamples: int, people: pd.DataFrame | None
) -> list[dict]:
    label, item, rows, found = endings["label"].to_numpy(), endings["instance"].to_numpy(), [], {}
    for (model, method), runs in part.systems.items():
        how = outranked_by_chance if method == "control" else outranked
        right = [how(scores_of(run, part.split, endings)[0], label, item)[0] for run in runs]
        found[model, method] = System({"accuracy": np.stack(right)}, replicates_of(runs))
        tallies, groups = tallies_of(endings, right)
        same = {
            "model": model,
            "method": method,
            "train_examples": runs[0].facts["train_examples"] or None,
        }
        rows += [
            same | row
            for row in metric_rows(tallies, replicates_of(runs), resampling(groups, resamples))
        ]
    return rows + people_rows(
        people, endings.assign(unit=endings["instance_id"]), people_values, found, 2, resamples
    )


def tallies_of(endings: pd.DataFrame, right: list[np.ndarray]) -> tuple[list[Tally], pd.Index]:
    """Return the accuracy on each slice, by video or article, and the names of these groups. right:
    for each replicate the (items,) credit (a tie gives a part).
    """
    items = endings.drop_duplicates("instance")
    group, groups = pd.factorize(items["group_id"])
    domains = items["domain"].to_numpy()
    parts = {"all": np.full(len(items), True)} | {
        f"domain={name}": domains == name for name in sorted(set(domains))
    }
    return [
        Tally(
            name,
            {"accuracy": share},
            sums_by_group([one * inside for one in right], group, len(groups)),
            np.bincount(group[inside], minlength=len(groups)),
        )
        for name, inside in parts.items()
    ], groups


# ---- beside the paper: people


def people_values(endings: pd.DataFrame, chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Return (items,) 1 if a person chose the right ending and no other ending, else 0."""
    return {
        "accuracy": outranked(
            chosen, endings["label"].to_numpy(), pd.factorize(endings["instance_id"])[0]
        )[0]
    }


STUDY = Study(ANSWERED, SCHEMA, read_endings, rows_of, unit="instance_id", printed=PRINTED)


def main(given: argparse.Namespace) -> None:
    evaluate(given, STUDY)


if __name__ == "__main__":
    execute(main, evaluation_given(evaluation_arguments(__doc__, "hellaswag")))
