"""Draw exact match by category of MC-TACO, a panel for each corpus and split
(Zhou et al. 2019, figure 2).

Each model as learnt from its largest training set: mean over the seeds with the 95 % interval over
sentences and seeds; random as a bar behind them, at the expected value of a fair coin for each
candidate; in grey the control with the highest exact match over all questions (the others are in
the CSV). Light diamonds: the paper's BERT with unit normalization, from its released predictions,
on the corpus of the paper only, where these are no system themselves.
"""

import argparse
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.studies.mctaco.figures.looks import (
    by_place,
    metrics_to_draw,
    system_legend,
    system_looks,
)
from scripts.studies.mctaco.figures.metrics import (
    BASELINES,
    SLICES,
    published_beside,
    system_means,
    with_published,
)
from scripts.publish.names import load
from scripts.publish.panels import Look, Panel, dodges, draw_marks, figure_of, publish, same_place

BAND = 0.78  # of the distance between two categories, for all systems
PAPER = "the paper's BERT + unit normalization"
PAPER_LOOK = Look(style.GREY, "D", "", style.PAPER, 3.8)


def of_categories(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of exact match in a category."""
    return rows[(rows["metric"] == "exact_match") & rows["slice"].isin(SLICES)]


def by_category(metrics: pd.DataFrame) -> pd.DataFrame:
    """Exact match of every model, control and of random in each category."""
    rows = of_categories(system_means(metrics)).assign(origin="here")
    return rows[~rows["model"].isin(set(BASELINES) - {"random"})]


def paper_points(points: pd.DataFrame, sources: Path) -> pd.DataFrame:
    """The paper's numbers on the corpora of the points, unless its predictions are a system
    there.
    """
    published = of_categories(published_beside(sources))
    released = points.loc[points["method"] == "released", "source"]
    return published[published["source"].isin(set(points["source"]) - set(released))]


def draw_panel(
    axes: Axes, points: pd.DataFrame, known: dict[str, Look], paper: pd.DataFrame
) -> None:
    """One corpus and split; paper: of paper_points()."""
    paper = same_place(paper, points, ["source"])
    points = pd.concat([points, paper.assign(system=PAPER)] if len(paper) else [points])
    points["place"] = points["slice"].map(list(SLICES).index)
    random = points[points["model"] == "random"]
    axes.bar(random["place"], random["value"] * 100, BAND + 0.06, color=style.BAR, zorder=1)
    here = [system for system in known if system in set(points["system"])]
    for system, shift in dodges(here, BAND).items():
        of_system = points[points["system"] == system]
        draw_marks(axes, of_system, known[system], "place", shift=shift, intervals=system != PAPER)
    counts = random.set_index("slice")["n"]
    axes.set_xticks(
        range(len(SLICES)),
        [
            title + (f"\nn = {counts[name]:,.0f}" if name in counts else "")
            for name, title in SLICES.items()
        ],
    )
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.55, len(SLICES) - 0.45)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("exact match (% of questions)")


def draw(points: pd.DataFrame, paper: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by by_category(); paper: of paper_points()."""
    known = system_looks(points, line="") | {PAPER: PAPER_LOOK}
    others = [
        Patch(color=style.BAR, label="random"),
        *[PAPER_LOOK.handle(PAPER)] * bool(len(paper)),
    ]
    draw_split = partial(draw_panel, known=known, paper=paper)
    lines = [
        [Panel(of_split, draw_split, source, split, height=2.1)]
        for of_split, source, split in by_place(points, sources)
    ]
    return figure_of(lines, system_legend(points, *others), share_y="figure")


def main(given: argparse.Namespace) -> None:
    points, sources = by_category(metrics_to_draw(given)), load(given.sources)
    paper = paper_points(points, given.sources)
    publish(
        given, with_published(points, paper), lambda: draw(points[points["drawn"]], paper, sources)
    )


if __name__ == "__main__":
    run_program(main, __doc__)
