"""Measure questions with options: the share of items whose right options score above all others.

  accuracy  over all items (slice all) and by category (category=…), if there are several. A tie
            counts as wrong. A control's tie counts as the expected value of a random choice. Groups
            are those of the items: what shares a context, a video, an article.

External predictions give a score of every option, or a label right or wrong.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.running.program import UserError
from scripts.studies.choices.options import Options
from scripts.studies.choices.tables import CHOICES
from scripts.measure.bootstrap import resampling
from scripts.measure.experiment import read_examples, replicates_of
from scripts.measure.answered import Answered
from scripts.measure.people import System, people_rows
from scripts.measure.study import Part, Study, run_evaluation
from scripts.measure.tally import Tally, metric_rows, metrics_schema, share_tally
from scripts.measure.ranking import outranked, outranked_by_chance, scores_of

SCHEMA = metrics_schema(Options, {"train_examples": pa.int64()})
PRINTED = {"category=": ("accuracy",)}  # metrics of slices to print for external predictions
ANSWERED = Answered(
    "choices",
    ("example_id", "group_id", "context", "candidate"),
    (["wrong", "right"],),
    scored=True,
)


# ---- accuracy


def read_options(file: Path) -> pd.DataFrame:
    """Return the options of a split (schema choices), with `instance`, the number of their item.
    Raises UserError for an item without a right option, or without a wrong one.
    """
    options = read_examples(file, CHOICES, 2)
    share = options.groupby("instance_id")["label"].transform("mean")
    for item in options["instance_id"][share.isin([0, 1])]:
        raise UserError(
            f"{file}: item {item} needs a right option and a wrong one; build the dataset again"
        )
    return options.assign(instance=pd.factorize(options["instance_id"])[0])


def rows_of(
    options: pd.DataFrame, part: Part, resamples: int, people: pd.DataFrame | None
) -> list[dict]:
    label, item, rows, found = options["label"].to_numpy(), options["instance"].to_numpy(), [], {}
    for (model, method), runs in part.systems.items():
        how = outranked_by_chance if method == "control" else outranked
        right = [how(scores_of(run, part.split, options)[0], label, item)[0] for run in runs]
        found[model, method] = System({"accuracy": np.stack(right)}, replicates_of(runs))
        tallies, groups = tallies_of(options, right)
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
        people, options.assign(unit=options["instance_id"]), people_values, found, 2, resamples
    )


def slices_of(items: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return (items,) which items belong to each category; empty if they have none."""
    category = items["category"].to_numpy()
    return {f"category={name}": category == name for name in sorted(set(category)) if name}


def tallies_of(options: pd.DataFrame, right: list[np.ndarray]) -> tuple[list[Tally], pd.Index]:
    """Return the accuracy on each slice, by group, and the names of the groups. right:
    for each replicate the (items,) credit (a tie gives a part).
    """
    items = options.drop_duplicates("instance")
    group, groups = pd.factorize(items["group_id"])
    parts = {"all": np.full(len(items), True)} | slices_of(items)
    tallies = [
        share_tally(name, "accuracy", right, inside, group, len(groups))
        for name, inside in parts.items()
    ]
    return tallies, groups


# ---- beside the paper: people


def people_values(options: pd.DataFrame, chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Return (items,) 1 if a person chose the right options and no other, else 0."""
    return {
        "accuracy": outranked(
            chosen, options["label"].to_numpy(), pd.factorize(options["instance_id"])[0]
        )[0]
    }


STUDY = Study(ANSWERED, SCHEMA, read_options, rows_of, unit="instance_id", printed=PRINTED)


if __name__ == "__main__":
    run_evaluation(__doc__, STUDY)
