"""Draw consistency on MC-TACO: the share of questions whose accepted quantities form one range.

Zhou et al. 2019 found that models accept "1 hour" and "9 hours" but not the hours between. Counted are questions of
duration and of frequency with two different accepted quantities or more. The data's own labels are the most that a
model can be expected to reach; accepting everything is consistent by construction, so the number means nothing without
F1. A system with fewer than 10 such questions has no mark in the figure, but its n; all are in the CSV.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.mctaco.consistency --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/mctaco_consistency
"""

import argparse

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.common.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.mctaco.looks import looks
from scripts.publish.mctaco.metrics import (
    BASELINES, NORMALIZED, POINTS, mctaco_metrics, over_seeds, title_of, trained_most, with_best_control)
from scripts.publish.names import load, load_systems, split_title
from scripts.publish.table import write_points

ASKED = {"category=duration": "duration", "category=frequency": "frequency"}
ROW = 0.22  # inches a system
LEAST = 10  # questions
REFERENCE = {"colour": style.INK, "marker": "|", "face": style.INK}


def consistencies(metrics: pd.DataFrame) -> pd.DataFrame:
    """Consistency of every system that accepts more than one quantity somewhere: models, controls, the labels, the baselines."""
    rows = trained_most(over_seeds(metrics))
    rows = rows[(rows["metric"] == "consistency") & rows["slice"].isin(ASKED)]
    last = rows["model"].isin(BASELINES).astype(int) - (rows["model"] == "gold") / 2 + (rows["method"] == "control") / 4
    rows = rows.assign(origin="here", last=last)
    return rows.sort_values(["source", "split", "last"], kind="stable", ignore_index=True)


def draw_panel(axes: Axes, points: pd.DataFrame, place: dict[str, int], known: dict[str, dict]) -> None:
    """One category on one corpus and split; place: the line of each system."""
    models = {system for system, look in known.items() if look["colour"] != style.CONTROL}
    if models & place.keys():
        axes.axhline(sum(system in models for system in place) - 0.5, color=style.GREY, linewidth=0.5, zorder=1)
    for system, row in points.set_index("system", drop=False).iterrows():
        look = known.get(system, REFERENCE)
        of_system = points[points["system"] == system]
        annotate = {"color": style.GREY, "textcoords": "offset points", "va": "center", "fontsize": 7, "annotation_clip": False}
        axes.annotate(f"{row['n']:,}", (1, place[system]), (5, 0), xycoords=("axes fraction", "data"), **annotate)
        if row["n"] < LEAST:
            axes.annotate("too few questions", (0, place[system]), (4, 0), xycoords=("axes fraction", "data"), style="italic", **annotate)
            continue
        axes.errorbar(row["value"] * 100, place[system], xerr=style.error_bars(of_system), linestyle="", color=look["colour"],
                      marker=look["marker"], markersize=9 if look is REFERENCE else 5, markerfacecolor=look["face"],
                      markeredgewidth=1.3, elinewidth=1, capsize=2, zorder=4)
    axes.annotate("n", (1, 1), (5, 5), xycoords="axes fraction", textcoords="offset points", color=style.GREY,
                  fontsize=7)
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    axes.set_ylim(len(place) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("questions whose accepted\nquantities form one range (%)")


def line_labels(systems: list[str], controls: set[str]) -> list[str]:
    """The names at the lines; a system under the one that it adds to is named by what it adds."""
    return [NORMALIZED.strip() if above + NORMALIZED == system else f"{system} (best control)" if system in controls else system
            for above, system in zip(["", *systems], systems)]


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by consistencies()."""
    known, controls = looks(points), set(points.loc[points["method"] == "control", "system"])
    panels = [(key, panel, dict.fromkeys(panel["system"]))
              for key, panel in points.groupby(["source", "split"], sort=False)]
    heights = [max(0.75, ROW * len(systems) + 0.1) for *_, systems in panels]
    longest = max(len(label) for *_, systems in panels for label in line_labels(list(systems), controls))
    left, right, top, gap, foot = 0.3 + 0.058 * longest, 0.42, 0.55, 1.1, 0.52
    width, height = style.WIDTH, top + sum(heights) + gap * (len(panels) - 1) + foot
    figure, high, between = plt.figure(figsize=(width, height)), height - top, 0.5
    for ((source, split), panel, systems), tall in zip(panels, heights):
        place = {system: number for number, system in enumerate(systems)}
        wide = (width - left - right - between) / 2
        for column, (part, category) in enumerate(ASKED.items()):
            axes = figure.add_axes(((left + column * (wide + between)) / width, (high - tall) / height, wide / width,
                                    tall / height))
            draw_panel(axes, panel[panel["slice"] == part], place, known)
            axes.set_yticks(list(place.values()), line_labels(list(place), controls) if column == 0 else [])
            style.panel_title(axes, [title_of(source, sources) if column == 0 else ""],
                              f"{split_title(split)}, {category}" if column == 0 else category)
            style.mark(axes, face_of(panel), 13)
        high -= tall + gap
    return figure


def main(given: argparse.Namespace) -> None:
    metrics = mctaco_metrics(given.metrics, load_systems(given.models, given.sources))
    points = consistencies(metrics)
    few = f"No model accepts two quantities or more in {LEAST} questions of duration or of frequency."
    enough = (~points["model"].isin(BASELINES) & (points["method"] != "control") & (points["n"] >= LEAST)).any()
    shown, sources = with_best_control(points, metrics), load(given.sources)
    style.save(lambda: style.nothing(few) if not enough else draw(shown, sources), given)
    write_points(points[POINTS], given.output)
    log.info("%s: %d points", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
