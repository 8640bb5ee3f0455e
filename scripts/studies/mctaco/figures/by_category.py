"""Draw exact match by category of MC-TACO, a panel for each corpus and split (Zhou et al.

2019, figure 2).

Each model as learnt from its largest training set: mean over the seeds with the 95 % interval over
questions and seeds; random as a bar behind them, at the expected value of a fair coin for each
candidate; in grey the control with the highest exact match over all questions (the others are in
the CSV). Light diamonds: the paper's BERT with unit normalization, from its released predictions,
on the corpus of the paper only, where these are no system themselves.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles, published.csv beside them
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.studies.mctaco.figures.by_category --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/mctaco_by_category
"""

import argparse
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from scripts.running.program import execute
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.studies.mctaco.figures.looks import system_legend, system_looks
from scripts.studies.mctaco.figures.metrics import (
    BASELINES, CATEGORIES, mctaco_metrics, over_seeds, published_beside, trained_most,
    with_best_control, with_published)
from scripts.publish.names import load, load_systems, source_title, split_title
from scripts.publish.panels import Look, Panel, dodges, draw_marks, figure_of, publish

BAND = 0.78  # of the distance between two categories, for all systems
PAPER = "the paper's BERT + unit normalization"
PAPER_LOOK = Look(style.GREY, "D", "", style.PAPER, 3.8)


def by_category(metrics: pd.DataFrame) -> pd.DataFrame:
    """Exact match of every model, control and of random in each category, with a column
    `category`.
    """
    rows = trained_most(over_seeds(metrics))
    rows = rows.assign(category=rows["slice"].str.removeprefix("category="), origin="here")
    return rows[(rows["metric"] == "exact_match") & rows["category"].isin(CATEGORIES)
                & ~rows["model"].isin(set(BASELINES) - {"random"})]


def paper_points(points: pd.DataFrame, sources: Path) -> pd.DataFrame:
    """The paper's numbers on the corpora of the points, unless its predictions are a system
    there.
    """
    published = published_beside(sources)
    published["category"] = published["slice"].str.removeprefix("category=")
    released = points.loc[points["method"] == "released", "source"]
    beside = set(points["source"]) - set(released)
    return published[(published["metric"] == "exact_match") & published["category"].isin(CATEGORIES)
                     & published["source"].isin(beside)]


def draw_panel(axes: Axes, points: pd.DataFrame, known: dict[str, Look],
               paper: pd.DataFrame) -> None:
    """One corpus and split; paper: on this corpus."""
    points = pd.concat([points, paper.assign(system=PAPER)] if len(paper) else [points])
    points["place"] = points["category"].map(list(CATEGORIES).index)
    random = points[points["model"] == "random"]
    axes.bar(random["place"], random["value"] * 100, BAND + 0.06, color=style.BAR, zorder=1)
    here = [system for system in known if system in set(points["system"])]
    for system, shift in dodges(here, BAND).items():
        of_system = points[points["system"] == system]
        draw_marks(axes, of_system, known[system], "place", shift=shift, intervals=system != PAPER)
    counts = random.set_index("category")["n"]
    axes.set_xticks(range(len(CATEGORIES)),
                    [title + (f"\nn = {counts[name]:,.0f}" if name in counts else "")
                                             for name, title in CATEGORIES.items()])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.55, len(CATEGORIES) - 0.45)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("exact match (% of questions)")


def draw(points: pd.DataFrame, paper: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by by_category(); paper: of paper_points()."""
    known = system_looks(points, line="") | {PAPER: PAPER_LOOK}
    others = [Patch(color=style.BAR, label="random"),
              *[PAPER_LOOK.handle(PAPER)] * bool(len(paper))]
    panels = []
    for (source, split), of_split in points.groupby(["source", "split"], sort=False):
        draw_split = partial(draw_panel, known=known, paper=paper[paper["source"] == source])
        panels.append(Panel(of_split, draw_split, source_title(source, sources), split_title(split),
                            height=2.1))
    return figure_of([[panel] for panel in panels], system_legend(points, *others),
                     share_y="figure")


def main(given: argparse.Namespace) -> None:
    metrics = mctaco_metrics(given.metrics, load_systems(given.models, given.sources))
    points, sources = by_category(metrics), load(given.sources)
    paper, shown = paper_points(points, given.sources), with_best_control(points, metrics)
    publish(given, with_published(points, paper), lambda: draw(shown, paper, sources))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
