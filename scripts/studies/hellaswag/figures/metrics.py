"""The rows of HellaSwag in the metrics, with the name of each system. Not a program."""

from pathlib import Path

import pandas as pd

from scripts.studies.hellaswag.evaluate import SCHEMA
from scripts.publish.marks import limit_if_several
from scripts.publish.names import (
    experiment_if_needed,
    method_title,
    model_title,
    study_metrics,
    without_people,
)

POINT = ["source", "dataset", "split", "slice", "model", "method", "limit", "metric", "seed"]
CHANCE = 0.25


def hellaswag_metrics(path: Path, models: dict) -> pd.DataFrame:
    """The rows of HellaSwag of a metrics table, with a column `system`: the model, how it was
    asked and, where experiments differ, which.
    """
    metrics = without_people(study_metrics(path, "hellaswag", SCHEMA))
    how = metrics["method"].map(
        lambda method: "" if method in ("train", "control") else f", {method_title(method)}"
    )
    names = metrics["model"].map(lambda name: model_title(name, models)) + how
    metrics["system"] = names + limit_if_several(metrics) + experiment_if_needed(metrics, POINT)
    order = ["source", "dataset", "split", "is_model", "system", "metric", "slice"]
    metrics = metrics.assign(is_model=metrics["method"] != "control").sort_values(
        order, ignore_index=True, kind="stable"
    )
    return metrics.drop(columns="is_model")
