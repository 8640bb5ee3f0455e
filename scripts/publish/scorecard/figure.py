"""Draw the scorecard: models by probes, and accuracy against the number of parameters.

A cell has the study's headline in per cent, how many points it lies above the best control of its conditions, and its 95 % interval; of a model that
was asked by likelihood below them what the same model reaches without what it should read (blind), which is one of its controls.
Blue, the darker the further: clearly above every control; grey and without colour: no better than one. Below the models the
best control that they share, the best that the paper prints, and people. Then a panel for each probe: the same numbers against the size of the network.

Reads  metrics.parquet, <train>/<study>/<run>/run.json (kind, parameters), resources/sources.yaml and models.yaml, and beside
       them studies.yaml, published.csv and, where something was left out, left_out.yaml
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the cells, values as shares from 0 to 1

    python -m scripts.publish.scorecard.figure --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --train results/train \\
        --runs STUDY/RUN STUDY/RUN … --output results/publish/default/figures/scorecard
"""

import argparse
import itertools
import textwrap
from dataclasses import dataclass

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from scripts.common.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.names import load_systems, model_title
from scripts.publish.scorecard.cells import PROBE
from scripts.publish.scorecard.layout import NOT_RUN, Scorecard, at, read_scorecard, size_told
from scripts.publish.scorecard.panels import draw_panels, legend_groups, panels_height
from scripts.publish.table import percent, signed, write_points

COLUMNS = [*PROBE, "split", "kind", "parameters", "model", "way", "method", "value", "sd", "seeds", "ci_low", "ci_high", "n", "above",
           "above_low", "above_high", "control", "clear", "blind", "blind_low", "blind_high", "above_blind", "above_blind_low", "above_blind_high",
           "wordings", "lowest", "highest", "sample"]
# Inches: the rows' names; the least and the most of a column; a row, a row's further lines, a kind's name, air; a line of a head.
LEFT, NARROW, WIDE, ROW, LINE, KIND, AIR, HEAD_LINE = 1.92, 0.62, 0.95, 0.275, 0.105, 0.21, 0.07, 0.115
WRAP = 31  # letters of a row's name
SMALL = 5.6  # points
FAR = 0.6  # above the best control: the darkest blue


@dataclass
class Block:
    """Some of the probes beside one another, in groups of a study and corpus; x: the left end of each column in inches."""

    groups: list[list[dict]]
    width: float

    @property
    def probes(self) -> list[dict]:
        return [probe for group in self.groups for probe in group]

    def head(self) -> float:
        """Inches above the first row."""
        return HEAD_LINE * (self.over() + max(len(column_lines(probe, self.width)) for probe in self.probes)) + 0.16

    def over(self) -> int:
        """How many lines stand over the columns' names."""
        return max(len(study_lines(self, group)) + self.corpora(group) for group in self.groups)

    def corpora(self, group: list[dict]) -> int:
        """How many lines are kept for the names of corpora; none under a study that stands for its corpus; group: one of a study's."""
        named = any(corpus_lines(other, self.width) for other in self.groups if other[0]["study"] == group[0]["study"])
        return max(len(corpus_lines(other, self.width)) for other in self.groups) if named else 0


def fitting(text: str, inches: float, letter: float) -> list[str]:
    """A text in lines that fit into so many inches; letter: what one takes."""
    return textwrap.wrap(text, max(6, int(inches / letter)))


def study_lines(block: Block, group: list[dict]) -> list[str]:
    """The study's name over the first of its groups, as wide as all of them."""
    groups = [other for other in block.groups if other[0]["study"] == group[0]["study"]]
    return fitting(group[0]["study_title"], block.width * sum(map(len, groups)), 0.064) if groups[0] is group else []


def corpus_lines(group: list[dict], width: float) -> list[str]:
    """The corpus over its columns, where it is not named like its study."""
    return [] if group[0]["corpus_title"] == group[0]["study_title"] else fitting(group[0]["corpus_title"], width * len(group), 0.05)


def column_lines(probe: dict, width: float) -> list[str]:
    """The lines over a column: what is probed, and on how many examples."""
    return fitting(probe["title"], width, 0.056) + [f"n = {probe['n']:,}"]


def groups_of(probes: list[dict]) -> list[list[dict]]:
    """The probes in groups of a study and corpus."""
    groups: dict[tuple, list[dict]] = {}
    for probe in probes:
        groups.setdefault((probe["study"], probe["corpus"]), []).append(probe)
    return list(groups.values())


def blocks_of(probes: list[dict]) -> list[Block]:
    """The probes in blocks that are as wide as the page."""
    lines = style.lines_of(groups_of(probes), int((style.WIDTH - LEFT - 0.04) / NARROW))
    width = min(WIDE, (style.WIDTH - LEFT - 0.04) / max(map(len, lines)))
    return [Block(groups_of(line), width) for line in lines]


def row_lines(row: dict, above: dict | None, asked: str) -> list[str]:
    """The lines of a row's name: the model, unless the row above is of it, then its size and how it was asked."""
    same = above is not None and above["model"] == row["model"]
    size = "" if same else size_told(row["parameters"])
    return ([] if same else textwrap.wrap(row["title"], WRAP)) + textwrap.wrap(" · ".join(filter(None, [size, asked])), WRAP + 7)


def draw_head(axes: Axes, block: Block, bottom: float) -> None:
    """The names over the columns; bottom: where the rows begin."""
    x, deepest = LEFT, max(len(column_lines(probe, block.width)) for probe in block.probes)
    rule = bottom - 0.1 - HEAD_LINE * deepest
    for group in block.groups:
        lines, corpora = {"study": study_lines(block, group), "corpus": corpus_lines(group, block.width)}, block.corpora(group)
        start = {"study": rule - 0.04 - HEAD_LINE * (corpora + len(lines["study"])), "corpus": rule - 0.04 - HEAD_LINE * corpora}
        for name, weight, size, colour in (("study", "bold", 7.5, style.INK), ("corpus", "normal", 6.3, style.GREY)):
            for number, line in enumerate(lines[name]):
                axes.text(x + 0.03, start[name] + HEAD_LINE * (number + 0.5), line, fontsize=size, va="center", fontweight=weight, color=colour)
        axes.plot([x + 0.03, x + block.width * len(group) - 0.05], [rule, rule], color=style.GREY, linewidth=0.6)
        for number, probe in enumerate(group):
            titles = column_lines(probe, block.width)
            for place, line in enumerate(titles):
                is_title = place < len(titles) - 1
                axes.text(x + block.width * (number + 0.5), rule + 0.05 + HEAD_LINE * (place + 0.5), line, ha="center", va="center",
                          fontsize=6.8 if is_title else SMALL, color=style.INK if is_title else style.GREY)
        x += block.width * len(group)


def cell_height(cell: pd.Series | str) -> float:
    """Inches that a cell takes: a line more with the same model, blind."""
    return ROW + LINE * (not isinstance(cell, str) and pd.notna(cell["blind"]))


def draw_cell(axes: Axes, cell: pd.Series | str, x: float, y: float, width: float) -> None:
    """One cell, its upper left corner at x, y."""
    middle = x + width / 2
    if isinstance(cell, str):
        axes.text(middle, y + ROW / 2, cell.split(":")[0].replace(NOT_RUN, "–"), fontsize=SMALL + 0.4, color=style.GREY, ha="center",
                  va="center", style="italic")
        return
    clear, has_control = bool(cell["clear"]), pd.notna(cell["above"])
    if clear:
        shade = 0.1 + 0.42 * min(cell["above"] / FAR, 1)
        axes.add_patch(Rectangle((x + 0.015, y + 0.012), width - 0.03, cell_height(cell) - 0.024, facecolor=style.COLOURS[0], alpha=shade,
                                 linewidth=0, zorder=1))
    colour = style.INK if clear or not has_control else style.GREY
    told = signed(cell["above"]) if has_control else ""
    axes.text(middle - (0.02 if told else -0.13), y + ROW * 0.36, percent(cell["value"]), fontsize=7.4, color=colour, ha="right",
              va="center", zorder=3)
    axes.text(middle + 0.01, y + ROW * 0.38, told, fontsize=SMALL + 0.2, color=colour, ha="left", va="center", zorder=3)
    ends = "one group" if pd.isna(cell["ci_low"]) else f"{percent(cell['ci_low'])}–{percent(cell['ci_high'])}"
    axes.text(middle, y + ROW * 0.76, ends, fontsize=SMALL - 0.4, color=colour if clear else style.GREY, ha="center", va="center", zorder=3)
    if pd.notna(cell["blind"]):
        axes.text(middle, y + ROW + LINE * 0.36, f"blind {percent(cell['blind'])}", fontsize=SMALL - 0.4, color=style.GREY, ha="center",
                  va="center", zorder=3)


def foot_of(card: Scorecard, probe: dict, models: dict) -> dict[str, tuple[str, str]]:
    """Below a column: who, the number, and whose it is."""
    printed, found = at(card.papers, probe), {}
    for _, best in at(card.controls, probe).iterrows():
        found["best control"] = percent(best["value"]), model_title(best["model"], models)
    for _, row in printed[printed["who"] == "paper"].iterrows():
        found["best in the paper"] = percent(row["value"]), row["row"]
    for _, row in printed[printed["who"] == "human"].iterrows():
        found["human"] = percent(row["value"]), "in the paper"
    for _, row in at(card.human, probe).iterrows():
        found["human"] = percent(row["value"]), f"n = {row['n']:,}"
    return found


def draw_foot(axes: Axes, feet: list[dict], width: float, y: float) -> float:
    """The rows below the models; returns where they end."""
    axes.plot([0.06, LEFT + width * len(feet) - 0.05], [y + 0.02, y + 0.02], color=style.GREY, linewidth=0.6)
    y += 0.05
    for who in ("best control", "best in the paper", "human"):
        lines = [textwrap.wrap(foot[who][1], int(width / 0.044)) if who in foot else [] for foot in feet]
        if not any(who in foot for foot in feet):
            continue
        axes.text(0.14, y + 0.075, who, fontsize=7, va="center")
        for number, (foot, below) in enumerate(zip(feet, lines)):
            if who in foot:
                axes.text(LEFT + width * (number + 0.5), y + 0.075, foot[who][0], fontsize=7.2, ha="center", va="center")
                axes.text(LEFT + width * (number + 0.5), y + 0.145, "\n".join(below), fontsize=SMALL - 0.8, color=style.GREY, ha="center",
                          va="top", linespacing=1.05)
        y += 0.19 + 0.072 * max(map(len, lines))
    return y


def foot_height(feet: list[dict], width: float) -> float:
    """Inches that draw_foot() takes."""
    deep = [max(len(textwrap.wrap(foot[who][1], int(width / 0.044))) for foot in feet if who in foot)
            for who in ("best control", "best in the paper", "human") if any(who in foot for foot in feet)]
    return 0.05 + sum(0.19 + 0.072 * lines for lines in deep)


def rows_of(card: Scorecard, block: Block) -> list[dict]:
    """The rows that have something in a block: a number, or why there is none."""
    return [row for row in card.rows if any(not isinstance(cell, str) or cell != NOT_RUN
                                            for cell in (card.cell(row, probe) for probe in block.probes))]


def row_places(card: Scorecard, block: Block) -> tuple[list[float], dict[float, str], float]:
    """In inches below the head: where each row of a block begins, where each kind's name stands, and the end."""
    starts, kinds, y, above = [], {}, 0.0, None
    for row in rows_of(card, block):
        if above is None or above["kind"] != row["kind"]:
            y += AIR if above else 0
            kinds[y + KIND / 2] = row["kind"]
            y += KIND
        starts.append(y)
        cells = [cell_height(card.cell(row, probe)) for probe in block.probes]
        y += max(*cells, LINE * len(row_lines(row, above, card.asked(row))) + 0.06)
        above = row
    return starts, kinds, y + 0.03


def mark_cells(axes: Axes, block: Block, begin: float, end: float) -> None:
    """Say on the cells what marks their numbers: once over columns that stand side by side."""
    for face, run in itertools.groupby(enumerate(block.probes), key=lambda pair: pair[1]["face"]):
        columns = [number for number, _ in run]
        wide = block.width * len(columns)
        size = min(30, 8 * wide, 20 * end) * min(1, 12 / max(1, *map(len, face.split("\n"))))
        axes.text(LEFT + block.width * columns[0] + wide / 2, begin + end / 2, face, ha="center", va="center", zorder=0.6, linespacing=1.1,
                  rotation=12 if end > 1 else 0, fontsize=size, fontweight="bold", color=style.PALE)


def draw_block(axes: Axes, card: Scorecard, block: Block, models: dict, top: float) -> None:
    """The head, the rows and the foot of a block that begins at `top`."""
    rows, (starts, kinds, end) = rows_of(card, block), row_places(card, block)
    begin = top + block.head()
    draw_head(axes, block, begin)
    for y, kind in kinds.items():
        axes.text(0.06, begin + y, kind, fontsize=7.5, fontweight="bold", va="center")
    for number, row in enumerate(rows):
        y, above = begin + starts[number], rows[number - 1] if number else None
        title = 0 if above and above["model"] == row["model"] else len(textwrap.wrap(row["title"], WRAP))
        for place, line in enumerate(lines := row_lines(row, above, card.asked(row))):
            axes.text(0.14, y + (max(ROW, LINE * len(lines)) - LINE * len(lines)) / 2 + LINE * (place + 0.5), line, va="center",
                      fontsize=7 if place < title else 6, color=style.INK if place < title else style.GREY)
        for column, probe in enumerate(block.probes):
            draw_cell(axes, card.cell(row, probe), LEFT + column * block.width, y, block.width)
    mark_cells(axes, block, begin, end)
    draw_foot(axes, [foot_of(card, probe, models) for probe in block.probes], block.width, begin + end)


def draw(card: Scorecard, models: dict) -> Figure:
    """The figure: the blocks one under the other, the panels, a legend."""
    blocks = blocks_of(card.probes)
    feet = [[foot_of(card, probe, models) for probe in block.probes] for block in blocks]
    tall = [block.head() + row_places(card, block)[2] + foot_height(foot, block.width) + 0.12 for block, foot in zip(blocks, feet)]
    groups = legend_groups(card)
    panels, legend = panels_height(card), style.legends_height(groups) + 0.1
    height = 0.04 + sum(tall) + panels + legend
    figure = plt.figure(figsize=(style.WIDTH, height))
    axes = figure.add_axes([0, (panels + legend) / height, 1, (height - panels - legend) / height])
    axes.set_xlim(0, style.WIDTH)
    axes.set_ylim(height - panels - legend, 0)
    axes.set_axis_off()
    top = 0.04
    for block, of_block in zip(blocks, tall):
        draw_block(axes, card, block, models, top)
        top += of_block
    draw_panels(figure, card, panels + legend)
    style.legends(figure, groups, 0.06)
    return figure


def main(given: argparse.Namespace) -> None:
    models = load_systems(given.models, given.sources)
    card = read_scorecard(given, models)
    style.save(lambda: draw(card, models), given)
    write_points(card.cells[COLUMNS], given.output)
    log.info("%s: %d cells of %d models", given.output, len(card.cells), card.cells["model"].nunique())


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "runs").parse_args())
