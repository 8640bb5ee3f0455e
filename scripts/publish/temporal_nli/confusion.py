"""Draw what models of temporal-expression NLI take for what: a confusion matrix for each set, model and method.

Rows: the label; columns: the prediction. A cell's colour and number: its share of the row, in per cent, mean over the
seeds. Left of a row: how many pairs have the label. Models that know two labels have matrices of two.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the cells, as shares from 0 to 1 of all pairs and of the row

    python -m scripts.publish.temporal_nli.confusion --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/temporal_nli_confusion
"""

import argparse
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from scripts.common.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, method_title
from scripts.publish.table import write_points
from scripts.publish.temporal_nli.metrics import LABELS, SETS, data_title, nli_metrics

COLUMNS = ["source", "dataset", "challenge_set", "split", "model", "method", "scoring", "experiment", "label",
           "predicted", "value", "share_of_label", "n", "sample", "limit"]
KNOWN = {"ternary": LABELS, "binary": ["entailment", "not_entailment"]}
LETTERS = {"entailment": "E", "neutral": "N", "contradiction": "C", "not_entailment": "not E"}
# Inches: around all, a matrix, from one to the next, left of the first; above all, a block's title, a line of a
# matrix's title, below a matrix.
MARGIN, SIDE, PITCH, LABELLED = 0.06, 0.69, 0.8, 0.66
TOP, HEAD, LINE, FOOT = 0.1, 0.32, 0.12, 0.56
WRAP = 15  # letters that fit over a matrix


def cells_of(metrics: pd.DataFrame) -> pd.DataFrame:
    """Each cell of each matrix, with label, predicted and share_of_label, from a table made by nli_metrics()."""
    cells = metrics[(metrics["metric"] == "confusion") & metrics["seed"].isna()]
    cells = cells.assign(**cells["slice"].str.extract(r"^label=(?P<label>.*); predicted=(?P<predicted>.*)$"))
    matrix = ["source", "dataset", "split", "series", "method", "scoring"]
    label = cells.groupby([*matrix, "label"])["value"].transform("sum")
    return cells.assign(share_of_label=cells["value"] / label.where(label > 0))


def draw_matrix(axes: Axes, cells: pd.DataFrame, title: list[str], labelled: bool) -> None:
    """One matrix; labelled: with the labels, and how many pairs have each. A label without pairs stays blank."""
    labels = KNOWN[cells["scoring"].iloc[0]]
    shares = cells.pivot(index="label", columns="predicted", values="share_of_label")
    shares = shares.reindex(index=labels, columns=labels)
    pairs = (cells.groupby("label")["value"].sum() * cells["n"].iloc[0]).round().reindex(labels).fillna(0)
    axes.pcolormesh(np.ma.masked_invalid(shares.to_numpy(float)), cmap=style.shades(), vmin=0, vmax=1, edgecolors=style.PALE,
                    linewidth=0.6, zorder=1)
    for (row, column), share in np.ndenumerate(shares.to_numpy(float)):
        axes.text(column + 0.5, row + 0.52, "" if np.isnan(share) else f"{share * 100:.0f}", ha="center", va="center",
                  fontsize=7, color=style.on_shade(np.nan_to_num(share)))
    axes.set_xlim(0, len(labels))
    axes.set_ylim(len(labels), 0)
    places, letters = np.arange(len(labels)) + 0.5, [LETTERS[label] for label in labels]
    axes.set_xticks(places, letters, fontsize=7)
    names = [f"{count:,.0f}  {letter}" for count, letter in zip(pairs, letters)]
    axes.set_yticks(places, names if labelled else [""] * len(labels), fontsize=7)
    axes.tick_params(length=0, pad=3)
    axes.grid(visible=False)
    axes.spines[:].set_visible(True)
    axes.annotate("\n".join(title), (0, 1), (0, 3), xycoords="axes fraction", textcoords="offset points", fontsize=6.5,
                  va="bottom", linespacing=1.1)
    axes.set_xlabel("predicted", fontsize=6.5, labelpad=1, color=style.GREY)
    style.mark(axes, face_of(cells), 7)


def width(group: list) -> float:
    """Of a group of matrices with its labels, in inches."""
    return LABELLED + PITCH * len(group)


def blocks_of(cells: pd.DataFrame, sources: dict) -> list[tuple[str, list[list[list]]]]:
    """Of each source its title and its matrices: lines of groups; a group holds matrices of one set and scoring."""
    titles = [data_title(source, dataset, sources) for source, dataset in zip(cells["source"], cells["dataset"])]
    most = int((style.WIDTH - MARGIN - LABELLED) / PITCH)
    found = []
    for title, block in cells.assign(title=titles).groupby("title", sort=False):
        groups = []
        for _, of in block.groupby(["challenge_set", "dataset", "split", "scoring"], sort=False):
            panels = list(of.groupby(["challenge_set", "series", "method"], sort=False))
            groups += [panels[start:start + most] for start in range(0, len(panels), most)]
        lines: list[list] = [[]]
        for group in groups:
            if sum(map(width, [*lines[-1], group])) > style.WIDTH - MARGIN:
                lines.append([])
            lines[-1].append(group)
        found.append((title, lines))
    return found


def draw(cells: pd.DataFrame, sources: dict) -> Figure:
    """The figure of cells_of(); the matrices of one set stand beside one another."""
    blocks = blocks_of(cells, sources)
    heading = {(series, method): [*textwrap.wrap(series, WRAP), *textwrap.wrap(method_title(method), WRAP)]
               for series, method in cells[["series", "method"]].drop_duplicates().itertuples(index=False)}
    over = LINE * max(len(lines) for lines in heading.values()) + 0.24
    height = TOP + 0.42 + sum(HEAD + len(lines) * (over + SIDE + FOOT) for _, lines in blocks)
    figure = plt.figure(figsize=(style.WIDTH, height))
    top = height - TOP
    for title, lines in blocks:
        figure.text(MARGIN / style.WIDTH, (top - 0.1) / height, title, fontweight="bold", fontsize=8.5, va="center")
        top -= HEAD
        for line in lines:
            bottom = top - over - SIDE
            left, titled = MARGIN, None
            for group in line:
                left += LABELLED
                challenge_set = group[0][0][0]
                if challenge_set != titled:
                    figure.text((left - 0.5) / style.WIDTH, (top - 0.06) / height, SETS[challenge_set], fontsize=7.5,
                                fontweight="bold", va="center")
                titled = challenge_set
                for place, ((_, series, method), matrix) in enumerate(group):
                    axes = figure.add_axes([(left + place * PITCH) / style.WIDTH, bottom / height, SIDE / style.WIDTH,
                                            SIDE / height])
                    draw_matrix(axes, matrix, heading[series, method], labelled=place == 0)
                left += PITCH * len(group)
            top = bottom - FOOT
    bar = figure.add_axes([0.36, 0.34 / height, 0.28, 0.07 / height])
    figure.colorbar(ScalarMappable(Normalize(0, 100), style.shades()), cax=bar, orientation="horizontal")
    bar.set_xlabel("share of the pairs with the label of the row (%)", fontsize=7, labelpad=1)
    bar.tick_params(labelsize=7, length=2, pad=1)
    bar.grid(visible=False)
    return figure


def main(given: argparse.Namespace) -> None:
    cells = cells_of(nli_metrics(given.metrics, load(given.models)))
    sources = load(given.sources)
    style.save(lambda: style.nothing("no model was measured in this run") if cells.empty else draw(cells, sources), given)
    write_points(cells[COLUMNS], given.output)
    log.info("%s: %d matrices", given.output, len(cells.drop_duplicates(["source", "dataset", "split", "series", "method"])))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
