"""Draw exact match by category of MC-TACO, a panel for each corpus and split (Zhou et al. 2019, figure 2).

Each model as learnt from its largest training set: mean over the seeds with the 95 % interval over questions and seeds;
random as a bar behind them, at the expected value of a fair coin for each candidate; in grey the control with the highest
exact match over all questions (the others are in the CSV). Light diamonds: the paper's BERT
with unit normalization, from its released predictions, on the corpus of the paper only, where these are no system themselves.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles, published.csv beside them
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.mctaco.by_category --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/mctaco_by_category
"""

import argparse

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from scripts.common.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.mctaco.looks import LABELLED, legend_of_systems, looks
from scripts.publish.mctaco.metrics import (
    BASELINES, CATEGORIES, POINTS, mctaco_metrics, over_seeds, published_beside, published_points, title_of,
    trained_most, with_best_control)
from scripts.publish.names import load, load_systems, split_title
from scripts.publish.table import write_points

BAND = 0.78  # of the distance between two categories, for all systems


def by_category(metrics: pd.DataFrame) -> pd.DataFrame:
    """Exact match of every model, control and of random in each category, with a column `category`."""
    rows = trained_most(over_seeds(metrics))
    category = rows["slice"].str.removeprefix("category=")
    others = rows["model"].isin(set(BASELINES) - {"random"})
    shown = (rows["metric"] == "exact_match") & category.isin(CATEGORIES) & ~others
    return rows[shown].assign(category=category[shown], origin="here")


def draw_panel(axes: Axes, points: pd.DataFrame, known: dict[str, dict], published: pd.DataFrame) -> None:
    """One corpus and split."""
    place = {name: number for number, name in enumerate(CATEGORIES)}
    random = points[points["model"] == "random"]
    axes.bar(random["category"].map(place), random["value"] * 100, width=BAND + 0.06, color=style.BAR, zorder=1)
    here = [system for system in known if (points["system"] == system).any()]
    # The paper's mark stands last, in a place of its own.
    step = BAND / (len(here) + 1 + bool(len(published)))
    for number, system in enumerate(here):
        rows, look = points[points["system"] == system], known[system]
        at = rows["category"].map(place) - BAND / 2 + step * (number + 1)
        axes.errorbar(at, rows["value"] * 100, yerr=style.error_bars(rows), linestyle="", color=look["colour"],
                      marker=look["marker"], markersize=5, markerfacecolor=look["face"], markeredgewidth=1.1,
                      elinewidth=1, capsize=2, zorder=4)
    if len(published):
        at = published["category"].map(place) + BAND / 2 - step
        axes.plot(at, published["value"] * 100, linestyle="", marker="D",
                  markersize=3.8, markerfacecolor=style.PAPER, markeredgecolor=style.GREY, markeredgewidth=0.9, zorder=3)
    counts = points.groupby("category")["n"].max()
    axes.set_xticks(list(place.values()), [f"{CATEGORIES[name]}\nn = {counts[name]:,}" if name in counts
                                           else CATEGORIES[name] for name in place])
    axes.tick_params(axis="x", length=0, pad=4)
    axes.set_xlim(-0.55, len(place) - 0.45)
    axes.set_ylabel("exact match (% of questions)")


def draw(points: pd.DataFrame, published: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by by_category()."""
    panels, known = list(points.groupby(["source", "split"], sort=False)), looks(points)
    paper = published[published["source"].isin(points["source"])]
    marks = {system: Line2D([], [], color=look["colour"], marker=look["marker"], markersize=5, markerfacecolor=look["face"],
                            markeredgewidth=1.1, linestyle="", label=system) for system, look in known.items()}
    controls = [mark for system, mark in marks.items() if known[system]["colour"] == style.CONTROL]
    handles = [mark for mark in marks.values() if mark not in controls] if len(marks) <= LABELLED else legend_of_systems(points, known)
    handles.append(Patch(color=style.BAR, label="random"))
    if len(paper):
        handles.append(Line2D([], [], color=style.GREY, marker="D", markersize=3.8, markerfacecolor=style.PAPER,
                              linestyle="", label="the paper's BERT + unit normalization"))
    groups = [("", handles), (style.BEST_CONTROL, controls)]
    foot, top, panel, gap = 0.2 + style.legends_height(groups), 0.5, 2.1, 0.95
    width, height = style.WIDTH, foot + 0.42 + top + len(panels) * panel + (len(panels) - 1) * gap
    figure, grid = plt.subplots(len(panels), 1, figsize=(width, height), squeeze=False, sharey=True)
    figure.subplots_adjust(left=0.55 / width, right=1 - 0.08 / width, top=1 - top / height,
                           bottom=(foot + 0.42) / height, hspace=gap / panel)
    for axes, ((source, split), of_split) in zip(grid.flat, panels):
        draw_panel(axes, of_split, known, paper[paper["source"] == source])
        style.panel_title(axes, [title_of(source, sources)], split_title(split))
        style.mark(axes, face_of(of_split))
    highest = max(points[["ci_high", "value"]].max().max(), paper["value"].max() if len(paper) else 0)
    grid[0, 0].set_ylim(0, min(103, highest * 100 + 4))
    style.legends(figure, groups, 0.07)
    return figure


def main(given: argparse.Namespace) -> None:
    metrics = mctaco_metrics(given.metrics, load_systems(given.models, given.sources))
    points = by_category(metrics)
    published = published_beside(given.sources)
    published = published[published["metric"] == "exact_match"].assign(
        category=published["slice"].str.removeprefix("category="))
    apart = set(points["source"]) - set(points.loc[points["method"] == "released", "source"])  # there they are a system
    published = published[published["category"].isin(CATEGORIES) & published["source"].isin(apart)]
    shown, sources = with_best_control(points, metrics), load(given.sources)
    style.save(lambda: draw(shown, published, sources), given)
    tables = [points[POINTS], *([published_points(published)] if len(published) else [])]
    write_points(pd.concat(tables), given.output)
    log.info("%s: %d points", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
