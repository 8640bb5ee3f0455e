"""Draw accuracy against the seconds between the two windows, a line for each length of window, a
panel for each corpus, split and model.

A mark is a stride, whose number stands beside it. Means over the seeds, at the epoch chosen on
held-out training videos, with 95 % intervals over videos and seeds. Grey: the best control of each
length.
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import (
    BEST_CONTROL,
    CHANCE,
    Look,
    draw_line,
    draw_marks,
    figure_of,
    in_lines,
    palette,
    publish,
    same_place,
    with_best_control,
)
from scripts.studies.strided_sop.figures.metrics import (
    NUMBERS,
    VARIANT,
    accuracies,
    panels_of,
    strided_metrics,
)

ONE = "one caption"
# The axis's largest by its smallest number, and where ticks stand in a decade.
TICKS = [(6, (1, 2, 3, 5, 7)), (60, (1, 2, 5)), (float("inf"), (1,))]
COLUMNS = [
    "source",
    "split",
    "system",
    "window",
    "series",
    "model",
    "experiment",
    "stride",
    "seconds_apart",
    *VARIANT,
    "limit",
    *NUMBERS,
]


def length_of(window: str) -> tuple[str, float]:
    """What a window is sorted by: its unit, then its length."""
    number, _, unit = window.partition(" ")
    return ("", 0.0) if window == ONE else (unit, float(number))


def windowed(metrics: pd.DataFrame) -> pd.DataFrame:
    """The accuracies over all seeds, with `window` and `system` (the series without its window); of
    controls the best of each window on each corpus and split.
    """
    points = accuracies(metrics)
    points = points.assign(
        window=points["context"].fillna(ONE),
        system=[
            series.replace(f", windows of {context}", "")
            for series, context in zip(points["series"], points["context"])
        ],
    )
    place = [points[name] for name in ("source", "split", "system")]
    points = points[points["context"].notna().groupby(place).transform("any")]
    shown_points = with_best_control(points, ["source", "split", "window"], ["series"])
    return shown_points.assign(place=shown_points["window"].map(length_of)).sort_values(
        ["source", "split", "system", "place", "stride"], kind="stable", ignore_index=True
    )


def draw_panel(
    axes: Axes, points: pd.DataFrame, controls: pd.DataFrame, known: dict[str, Look], ticks: tuple
) -> None:
    """The lines of one system, and those of the best controls on the same split."""
    draw_line(axes)
    here = same_place(controls, points)
    for window, look in known.items():
        grey = look._replace(colour=style.CONTROL, size=3, width=0.8)
        draw_marks(
            axes, here[here["window"] == window], grey, "seconds_apart", intervals=False, zorder=2
        )
        line = points[(points["window"] == window) & (points["method"] != "control")]
        draw_marks(axes, line, look, "seconds_apart")
        for seconds, value, stride in zip(line["seconds_apart"], line["value"], line["stride"]):
            axes.annotate(
                str(stride),
                (seconds, value * 100),
                (4, 4),
                textcoords="offset points",
                fontsize=6,
                color=look.colour,
            )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=ticks))
    axes.xaxis.set_major_formatter(lambda seconds, _: f"{seconds:g}")
    axes.minorticks_off()
    axes.set_xlabel("seconds between the two (median)")
    axes.set_ylabel("accuracy (%)")


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by windowed()."""
    known = palette(sorted(set(points["window"]), key=length_of))
    is_control, seconds = points["method"] == "control", points["seconds_apart"]
    reach = seconds.max() / seconds.min()
    ticks = next(subs for most, subs in TICKS if reach <= most)
    shown = points[~is_control] if not is_control.all() else points.assign(system="controls")
    draw_one = partial(draw_panel, controls=points[is_control], known=known, ticks=ticks)
    panels = panels_of(shown, draw_one, sources, "system")
    handles = [
        look.handle(window if window == ONE else f"windows of {window}")
        for window, look in known.items()
    ]
    handles += [
        BEST_CONTROL._replace(line="-", marker="", width=0.8).handle(style.BEST_CONTROL),
        CHANCE.handle("chance, 50 %"),
    ]
    return figure_of(in_lines(panels, min(3, len(panels))), [("", handles)], share_y="figure")


def main(given: argparse.Namespace) -> None:
    points, sources = (
        windowed(strided_metrics(given.metrics, load(given.models))),
        load(given.sources),
    )
    publish(
        given,
        points[COLUMNS],
        lambda: draw(points, sources),
        "no windows of captions were put in order",
    )


if __name__ == "__main__":
    run_program(main, __doc__)
