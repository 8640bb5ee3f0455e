"""Draw accuracy against stride by the weight of a second objective (masked words), a panel for each
corpus, model and evaluation split.

Weight 0 is sentence order alone. Marks are means over the seeds, at the epoch that is reported,
with 95 % intervals over videos and seeds. Grey: the best control, and chance.
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.plan.comparable import ROW
from scripts.running.program import UserError
from scripts.data.tables import read_metrics
from scripts.data.yaml_files import read_yaml
from scripts.studies.strided_sop.evaluate import SCHEMA
from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import (
    BEST_CONTROL,
    CHANCE,
    Look,
    dodges,
    draw_line,
    draw_marks,
    figure_of,
    in_lines,
    palette,
    publish,
    same_place,
)
from scripts.studies.strided_sop.figures.metrics import panels_of, titles_of

COLUMNS = [
    "source",
    "split",
    "model",
    "method",
    "variant",
    "stride",
    "weight",
    "experiment",
    "value",
    "sd",
    "seeds",
    "ci_low",
    "ci_high",
    "n",
    "groups",
    "sample",
    "limit",
]


def weighed(metrics: pd.DataFrame, compared: list[dict], models: dict) -> pd.DataFrame:
    """The accuracies over all seeds of the systems that are compared, with `weight` and
    `variant` (how they were trained and measured, in words).
    """
    systems = pd.DataFrame(compared)[["experiment", *ROW, "weight"]]
    rows = metrics[
        (metrics["study"] == "strided_sop")
        & (metrics["slice"] == "all")
        & (metrics["metric"] == "accuracy")
        & metrics["seed"].isna()
    ]
    rows = rows.merge(systems, on=["experiment", *ROW])
    return rows.assign(variant=titles_of(rows, models, objectives=None)).drop_duplicates(
        ["source", "dataset", "split", "model", "method", "weight"]
    )


def best_controls(metrics: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Of each dataset and split of the points the control with the highest accuracy: rows like
    theirs, without a weight.
    """
    keys = ["source", "dataset", "split", "stride"]
    rows = metrics[
        (metrics["method"] == "control")
        & (metrics["slice"] == "all")
        & (metrics["metric"] == "accuracy")
        & metrics["seed"].isna()
    ]
    rows = rows.merge(points[[*keys, "experiment"]].drop_duplicates()).sort_values(
        "value", ascending=False, kind="stable"
    )
    return rows.drop_duplicates(keys).assign(weight=float("nan"), variant="")


def draw_panel(
    axes: Axes,
    points: pd.DataFrame,
    controls: pd.DataFrame,
    known: dict[float, Look],
    strides: list[int],
) -> None:
    """The lines of one system by weight, and the best controls on the same split."""
    draw_line(axes)
    shifts = dodges([*known, "control"])
    for weight, look in known.items():
        draw_marks(
            axes,
            points[points["weight"] == weight].sort_values("stride"),
            look,
            "stride",
            shift=shifts[weight],
        )
    beside = same_place(controls, points)
    draw_marks(axes, beside, BEST_CONTROL, "stride", shift=shifts["control"], zorder=2)
    axes.set_xticks(strides)
    axes.set_xlim(strides[0] - 0.5, strides[-1] + 0.5)
    axes.set_xlabel("stride (sentences skipped)")
    axes.set_ylabel("accuracy (%)")


def draw(points: pd.DataFrame, controls: pd.DataFrame, sources: dict) -> Figure:
    """The figure of tables made by weighed() and best_controls()."""
    known, strides = palette(sorted(points["weight"].unique())), sorted(set(points["stride"]))
    draw_one = partial(draw_panel, controls=controls, known=known, strides=strides)
    panels = panels_of(points, draw_one, sources, "variant")
    handles = [
        look.handle(f"masked words, weight {weight:g}" if weight else "sentence order alone")
        for weight, look in known.items()
    ]
    handles += [BEST_CONTROL.handle(style.BEST_CONTROL)] * bool(len(controls))
    handles.append(CHANCE.handle("chance, 50 %"))
    return figure_of(in_lines(panels, min(3, len(panels))), [("", handles)], share_y="figure")


def main(given: argparse.Namespace) -> None:
    metrics = read_metrics(given.metrics, SCHEMA).to_pandas()
    points = weighed(
        metrics, read_yaml(given.sources.with_name("compared.yaml")), load(given.models)
    )
    if points.empty:
        raise UserError(
            f"{given.metrics}: no accuracy of runs with a second objective; evaluate them again"
        )
    controls, sources = best_controls(metrics, points), load(given.sources)
    publish(given, pd.concat([points, controls])[COLUMNS], lambda: draw(points, controls, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
