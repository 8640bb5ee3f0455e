"""The names under which corpora, models and series stand in figures, tables and the page."""

from pathlib import Path

import pandas as pd
import yaml

from scripts.common.program import UserError
from scripts.common.tables import read_table


def load(path: Path) -> dict:
    """A YAML resource."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def model_title(name: str, models: dict) -> str:
    """A model's title and, where it was not pretrained, that it was trained from scratch."""
    entry = models.get(name, {})
    scratch = ", from scratch" if "init" in entry else ""
    return f"{entry.get('title', name.replace('_', '-'))}{scratch}"


def strided_metrics(path: Path, models: dict) -> pd.DataFrame:
    """The strided_sop rows of a metrics table, with a column `series`: the model and how it was trained.

    What two experiments share stands once; where they measured the same setting differently (other training
    settings, other seeds), the series carries the experiment's name. `seed` is missing in rows over all seeds.
    """
    metrics = read_table(path).to_pandas()
    metrics = metrics[metrics["study"] == "strided_sop"].copy()
    if metrics.empty:
        raise UserError(f"{path}: no rows of study strided_sop; run an experiment of it before drawing its figures")
    metrics["stride"] = metrics["stride"].astype(int)
    metrics = metrics.drop_duplicates([name for name in metrics if name != "experiment"])
    point = ["source", "split", "model", "size_matched", "stride", "metric", "seed"]
    twice = metrics[metrics["seed"].isna()].groupby(point, dropna=False)["experiment"].transform("size") > 1
    ambiguous = set(metrics.loc[twice[twice].index, "model"])
    matched = metrics["size_matched"].notna()
    metrics["series"] = (
        metrics["model"].map(lambda name: model_title(name, models))
        + matched.map({True: ", size-matched", False: ""})
        + metrics["experiment"].where(metrics["model"].isin(ambiguous), "").map(lambda name: name and f" ({name})")
    )
    return metrics.sort_values(["source", "split", "series", "metric", "stride", "seed"], ignore_index=True)
