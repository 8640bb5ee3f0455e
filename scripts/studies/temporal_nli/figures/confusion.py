"""Draw what models of temporal-expression NLI take for what: a confusion matrix (rows: the label)
for each set, model and method. Models that know two labels have matrices of two.
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.plan.probe import method_of_blind
from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load, method_title
from scripts.publish.panels import Panel, draw_matrix, figure_of, highest, publish
from scripts.studies.temporal_nli.evaluate import NAMES
from scripts.studies.temporal_nli.figures.metrics import (
    ABOUT,
    PLACE,
    SETS,
    SYSTEM,
    data_title,
    nli_metrics,
)

COLUMNS = [*ABOUT, "label", "predicted", "value", "share_of_label", "n", "sample", "limit"]
LETTERS = {"entailment": "E", "neutral": "N", "contradiction": "C", "not_entailment": "not E"}
TALL, WIDE, ACROSS = 0.69, 0.95, 6  # inches of a matrix, at most; matrices side by side
NOTE = "share of the pairs with the label of the row (%)"


def cells_of(metrics: pd.DataFrame) -> pd.DataFrame:
    cells = metrics[(metrics["metric"] == "confusion") & metrics["seed"].isna()]
    cells = cells.assign(
        **cells["slice"].str.extract(r"^label=(?P<label>.*); predicted=(?P<predicted>.*)$")
    )
    label = cells.groupby([*PLACE, *SYSTEM, "label"])["value"].transform("sum")
    return cells.assign(share_of_label=cells["value"] / label.where(label > 0))


def draw_panel(axes: Axes, cells: pd.DataFrame, labelled: bool) -> None:
    """labelled: with the labels, and how many pairs have each."""
    labels = NAMES[cells["scoring"].iloc[0]]
    shares = cells.pivot(index="label", columns="predicted", values="share_of_label")
    shares = shares.reindex(index=labels, columns=labels)
    pairs = (cells.groupby("label")["value"].sum() * cells["n"].iloc[0]).round()
    names = [
        f"{LETTERS[label]}: {label.replace('_', ' ')}\n{pairs.get(label, 0):,.0f} pairs"
        for label in labels
    ]
    draw_matrix(axes, shares.set_axis(names).rename(columns=LETTERS), size=6.5)
    axes.tick_params(labelleft=labelled)
    axes.set_xlabel("predicted", fontsize=6.5, labelpad=1, color=style.GREY)


def most_confused(cells: pd.DataFrame) -> str:
    """`98 % of neutral pairs are taken for entailment (MPNet, set III)`: the most that a model
    which sees both sentences confuses.
    """
    sees_all = cells["method"].map(method_of_blind).isna()
    wrong = cells[sees_all & (cells["label"] != cells["predicted"]) & (cells["value"] > 0)]
    if wrong.empty:
        return ""
    most = wrong.loc[wrong["share_of_label"].idxmax()]
    share, who = f"{most['share_of_label'] * 100:.0f} %", most["series"]
    label, predicted = (most[name].replace("_", " ") for name in ("label", "predicted"))
    where = SETS[most["challenge_set"]]
    return f"{share} of {label} pairs are taken for {predicted} ({who}, {where})"


def draw(cells: pd.DataFrame, sources: dict) -> Figure:
    cells, note = highest(cells, cells["label"] == cells["predicted"])
    titles = [data_title(*place, sources) for place in zip(cells["source"], cells["dataset"])]
    lines: list[list[Panel]] = []
    of_set = ["challenge_set", "dataset", "split", "scoring"]
    for title, block in cells.assign(title=titles).groupby("title", sort=False):
        groups = []
        for (name, *_), group in block.groupby(of_set, sort=False):
            panels: list[Panel] = []
            for (series, method), matrix in group.groupby(SYSTEM[:2], sort=False):
                draw_one = partial(draw_panel, labelled=not panels)
                detail = f"{series}\n{method_title(method)}"
                panels.append(Panel(matrix, draw_one, "", detail, height=TALL))
            groups.append([panels[0]._replace(title=SETS[name]), *panels[1:]])
        (first, *others), *more = style.lines_of(groups, ACROSS)
        lines += [[first._replace(heading=f"{most_confused(block)}\n{title}"), *others], *more]
    return figure_of(lines, widest=WIDE, size=6.5, note=" ".join(filter(None, [NOTE, note])))


def main(given: argparse.Namespace) -> None:
    cells, sources = cells_of(nli_metrics(given.metrics, load(given.models))), load(given.sources)
    publish(given, cells[COLUMNS], lambda: draw(cells, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
