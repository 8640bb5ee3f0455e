"""Draw which stride is told for which: a confusion matrix for each corpus, evaluation split and
system, with accuracy and mean absolute error. Where order and stride are told together, the
accuracy of the order stands in the title, too.
"""

import argparse
import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load, source_title, split_title
from scripts.publish.panels import Panel, draw_matrix, figure_of, publish
from scripts.studies.strided_sop.figures.metrics import sop_metrics, system_titles

TASKS = {"stride": "stride alone", "order_and_stride": "stride with order"}
PLACE = ["source", "split", "predict"]
SYSTEM_METRICS = ["stride_accuracy", "stride_error", "order_accuracy", "both_accuracy"]
COLUMNS = [*PLACE, *"system model method experiment true predicted value n".split()]
COLUMNS += [*SYSTEM_METRICS, "sample", "limit"]
CELL, WIDTH = 0.27, 1.4  # inches: of a cell, of a matrix at most
ACROSS, LETTERS = 4, 34  # matrices side by side, letters of a line over them


def cells_of(metrics: pd.DataFrame, models: dict) -> pd.DataFrame:
    """The cells of each system's matrix, beside its numbers; of controls those of the best."""
    rows = metrics[metrics["predict"].notna() & metrics["seed"].isna()]
    # the mixture is that of the measured pairs
    rows = rows.assign(system=system_titles(rows, models, train_stride=None))
    keys = [*PLACE, "system", "experiment"]
    whole = rows[(rows["slice"] == "all") & rows["metric"].isin(SYSTEM_METRICS)]
    numbers = whole.pivot_table(index=keys, columns="metric", values="value")
    numbers = numbers.reindex(columns=SYSTEM_METRICS).reset_index()
    cells = rows[rows["metric"] == "confusion"].merge(numbers, on=keys)
    ends = cells["slice"].str.extract(r"^stride=(\d+); predicted=(\d+)$").astype(int)
    is_control = cells["method"] == "control"
    cells = cells.assign(true=ends[0], predicted=ends[1], is_control=is_control)
    best = cells[is_control].groupby(PLACE)["stride_accuracy"].transform("max")
    cells = cells[~is_control | (cells["stride_accuracy"] == best.reindex(cells.index))]
    order = [*PLACE, "is_control", "system", "true", "predicted"]
    cells = cells.drop_duplicates([*PLACE, "system", "true", "predicted"])
    return cells.sort_values(order, kind="stable", ignore_index=True)


def draw_panel(axes: Axes, cells: pd.DataFrame) -> None:
    draw_matrix(axes, cells.pivot(index="true", columns="predicted", values="value"), size=6.5)
    axes.set_xlabel("stride told", fontsize=6.5, labelpad=1, color=style.GREY)
    axes.set_ylabel("stride", fontsize=6.5, labelpad=1, color=style.GREY)


def panel_of(cells: pd.DataFrame, heading: str) -> Panel:
    first, strides = cells.iloc[0], cells["true"].nunique()
    order = first["order_accuracy"]
    detail = [
        first["system"] + " (control)" * bool(first["is_control"]),
        f"{first['stride_accuracy'] * 100:.1f} % (chance {100 / strides:.0f} %)",
        f"error {first['stride_error'] * cells['true'].max():.2f}"
        + (f", order {order * 100:.1f} %" if pd.notna(order) else ""),
    ]
    return Panel(cells, draw_panel, "", "\n".join(detail), heading, CELL * strides)


def draw(cells: pd.DataFrame, sources: dict) -> Figure:
    """What belongs together (PLACE) stands side by side."""
    groups = []
    for (source, split, predict), of_place in cells.groupby(PLACE, sort=False):
        title = textwrap.shorten(source_title(source, sources), LETTERS, placeholder="…")
        heading = f"{title}\n{split_title(split)}, {TASKS[predict]}"
        matrices = [matrix for _, matrix in of_place.groupby("system", sort=False)]
        headings = [heading, *[""] * len(matrices)]
        groups.append([panel_of(*panel) for panel in zip(matrices, headings)])
    return figure_of(style.lines_of(groups, ACROSS), widest=WIDTH, size=6.2)


def main(given: argparse.Namespace) -> None:
    cells, sources = cells_of(sop_metrics(given.metrics), load(given.models)), load(given.sources)
    publish(given, cells[COLUMNS], lambda: draw(cells, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
