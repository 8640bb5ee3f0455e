"""The rows of choices in the metrics, with the name of each system. Not a program."""

from pathlib import Path

import pandas as pd

from scripts.publish.marks import limit_if_several
from scripts.publish.names import (
    experiment_if_needed,
    in_order,
    method_note,
    study_metrics,
    titles_of,
    without_people,
)
from scripts.studies.choices.evaluate import SCHEMA

POINT = "source dataset split slice model method limit metric seed".split()
CATEGORY = "category="  # how a slice of a category begins


def choices_metrics(path: Path, models: dict) -> pd.DataFrame:
    """Return the rows of choices with `system`: the model, its method and, if experiments differ,
    the experiment.
    """
    metrics = without_people(study_metrics(path, "choices", SCHEMA))
    how = metrics["method"].map(method_note)
    metrics["system"] = (
        titles_of(metrics, models)
        + how
        + limit_if_several(metrics)
        + experiment_if_needed(metrics, POINT)
    )
    metrics["is_model"] = metrics["method"] != "control"
    return in_order(metrics, "source dataset split is_model system metric slice".split())


def title_of(part: str) -> str:
    """Return a slice in words: its category, or `all items`."""
    return part.removeprefix(CATEGORY).replace("_", " ") if part != "all" else "all items"
