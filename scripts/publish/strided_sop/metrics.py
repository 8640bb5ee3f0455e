"""The rows of strided sentence order prediction in the metrics."""

from pathlib import Path

import pandas as pd

from scripts.evaluate.strided_sop import SCHEMA
from scripts.publish.names import experiment_if_needed, model_title, study_metrics


def strided_metrics(path: Path, models: dict) -> pd.DataFrame:
    """The strided_sop rows of a metrics table, with a column `series`: the model and how it was trained.

    What two experiments share stands once; where they measured the same setting differently (other training
    settings, other seeds), the series carries the experiment's name. `seed` is missing in rows over all seeds.
    """
    metrics = study_metrics(path, "strided_sop", SCHEMA)
    metrics["stride"] = metrics["stride"].astype(int)
    point = ["source", "split", "model", "size_matched", "stride", "metric", "seed"]
    metrics["series"] = (
        metrics["model"].map(lambda name: model_title(name, models))
        + metrics["size_matched"].notna().map({True: ", size-matched", False: ""})
        + experiment_if_needed(metrics, point)
    )
    return metrics.sort_values(["source", "split", "series", "metric", "stride", "seed"], ignore_index=True)
