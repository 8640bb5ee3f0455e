"""Draw exact match against F1 on MC-TACO, a panel for each corpus and split: models, baselines, and
the control with the highest exact match.

F1 rewards each right candidate, exact match only a question without any mistake: how far a system
lies below the diagonal tells how much of its F1 comes from single candidates. Light open marks:
table 2 of Zhou et al. 2019, joined to the same system here by a thin line. Models and the control
are named in a legend; baselines, and what stands in the paper alone, beside their marks.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from scripts.data.items import HUMAN
from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.message import message, titled
from scripts.publish.names import load, people_points
from scripts.publish.panels import (
    CHANCE,
    PEOPLE,
    Look,
    Panel,
    draw_marks,
    figure_of,
    highest,
    publish,
    same_place,
)
from scripts.running.program import UserError
from scripts.studies.mctaco.figures.looks import (
    by_place,
    metrics_to_draw,
    system_legend,
    system_looks,
)
from scripts.studies.mctaco.figures.metrics import (
    BASELINES,
    KEY,
    PLACE,
    published_beside,
    system_means,
    table_2,
    with_published,
)

METRICS = ["f1", "exact_match"]
BASELINE = Look(style.INK, "X", "", size=5.5)
PAPER = Look(style.GREY, "o", "", "none")
LABELS = [(ring, turn) for ring in (8, 14, 22, 32) for turn in (0, 180, 315, 45, 225, 135, 270, 90)]
SIDES, HEIGHTS = {1: "left", 0: "center", -1: "right"}, {1: "bottom", 0: "center", -1: "top"}


def answers_of_people(metrics: Path) -> pd.DataFrame:
    rows = pd.concat([people_points(metrics, "mctaco", metric) for metric in METRICS])
    rows = rows.drop_duplicates([*PLACE, "metric", "n"])  # of datasets that differ for models alone
    names = [f"people, n = {n:,}" for n in rows["n"]]
    return rows.assign(metric=rows["metric"].str.removeprefix("human_"), system=names)


def draw_panel(
    axes: Axes, points: pd.DataFrame, known: dict[str, Look], paper: pd.DataFrame
) -> None:
    """paper: table 2 on this corpus, in per cent."""
    f1, exact = (points[points["metric"] == metric].set_index("system") for metric in METRICS)
    for system in f1.index:
        look = known[system]
        x, y = f1.at[system, "value"] * 100, exact.at[system, "value"] * 100
        for table, flat, at in ((exact, False, x), (f1, True, y)):
            row = table.loc[[system]].assign(place=at)
            draw_marks(axes, row, look, "place", flat=flat, elinewidth=0.8, capsize=0)
        for _, row in paper[paper.index.isin([tuple(f1.loc[system, KEY])])].iterrows():
            ends = [x, row["f1"]], [y, row["exact_match"]]
            axes.plot(*ends, color=look.colour, linewidth=0.6, zorder=2)
    for _, row in paper.iterrows():
        axes.plot(row["f1"], row["exact_match"], zorder=5, **PAPER.settings())
    axes.margins(0.06, 0.08)
    axes.grid(visible=True, axis="both")
    axes.set_xlabel("F1 (%)")
    axes.set_ylabel("exact match (%)")


def write_label(axes: Axes, x: float, y: float, text: str, colour: str, taken: list[Bbox]) -> None:
    """Write a text beside its mark, at the nearest place that covers nothing; take that place."""
    frame = axes.get_window_extent()
    label = axes.annotate(
        text, (x, y), (0, 0), textcoords="offset points", fontsize=7, color=colour
    )

    def box_at(place: tuple[int, int]) -> Bbox:
        right, up = np.cos(np.deg2rad(place[1])), np.sin(np.deg2rad(place[1]))
        label.set(
            x=place[0] * right, y=place[0] * up, ha=SIDES[round(right)], va=HEIGHTS[round(up)]
        )
        return label.get_window_extent()

    def faults(place: tuple[int, int]) -> float:
        box = box_at(place)
        is_inside = frame.contains(*box.min) and frame.contains(*box.max)
        return box.count_overlaps(taken) + 9 * (not is_inside)

    taken.append(box_at(min(LABELS, key=faults)))


def write_labels(axes: Axes, points: pd.DataFrame, paper: pd.DataFrame) -> None:
    """The diagonal, and the names of what is not in the legend."""
    taken = [line.get_window_extent() for line in axes.lines]
    taken += [
        path.get_extents(bars.get_transform()).padded(1)
        for bars in axes.collections
        for path in bars.get_paths()
    ]
    axes.autoscale(False)
    axes.plot([0, 100], [0, 100], zorder=1, **CHANCE.settings())
    named = points[points["model"].isin([*BASELINES, HUMAN])]
    at = named.pivot(index="system", columns="metric", values="value") * 100
    for system in named["system"].unique():
        x, y = at.loc[system, METRICS]
        write_label(axes, x, y, system, style.INK, taken)
    for _, row in paper[~paper.index.isin(pd.MultiIndex.from_frame(points[KEY]))].iterrows():
        write_label(axes, row["f1"], row["exact_match"], f"{row['row']} (paper)", style.GREY, taken)


def draw(
    points: pd.DataFrame, published: pd.DataFrame, sources: dict, people: pd.DataFrame
) -> Figure:
    points, note = highest(points, points["metric"] == "exact_match")
    known = dict.fromkeys(points["system"], BASELINE) | system_looks(points, line="")
    known |= dict.fromkeys(people["system"], PEOPLE)
    lines, in_paper = [], False
    for of_split, source, split in by_place(points, sources):
        paper = table_2(published, of_split["source"].iloc[0]).dropna()
        paper[METRICS] *= 100
        in_paper |= len(paper) > 0
        answered = same_place(people, of_split)
        detail = f"{split}, {of_split['n'].max():,} questions"
        says = message(of_split, "exact_match", "system", measure="exact match")
        of_split = of_split[of_split["metric"].isin(METRICS)]
        of_split = pd.concat([of_split, answered]) if len(answered) else of_split
        draw_split = partial(draw_panel, known=known, paper=paper)
        finish = partial(write_labels, paper=paper)
        panel = Panel(of_split, draw_split, source, detail, height=3.8, finish=finish)
        lines.append([titled(panel, says)])
    here = Look(marker="o", line="").handle("here, with 95 % intervals")
    handles = [here, CHANCE.handle("exact match = F1")]
    handles += [PAPER.handle("in the paper, joined to the same system here")] * in_paper
    return figure_of(lines, system_legend(points, *handles), note=note)


def main(given: argparse.Namespace) -> None:
    rows, sources = system_means(metrics_to_draw(given)), load(given.sources)
    rows = rows[(rows["slice"] == "all") & (rows["model"] != "gold")].assign(origin="here")
    points = rows[rows["metric"].isin(METRICS)]
    if points["model"].isin(BASELINES).all():
        raise UserError(
            f"{given.metrics}: no f1 and exact_match of a model; run an experiment of mctaco with "
            "a model"
        )
    published, people = published_beside(given.sources), answers_of_people(given.metrics)
    is_printed = published["table"].str.startswith("Table 2")
    printed = published[is_printed & published["source"].isin(points["source"])]
    shown = rows[rows["drawn"] & rows["metric"].isin([*METRICS, "exact_match_above_control"])]
    publish(given, with_published(points, printed), lambda: draw(shown, published, sources, people))


if __name__ == "__main__":
    run_program(main, __doc__)
