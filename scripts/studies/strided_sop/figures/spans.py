"""Draw how well k units are put in order against k: the whole order, Kendall's tau, and pairs by
how far apart they stand.

A row for each corpus, evaluation split and stride between neighbours. Spans are put in order by
scores of all their pairs, or of all their orders (the method packed), by the same bags of words as
well. Means over the seeds with 95 % intervals over videos and seeds; grey: the best control of each
k, of both ways, and chance (dotted).
"""

import argparse
import math
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import (
    BEST_CONTROL,
    CHANCE,
    Look,
    Panel,
    dodges,
    draw_line,
    draw_marks,
    figure_of,
    in_lines,
    legend_of,
    looks,
    publish,
    with_best_control,
)
from scripts.studies.strided_sop.figures.metrics import NUMBERS, place_title, sop_metrics, titles_of

METRICS = ["exact_order", "concordance", "pair_accuracy"]
PLACE = ["source", "split", "stride"]
COLUMNS = [
    *PLACE,
    "system",
    "model",
    "method",
    "experiment",
    "span",
    "order_by",
    "metric",
    "slice",
    *NUMBERS,
    "limit",
]


def ordered(metrics: pd.DataFrame, models: dict) -> pd.DataFrame:
    """The rows of spans over all seeds, with `system`;
    of controls those of the best at each k by the whole order.
    """
    rows = metrics[
        metrics["span"].notna() & metrics["seed"].isna() & metrics["metric"].isin(METRICS)
    ]
    rows = rows.assign(system=titles_of(rows, models), is_control=rows["method"] == "control")
    rows = rows.drop_duplicates([*PLACE, "system", "span", "order_by", "metric", "slice"])
    shown_rows = with_best_control(
        rows, [*PLACE, "span"], ["order_by", "system"], rows["metric"] == "exact_order"
    )
    return shown_rows.sort_values(
        [*PLACE, "is_control", "system", "span", "metric", "slice"],
        kind="stable",
        ignore_index=True,
    )


def draw_lines(
    axes: Axes, points: pd.DataFrame, along: str, known: dict[str, Look], xlabel: str, ylabel: str
) -> None:
    """A line for each system, along this column."""
    controls, shifts = points[points["is_control"]], dodges(known)
    draw_marks(axes, controls, BEST_CONTROL, along, intervals=False, zorder=2)
    for system, look in known.items():
        draw_marks(axes, points[points["system"] == system], look, along, shift=shifts[system])
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    locator = axes.xaxis.get_major_locator()
    assert isinstance(locator, MaxNLocator)  # that of axes with a linear scale
    locator.set_params(integer=True)


def draw_whole(axes: Axes, points: pd.DataFrame, known: dict[str, Look]) -> None:
    """The share of whole orders that are right."""
    sizes = sorted(points["span"].unique())
    axes.plot(
        sizes,
        [100 / math.factorial(int(size)) for size in sizes],
        color=style.GREY,
        linestyle=CHANCE.line,
        linewidth=1,
        zorder=1,
    )
    draw_lines(
        axes,
        points[points["metric"] == "exact_order"],
        "span",
        known,
        "units (k)",
        "whole order right (%)",
    )


def draw_tau(axes: Axes, points: pd.DataFrame, known: dict[str, Look]) -> None:
    """Kendall's tau, which is twice the concordance less one."""
    draw_line(axes, 0)
    numbers = ["value", "ci_low", "ci_high"]
    points = points[points["metric"] == "concordance"]
    points = points.assign(**(points[numbers] * 2 - 1) / 100)  # not in per cent
    draw_lines(axes, points, "span", known, "units (k)", "Kendall's τ")


def draw_pairs(axes: Axes, points: pd.DataFrame, known: dict[str, Look]) -> None:
    """The pairs of the largest spans that every model has, by how far apart they stand."""
    draw_line(axes)
    models = points[~points["is_control"]].groupby("system")["span"]
    largest = models.max().min() if known else points["span"].max()
    points = points[(points["span"] == largest) & (points["slice"] != "all")]
    points = points[points["metric"] == "concordance"]
    points = points.assign(apart=points["slice"].str.removeprefix("distance=").astype(int))
    draw_lines(
        axes, points, "apart", known, "places apart", f"pairs in order (%), k = {int(largest)}"
    )


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by ordered()."""
    known, lines = looks(points[~points["is_control"]], "system"), []
    for (source, split, stride), of_place in points.groupby(PLACE, sort=False):
        whole = of_place[of_place["slice"] == "all"]
        shown = ((draw_whole, whole), (draw_tau, whole), (draw_pairs, of_place))
        panels = [Panel(rows, partial(draw_one, known=known)) for draw_one, rows in shown]
        lines += in_lines(
            panels,
            3,
            f"{place_title(source, split, sources)}, {stride:.0f} skipped between neighbours",
        )
    others = BEST_CONTROL.handle(style.BEST_CONTROL), CHANCE.handle("chance")
    return figure_of(lines, legend_of(known, *others))


def main(given: argparse.Namespace) -> None:
    points, sources = ordered(sop_metrics(given.metrics), load(given.models)), load(given.sources)
    publish(given, points[COLUMNS], lambda: draw(points, sources), "no spans were put in order")


if __name__ == "__main__":
    run_program(main, __doc__)
