"""The one way to draw a figure: lines of panels, each with its points, and legends under them. Not a program.

A program says which panels there are (Panel) and draws their marks with the functions below; figure_of() places everything with
matplotlib's constrained layout, so that no program counts inches: the axes of a line get the height that their panels name, and the
figure grows by what stands around them. Numbers are shares from 0 to 1 in tables, and per cent in figures.
"""

import argparse
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from scripts.common.program import log
from scripts.publish import style
from scripts.publish.marks import face_of
from scripts.publish.table import write_points

DOTTED, DASHED = (0, (1, 1.5)), (0, (4, 1.6))
DODGE = 0.09  # between two series at one place of an axis
LANE, ROW, LINE, HEAD = 0.09, 0.16, 0.115, 0.2  # inches: of a mark in a row, of a row at least, of a line of its name, of a head over rows
LETTER, BOLD = 0.0078, 0.0087  # inches of a letter, of each point of its size


# ---- looks

class Look(NamedTuple):
    """How a series is drawn. face: of its marker, where it is not the colour; line: between its marks."""

    colour: str = style.GREY
    marker: str = ""
    line: object = "-"
    face: str | None = None
    size: float = 4.5
    width: float = 1.4

    def handle(self, label: str) -> Line2D:
        """What stands for it in a legend."""
        return Line2D([], [], label=label, **self.settings())

    def settings(self) -> dict:
        """The same as matplotlib names it."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line, "markerfacecolor": self.face or self.colour,
                "markersize": self.size, "linewidth": self.width}


CHANCE = Look(line=DOTTED, width=1)
BEST_CONTROL = Look(style.CONTROL, "x", "", size=4)
PEOPLE = Look(style.INK, "*", "", size=6)


def looks(points: pd.DataFrame, name: str = "series", kind: str = "", opened: str = "", line: object = "-") -> dict[str, Look]:
    """The look of each system of a table with the columns model and method, in its order: models in colours, controls grey.

    name, kind, opened: the columns of a system's name, of what shares a colour and a marker (left out: its name), and of whether its
    marks are open and its line dashed.
    """
    systems = points.drop_duplicates(name)
    is_control = systems["method"] == "control"
    kinds = systems[kind or name]
    models, controls = systems[~is_control], kinds[is_control]
    known = style.told_apart(zip(kinds[~is_control], models["model"], models["method"]))
    known |= {kind: (style.CONTROL, style.CONTROL_MARKERS[place % 6]) for place, kind in enumerate(dict.fromkeys(controls))}
    are_open = systems[opened].fillna(False).astype(bool) if opened else [False] * len(systems)
    return {system: Look(*known[kind], DASHED if is_open and line else line, style.PAPER if is_open else None,
                         **({"size": 4, "width": 0.8} if known[kind][0] == style.CONTROL else {}))
            for system, kind, is_open in zip(systems[name], kinds, are_open)}


def palette(names: Iterable, line: object = "-") -> dict:
    """A look for each of these, by its place alone."""
    return {name: Look(style.COLOURS[place % 6], style.MARKERS[place % 6], line) for place, name in enumerate(names)}


def legend_of(known: Mapping[str, Look], *others: Line2D, controls: str = style.CONTROLS) -> list[tuple[str, list[Line2D]]]:
    """The groups of a legend: models and what else there is, then the controls under a title of their own."""
    handles = {name: look.handle(name) for name, look in known.items()}
    greys = [handle for name, handle in handles.items() if known[name].colour == style.CONTROL]
    return [("", [handle for handle in handles.values() if handle not in greys] + list(others)), (controls, greys)]


# ---- marks

def draw_marks(axes: Axes, points: pd.DataFrame, look: Look, along: str, *, shift: float = 0, flat: bool = False, intervals: bool = True,
               **more: object) -> None:
    """The values of a series with their intervals, at the places of the column `along`; flat: places on the y axis, values on the x axis."""
    places, values = points[along] + shift, points["value"] * 100
    bars = {"xerr" if flat else "yerr": style.error_bars(points)} if intervals else {}
    x, y = (values, places) if flat else (places, values)
    axes.errorbar(x, y, **bars, **({"elinewidth": 0.9, "capsize": 2, "markeredgewidth": 1, "zorder": 4, **look.settings()} | more))


def dodges(names: Iterable[str], most: float = 0.5) -> dict[str, float]:
    """How far each of these stands beside its place, so that none covers another; all within `most`."""
    names = list(names)
    return {name: (place - (len(names) - 1) / 2) * min(DODGE, most / len(names)) for place, name in enumerate(names)}


def draw_line(axes: Axes, value: float = 50, *, upright: bool = False, look: Look = CHANCE) -> None:
    """A line at a value, by default at a chance of 50 %."""
    (axes.axvline if upright else axes.axhline)(value, color=look.colour, linestyle=look.line, linewidth=look.width, zorder=1)


def count_under(axes: Axes, counts: Mapping[float, Sequence[str]], names: Sequence[str] = ()) -> None:
    """Lines of small text under the ticks of the x axis, and their names left of them; the axis tells what it is below them."""
    same = {"textcoords": "offset points", "color": style.GREY, "va": "top", "fontsize": 6.5, "annotation_clip": False}
    for place, lines in counts.items():
        axes.annotate("\n".join(lines), (place, 0), (0, -15), xycoords=("data", "axes fraction"), ha="center", **same)
    if names:
        axes.annotate("\n".join(names), (0, 0), (-6, -15), xycoords="axes fraction", ha="right", **same)
    axes.xaxis.labelpad = 3 + 9 * max(map(len, counts.values()), default=0)


def write_beside(axes: Axes, texts: Mapping[float, str], head: str = "", right: float = 8, **more: object) -> None:
    """Small text at the right of rows, by their y, and a head over it; right: points from the axes."""
    same = {"textcoords": "offset points", "color": style.GREY, "fontsize": 6.5, "annotation_clip": False} | more
    axes.annotate(head, (1, 1), (right, 3), xycoords="axes fraction", va="bottom", **same)
    for y, text in texts.items():
        axes.annotate(text, (1, y), (right, 0), xycoords=("axes fraction", "data"), va="center", **same)


# ---- rows

class Rows:
    """Rows of a panel, under heads, with a lane for each series; places are inches from the top of the axes.

    points: in the order of the rows, with the columns row and series and, where they differ, name (of the row) and head; within: the
    column of what has the same lanes in all its rows; lane: inches.
    """

    def __init__(self, points: pd.DataFrame, within: str = "row", lane: float = LANE):
        self.within, self.lane = within, lane
        self.places: dict[object, float] = {}
        self.names: dict[float, str] = {}
        self.heads: dict[float, str] = {}
        lanes, last, y = points.groupby(within)["series"].nunique(), "", 0.0
        for row in points.drop_duplicates("row").to_dict("records"):
            if (head := row.get("head", "")) != last:
                y += LINE / 2 if self.places else 0
                self.heads[y + HEAD / 2] = last = head
                y += HEAD
            name = str(row.get("name", row["row"]))
            tall = max(ROW, lane * lanes[row[within]] + 0.06, LINE * (name.count("\n") + 1) + 0.04)
            self.places[row["row"]] = y + tall / 2
            self.names[y + tall / 2] = name
            y += tall
        self.height = y + 0.04

    def placed(self, points: pd.DataFrame, order: Iterable) -> pd.DataFrame:
        """The points with y: their row's place, and their series' lane in this order."""
        lane = points["series"].map({name: place for place, name in enumerate(order)}).groupby(points[self.within]).rank("dense") - 1
        middle = lane.groupby(points[self.within]).transform("max") / 2
        return points.assign(y=points["row"].map(self.places) + self.lane * (lane - middle))

    def show(self, axes: Axes, size: float = 7) -> None:
        """The names of rows and heads at the left, and a pale line along each row."""
        axes.set_ylim(self.height, 0)
        axes.set_yticks([*self.heads, *self.names], [*self.heads.values(), *self.names.values()], fontsize=size, linespacing=1.05)
        for label in axes.get_yticklabels()[:len(self.heads)]:
            label.set_fontweight("bold")
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x")
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.hlines(list(self.names), 0, 1, transform=axes.get_yaxis_transform(), color=style.GRID, linewidth=0.5, zorder=0.5)

    def draw(self, axes: Axes, points: pd.DataFrame, known: Mapping[str, Look], size: float = 7) -> None:
        """The marks of each series in its lanes, with their intervals, and what show() shows."""
        self.show(axes, size)
        placed = self.placed(points, known)
        for series, of_series in placed.groupby("series", sort=False):
            draw_marks(axes, of_series, known[series], "y", flat=True, linestyle="")


# ---- matrices

def draw_matrix(axes: Axes, shares: pd.DataFrame, texts: pd.DataFrame | None = None, size: float = 7) -> None:
    """A matrix of shares, the darker the larger, and in each cell its text (left out: the share in per cent); what is missing stays blank."""
    values = shares.to_numpy(float)
    told = (shares * 100).map("{:.0f}".format) if texts is None else texts
    axes.pcolormesh(np.ma.masked_invalid(values), cmap=style.shades(), vmin=0, vmax=1, edgecolors=style.PALE, linewidth=0.6, zorder=1)
    for (row, column), share in np.ndenumerate(values):
        if not np.isnan(share):
            axes.text(column + 0.5, row + 0.52, told.iloc[row, column], ha="center", va="center", fontsize=size, color=style.on_shade(share))
    axes.set_xticks(np.arange(len(shares.columns)) + 0.5, shares.columns)
    axes.set_yticks(np.arange(len(shares)) + 0.5, shares.index)
    axes.set_ylim(len(shares), 0)
    axes.tick_params(length=0, pad=3, labelsize=size)
    axes.grid(visible=False)
    axes.spines[:].set_visible(True)


# ---- panels and figures

class Panel(NamedTuple):
    """A panel of a figure.

    points: what it shows; what marks these numbers stands on its face. draw: called with its axes and points. title (bold) and detail (grey)
    stand over it, heading over its whole line. height: of its axes, in inches. finish: called like draw when its place is final.
    """

    points: pd.DataFrame
    draw: Callable[[Axes, pd.DataFrame], None]
    title: str = ""
    detail: str = ""
    heading: str = ""
    height: float = 1.6
    finish: Callable[[Axes, pd.DataFrame], None] | None = None


def in_lines(panels: Sequence[Panel], across: int) -> list[list[Panel]]:
    """Panels in lines of so many."""
    return [list(panels[start:start + across]) for start in range(0, len(panels), across)]


def figure_of(lines: Sequence[Sequence[Panel | None]], legend: Sequence[tuple[str, list]] = (), *, share_x: str = "", share_y: str = "",
              widest: float = style.WIDTH, size: float = 8, note: str = "") -> Figure:
    """The figure of these lines of panels; None leaves a place free.

    share_x, share_y: `figure` or `line`, whose panels have the same axis; then the first alone tells it. widest: of a panel, in inches. size: of
    the titles, in points. note: a line under the panels.
    """
    heights = [max(panel.height for panel in line if panel) for line in lines]
    foot = style.legends_height(legend) + 0.12 + 0.15 * bool(note)
    figure = plt.figure(figsize=(style.WIDTH, sum(heights) + len(lines) + foot), layout="constrained")
    grid, shared, placed = figure.add_gridspec(len(lines), max(map(len, lines)), height_ratios=heights), {}, []
    for number, line in enumerate(lines):
        for column, panel in [(column, panel) for column, panel in enumerate(line) if panel]:
            keys = {f"share{axis}": (axis, number if share == "line" else "") for axis, share in (("x", share_x), ("y", share_y)) if share}
            axes = figure.add_subplot(grid[number, column], **{name: shared.get(key) for name, key in keys.items()})
            shared |= {key: axes for key in keys.values() if key not in shared}
            panel.draw(axes, panel.points)
            if share_y and column:
                axes.tick_params(labelleft=False)
                axes.set_ylabel("")
            if share_x == "figure" and any(len(below) > column and below[column] for below in lines[number + 1:]):
                axes.set_xlabel("")
            placed.append((axes, panel, number))
    arrange(figure, placed, heights, foot, widest, size)
    for axes, panel, _ in placed:
        box = axes.get_window_extent().size / figure.dpi
        style.mark(axes, face_of(panel.points), np.clip(min(6.5 * box[0], 20 * box[1]), 7, 17))
        if panel.finish:
            panel.finish(axes, panel.points)
    if note:
        figure.text(0.5, (foot - 0.14) / figure.get_figheight(), note, ha="center", fontsize=7.5)
    style.legends(figure, [group for group in legend if group[1]], 0.06)
    return figure


def arrange(figure: Figure, placed: list[tuple[Axes, Panel, int]], heights: list[float], foot: float, widest: float, size: float) -> None:
    """Place the panels by constrained layout, write their titles, and make the figure as tall as the axes of all lines want it."""
    engine, across, free = figure.get_layout_engine(), len({axes.get_subplotspec().colspan.start for axes, *_ in placed}), 0.0
    for step in ("titles", "height", "last"):
        height = figure.get_figheight()
        engine.set(rect=(0.006, foot / height, 0.988 - free, 1 - foot / height - 0.04 / height), w_pad=0.05, h_pad=0.06, wspace=0, hspace=0)
        engine.execute(figure)
        axes, _, number = placed[0]
        box = axes.get_position()
        if step == "titles":
            write_titles(placed, min(widest, box.width * style.WIDTH), size)
            free = across * max(0, box.width - widest / style.WIDTH)
        elif step == "height":
            figure.set_figheight(height + sum(heights) * (1 - box.height * height / heights[number]))
    figure.set_layout_engine("none")


def write_titles(placed: list[tuple[Axes, Panel, int]], width: float, size: float) -> None:
    """What stands over the panels, in lines of their width in inches; a heading stands over all of its line."""
    above = {axes: (textwrap.wrap(panel.title, max(8, int(width / BOLD / size)), break_on_hyphens=False),
                    [part for line in panel.detail.split("\n") for part in textwrap.wrap(line, max(8, int(width / LETTER / size)), break_on_hyphens=False)])
             for axes, panel, _ in placed}
    deepest: dict[int, int] = {}
    for axes, _, number in placed:
        deepest[number] = max(deepest.get(number, 0), sum(map(len, above[axes])))
    for axes, panel, number in placed:
        title, detail = above[axes]
        parts = (("right", detail, 0, {"color": style.GREY}), ("center", title, len(detail), {"fontweight": "bold"}),
                 ("left", [panel.heading] * bool(panel.heading), deepest[number] + 0.3, {"fontweight": "bold", "fontsize": 8}))
        written = [(axes.set_title("\n".join(texts), loc=loc, x=0, y=1, ha="left", **({"fontsize": size} | look)), under)
                   for loc, texts, under, look in parts]
        for text, under in written:  # not before: set_title() moves the others
            text.set_transform(axes.transAxes + ScaledTranslation(0, (5 + under * size * 1.2) / 72, axes.figure.dpi_scale_trans))


def draw_forest(axes: Axes, points: pd.DataFrame, known: Mapping[str, Look], line: float, xlabel: str) -> None:
    """Rows of marks against an upright line at a share."""
    draw_line(axes, line * 100, upright=True)
    Rows(points).draw(axes, points, known)
    axes.set_xlabel(xlabel)


def forest_of(tables: Sequence[tuple[str, str, pd.DataFrame]], xlabel: str, line: float, line_label: str, controls: str = style.CONTROLS) -> Figure:
    """A figure of rows, a panel for each of these (title, detail, points), all on one axis.

    points: row, series, is_control (drawn grey) and value, ci_low, ci_high; line: the share at which a line stands.
    """
    every = pd.concat([points for *_, points in tables])
    known = palette(every.loc[~every["is_control"], "series"].unique(), "")
    handles = [look.handle(name) for name, look in known.items() if name] + [BEST_CONTROL.handle(controls)] * bool(every["is_control"].any())
    of_control = every.loc[every["is_control"], "series"] + controls  # the same origin, of a control
    known |= dict.fromkeys(of_control, BEST_CONTROL)
    shown = [points.assign(series=points["series"].mask(points["is_control"], points["series"] + controls)) for *_, points in tables]
    lines = [[Panel(points, partial(draw_forest, known=known, line=line, xlabel=xlabel), title, detail, height=Rows(points).height)]
             for (title, detail, _), points in zip(tables, shown)]
    return figure_of(lines, [("", [*handles, CHANCE.handle(line_label)])], share_x="figure")


def publish(given: argparse.Namespace, points: pd.DataFrame, draw: Callable[[], Figure], nothing: str = "") -> None:
    """Write a figure in every form, and its points beside it; nothing: what it says where there are no points."""
    style.save(lambda: style.nothing(nothing) if nothing and points.empty else draw(), given)
    write_points(points, given.output)
    log.info("%s: %d points", given.output, len(points))
