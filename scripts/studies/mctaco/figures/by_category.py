"""Draw exact match by category of MC-TACO, a panel for each corpus and split (Zhou et al. 2019,
figure 2). A panel's title gives the best model's score over all questions. The CSV has all
controls.
"""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.item import Given
from scripts.publish.message import message, titled
from scripts.publish.selection import only
from scripts.publish.panels import (
    Look,
    Panel,
    dodges,
    draw_marks,
    ends_of,
    figure_of,
    highest,
    publish,
    same_place,
)
from scripts.studies.mctaco.figures.metrics import (
    BASELINES,
    PLACE,
    POINTS,
    SLICES,
    beside_controls,
    by_place,
    metrics_to_draw,
    published_beside,
    system_looks,
    system_means,
)

BAND = 0.78  # width of all systems' marks, as a share of the distance between two categories
PAPER = "the paper's BERT + unit normalization"
RANDOM = Look(style.BAR, "s", "")
PAPER_LOOK = Look(style.GREY, "D", "", style.PAPER, 3.8)


def of_categories(rows: pd.DataFrame) -> pd.DataFrame:
    return only(rows, metric="exact_match", slice=SLICES)


def draw_panel(axes: Axes, _: pd.DataFrame, both: pd.DataFrame, known: dict[str, Look]) -> None:
    """Draw the points of a split and the paper's (both)."""
    random = both[both["model"] == "random"]
    axes.bar(random["place"], random["value"] * 100, BAND + 0.06, color=style.BAR, zorder=1)
    here = [system for system in known if system in set(both["system"])]
    for system, shift in dodges(here, BAND).items():
        of_system = both[both["system"] == system]
        draw_marks(axes, of_system, known[system], "place", shift=shift, intervals=system != PAPER)
    counts = random.set_index("slice")["n"]
    names = [
        title + (f"\nn = {counts[name]:,.0f}" if name in counts else "")
        for name, title in SLICES.items()
    ]
    axes.set_xticks(range(len(SLICES)), names)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.55, len(SLICES) - 0.45)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("exact match (% of questions)")


def draw(points: pd.DataFrame, paper: pd.DataFrame, metrics: pd.DataFrame, sources: dict) -> Figure:
    points, note = highest(points)
    known = system_looks(points, line="") | {PAPER: PAPER_LOOK}
    lines = []
    for of_split, source, split in by_place(points, sources):
        whole = same_place(only(metrics, slice="all"), of_split)
        said = message(whole, "exact_match", "system")
        detail = f"{split}; the title: all questions, with the same units" if said else split
        both = pd.concat([of_split, same_place(paper, of_split, ["source"]).assign(system=PAPER)])
        both = both.assign(series=both["system"], place=both["slice"].map(list(SLICES).index))
        ends = ends_of(both, known | {"random": RANDOM}, "place")
        draw_both = partial(draw_panel, both=both, known=known)
        panel = Panel(of_split, draw_both, source, detail, height=2.1, ends=ends)
        lines.append([titled(panel, said)])
    return figure_of(lines, share_y="figure", note=note)


def main(given: Given) -> None:
    metrics = metrics_to_draw(given, [*PLACE, "unit_normalization"])
    metrics = beside_controls(system_means(metrics), metrics, given.metrics)
    points = of_categories(metrics).assign(origin="here")
    points = points[~points["model"].isin(set(BASELINES) - {"random"})]
    paper, sources = of_categories(published_beside(given.resources)), given.sources
    released = points.loc[points["method"] == "released", "source"]
    paper = paper[paper["source"].isin(set(points["source"]) - set(released))]
    shown = points[points["drawn"]]
    printed = paper.assign(origin="published", system=paper["row"], sample=False)
    parts = [part.reindex(columns=POINTS) for part in (points, printed) if len(part)]
    publish(given, pd.concat(parts), lambda: draw(shown, paper, metrics, sources))
