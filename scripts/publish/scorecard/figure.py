"""Draw the scorecard: models by probes, and the headline against the number of parameters.

A cell has the study's headline in per cent, how many points it lies above the best control of its
conditions, and its 95 % interval. A model that was asked by likelihood also has its score without
what it should read (blind), which is one of its controls. Blue: clearly above every control, darker
if further. Grey: no better than a control. Below the models stand the best control, the best number
that the paper prints, and people. Then comes a panel for each probe: the same numbers against the
size of the network.

Reads  metrics.parquet, <train>/<study>/<run>/run.json (kind, parameters), resources/sources.yaml,
       models.yaml, and beside them studies.yaml, published.csv and, if something was left out,
       left_out.yaml
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the cells, values as shares from 0 to 1

    python -m scripts.publish.scorecard.figure --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --train results/train \\
        --runs STUDY/RUN STUDY/RUN … --output results/publish/default/figures/scorecard
"""

import argparse
import itertools
import textwrap
from typing import NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from scripts.running.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.scorecard.cells import PROBE
from scripts.publish.scorecard.layout import (
    FEET,
    NOT_RUN,
    Scorecard,
    corpus_line,
    read_scorecard,
    size_in_words,
)
from scripts.publish.scorecard.panels import draw_panels, legend_handles, panel_lines
from scripts.publish.table import interval, percent, signed, write_points

COLUMNS = [
    *PROBE,
    "split",
    "kind",
    "parameters",
    "model",
    "way",
    "method",
    "value",
    "sd",
    "seeds",
    "ci_low",
    "ci_high",
    "n",
    "above",
    "above_low",
    "above_high",
    "control",
    "clear",
    "blind",
    "blind_low",
    "blind_high",
    "above_blind",
    "above_blind_low",
    "above_blind_high",
    "wordings",
    "lowest",
    "highest",
    "sample",
]
ACROSS = 8  # columns beside one another; those of few are as wide as if there were FEW
FEW = 6
NAMES = 2.5  # the width of the rows' names, in columns
LETTERS = 128  # that stand beside one another in the whole width
LINE = 0.125  # inches of a line of text
FAR = 0.6  # above the best control: the darkest blue


class Cell(NamedTuple):
    """A text, a smaller one under it, and how blue its paper is."""

    text: str
    below: str = ""
    colour: str = style.INK
    weight: str = "normal"
    shade: float = 0.0

    def height(self) -> float:
        """Lines of text that it takes, with air."""
        return len(self.text.splitlines()) + 0.85 * len(self.below.splitlines()) + 0.6


class Row(NamedTuple):
    """A row as it is drawn: its name, and a cell for each column; a line may stand over it."""

    name: Cell
    cells: list[Cell]
    is_ruled: bool = False

    def height(self) -> float:
        """Lines of text that it takes."""
        return max(cell.height() for cell in (self.name, *self.cells))


def head_rows(probes: list[dict], letters: int) -> list[Row]:
    """The names over the columns: study, corpus, then what is probed on how many examples."""

    def over(*keys: str, **look: str) -> Row:
        cells = []  # a name stands over the first column of its group
        for _, group in itertools.groupby(probes, key=lambda probe: [probe[key] for key in keys]):
            group = list(group)
            title = corpus_line(group[0]) if "corpus" in keys else group[0]["study_title"]
            cells.append(Cell(textwrap.fill(title, letters * len(group) - 1), **look))
            cells += [Cell("")] * (len(group) - 1)
        return Row(Cell(""), cells)

    columns = [
        Cell(textwrap.fill(probe["title"], letters), f"n = {probe['n']:,}") for probe in probes
    ]
    corpora = over("study", "corpus", colour=style.GREY)
    return [over("study", weight="bold"), corpora, Row(Cell(""), columns)]


def cell_of(cell: pd.Series | str) -> Cell:
    """A cell of the scorecard as it is drawn."""
    if isinstance(cell, str):
        return Cell("–" if cell == NOT_RUN else cell.split(":")[0], colour=style.GREY)
    text, below = percent(cell["value"]), interval(cell)
    if pd.notna(cell["above"]):
        text += f" {signed(cell['above'])}"
    if pd.notna(cell["blind"]):
        below += f"\nblind {percent(cell['blind'])}"
    if cell["clear"]:
        return Cell(text, below, shade=0.1 + 0.42 * min(cell["above"] / FAR, 1))
    return Cell(text, below, style.GREY if pd.notna(cell["above"]) else style.INK)


def body_rows(card: Scorecard, probes: list[dict], letters: int) -> list[Row]:
    """A row for each model and way that has a cell on these probes, under the name of its kind."""
    rows, above, width = [], {"kind": "", "model": ""}, int(NAMES * letters)
    for row in card.rows:
        cells = [card.cell(row, probe) for probe in probes]
        if all(isinstance(cell, str) and cell == NOT_RUN for cell in cells):
            continue
        if row["kind"] != above["kind"]:
            rows.append(Row(Cell(row["kind"], weight="bold"), []))
        again, size = row["model"] == above["model"], size_in_words(row["parameters"])
        detail = " · ".join(filter(None, ["" if again else size, card.asked(row)]))
        title = "" if again else textwrap.fill(row["title"], width)
        name = Cell(title, textwrap.fill(detail, width))
        rows.append(Row(name, [cell_of(cell) for cell in cells]))
        above = row
    return rows


def foot_rows(card: Scorecard, probes: list[dict], letters: int) -> list[Row]:
    """The rows under the models."""
    feet, rows = [card.feet(probe) for probe in probes], []
    for who in FEET:
        cells = [
            Cell(value, textwrap.fill(whose or ends, letters + 2))
            for value, ends, whose in (foot[who] for foot in feet)
        ]
        if any(cell.text for cell in cells):
            rows.append(Row(Cell(who), cells, is_ruled=not rows))
    return rows


def draw_rows(axes: Axes, rows: list[Row], columns: int) -> None:
    """Rows of text from the top, in lines; the columns begin at 0, the names left of them."""
    y = 0.0
    for row in rows:
        if row.is_ruled:
            axes.plot([-NAMES, len(row.cells)], [y - 0.3, y - 0.3], color=style.GREY, linewidth=0.6)
        for x, cell in zip([-NAMES, *range(len(row.cells))], (row.name, *row.cells)):
            if cell.shade:
                axes.add_patch(
                    Rectangle(
                        (x, y - 0.3),
                        0.94,
                        cell.height() - 0.1,
                        linewidth=0,
                        facecolor=style.COLOURS[0],
                        alpha=cell.shade,
                    )
                )
            axes.text(
                x + 0.05,
                y,
                cell.text,
                va="top",
                fontsize=6.8,
                fontweight=cell.weight,
                color=cell.colour,
            )
            axes.text(
                x + 0.05,
                y + len(cell.text.splitlines()),
                cell.below,
                va="top",
                fontsize=5.8,
                color=style.INK if cell.shade else style.GREY,
            )
        y += row.height()
    axes.set(xlim=(-NAMES, columns), ylim=(y, -0.3))
    axes.set_axis_off()


def mark_columns(axes: Axes, probes: list[dict]) -> None:
    """Write over columns that stand side by side what marks their numbers."""
    left, middle = 0, sum(axes.get_ylim()) / 2
    for face, group in itertools.groupby(probes, key=lambda probe: probe["face"]):
        count = len(list(group))
        size = min(22, 100 * count / max(1, *map(len, face.split("\n"))))
        axes.text(
            left + count / 2,
            middle,
            face,
            ha="center",
            va="center",
            rotation=12,
            fontsize=size,
            fontweight="bold",
            color=style.PALE,
            zorder=0.6,
        )
        left += count


def draw(card: Scorecard) -> Figure:
    """The figure: the probes in blocks one under the other, the panels, a legend."""
    by_study = itertools.groupby(card.probes, key=lambda probe: probe["study"])
    blocks = style.lines_of([list(probes) for _, probes in by_study], ACROSS)
    columns = max(FEW, *map(len, blocks))
    letters = int(LETTERS / (NAMES + columns))
    tables = [
        [
            *head_rows(block, letters),
            *body_rows(card, block, letters),
            *foot_rows(card, block, letters),
        ]
        for block in blocks
    ]
    lines = [sum(row.height() for row in table) for table in tables]
    handles, below = legend_handles(card), panel_lines(card)
    height = LINE * (sum(lines) + below + len(handles) / 2 + 2)
    figure = plt.figure(figsize=(style.WIDTH, height), layout="constrained")
    heights = [sum(lines), below] if below else [sum(lines)]
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False).flat
    grid = parts[0].subplots(len(blocks), 1, height_ratios=lines, squeeze=False)
    for axes, block, table in zip(grid.flat, blocks, tables):
        draw_rows(axes, table, columns)
        mark_columns(axes, block)
    if below:
        draw_panels(parts[1], card)
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=6.8)
    return figure


def main(given: argparse.Namespace) -> None:
    card = read_scorecard(given)
    style.save(lambda: draw(card), given)
    write_points(card.cells[COLUMNS], given.output)
    models = card.cells["model"].nunique()
    log.info("%s: %d cells of %d models", given.output, len(card.cells), models)


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "runs").parse_args())
