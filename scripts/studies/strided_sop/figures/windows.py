"""Draw accuracy against the seconds between the two windows, a line for each length of window, a
panel for each corpus, split and model. A number beside a mark is its stride.
"""

import argparse

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
    draw_line,
    draw_marks,
    figure_of,
    in_lines,
    palette,
    publish,
    same_place,
    with_best_control,
)
from scripts.publish.table import percent
from scripts.publish.message import titled
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
PLACE = ["source", "split", "system"]
COLUMNS = [*PLACE, *"window series model experiment stride seconds_apart".split()]
COLUMNS += [*VARIANT, "limit", *NUMBERS]


def length_of(window: str) -> tuple[str, float]:
    """What a window is sorted by: its unit, then its length."""
    number, _, unit = window.partition(" ")
    return ("", 0.0) if window == ONE else (unit, float(number))


def windowed(metrics: pd.DataFrame) -> pd.DataFrame:
    """The accuracies over all seeds, with `window` and `system` (the series without its window); of
    controls the best of each window.
    """
    points = accuracies(metrics)
    systems = [
        series.replace(f", windows of {context}", "")
        for series, context in zip(points["series"], points["context"])
    ]
    points = points.assign(window=points["context"].fillna(ONE), system=systems)
    is_window = points["context"].notna()
    points = points[is_window.groupby([points[name] for name in PLACE]).transform("any")]
    points = with_best_control(points, [*PLACE[:2], "window"], ["series"])
    points = points.assign(place=points["window"].map(length_of))
    return points.sort_values([*PLACE, "place", "stride"], kind="stable", ignore_index=True)


def best_window(points: pd.DataFrame, controls: pd.DataFrame) -> str:
    """`Highest with windows of 30 s: 64.1 % at stride 2 (best control: 63.0)`."""
    best = points.loc[points["value"].idxmax()]
    beside = same_place(controls, points.loc[[best.name]], ["source", "split", "window", "stride"])
    control = f" (best control: {percent(beside['value'].max())})" * bool(len(beside))
    window = best["window"] if best["window"] == ONE else f"windows of {best['window']}"
    return (
        f"Highest with {window}: {percent(best['value'])} % at stride {best['stride']:.0f}{control}"
    )


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    known = palette(sorted(set(points["window"]), key=length_of))
    is_control, seconds = points["method"] == "control", points["seconds_apart"]
    reach, controls = seconds.max() / seconds.min(), points[is_control]
    ticks = next(subs for most, subs in TICKS if reach <= most)

    def draw_panel(axes: Axes, points: pd.DataFrame) -> None:
        draw_line(axes)
        here = same_place(controls, points)
        for window, look in known.items():
            grey = look._replace(colour=style.CONTROL, size=3, width=0.8)
            of_controls = here[here["window"] == window]
            draw_marks(axes, of_controls, grey, "seconds_apart", intervals=False, zorder=2)
            line = points[(points["window"] == window) & (points["method"] != "control")]
            draw_marks(axes, line, look, "seconds_apart")
            for seconds, value, stride in line[["seconds_apart", "value", "stride"]].to_numpy():
                axes.annotate(
                    f"{stride:.0f}",
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

    shown = points[~is_control] if not is_control.all() else points.assign(system="controls")
    panels = panels_of(shown, draw_panel, sources, "system")
    panels = [titled(panel, best_window(panel.points, controls)) for panel in panels]
    names = {window: f"windows of {window}" for window in known} | {ONE: ONE}
    handles = [look.handle(names[window]) for window, look in known.items()]
    line = BEST_CONTROL._replace(line="-", marker="", width=0.8)
    handles += [line.handle(style.BEST_CONTROL), CHANCE.handle("chance, 50 %")]
    return figure_of(in_lines(panels, min(3, len(panels))), [("", handles)], share_y="figure")


def main(given: argparse.Namespace) -> None:
    points = windowed(strided_metrics(given.metrics, load(given.models)))
    sources = load(given.sources)
    publish(given, points[COLUMNS], lambda: draw(points, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
