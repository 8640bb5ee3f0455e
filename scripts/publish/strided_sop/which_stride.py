"""Draw which stride is told for which: a confusion matrix for each corpus, evaluation split and system, with accuracy and mean absolute error.

Rows: the stride of the pairs; columns: the stride that is told. A cell's colour and number: its share of the row in per cent, mean over the
seeds. Of the controls the best is shown. Where order and stride are told together, the accuracy of the order stands in the title, too.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the cells, as shares from 0 to 1 of the row

    python -m scripts.publish.strided_sop.which_stride --metrics results/evaluate/extensions/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --output results/publish/extensions/figures/strided_sop_which_stride
"""

import argparse
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.common.program import execute, log
from scripts.evaluate.strided_sop import SCHEMA
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, model_title, split_title, study_metrics
from scripts.publish.strided_sop.metrics import variant_title
from scripts.publish.table import write_points

TASKS = {"stride": "stride alone", "order_and_stride": "stride with order"}
PLACE = ["source", "split", "predict"]
COLUMNS = [*PLACE, "system", "model", "method", "experiment", "true", "predicted", "value", "n", "stride_accuracy", "stride_error", "order_accuracy", "both_accuracy",
           "sample", "limit"]
TOLD = ["stride_accuracy", "stride_error", "order_accuracy", "both_accuracy"]
CELL, LEFT, TOP, FOOT, LINE = 0.27, 0.4, 0.42, 0.4, 0.105  # inches; LINE: of small text
LETTERS = 28  # of a line over a matrix


def cells_of(metrics: pd.DataFrame, models: dict) -> pd.DataFrame:
    """The cells of each system's matrix over all seeds, beside the system's numbers (TOLD); of controls those of the best."""
    rows = metrics[metrics["predict"].notna() & metrics["seed"].isna()]
    told = {"train_stride": None, "method": "train"}  # the mixture is that of the measured pairs
    system = [model_title(row["model"], models) + variant_title(row | (told if row["method"] == "control" else {"train_stride": None}))
              for row in rows.to_dict("records")]
    rows = rows.assign(system=system)
    keys = [*PLACE, "system", "experiment"]
    numbers = rows[(rows["slice"] == "all") & rows["metric"].isin(TOLD)].pivot_table(index=keys, columns="metric", values="value").reindex(columns=TOLD)
    cells = rows[rows["metric"] == "confusion"].merge(numbers.reset_index(), on=keys)
    cells[["true", "predicted"]] = cells["slice"].str.extract(r"^stride=(\d+); predicted=(\d+)$").astype(int).to_numpy()
    is_control = cells["method"] == "control"
    best = cells[is_control].groupby(PLACE)["stride_accuracy"].transform("max")
    kept = cells[~is_control | (cells["stride_accuracy"] == best.reindex(cells.index))].drop_duplicates([*PLACE, "system", "true", "predicted"])
    return kept.assign(is_control=kept["method"] == "control").sort_values(["source", "split", "predict", "is_control", "system", "true", "predicted"],
                                                                        kind="stable", ignore_index=True)


def draw_matrix(axes: Axes, cells: pd.DataFrame) -> None:
    """One matrix."""
    shares = cells.pivot(index="true", columns="predicted", values="value")
    axes.pcolormesh(shares.to_numpy(float), cmap=style.shades(), vmin=0, vmax=1, edgecolors=style.PALE, linewidth=0.6, zorder=1)
    for (row, column), share in np.ndenumerate(shares.to_numpy(float)):
        axes.text(column + 0.5, row + 0.52, f"{share * 100:.0f}", ha="center", va="center", fontsize=6.5, color=style.on_shade(share))
    axes.set_ylim(len(shares), 0)
    places = np.arange(len(shares)) + 0.5
    axes.set_xticks(places, shares.columns, fontsize=7)
    axes.set_yticks(places, shares.index, fontsize=7)
    axes.tick_params(length=0, pad=3)
    axes.grid(visible=False)
    axes.spines[:].set_visible(True)
    axes.set_xlabel("stride told", fontsize=6.5, labelpad=1, color=style.GREY)
    axes.set_ylabel("stride", fontsize=6.5, labelpad=1, color=style.GREY)
    style.mark(axes, face_of(cells), 8)


def told_of(cells: pd.DataFrame, chance: float) -> list[str]:
    """The lines over a matrix: the system and its numbers."""
    first = cells.iloc[0]
    lines = textwrap.wrap(first["system"] + " (control)" * bool(first["is_control"]), LETTERS)
    lines.append(f"{first['stride_accuracy'] * 100:.1f} % (chance {chance * 100:.0f} %), error {first['stride_error'] * cells['true'].max():.2f}")
    return [*lines, *([f"order {first['order_accuracy'] * 100:.1f} %"] if pd.notna(first["order_accuracy"]) else [])]


def draw(cells: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by cells_of(): what belongs together (PLACE) side by side."""
    style.apply()
    if cells.empty:
        return style.nothing("no system told the stride")
    groups = [[(place, matrix) for _, matrix in of_place.groupby("system", sort=False)] for place, of_place in cells.groupby(PLACE, sort=False)]
    size = CELL * (cells["true"].max() + 1)
    width = max(LEFT + size + 0.05, 1.7)
    lines = style.lines_of(groups, int(style.WIDTH / width))
    heads = [max(len(told_of(matrix, 1)) for _, matrix in line) for line in lines]
    height = sum(TOP + LINE * head + size + FOOT for head in heads)
    figure, top = plt.figure(figsize=(style.WIDTH, height)), 0.0
    for line, head in zip(lines, heads):
        top, above = top + TOP + LINE * head, None
        for number, (place, matrix) in enumerate(line):
            own = CELL * matrix["true"].nunique()
            axes = figure.add_axes([(LEFT + width * number) / style.WIDTH, 1 - (top + own) / height, own / style.WIDTH, own / height])
            draw_matrix(axes, matrix)
            texts = [(told_of(matrix, 1 / matrix["true"].nunique()), 4, "normal")]
            if place != above:
                source, split, predict = above = place
                title = textwrap.shorten(sources.get(source, {}).get("title", source), 2 * LETTERS, placeholder="…")
                texts.append(([title, f"{split_title(split)}, {TASKS[predict]}"], 8 + 72 * LINE * head, "bold"))
            for words, up, weight in texts:
                axes.annotate("\n".join(words), (0, 1), (-18, up), xycoords="axes fraction", textcoords="offset points", fontsize=6.2,
                              fontweight=weight, va="bottom", linespacing=1.1)
        top += size + FOOT
    return figure


def main(given: argparse.Namespace) -> None:
    cells, sources = cells_of(study_metrics(given.metrics, "strided_sop", SCHEMA), load(given.models)), load(given.sources)
    style.save(lambda: draw(cells, sources), given)
    write_points(cells[COLUMNS], given.output)
    log.info("%s: %d cells", given.output, len(cells))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
