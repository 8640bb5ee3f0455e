"""Draw whether accuracy on temporal-expression NLI is a rule or memory: what was held out against seen and unseen pairs.

A matrix for each source, set, model and method. A row is what training lacked: whole templates always, and besides a list of
times, a spelling, a unit, the last third of each list or a form of sentence (scripts/build/temporal_nli_parts.py). Columns,
all of templates that are new: seen, the test pairs without it; unseen, those that have it; learnt, the same unseen pairs for the
model that learnt from everything (held out: template), where that was run. A rule holds in the middle column; memory falls
there, and not in the last one. A cell has the accuracy, mean over the seeds, and its 95 % bootstrap interval over templates.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the cells, values as shares from 0 to 1

    python -m scripts.publish.temporal_nli.generalization --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/figures/temporal_nli_generalization
"""

import argparse
import re
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.build.temporal_nli_parts import KINDS, TEMPLATE
from scripts.common.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, method_title
from scripts.publish.table import write_points
from scripts.publish.temporal_nli.metrics import SCORINGS, SETS, data_title, nli_metrics

PARTS = ["seen", "unseen", "learnt"]
FRONTED = "form: time first"
NAMES = {"template": "templates alone", "list": "list: weekdays", "spelling": "spelling: 24 h, short months", "unit": "unit: days",
         "range": "range: last third of lists", "form": FRONTED}
OF_SET = {("temp_duration", "form"): "form: two clauses", ("cross_unit", "range"): "range: T1 from 8 to 10"}
COLUMNS = ["source", "dataset", "challenge_set", "split", "model", "method", "scoring", "experiment", "held_out", "part",
           "slice", "value", "sd", "ci_low", "ci_high", "n", "groups", "sample", "limit"]
# Inches: above all, a block's title, a panel's title, a row, a column, between panels, under a line of panels; a letter.
TOP, HEAD, TITLE, ROW, COLUMN, GAP, FOOT, LETTER = 0.1, 0.3, 0.42, 0.34, 0.56, 0.3, 0.42, 0.054


def without(dataset: str, kind: str) -> str:
    """The name of the dataset that differs from this one in holding out templates alone."""
    return re.sub(rf"-{kind}(?=(?:-limit-\d+)?$)", "", dataset)


def cells_of(metrics: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell, with part (seen, unseen, learnt) and whole (the dataset without what it holds out besides).

    metrics: a table made by nli_metrics() of all datasets. Only systems that were measured with something held out besides, and
    of the controls the one that is best over all pairs of the datasets of a set.
    """
    rows = metrics[(metrics["metric"] == "accuracy") & metrics["seed"].isna() & (metrics["model"] != "majority")]
    finest = rows.groupby(["source", "dataset", "split", "series", "method"])["scoring"]
    rows = rows[rows["scoring"] == finest.transform(lambda scoring: min(scoring, key=SCORINGS.index))]
    rows = rows.assign(whole=[without(dataset, kind) for dataset, kind in zip(rows["dataset"], rows["held_out"])])
    place = ["source", "challenge_set", "whole", "split"]
    controls = rows[(rows["method"] == "control") & (rows["slice"] == "all")].groupby([*place, "model"])["value"].mean()
    best = set(controls.groupby(place).idxmax())
    is_best = np.array([at in best for at in rows[[*place, "model"]].itertuples(index=False, name=None)], bool)
    rows = rows[(rows["method"] != "control") | is_best]
    own = rows[rows["slice"].isin(["part=seen", "part=unseen"])]
    own = own.assign(part=own["slice"].str.removeprefix("part="))
    learnt = rows[rows["slice"].str.startswith("withheld=") & (rows["held_out"] == TEMPLATE)]
    learnt = learnt.assign(part="learnt", held_out=learnt["slice"].str.removeprefix("withheld="))
    system = ["source", "challenge_set", "whole", "split", "series", "method"]
    wanted = own.loc[own["held_out"] != TEMPLATE, [*system, "held_out"]].drop_duplicates()
    learnt = learnt.merge(wanted, on=[*system, "held_out"])
    own = own.merge(wanted[system].drop_duplicates(), on=system)
    return pd.concat([own, learnt], ignore_index=True)


def row_name(challenge_set: str, kind: str, cells: pd.DataFrame) -> str:
    """What was held out, and how many of the test pairs have it."""
    counts = cells[cells["held_out"] == kind].drop_duplicates("part").set_index("part")["n"]
    whole = counts.get("seen", 0) + counts.get("unseen", 0)
    return f"{OF_SET.get((challenge_set, kind), NAMES[kind])}\n{counts.get('unseen', 0):,} of {whole:,} pairs"


def draw_panel(axes: Axes, cells: pd.DataFrame, kinds: list[str]) -> None:
    """The matrix of one model and method."""
    values = cells.pivot(index="held_out", columns="part", values="value").reindex(index=kinds, columns=PARTS)
    axes.pcolormesh(np.ma.masked_invalid(values.to_numpy(float)), cmap=style.shades(), vmin=0, vmax=1.15, edgecolors=style.PALE,
                    linewidth=0.6, zorder=1)
    for _, cell in cells.iterrows():
        at = PARTS.index(cell["part"]) + 0.5, kinds.index(cell["held_out"])
        colour = style.on_shade(cell["value"] / 1.15)
        axes.text(at[0], at[1] + 0.36, f"{cell['value'] * 100:.1f}", ha="center", va="center", fontsize=7.5, color=colour)
        told = "one group" if np.isnan(cell["ci_low"]) else f"{cell['ci_low'] * 100:.0f}–{cell['ci_high'] * 100:.0f}"
        axes.text(at[0], at[1] + 0.75, told, ha="center", va="center", fontsize=6, color=colour)
    axes.set_xlim(0, len(PARTS))
    axes.set_ylim(len(kinds), 0)
    axes.set_xticks(np.arange(len(PARTS)) + 0.5, PARTS, fontsize=7)
    axes.set_yticks([])
    axes.tick_params(length=0, pad=3)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    style.mark(axes, face_of(cells), 10)


def blocks_of(cells: pd.DataFrame, sources: dict) -> list[tuple[str, str, pd.DataFrame, list[str], list[list]]]:
    """Of each source and set its title, its set, its cells, what it holds out, and its panels in lines."""
    found = []
    for (source, challenge_set, whole, _), block in cells.groupby(["source", "challenge_set", "whole", "split"], sort=False):
        kinds = [kind for kind in (TEMPLATE, *KINDS) if (block["held_out"] == kind).any()]
        panels = list(block.groupby(["series", "method", "scoring"], sort=False))
        found.append((f"{SETS[challenge_set]} · {data_title(source, whole, sources)}", challenge_set, block, kinds, panels))
    left = left_of(found)
    across = max(1, int((style.WIDTH - left + GAP) / (COLUMN * len(PARTS) + GAP)))
    return [(*block, [panels[start:start + across] for start in range(0, len(panels), across)]) for *block, panels in found]


def left_of(blocks: list[tuple]) -> float:
    """Inches left of the first matrix of a line, for the longest name of a row."""
    names = [line for _, challenge_set, block, kinds, *_ in blocks for kind in kinds
             for line in row_name(challenge_set, kind, block).split("\n")]
    return 0.2 + LETTER * max(map(len, names))


def draw(cells: pd.DataFrame, sources: dict) -> Figure:
    """The figure of cells_of()."""
    blocks = blocks_of(cells, sources)
    left, wide = left_of(blocks), COLUMN * len(PARTS)
    names = {series: textwrap.wrap(series, int(wide / 0.068)) for series in cells["series"].unique()}
    title = TITLE + 0.13 * (max(len(lines) for lines in names.values()) - 1)
    height = TOP + 0.2 + sum(HEAD + len(lines) * (title + ROW * len(kinds) + FOOT) for _, _, _, kinds, lines in blocks)
    figure, top = plt.figure(figsize=(style.WIDTH, height)), height - TOP
    for heading, challenge_set, block, kinds, lines in blocks:
        figure.text(0.06 / style.WIDTH, (top - 0.1) / height, heading, fontweight="bold", fontsize=8.5, va="center")
        top -= HEAD
        for line in lines:
            tall = ROW * len(kinds)
            bottom = top - title - tall
            for number, ((series, method, scoring), panel) in enumerate(line):
                axes = figure.add_axes([(left + number * (wide + GAP)) / style.WIDTH, bottom / height, wide / style.WIDTH,
                                        tall / height])
                draw_panel(axes, panel, kinds)
                detail = method_title(method) + ("" if scoring == "ternary" else f", {scoring}")
                style.panel_title(axes, names[series], detail)
                if number == 0:
                    axes.set_yticks(np.arange(len(kinds)) + 0.5, [row_name(challenge_set, kind, block) for kind in kinds],
                                    fontsize=6.5, linespacing=1.2)
            top = bottom - FOOT
    figure.text(0.5, 0.08 / height, "accuracy (%) and its 95 % interval, on pairs of new templates", ha="center", fontsize=7.5)
    return figure


def main(given: argparse.Namespace) -> None:
    cells = cells_of(nli_metrics(given.metrics, load(given.models), [TEMPLATE, *KINDS]))
    sources, none = load(given.sources), "nothing but templates was held out in this run"
    style.save(lambda: style.nothing(none) if cells.empty else draw(cells, sources), given)
    write_points(cells[COLUMNS], given.output)
    log.info("%s: %d cells", given.output, len(cells))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
