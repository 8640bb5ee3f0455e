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
CELL, LEFT, TOP, GAP = 0.36, 1.2, 0.85, 0.5  # inches
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


def draw_matrix(axes: Axes, cells: pd.DataFrame, strides: list[int], sources: dict) -> None:
    """One matrix."""
    rows = cells.drop_duplicates(["learnt_corpus", "learnt_stride"])
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
    panels = list(points.groupby(PLACE, sort=False))
    strides = sorted(set(points["stride"]))
    width = max(LEFT + CELL * len(strides), 2.3)
    across = max(1, min(len(panels), int(style.WIDTH / width)))
    lines = [panels[start : start + across] for start in range(0, len(panels), across)]
    rows = [max(len(cells.drop_duplicates(["learnt_corpus", "learnt_stride"])) for _, cells in line) for line in lines]
    height = sum(TOP + CELL * count + GAP for count in rows)
    figure, top = plt.figure(figsize=(style.WIDTH, height)), 0.0
    for line, count in zip(lines, rows):
        for place, ((source, split, system), cells) in enumerate(line):
            own = CELL * len(cells.drop_duplicates(["learnt_corpus", "learnt_stride"]))
            axes = figure.add_axes([(width * place + LEFT - 0.1) / style.WIDTH, 1 - (top + TOP + own) / height, CELL * len(strides) / style.WIDTH, own / height])
            draw_matrix(axes, cells, strides, sources)
            title = "\n".join(textwrap.wrap(sources.get(source, {}).get("title", source), 26)[:2])
            detail = "\n".join(textwrap.wrap(f"{split_title(split)}, {system}" + " (control)" * bool(cells["is_control"].any()), 34, break_on_hyphens=False))
            axes.annotate(title, (0, 1), (-60, 26), xycoords="axes fraction", textcoords="offset points", fontweight="bold")
            axes.annotate(detail, (0, 1), (-60, 5), xycoords="axes fraction", textcoords="offset points", color=style.GREY, fontsize=6.5, va="bottom")
            style.mark(axes, face_of(cells), 9)
        top += TOP + CELL * count + GAP
    return figure


def main(given: argparse.Namespace) -> None:
    points, sources = by_learnt(strided_metrics(given.metrics, load(given.models), crossed=True)), load(given.sources)
    style.save(lambda: draw(points, sources), given)
    write_points(points[COLUMNS], given.output)
    log.info("%s: %d cells", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
