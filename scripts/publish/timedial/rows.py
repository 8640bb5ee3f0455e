"""How the figures of timedial are drawn: a row for each system under its paradigm, marks with intervals beside it."""

import textwrap
from dataclasses import dataclass, field

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

from scripts.common.probe import BLIND
from scripts.publish import style
from scripts.publish.timedial.metrics import DOMAINS, label_of, paradigm_title

COLOURS = {"classify": style.COLOURS[0], "fill": style.COLOURS[1], "generate": style.COLOURS[2],
           "pseudo_log_likelihood": style.COLOURS[3], "control": style.GREY}
MARKERS = {"zero_shot": "^", "few_shot": "v", "out": "s", "in": "o", "contaminated": "p", "external": "P"}
PAPER = {"linestyle": "", "marker": "D", "markersize": 4.4, "markerfacecolor": style.PAPER, "markeredgecolor": style.INK,
         "markeredgewidth": 0.9}
ROW, HEAD, GAP, WRAP = 0.19, 0.23, 0.24, 46  # inches; characters of a label's line
LABEL_LINE = 0.105  # inches
TOP, UNDER, LINE = 0.56, 0.36, 0.13  # inches: a block's title; its ticks; a line of what an axis tells


def label_lines(system: dict) -> list[str]:
    """The lines of a system's label."""
    return textwrap.wrap(label_of(system) + ("" if system["here"] else " (paper only)"), WRAP)


@dataclass
class Column:
    """One axis of a block: what it tells, its marks, its lines.

    marks: dicts with system (its place in the block), value, ci_low, ci_high (per cent; without interval: equal) and,
    where they are not the system's own, colour, marker, face and shift (in rows, downwards); paper: dicts with system,
    value and shift; lines: value to (line style, text), drawn from top to bottom; bands: ends of intervals, shaded.
    """

    title: str
    marks: list[dict]
    paper: list[dict] = field(default_factory=list)
    lines: dict[float, tuple] = field(default_factory=dict)
    bands: list[tuple[float, float]] = field(default_factory=list)


@dataclass
class Block:
    """Systems (of systems_of()), and the columns beside them; texts: head to the text of each system, at the right."""

    title: str
    detail: str
    systems: list[dict]
    columns: list[Column]
    face: str  # of face_of()
    texts: dict[str, list[str]] = field(default_factory=dict)
    row: float = ROW
    limits: tuple[float, float] = (0, 100)

    def places(self) -> tuple[list[float], dict[float, str], float]:
        """In inches from the top of the rows: where each system stands, each paradigm's head, and the end."""
        at, heads, y, last = [], {}, 0.0, None
        for system in self.systems:
            if system["paradigm"] != last:
                last = system["paradigm"]
                y += 0.06 if heads else 0
                heads[y + HEAD / 2] = paradigm_title(last)
                y += HEAD
            height = max(self.row, LABEL_LINE * len(label_lines(system)) + 0.06)
            at.append(y + height / 2)
            y += height
        return at, heads, y + 0.05


def marks_of(points: pd.DataFrame, systems: list[dict]) -> list[dict]:
    """The marks of rows of metrics, in per cent; systems: those of the block."""
    place = {(one["paradigm"], one["title"], one["domain"]): number for number, one in enumerate(systems)}
    return [{"system": place[row["paradigm"], row["title"], row["domain"]], "n": row["n"],
             **{name: row[name] * 100 for name in ("value", "ci_low", "ci_high")}}
            for row in style.with_ends(points).to_dict("records")]


def paper_marks(published: pd.DataFrame, systems: list[dict]) -> list[dict]:
    """The published numbers of the block's systems, in per cent."""
    place = {}
    for number, one in enumerate(systems):
        place.setdefault((one["paradigm"], one["model"], one["domain"]), number)
    return [{"system": place[key], "value": row["value"] * 100} for row in published.to_dict("records")
            if (key := (row["paradigm"], row["model"], row["domain"])) in place]


def draw_column(axes: Axes, block: Block, column: Column, at: list[float]) -> None:
    """The marks and lines of one column."""
    for value, (line, _) in column.lines.items():
        axes.axvline(value, color=style.GREY, linestyle=line, linewidth=0.9, zorder=1)
    for low, high in column.bands:
        axes.axvspan(low, high, color=style.GREY, alpha=0.12, linewidth=0, zorder=0.4)
    for mark in column.marks:
        system = block.systems[mark["system"]]
        control = system["paradigm"] == "control" or system["paradigm"].endswith(BLIND)
        colour = mark.get("colour", style.GREY if control else COLOURS.get(system["paradigm"], style.COLOURS[4]))
        low, high = max(mark["value"] - mark["ci_low"], 0), max(mark["ci_high"] - mark["value"], 0)
        axes.errorbar(mark["value"], at[mark["system"]] + mark.get("shift", 0) * block.row,
                      xerr=[[low], [high]] if high + low > 0 else None, linestyle="", color=colour,
                      marker=mark.get("marker", "X" if control else MARKERS[system["domain"]]),
                      markersize=4.6, markerfacecolor=mark.get("face", colour), markeredgewidth=0.9, elinewidth=1,
                      capsize=1.8, zorder=4, clip_on=False)
    for mark in column.paper:
        look = PAPER | ({"markeredgecolor": mark["colour"]} if "colour" in mark else {})
        axes.plot(mark["value"], at[mark["system"]] + mark.get("shift", 0) * block.row, zorder=3, **look)


def label_rows(axes: Axes, block: Block, at: list[float], heads: dict[float, str], left: float) -> None:
    """Names at the left of the first column; left: the place of the figure's margin, a fraction of its width."""
    figure = axes.figure
    across = blended_transform_factory(figure.transFigure, axes.transData)
    for y, text in heads.items():
        axes.text(left, y, text, transform=across, fontweight="bold", fontsize=7.5, va="center", zorder=5,
                  bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.6})  # a long one covers the axes' lines
    for system, y in zip(block.systems, at):
        axes.text(left + 0.1 / style.WIDTH, y, "\n".join(label_lines(system)), transform=across, fontsize=7,
                  va="center", linespacing=0.92, color=style.INK if system["here"] else style.GREY)


def label_width(blocks: list[Block]) -> float:
    """Inches that the names at the left take."""
    lines = [line for block in blocks for one in block.systems for line in label_lines(one)]
    return min(0.3 + 0.056 * max(map(len, lines)), 2.9)


def draw_block(figure: Figure, block: Block, top: float, width: float) -> None:
    """One block, its upper end `top` inches under the figure's; width: of the names at the left, in inches."""
    at, heads, end = block.places()
    height = figure.get_figheight()
    right = 0.12 + 0.48 * len(block.texts)
    each = (style.WIDTH - width - right - GAP * (len(block.columns) - 1)) / len(block.columns)
    for number, column in enumerate(block.columns):
        left = width + number * (each + GAP)
        axes = figure.add_axes([left / style.WIDTH, 1 - (top + TOP + end) / height, each / style.WIDTH, end / height])
        axes.set_xlim(*block.limits)
        axes.set_ylim(end, 0)
        axes.grid(True, axis="x")
        axes.grid(False, axis="y")
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        ticks = [tick for tick in (0, 25, 50, 75, 100) if tick <= block.limits[1]]
        axes.set_xticks(ticks, [str(tick) if each > 1.5 or tick % 50 == 0 else "" for tick in ticks])
        axes.tick_params(labelsize=7 if each > 1.5 else 6.5)
        for y in at:
            axes.axhline(y, color=style.GRID, linewidth=0.6, zorder=0.5)
        draw_column(axes, block, column, at)
        axes.set_xlabel(column.title, fontsize=7.5, labelpad=2)
        for value, (_, text) in column.lines.items():
            axes.annotate(text, (value, 0), (0, 2), textcoords="offset points", fontsize=6.5, color=style.GREY, va="bottom",
                          ha="right" if value > 85 else "center", annotation_clip=False)
        style.mark(axes, block.face, min(17, 5.2 * each, 9 * end))
        if number == 0:
            label_rows(axes, block, at, heads, 0.08 / style.WIDTH)
    for number, (head, texts) in enumerate(block.texts.items()):
        x = 1 + (0.42 + 0.48 * number) / each
        across = blended_transform_factory(axes.transAxes, axes.transData)
        axes.annotate(head, (x, 0), (0, 2), xycoords=across, textcoords="offset points", ha="right", va="bottom",
                      fontsize=6.5, color=style.GREY, annotation_clip=False)
        for y, text in zip(at, texts):
            axes.text(x, y, text, transform=across, ha="right", va="center", fontsize=7, linespacing=1.0)
    above = 1 - top / height
    figure.text(0.08 / style.WIDTH, above - 0.06 / height, block.title, fontweight="bold", fontsize=8, va="top")
    figure.text(0.08 / style.WIDTH, above - 0.22 / height, block.detail, fontsize=7.5, color=style.GREY, va="top")


def handles_of(blocks: list[Block]) -> list[Line2D]:
    """The legend's marks: domains, and the paper's."""
    present = {one["domain"] for block in blocks for one in block.systems if one["here"] and one["paradigm"] != "control"}
    handles = [Line2D([], [], color=style.INK, marker=MARKERS[name], markersize=4.6, linestyle="", label=title)
               for name, title in DOMAINS.items() if name in present]
    return handles + paper_handle(blocks)


def paper_handle(blocks: list[Block]) -> list[Line2D]:
    """The legend's mark for the paper, where a block has published numbers."""
    if not any(column.paper for block in blocks for column in block.columns):
        return []
    return [Line2D([], [], label="in the paper (Qin et al. 2021)", **PAPER)]


def figure_of(blocks: list[Block], handles: list[Line2D]) -> Figure:
    """The blocks one under the other, and a legend at the foot."""
    foot = 0.32
    heights = [TOP + block.places()[2] + UNDER + LINE * max(column.title.count("\n") + 1 for column in block.columns)
               for block in blocks]
    figure = plt.figure(figsize=(style.WIDTH, sum(heights) + foot))
    width, top = label_width(blocks), 0.0
    for block, height in zip(blocks, heights):
        draw_block(figure, block, top, width)
        top += height
    figure.legend(handles=handles, loc="lower center", ncols=len(handles), handlelength=1.2, columnspacing=1.6,
                  borderaxespad=0, bbox_to_anchor=(0.5, 0.1 / figure.get_figheight()))
    return figure
