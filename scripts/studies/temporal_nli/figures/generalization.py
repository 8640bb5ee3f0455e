"""Draw whether accuracy on temporal-expression NLI comes from a rule or from memory: a matrix for
each source, set, model and method.

A row names what training lacked besides whole templates: a list of times, a spelling, a unit, … The
columns are seen, the test pairs without it; unseen, the test pairs with it; learnt, the same unseen
pairs for the model that learnt from everything. A model with a rule keeps its accuracy in the
middle column. A model with only memory loses accuracy there, but not in the last column.
"""

import re
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure

from scripts.studies.temporal_nli.parts import KINDS, TEMPLATE
from scripts.publish import style
from scripts.publish.item import Given
from scripts.publish.panels import Panel, figure_of, in_lines, publish, with_best_control
from scripts.publish.table import interval, percent
from scripts.studies.temporal_nli.figures.metrics import (
    ABOUT,
    CHANGED,
    SETS,
    SYSTEM,
    data_title,
    detail_of,
    finest,
    nli_metrics,
)

PARTS = ["seen", "unseen", "learnt"]
FRONTED = "form: time first"
NAMES = {
    "template": "templates alone",
    "list": "list: weekdays",
    "spelling": "spelling: 24 h, short months",
    "unit": "unit: days",
    "range": "range: last third of lists",
    "form": FRONTED,
}
OF_SET = {
    ("temp_duration", "form"): "form: two clauses",
    ("cross_unit", "range"): "range: T1 from 8 to 10",
}
COLUMNS = [*ABOUT, *"held_out part slice value sd ci_low ci_high n groups sample limit".split()]
PLACE = ["source", "challenge_set", "whole", "split"]  # these name the matrices of one dataset
ROW, ACROSS = 0.34, 3  # inches of a row; matrices side by side
DARKEST = 1.15  # the share with the full first colour; no cell is so dark
PALE_TEXT = 0.981  # above this share text in paper colour is easier to read than in ink
NOTE = "accuracy (%) and its 95 % interval, on pairs of new templates"


def without(dataset: str, kind: str) -> str:
    """Return the name of the dataset that holds out only templates and is otherwise the same."""
    return re.sub(rf"-{kind}(?=(?:-(?:{'|'.join(CHANGED)}|(?:train_)?limit-\d+))*$)", "", dataset)


def cells_of(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each cell, with part and whole (the name of the dataset that holds out only
    templates). Only systems that were measured with another kind held out appear. The only control
    is the one like for like of each dataset.
    """
    rows = finest(metrics[~metrics["method"].isin(["majority", "baseline"])])
    whole = [without(*place) for place in zip(rows["dataset"], rows["held_out"])]
    rows = rows.assign(whole=whole)
    rows = with_best_control(rows, [*PLACE, "dataset"], ["model"], rows["slice"] == "all")
    rows["series"] = rows["series"].where(rows["method"] != "control", style.BEST_CONTROL)
    # a slice of one part alone: after a filter, or in one list, it has a second part
    found = rows["slice"].str.extract("^([a-z_]+)=([^;=]+)$")
    name, value = found[0], found[1]
    parts = rows[name == "part"].assign(part=value)
    learnt = rows[(name == "withheld") & (rows["held_out"] == TEMPLATE)]
    learnt = learnt.assign(part="learnt", held_out=value)
    system = [*PLACE, *SYSTEM[:2]]
    wanted = parts.loc[parts["held_out"] != TEMPLATE, [*system, "held_out"]].drop_duplicates()
    learnt = learnt.merge(wanted, on=[*system, "held_out"])
    parts = parts.merge(wanted[system].drop_duplicates(), on=system)
    return pd.concat([parts, learnt], ignore_index=True)


def row_name(challenge_set: str, kind: str, cells: pd.DataFrame) -> str:
    counts = cells[cells["held_out"] == kind].drop_duplicates("part").set_index("part")["n"]
    whole = counts.get("seen", 0) + counts.get("unseen", 0)
    name = OF_SET.get((challenge_set, kind), NAMES[kind])
    return f"{name}\n{counts.get('unseen', 0):,} of {whole:,} pairs"


def draw_panel(axes: Axes, cells: pd.DataFrame, names: dict[str, str], parts: list[str]) -> None:
    """Draw a matrix, darker for a higher accuracy, blank without a measurement. names: the names of
    the rows, by what was held out. parts: the columns.
    """
    shares = cells.pivot(index="held_out", columns="part", values="value")
    shares = shares.reindex(index=list(names), columns=parts)
    ends = [to_rgba(style.COLOURS[0], alpha) for alpha in (0, 1)]
    shades = LinearSegmentedColormap.from_list("shades", ends)
    cells_drawn = axes.pcolormesh(shares.to_numpy(float), cmap=shades, vmin=0, vmax=DARKEST)
    cells_drawn.set(edgecolor=style.PALE, linewidth=0.6, zorder=1)
    for cell in cells.to_dict("records"):
        row, column = list(names).index(cell["held_out"]), parts.index(cell["part"])
        colour = style.PAPER if cell["value"] > PALE_TEXT else style.INK
        text = f"{percent(cell['value'])}\n{interval(cell, 0)}"
        axes.text(
            column + 0.5, row + 0.52, text, ha="center", va="center", fontsize=6.5, color=colour
        )
    axes.set_xticks(np.arange(len(parts)) + 0.5, parts)
    axes.set_yticks(np.arange(len(names)) + 0.5, names.values())
    axes.set_ylim(len(names), 0)
    axes.tick_params(length=0, pad=3, labelsize=6.5)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def most_lost(cells: pd.DataFrame) -> str:
    """Return the largest clear loss of a model: `The largest clear loss on unseen pairs: 48.6
    points (MPNet, list: weekdays)`. A loss is clear if the intervals of seen and unseen pairs do
    not overlap.
    """
    models = cells[(cells["method"] != "control") & (cells["held_out"] != TEMPLATE)]
    seen, unseen = (models[models["part"] == part] for part in PARTS[:2])
    both = seen.merge(unseen, on=[*SYSTEM, "held_out"], suffixes=("_seen", "_unseen"))
    if both.empty:
        return ""
    lost = both["value_seen"] - both["value_unseen"]
    lost = lost[both["ci_low_seen"] > both["ci_high_unseen"]]
    if lost.empty:
        return "No loss on unseen pairs is clear: the intervals overlap"
    series, kind = both.loc[lost.idxmax(), ["series", "held_out"]]
    where = OF_SET.get((cells["challenge_set"].iloc[0], kind), NAMES[kind])
    return (
        f"The largest clear loss on unseen pairs: {percent(lost.max())} points ({series}, {where})"
    )


def draw(cells: pd.DataFrame, sources: dict) -> Figure:
    lines: list[list[Panel]] = []
    for (source, challenge_set, whole, _), block in cells.groupby(PLACE, sort=False):
        names = {
            kind: row_name(challenge_set, kind, block)
            for kind in (TEMPLATE, *KINDS)
            if (block["held_out"] == kind).any()
        }
        parts = [part for part in PARTS if (block["part"] == part).any()]
        draw_one, height = partial(draw_panel, names=names, parts=parts), ROW * len(names)
        panels = [
            Panel(panel, draw_one, series, detail_of(*how), height=height)
            for (series, *how), panel in block.groupby(SYSTEM, sort=False)
        ]
        title = f"{SETS[challenge_set]} · {data_title(source, whole, sources)}"
        lines += in_lines(panels, ACROSS, f"{most_lost(block)}\n{title}")
    return figure_of(lines, share_y="line", across=ACROSS, note=NOTE)


def main(given: Given) -> None:
    cells = cells_of(nli_metrics(given.metrics, given.models, [TEMPLATE, *KINDS]))
    sources = given.sources
    publish(given, cells[COLUMNS], lambda: draw(cells, sources))
