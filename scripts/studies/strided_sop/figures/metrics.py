"""The rows of strided sentence order prediction in the metrics, their names,
and the panels that show them.

Not a program.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.studies.strided_sop.strides import UP_TO
from scripts.studies.strided_sop.evaluate import SCHEMA
from scripts.publish.marks import limit_if_several
from scripts.publish.names import (
    experiment_if_needed,
    method_title,
    model_title,
    source_title,
    split_title,
    study_metrics,
    without_people,
)
from scripts.publish.panels import Panel

PLAIN = ["train", "control", "human"]  # methods that need not be told beside the model
VARIANT = [
    "size_matched",
    "same_videos",
    "hard",
    "context",
    "train_stride",
    "learn_from",
    "train_labels",
    "objectives",
    "method",
]  # what sets series of one model apart
NUMBERS = ["value", "sd", "ci_low", "ci_high", "n", "groups", "sample"]


def strides_in_words(stride: str) -> str:
    """`stride 2`, `strides 0 to 4`: what was learnt from, as the option train_stride says it."""
    return (
        f"strides 0 to {stride.removeprefix(UP_TO)}"
        if stride.startswith(UP_TO)
        else f"stride {stride}"
    )


def learnt_title(facts: dict | pd.Series) -> str:
    """`, learnt from stride 2, learnt from hirest`: what was learnt from,
    where that is not what is measured.
    """
    stride: Any = facts.get("train_stride")
    corpus: Any = facts.get("learn_from")
    return (f", learnt from {strides_in_words(stride)}" if pd.notna(stride) else "") + (
        f", learnt from {corpus.replace('_', ' ')}" if pd.notna(corpus) else ""
    )


def objectives_title(facts: dict | pd.Series) -> str:
    """`, beside masked words (weight 0.5)`: the second objective of a run;
    nothing where it learnt its own alone.
    """
    objectives: Any = facts.get("objectives")
    return (
        f", beside masked words (weight {objectives.rpartition(' ')[2]})"
        if pd.notna(objectives)
        else ""
    )


def sop_metrics(path: Path) -> pd.DataFrame:
    """The rows of strided sentence order of a metrics table."""
    return study_metrics(path, "strided_sop", SCHEMA)


def accuracies(metrics: pd.DataFrame) -> pd.DataFrame:
    """The accuracies over all seeds."""
    return metrics[metrics["seed"].isna() & (metrics["metric"] == "accuracy")]


def place_title(source: str, split: str, sources: dict) -> str:
    """A corpus and its split, as they stand over a line of panels."""
    return f"{source_title(source, sources)}, {split_title(split)}"


def panels_of(points: pd.DataFrame, draw: Callable, sources: dict, *system: str) -> list[Panel]:
    """A panel for each corpus, split and system; system: the column of its name,
    if there are several.
    """
    return [
        Panel(of_panel, draw, source_title(source, sources), ", ".join([split_title(split), *name]))
        for (source, split, *name), of_panel in points.groupby(
            ["source", "split", *system], sort=False
        )
    ]


def of_one_stride(metrics: pd.DataFrame, crossed: bool) -> pd.DataFrame:
    """Rows of one stride each: where several are mixed, those on the slices `stride=k` stand for
    all pairs of stride k; other rows of a mixture are left out, and so is what tells the stride or
    orders spans and, unless crossed, what learnt from another stride or corpus.
    """
    stride = metrics["slice"].str.extract(r"^stride=(\d+)$")[0]
    mixed = metrics["stride"].isna()
    same = metrics["train_stride"].isna() | mixed & metrics["train_stride"].str.startswith(
        UP_TO, na=False
    )
    is_plain = metrics["learn_from"].isna() & same | crossed
    metrics = metrics.assign(
        stride=metrics["stride"].where(~mixed, stride.astype(float)),
        slice=metrics["slice"].where(~mixed, "all"),
    )
    return metrics[
        metrics["predict"].isna() & metrics["span"].isna() & metrics["stride"].notna() & is_plain
    ]


def variant_title(facts: dict | pd.Series) -> str:
    """`, size-matched`: how a model was trained and measured, where not plainly;
    facts: the columns VARIANT.
    """
    method = facts["method"]
    method_text = "" if method in PLAIN else f", {method_title(method)}"
    return (
        method_text
        + ", same videos" * pd.notna(facts["same_videos"])
        + ", size-matched" * pd.notna(facts["size_matched"])
        + ", hard pairs" * (pd.notna(facts["hard"]) and bool(facts["hard"]))
        + (f", windows of {facts['context']}" if pd.notna(facts.get("context")) else "")
        + learnt_title(facts)
        + ", learnt from coins" * pd.notna(facts.get("train_labels"))
        + objectives_title(facts)
    )


def titles_of(rows: pd.DataFrame, models: dict, **changed: object) -> list[str]:
    """By row the model's title, and how it was trained and measured;
    changed: facts that its title does not tell.
    """
    return [
        model_title(row["model"], models) + variant_title(row | changed)
        for row in rows.to_dict("records")
    ]


def strided_metrics(
    path: Path, models: dict, slices: bool = False, crossed: bool = False
) -> pd.DataFrame:
    """The strided_sop rows of a metrics table, with a column `series`: the model,
    and how it was trained and measured.

    Rows on all pairs only; slices: those on slices, too; crossed: those of what learnt from another
    stride or corpus, too.

    What two experiments share stands once; where they measured the same setting differently (other
    training settings, other seeds), the series carries the experiment's name. `seed` is missing in
    rows over all seeds.
    """
    metrics = of_one_stride(sop_metrics(path), crossed)
    metrics = metrics[slices | (metrics["slice"] == "all")]
    metrics = pd.concat(
        [
            without_people(metrics),
            metrics[(metrics["metric"] == "human_accuracy") & (metrics["slice"] == "all")],
        ]
    )
    metrics["stride"] = metrics["stride"].astype(int)
    point = ["source", "split", "slice", "model", *VARIANT, "stride", "limit", "metric", "seed"]
    variants = metrics[VARIANT].drop_duplicates()
    titles = variants.assign(title=[variant_title(row) for row in variants.to_dict("records")])
    metrics["series"] = (
        metrics["model"].map(lambda name: model_title(name, models))
        + metrics.merge(titles, on=VARIANT, how="left")["title"].to_numpy()
        + limit_if_several(metrics)
        + experiment_if_needed(metrics, point)
    )
    # controls first, as in every study
    order = ["source", "split", "is_model", "series", "metric", "stride", "seed", "slice"]
    metrics = metrics.assign(is_model=metrics["method"] != "control").sort_values(
        order, ignore_index=True, kind="stable"
    )
    return metrics.drop(columns="is_model")
