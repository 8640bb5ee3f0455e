"""Draw accuracy by what was learnt from (rows) and what was measured (columns): a matrix for each
corpus, evaluation split and system.

A cell has more colour the further its accuracy lies above 50 %. Framed: the same corpus and stride.
Of the controls the best is shown, by its mean over its matrix.
"""

import argparse
import textwrap
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load, source_title
from scripts.publish.panels import (
    Panel,
    draw_matrix,
    figure_of,
    in_lines,
    publish,
    with_best_control,
)
from scripts.publish.table import percent
from scripts.studies.strided_sop.figures.metrics import (
    NUMBERS,
    VARIANT,
    accuracies,
    learnt_title,
    place_title,
    strided_metrics,
    strides_in_words,
)
from scripts.studies.strided_sop.strides import UP_TO

PLACE = ["source", "split", "system"]
LEARNT = ["learnt_corpus", "learnt_stride"]
COLUMNS = [*PLACE, *LEARNT, "stride", "series", "model", "experiment", *VARIANT, "limit", *NUMBERS]
CELL, WIDE, ROW = 0.36, 0.5, 0.27  # inches: of a cell at least and at most, and its height
LEFT = 1.55  # inches: of the names of rows and of the air between matrices


def by_learnt(metrics: pd.DataFrame) -> pd.DataFrame:
    """The accuracies of systems that learnt from several strides or corpora, with what they learnt
    from and `system` (the series without that); of controls the best.
    """
    points = accuracies(metrics)
    learnt = [learnt_title(row) for row in points.to_dict("records")]
    points = points.assign(
        system=[series.replace(end, "") for series, end in zip(points["series"], learnt)],
        learnt_corpus=points["learn_from"].fillna(points["source"]),
        learnt_stride=points["train_stride"].fillna(points["stride"].astype(str)),
    )
    crossed = points["train_stride"].notna() | points["learn_from"].notna()
    points = points[crossed.groupby([points[name] for name in PLACE]).transform("any")]
    points = with_best_control(points, PLACE[:2])
    points = points.assign(
        is_elsewhere=points["learnt_corpus"] != points["source"],
        is_mixed=points["learnt_stride"].str.startswith(UP_TO),
        number=points["learnt_stride"].str.removeprefix(UP_TO).astype(int),
        is_control=points["method"] == "control",
    )
    order = "source split is_control system is_elsewhere learnt_corpus is_mixed number stride"
    return points.sort_values(order.split(), kind="stable", ignore_index=True)


def row_title(row: pd.Series, sources: dict) -> str:
    title = source_title(row["learnt_corpus"], sources)
    short = title if len(title) < 30 else row["learnt_corpus"].replace("_", " ")
    corpus = "\n".join(textwrap.wrap(short, 18)[:2])
    return strides_in_words(row["learnt_stride"]) + (f",\n{corpus}" if row["is_elsewhere"] else "")


def draw_panel(
    axes: Axes, cells: pd.DataFrame, rows: pd.DataFrame, strides: list[int], sources: dict
) -> None:
    """rows: what all matrices of the place learnt from."""
    cells = cells.drop_duplicates([*LEARNT, "stride"])
    values = cells.pivot(index=LEARNT, columns="stride", values="value")
    values = values.reindex(index=pd.MultiIndex.from_frame(rows[LEARNT]), columns=strides)
    values.index = [row_title(row, sources) for _, row in rows.iterrows()]
    draw_matrix(axes, (2 * values - 1).clip(0, 1), (values * 100).map("{:.0f}".format))
    axes.tick_params(axis="y", labelsize=6)
    for place, row in enumerate(rows.to_dict("records")):
        for column, stride in enumerate(strides):
            same = not row["is_elsewhere"] and row["learnt_stride"] == str(stride)
            if same and pd.notna(values.iloc[place, column]):
                corner, ink = (column + 0.04, place + 0.04), style.INK
                frame = Rectangle(corner, 0.92, 0.92, fill=False, edgecolor=ink, zorder=3)
                axes.add_patch(frame)
    axes.set_xlabel("stride measured", fontsize=7, labelpad=1)
    axes.set_ylabel("learnt from", fontsize=7)


def same_and_other(points: pd.DataFrame) -> str:
    """`Mean accuracy 61.5 % on the stride that was learnt, 58.0 % on others (best control: 62.1 and
    60.3)`.
    """
    points = points[~points["is_elsewhere"] & ~points["is_mixed"]]
    points = points.assign(same=points["number"] == points["stride"])
    means = points.groupby(["is_control", "same"])["value"].mean()
    model, control = (
        [percent(means.get((kind, same), np.nan)) for same in (True, False)]
        for kind in (False, True)
    )
    if not all(model):
        return ""
    beside = f" (best control: {control[0]} and {control[1]})" * all(control)
    return (
        f"Mean accuracy {model[0]} % on the stride that was learnt, {model[1]} % on others{beside}"
    )


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    strides, lines = sorted(set(points["stride"])), []
    most = points.groupby(PLACE[:2])["system"].nunique().max()
    across = max(1, min(most, int((style.WIDTH - LEFT) / (CELL * len(strides)))))
    for (source, split), of_place in points.groupby(PLACE[:2], sort=False):
        rows = of_place[[*LEARNT, "is_elsewhere"]].drop_duplicates(ignore_index=True)
        draw_one = partial(draw_panel, rows=rows, strides=strides, sources=sources)
        panels = []
        for system, cells in of_place.groupby("system", sort=False):
            detail = system + " (control)" * bool(cells["is_control"].any())
            panels.append(Panel(cells, draw_one, "", detail, height=ROW * len(rows)))
        heading = f"{same_and_other(of_place)}\n{place_title(source, split, sources)}"
        lines += in_lines(panels, across, heading)
    return figure_of(lines, share_y="line", widest=WIDE * len(strides), size=6.5)


def main(given: argparse.Namespace) -> None:
    points = by_learnt(strided_metrics(given.metrics, load(given.models), crossed=True))
    sources = load(given.sources)
    publish(given, points[COLUMNS], lambda: draw(points, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
