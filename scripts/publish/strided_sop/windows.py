"""Draw accuracy against the seconds between the two windows, a line for each length of window, a panel for each corpus, split and model.

A mark is a stride, whose number stands beside it. Means over the seeds, at the epoch chosen on held-out training videos, with 95 %
intervals over videos and seeds. Grey: the best control of each length.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.strided_sop.windows --metrics results/evaluate/extensions/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --output results/publish/extensions/figures/strided_sop_windows
"""

import argparse
import math
import textwrap

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from scripts.common.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, split_title
from scripts.publish.strided_sop.metrics import VARIANT, strided_metrics
from scripts.publish.table import write_points

ONE = "one caption"
TICKS = [(6, (1, 2, 3, 5, 7)), (60, (1, 2, 5)), (float("inf"), (1,))]  # the axis's largest by its smallest number, and where ticks stand in a decade
COLUMNS = ["source", "split", "system", "window", "series", "model", "experiment", "stride", "seconds_apart", *VARIANT, "limit", "value", "sd", "ci_low",
           "ci_high", "n", "groups", "sample"]


def length_of(window: str) -> tuple[str, float]:
    """What a window is sorted by: its unit, then its length."""
    number, _, unit = window.partition(" ")
    return ("", 0.0) if window == ONE else (unit, float(number))


def windowed(metrics: pd.DataFrame) -> pd.DataFrame:
    """The accuracies over all seeds, with `window` and `system` (the series without its window); of controls the best of each window
    on each corpus and split."""
    points = metrics[metrics["seed"].isna() & (metrics["metric"] == "accuracy")]
    points = points.assign(window=points["context"].fillna(ONE), system=[
        series.replace(f", windows of {context}", "") for series, context in zip(points["series"], points["context"])])
    place = [points[name] for name in ("source", "split", "system")]
    points = points[points["context"].notna().groupby(place).transform("any")]
    controls = points[points["method"] == "control"]
    reached = controls.groupby(["source", "split", "window", "series"], as_index=False)["value"].mean()
    best = reached.loc[reached.groupby(["source", "split", "window"])["value"].idxmax() if len(reached) else [], ["source", "split", "window", "series"]]
    kept = pd.concat([points[points["method"] != "control"], controls.merge(best)])
    return kept.assign(place=kept["window"].map(length_of)).sort_values(["source", "split", "system", "place", "stride"], kind="stable", ignore_index=True)


def draw_line(axes: Axes, line: pd.DataFrame, colour: str, marker: str) -> None:
    """The strides of one window; of a control a thin grey line."""
    if line["method"].eq("control").all():
        axes.plot(line["seconds_apart"], line["value"] * 100, color=style.CONTROL, linewidth=0.8, marker=marker, markersize=3, zorder=2)
        return
    axes.errorbar(line["seconds_apart"], line["value"] * 100, yerr=style.error_bars(line), color=colour, marker=marker, markersize=4.5,
                  elinewidth=0.9, capsize=2, zorder=4)
    for seconds, value, stride in zip(line["seconds_apart"], line["value"], line["stride"]):
        axes.annotate(str(stride), (seconds, value * 100), (4, 4), textcoords="offset points", fontsize=6, color=colour)


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by windowed()."""
    style.apply()
    if points.empty:
        return style.nothing("no windows of captions were put in order")
    windows = sorted(set(points["window"]), key=length_of)
    looks = {window: (style.COLOURS[place % 6], style.MARKERS[place % 6]) for place, window in enumerate(windows)}
    models, controls = points[points["method"] != "control"], points[points["method"] == "control"]
    shown = models if len(models) else controls.assign(system="controls")
    panels = list(shown.groupby(["source", "split", "system"], sort=False))
    handles = [Line2D([], [], color=colour, marker=marker, markersize=4.5, label=window if window == ONE else f"windows of {window}")
               for window, (colour, marker) in looks.items()]
    handles += [Line2D([], [], color=style.CONTROL, linewidth=0.8, label=style.BEST_CONTROL),
                Line2D([], [], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, label="chance, 50 %")]
    across, reach = min(3, len(panels)), points["seconds_apart"].max() / points["seconds_apart"].min()
    down = math.ceil(len(panels) / across)
    foot = 0.6 + style.legends_height([("", handles)])
    figure, grid = plt.subplots(down, across, figsize=(style.WIDTH, 2.5 * down + foot), sharey=True, squeeze=False)
    height = figure.get_figheight()
    figure.subplots_adjust(left=0.62 / style.WIDTH, right=1 - 0.08 / style.WIDTH, top=1 - 0.7 / height, bottom=(foot + 0.1) / height,
                           wspace=0.12, hspace=0.62)
    for place, ((source, split, system), of_panel) in enumerate(panels):
        axes = grid.flat[place]
        axes.axhline(50, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, zorder=1)
        beside = controls[(controls["source"] == source) & (controls["split"] == split)]
        for window, (colour, marker) in looks.items():
            for lines in (beside, of_panel[of_panel["method"] != "control"]):
                if len(line := lines[lines["window"] == window]):
                    draw_line(axes, line, colour, marker)
        style.panel_title(axes, textwrap.wrap(sources.get(source, {}).get("title", source), 28)[:2], f"{split_title(split)}, {system}"[:44])
        style.mark(axes, face_of(of_panel))
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=next(subs for most, subs in TICKS if reach <= most)))
        axes.xaxis.set_major_formatter(lambda seconds, _: f"{seconds:g}")
        axes.minorticks_off()
        axes.set_xlabel("seconds between the two (median)")
        if place % across == 0:
            axes.set_ylabel("accuracy (%)")
    for axes in grid.flat[len(panels):]:
        axes.set_visible(False)
    style.legends(figure, [("", handles)], 0.1)
    return figure


def main(given: argparse.Namespace) -> None:
    points, sources = windowed(strided_metrics(given.metrics, load(given.models))), load(given.sources)
    style.save(lambda: draw(points, sources), given)
    write_points(points[COLUMNS], given.output)
    log.info("%s: %d points", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
