"""Draw accuracy by what was learnt from and what was measured: a matrix for each corpus, evaluation split and system.

Rows: the stride that was learnt from, or several mixed; of another corpus where it is named. Columns: the stride that was measured. Numbers are
accuracies in per cent, means over the seeds; a cell has more colour the further it lies above 50 %. Framed: learnt and measured are of the
same corpus and stride. Of the controls the best is shown, by its mean over its matrix.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the cells, values as shares from 0 to 1

    python -m scripts.publish.strided_sop.stride_matrix --metrics results/evaluate/extensions/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --output results/publish/extensions/figures/strided_sop_stride_matrix
"""

import argparse
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from scripts.common.program import execute, log
from scripts.common.strides import UP_TO
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, split_title
from scripts.publish.strided_sop.metrics import VARIANT, learnt_title, strided_metrics, strides_told
from scripts.publish.table import write_points

COLUMNS = ["source", "split", "system", "learnt_corpus", "learnt_stride", "stride", "series", "model", "experiment", *VARIANT, "limit", "value", "sd",
           "ci_low", "ci_high", "n", "groups", "sample"]
CELL, WIDE, LEFT, TOP, GAP, FOOT = 0.36, 0.5, 1.35, 0.56, 0.2, 0.42  # inches; a cell at least and at most
ROW = 0.62  # of a cell's width: its height
PLACE = ["source", "split", "system"]


def by_learnt(metrics: pd.DataFrame) -> pd.DataFrame:
    """The accuracies over all seeds of systems that learnt from several strides or corpora, with what they learnt from and `system` (the
    series without that); of controls the best of each corpus and split."""
    points = metrics[metrics["seed"].isna() & (metrics["metric"] == "accuracy")]
    points = points.assign(
        system=[series.replace(learnt_title(row), "") for series, row in zip(points["series"], points.to_dict("records"))],
        learnt_corpus=points["learn_from"].fillna(points["source"]), learnt_stride=points["train_stride"].fillna(points["stride"].astype(str)))
    crossed = points["train_stride"].notna() | points["learn_from"].notna()
    points = points[crossed.groupby([points[name] for name in PLACE]).transform("any")]
    controls = points[points["method"] == "control"]
    reached = controls.groupby(PLACE, as_index=False)["value"].mean()
    best = reached.loc[reached.groupby(PLACE[:2])["value"].idxmax(), PLACE] if len(reached) else reached[PLACE]
    kept = pd.concat([points[points["method"] != "control"], controls.merge(best)])
    mixed = kept["learnt_stride"].str.startswith(UP_TO)
    kept = kept.assign(is_elsewhere=kept["learnt_corpus"] != kept["source"], is_mixed=mixed,
                       number=kept["learnt_stride"].str.removeprefix(UP_TO).astype(int), is_control=kept["method"] == "control")
    return kept.sort_values(["source", "split", "is_control", "system", "is_elsewhere", "learnt_corpus", "is_mixed", "number", "stride"],
                            kind="stable", ignore_index=True)


def row_title(row: pd.Series, sources: dict) -> str:
    """What a row of a matrix learnt from."""
    title = sources.get(row["learnt_corpus"], {}).get("title", row["learnt_corpus"])
    corpus = "\n".join(textwrap.wrap(title if len(title) < 30 else row["learnt_corpus"].replace("_", " "), 18)[:2])
    return strides_told(row["learnt_stride"]) + (f",\n{corpus}" if row["is_elsewhere"] else "")


def rows_of(cells: pd.DataFrame) -> pd.DataFrame:
    """What the rows of matrices side by side learnt from: their source, learnt_corpus, learnt_stride and is_elsewhere."""
    return cells[["source", "learnt_corpus", "learnt_stride", "is_elsewhere"]].drop_duplicates(ignore_index=True)


def draw_matrix(axes: Axes, cells: pd.DataFrame, rows: pd.DataFrame, strides: list[int], sources: dict) -> None:
    """One matrix; rows: of rows_of()."""
    for place, (_, row) in enumerate(rows.iterrows()):
        same = cells[(cells["learnt_corpus"] == row["learnt_corpus"]) & (cells["learnt_stride"] == row["learnt_stride"])]
        for cell in same.drop_duplicates("stride").to_dict("records"):
            column, share = strides.index(cell["stride"]), float(np.clip(2 * cell["value"] - 1, 0, 1))
            axes.add_patch(Rectangle((column, place), 1, 1, facecolor=style.COLOURS[0], alpha=share, linewidth=0, zorder=1))
            axes.text(column + 0.5, place + 0.52, f"{cell['value'] * 100:.0f}", ha="center", va="center", fontsize=7, color=style.on_shade(share))
            if not row["is_elsewhere"] and row["learnt_stride"] == str(cell["stride"]):
                axes.add_patch(Rectangle((column + 0.04, place + 0.04), 0.92, 0.92, fill=False, edgecolor=style.INK, linewidth=1, zorder=3))
    axes.set_xlim(0, len(strides))
    axes.set_ylim(len(rows), 0)
    axes.set_xticks(np.arange(len(strides)) + 0.5, [str(stride) for stride in strides])
    axes.set_yticks(np.arange(len(rows)) + 0.5, [row_title(row, sources) for _, row in rows.iterrows()], fontsize=6)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.set_xlabel("stride measured", fontsize=7, labelpad=1)


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by by_learnt()."""
    style.apply()
    if points.empty:
        return style.nothing("nothing was learnt from another stride or corpus than it was measured on")
    places = [(rows_of(of_place), list(of_place.groupby("system", sort=False))) for _, of_place in points.groupby(PLACE[:2], sort=False)]
    strides, most = sorted(set(points["stride"])), max(len(systems) for _, systems in places)
    across = max(1, min(most, int((style.WIDTH - LEFT) / (CELL * len(strides) + GAP))))
    cell = min(WIDE, ((style.WIDTH - LEFT) / across - GAP) / len(strides))
    lines = [(rows, systems[start : start + across]) for rows, systems in places for start in range(0, len(systems), across)]
    height = sum(TOP + cell * ROW * len(rows) + FOOT for rows, _ in lines)
    figure, top = plt.figure(figsize=(style.WIDTH, height)), 0.0
    wide = cell * len(strides)
    for rows, line in lines:
        own = cell * ROW * len(rows)
        for place, (system, cells) in enumerate(line):
            axes = figure.add_axes([(LEFT + (wide + GAP) * place) / style.WIDTH, 1 - (top + TOP + own) / height, wide / style.WIDTH, own / height])
            draw_matrix(axes, cells, rows, strides, sources)
            if place == 0:
                source, split = cells[["source", "split"]].iloc[0]
                axes.annotate(sources.get(source, {}).get("title", source) + f", {split_title(split)}", (0, 1), (0, 24), xycoords="axes fraction",
                              textcoords="offset points", fontweight="bold", fontsize=8)
                axes.set_ylabel("learnt from", fontsize=7)
            else:
                axes.set_yticklabels([])
            detail = textwrap.wrap(f"{system}" + " (control)" * bool(cells["is_control"].any()), max(12, int(wide / 0.055)), break_on_hyphens=False)
            axes.annotate("\n".join(detail), (0, 1), (0, 4), xycoords="axes fraction", textcoords="offset points", color=style.GREY, fontsize=6.5, va="bottom")
            style.mark(axes, face_of(cells), 9)
        top += TOP + own + FOOT
    return figure


def main(given: argparse.Namespace) -> None:
    points, sources = by_learnt(strided_metrics(given.metrics, load(given.models), crossed=True)), load(given.sources)
    style.save(lambda: draw(points, sources), given)
    write_points(points[COLUMNS], given.output)
    log.info("%s: %d cells", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
