"""The rows of HellaSwag in the metrics, with the name of each system. Not a program."""

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
from scripts.studies.hellaswag.evaluate import SCHEMA

POINT = "source dataset split slice model method limit metric seed".split()
CHANCE = 0.25


def hellaswag_metrics(path: Path, models: dict) -> pd.DataFrame:
    """Return the rows of HellaSwag with `system`: the model, its method and, if experiments differ,
    the experiment.
    """
    metrics = without_people(study_metrics(path, "hellaswag", SCHEMA))
    how = metrics["method"].map(method_note)
    metrics["system"] = (
        titles_of(metrics, models)
        + how
        + limit_if_several(metrics)
        + experiment_if_needed(metrics, POINT)
    )
    metrics["is_model"] = metrics["method"] != "control"
    return in_order(metrics, "source dataset split is_model system metric slice".split())
