"""Draw what one range a question does to exact match on MC-TACO, and to the gap between F1 and exact match.

Zhou et al. 2019 (section 4): a model "does not infer a range of true answers", and the gap may be "evidence that they only
associate surface forms". Open marks: each candidate judged for itself; filled ones: the quantities of a question of duration
or frequency judged by the one interval that the same scores make likeliest. Left of a line of panels: all questions; in the
middle those with two different quantities or more, where a range can tell something; right: the gap, on all questions.
Means over the seeds with 95 % intervals over questions and seeds; what one range adds is paired by question. The data's own
labels show the most that one range can reach. Grey: the control with the highest exact match; the others are in the CSV.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.mctaco.ranges --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --output results/publish/figures/mctaco_ranges
"""

import argparse
import textwrap

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scripts.common.intervals import difference
from scripts.common.program import UserError, execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.mctaco.metrics import (
    BASELINES, POINTS, mctaco_metrics, over_seeds, title_of, trained_most, with_best_control)
from scripts.publish.names import load, load_systems, split_title
from scripts.publish.table import signed, write_points

# Of each panel: the slice, the metric, what its axis says.
PANELS = [("all", "exact_match", "exact match (%)\nall questions"),
          ("quantities=several", "exact_match", "exact match (%)\nseveral quantities"),
          ("all", "f1_minus_exact_match", "F1 − exact match (points)\nall questions")]
RANGE = "_range"
SHOWN = {metric + decoding for _, metric, _ in PANELS for decoding in ("", RANGE)}
ROW, LINE, LETTER = 0.3, 0.13, 0.058  # inches a system, a further line of its name, a letter
WRAP = 32  # letters of a name in a line


def decoded(metrics: pd.DataFrame) -> pd.DataFrame:
    """Exact match and the gap of every system that was judged both ways; the labels last. metrics: with draws."""
    rows = trained_most(over_seeds(metrics))
    rows = rows[rows["metric"].isin(SHOWN) & rows["slice"].isin([name for name, *_ in PANELS])]
    rows = rows[~rows["model"].isin(set(BASELINES) - {"gold"})].assign(origin="here")
    ranged = rows.loc[rows["metric"] == f"exact_match{RANGE}", ["source", "split", "system"]].drop_duplicates()
    rows = rows.merge(ranged, on=["source", "split", "system"]).assign(last=lambda table: table["model"] == "gold")
    return rows.sort_values(["source", "split", "last"], kind="stable", ignore_index=True)


def draw_panel(axes: Axes, points: pd.DataFrame, place: dict[str, int], metric: str, label: str) -> None:
    """One number of every system, by single decisions and by one range; place: the line of each system."""
    single, ranged = (points[points["metric"] == name].set_index("system", drop=False) for name in (metric, metric + RANGE))
    for system, line in place.items():
        colour = style.CONTROL if single["method"][system] == "control" else style.COLOURS[0]
        before, after = single["value"][system] * 100, ranged["value"][system] * 100
        axes.plot([before, after], [line, line], color=colour, linewidth=1, alpha=0.6, zorder=3)
        axes.plot(before, line, linestyle="", marker="o", markersize=5.5, markerfacecolor=style.PAPER,
                  markeredgecolor=colour, markeredgewidth=1.1, zorder=4)
        axes.errorbar(after, line, xerr=style.error_bars(ranged.loc[[system]]), linestyle="", color=colour,
                      marker="o", markersize=3.2, elinewidth=0.9, capsize=2, zorder=5)
        if points["slice"].iloc[0] == "all" and metric == "exact_match":
            gain = difference(ranged.loc[system].to_dict(), single.loc[system].to_dict())
            told = signed(gain.value) + ("" if gain.ci_low is None else f" ({signed(gain.ci_low)} to {signed(gain.ci_high)})")
            axes.annotate(told, (0.5, line), (0, 8), xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=6,
                          color=style.GREY, ha="center", va="center", annotation_clip=False)
    axes.set_xlim((0, 100) if metric == "exact_match" else (min(0, points["value"].min() * 100 - 2), None))
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    axes.set_ylim(len(place) - 0.4, -0.75)
    axes.tick_params(axis="y", length=0)
    axes.set_yticks(list(place.values()), [])
    axes.set_xlabel(f"{label}, n = {points['n'].max():,}")


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by decoded()."""
    blocks = [(key, block, {name: line for line, name in enumerate(dict.fromkeys(block["system"]))})
              for key, block in points.groupby(["source", "split"], sort=False)]
    names = {system: textwrap.wrap(system, WRAP) for system in points["system"].unique()}
    row = ROW + LINE * max(0, max(map(len, names.values())) - 2)
    heights = [max(0.7, row * len(place) + 0.15) for *_, place in blocks]
    left = 0.2 + LETTER * max(len(line) for lines in names.values() for line in lines)
    top, gap, foot, between, right = 0.5, 1.15, 1.05, 0.3, 0.15
    width, height = style.WIDTH, top + sum(heights) + gap * (len(blocks) - 1) + foot
    wide = (width - left - right - between * (len(PANELS) - 1)) / len(PANELS)
    figure, high = plt.figure(figsize=(width, height)), height - top
    for ((source, split), block, place), tall in zip(blocks, heights):
        for column, (name, metric, label) in enumerate(PANELS):
            axes = figure.add_axes(((left + column * (wide + between)) / width, (high - tall) / height, wide / width, tall / height))
            part = block[block["slice"] == name]
            if part.empty:  # of few questions none may have several quantities
                axes.set_axis_off()
                continue
            draw_panel(axes, part, place, metric, label)
            if column == 0:
                axes.set_yticks(list(place.values()), ["\n".join(names[system]) for system in place], fontsize=7)
                style.panel_title(axes, [title_of(source, sources)], split_title(split))
            style.mark(axes, face_of(block), 12)
        high -= tall + gap
    handles = [Line2D([], [], color=style.COLOURS[0], marker="o", markersize=5.5, markerfacecolor=style.PAPER, linestyle="",
                      label="each candidate for itself"),
               Line2D([], [], color=style.COLOURS[0], marker="o", markersize=3.2, linewidth=1,
                      label="one range a question, and what it adds (95 % interval)")]
    if (points["method"] == "control").any():
        handles.append(Line2D([], [], color=style.CONTROL, marker="o", markersize=3.2, linewidth=1, label=style.BEST_CONTROL))
    style.legends(figure, [("", handles)], 0.06)
    return figure


def main(given: argparse.Namespace) -> None:
    metrics = mctaco_metrics(given.metrics, load_systems(given.models, given.sources), draws=True)
    points = decoded(metrics)
    if points.empty:
        raise UserError(f"{given.metrics}: no exact_match{RANGE} of mctaco; evaluate its experiments again")
    shown, sources = with_best_control(points, metrics), load(given.sources)
    style.save(lambda: draw(shown, sources), given)
    write_points(points[POINTS], given.output)
    log.info("%s: %d systems", given.output, points["system"].nunique())


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
