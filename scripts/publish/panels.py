"""The parts of every figure: lines of panels, each with its points, and legends under them.

figure_of() places everything with matplotlib's constrained layout, so no program computes inches.
Numbers are shares from 0 to 1 in tables, and per cent in figures.
"""

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from scipy.optimize import isotonic_regression

from scripts.measure.comparisons import CONTROL_METHODS, LIKE
from scripts.data.declared import method_of_blind
from scripts.running.program import log
from scripts.publish.item import Given
from scripts.publish import style
from scripts.publish.marks import face_of
from scripts.publish.table import write_points

DOTTED, DASHED = (0, (1, 1.5)), (0, (4, 1.6))
DODGE = 0.09  # between two series at one place of an axis
# Heights in inches: a lane of marks in a row, the lowest row, a line of a row's name, a head.
LANE, ROW, LINE, HEAD = 0.09, 0.16, 0.115, 0.2
NAME = 50  # letters in a line of a row's name
MOST = 12  # the most models in a figure
LETTER, BOLD = 0.0078, 0.0087  # inches of a letter, for each point of its size
TITLE = 8  # points
ENDS, END = 20, 1.15  # letters in a line of a name at the end of a line of points; inches
SAMPLE = (4, 8, 12)  # points to the right of the axes: a piece of the line, before its name
# text beside marks
SMALL = {"textcoords": "offset points", "color": style.GREY, "fontsize": 6.5}
SMALL["annotation_clip"] = False


# ---- points


def among(rows: pd.DataFrame, others: pd.DataFrame, keys: Sequence[str]) -> np.ndarray:
    """Whether each row has the same values in these columns as one of the others."""
    likes = others[list(keys)].drop_duplicates()
    found = rows[list(keys)].merge(likes, how="left", indicator=True)["_merge"]
    return found.eq("both").to_numpy()


def with_best_control(
    points: pd.DataFrame,
    place: Sequence[str],
    system: Sequence[str] = ("system",),
    judged: pd.Series | bool = True,
    kinds: Sequence[str] = (LIKE,),
) -> pd.DataFrame:
    """Return the points without controls, except for one of each of these kinds at each place. It
    was chosen on the training split (`chosen` of the metrics). Where datasets of one place have
    several, the one with the highest mean. place, system: columns. judged: the points to take the
    mean over.
    """
    is_control, place = points["method"] == "control", [*place, "kind_of_control"]
    chosen = is_control & points["chosen"].eq(True) & points["kind_of_control"].isin(kinds)
    keys = [*place, *system]
    reached = points[chosen & judged].groupby(keys, dropna=False, as_index=False)["value"].mean()
    best = reached.loc[reached.groupby(place, dropna=False)["value"].idxmax()]
    return points[~is_control | among(points, best, keys)]


def highest(points: pd.DataFrame, judged: pd.Series | bool = True) -> tuple[pd.DataFrame, str]:
    """Return the points of the MOST models with the highest means and of all controls and people,
    and a note if models are left out. judged: the points to take the mean over.
    """
    is_model = ~points["method"].isin(CONTROL_METHODS) & (points["model"] != "human")
    means = points[is_model & judged].groupby("model")["value"].mean()
    note = ""
    if len(means) > MOST:
        note = f"The {MOST} highest of {len(means)} models. The CSV has all."
    return points[~is_model | points["model"].isin(means.nlargest(MOST).index)], note


def same_place(
    others: pd.DataFrame, points: pd.DataFrame, place: Sequence[str] = ("source", "split")
) -> pd.DataFrame:
    """Return the others at the same place as these points."""
    return others[among(others, points, place)]


# ---- looks


class Look(NamedTuple):
    """face: the colour inside a marker, by default `colour`. line: between markers."""

    colour: str = style.GREY
    marker: str = ""
    line: object = "-"
    face: str | None = None
    size: float = 4.5
    width: float = 1.4
    is_control: bool = False

    def handle(self, label: str) -> Line2D:
        return Line2D([], [], label=label, **self.settings())

    def settings(self) -> dict:
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": self.line,
            "markerfacecolor": self.face or self.colour,
            "markersize": self.size,
            "linewidth": self.width,
        }


CHANCE = Look(line=DOTTED, width=1)
BEST_CONTROL = Look(style.GREY, "x", "", size=4)
PEOPLE = Look(style.INK, "*", "", size=6)


def looks(
    points: pd.DataFrame, name: str = "series", kind: str = "", opened: str = "", line: object = "-"
) -> dict[str, Look]:
    """Return the look of each system, in the order of the table: models in colours, controls like
    for like dark grey, other controls and blind models pale grey. Columns: name, of a system; kind,
    whose values have one colour and marker each; opened, true where markers are open.
    """
    kind, systems = kind or name, points.drop_duplicates(name)
    blind = systems["method"].map(method_of_blind).notna()
    is_control = blind | (systems["method"] == "control")
    models = systems.loc[~is_control, [kind, "model", "method"]]
    known = style.distinct_titles(models.itertuples(index=False, name=None))
    found, markers = {}, cycle(style.CONTROL_MARKERS)
    for of, grey in zip(systems.to_dict("records"), is_control):
        if grey:  # a marker for each system, because these markers cannot be open
            colour = style.GREY if of.get("kind_of_control") == LIKE else style.CONTROL
            look = Look(colour, next(markers), line, size=4, width=0.8, is_control=True)
        else:
            look = Look(*known[of[kind]], line)
        if opened and of[opened]:
            look = look._replace(face=style.PAPER, line=DASHED if line else line)
        found[of[name]] = look
    return found


# ---- marks


def draw_marks(
    axes: Axes,
    points: pd.DataFrame,
    look: Look,
    along: str,
    *,
    shift: float = 0,
    flat: bool = False,
    intervals: bool = True,
    **more: object,
) -> None:
    """Draw the values of a series with their intervals. along: the column of their places on the x
    axis, or on the y axis if `flat`.
    """
    places, values = points[along] + shift, points["value"] * 100
    bars = {}
    if intervals:
        bars["xerr" if flat else "yerr"] = style.error_bars(points)
    settings = {"elinewidth": 0.9, "capsize": 2, "markeredgewidth": 1, "zorder": 4}
    x, y = (values, places) if flat else (places, values)
    axes.errorbar(x, y, **bars, **(settings | look.settings() | more))


def dodges(names: Iterable[str], most: float = 0.5) -> dict[str, float]:
    """Return how far each series is shifted from its place. All series lie within `most`."""
    names = list(names)
    step = min(DODGE, most / max(1, len(names)))
    return {name: (place - (len(names) - 1) / 2) * step for place, name in enumerate(names)}


def draw_line(axes: Axes, value: float = 50, *, upright: bool = False, look: Look = CHANCE) -> None:
    """Draw a line at a value in per cent, by default at a chance of 50 %."""
    draw = axes.axvline if upright else axes.axhline
    draw(value, color=look.colour, linestyle=look.line, linewidth=look.width, zorder=1)


def count_under(
    axes: Axes, counts: Mapping[float, Sequence[str]], names: Sequence[str] = ()
) -> None:
    """Write lines of small text under the ticks of the x axis, with their names at the left."""
    same = SMALL | {"va": "top"}
    for place, lines in counts.items():
        under = same | {"xycoords": ("data", "axes fraction"), "ha": "center"}
        axes.annotate("\n".join(lines), (place, 0), (0, -15), **under)
    if names:
        left = same | {"xycoords": "axes fraction", "ha": "right"}
        axes.annotate("\n".join(names), (0, 0), (-6, -15), **left)
    axes.xaxis.labelpad = 3 + 9 * max(map(len, counts.values()), default=0)


def write_beside(axes: Axes, texts: Mapping[float, str], head: str = "", right: float = 8) -> None:
    """Write small text beside rows, by their y, under a head. right: points from the axes."""
    over = SMALL | {"xycoords": "axes fraction", "va": "bottom"}
    beside = over | {"xycoords": ("axes fraction", "data"), "va": "center"}
    axes.annotate(head, (1, 1), (right, 3), **over)
    for y, text in texts.items():
        axes.annotate(text, (1, y), (right, 0), **beside)


# ---- names where lines end

Ends = Sequence[tuple[str, float, Look]]


def ends_of(points: pd.DataFrame, known: Mapping[str, Look], along: str) -> Ends:
    """Return the name of each series, its last value in per cent and its look, for Panel.ends."""
    last = points.dropna(subset="value").sort_values(along, kind="stable")
    last = last.drop_duplicates("series", keep="last").set_index("series")["value"] * 100
    return [(name, last[name], look) for name, look in known.items() if name in last]


def wrapped_end(name: str) -> str:
    return textwrap.fill(name, ENDS, break_on_hyphens=False)


def write_ends(axes: Axes, ends: Ends) -> list[Annotation]:
    """Write each name at the right edge, at the height of its value."""
    same = SMALL | {"xycoords": ("axes fraction", "data"), "va": "center", "linespacing": 1.05}
    texts = []
    for name, value, look in sorted(ends, key=lambda end: end[1]):
        same["color"] = style.GREY if look.colour in (style.CONTROL, style.BAR) else look.colour
        texts.append(axes.annotate(wrapped_end(name), (1, value), (SAMPLE[-1] + 3, 0), **same))
    return texts


def spread_ends(axes: Axes, texts: Sequence[Annotation], ends: Ends) -> None:
    """Move names that would touch apart, as little as possible, within the height of the axes, and
    draw a piece of its line before each name.
    """
    figure = axes.get_figure(root=True)
    scale = figure.dpi / 72
    tall = np.array([text.get_window_extent().height for text in texts]) / scale + 1
    inside = axes.get_window_extent()
    wanted = np.array([axes.transData.transform((0, text.xy[1]))[1] for text in texts]) / scale
    steps = np.concatenate([[0], np.cumsum((tall[1:] + tall[:-1]) / 2)])
    low, high = inside.y0 / scale + tall[0] / 2, inside.y1 / scale - tall[-1] / 2 - steps[-1]
    free = np.clip(isotonic_regression(wanted - steps).x, min(low, high), max(low, high))
    right = np.array(SAMPLE) + inside.x1 / scale
    looks = [look for *_, look in sorted(ends, key=lambda end: end[1])]
    for text, look, y, old in zip(texts, looks, np.round(free + steps, 2), np.round(wanted, 2)):
        text.xyann = (SAMPLE[-1] + 3, y - old)
        x, y = np.round(right / 72, 4), np.full(len(right), y / 72)
        piece = Line2D(x, y, transform=figure.dpi_scale_trans, markevery=[1], **look.settings())
        figure.add_artist(piece)


# ---- rows


class Rows:
    """The rows of a panel, under heads, with a lane for each series. Places are in inches from the
    top of the axes.

    points: in the order of the rows, with the columns row and series, and optionally name (of the
    row) and head. within: a column; rows with the same value have the same lanes.
    """

    def __init__(
        self, points: pd.DataFrame, within: str = "row", lane: float = LANE, series: str = "series"
    ):
        self.within, self.lane, self.series = within, lane, series
        self.places: dict[object, float] = {}
        self.names: dict[float, str] = {}
        self.heads: dict[float, str] = {}
        lanes, last, y = points.groupby(within)[series].nunique(), "", 0.0
        for row in points.drop_duplicates("row").to_dict("records"):
            if (head := row.get("head", "")) != last:
                y += LINE / 2 if self.places else 0
                self.heads[y + HEAD / 2] = last = head
                y += HEAD
            lines = str(row.get("name", row["row"])).split("\n")
            name = "\n".join(textwrap.fill(line, NAME) for line in lines)
            tall = max(ROW, lane * lanes[row[within]] + 0.06, LINE * (name.count("\n") + 1) + 0.04)
            self.places[row["row"]] = y + tall / 2
            self.names[y + tall / 2] = name
            y += tall
        self.height = y + 0.04

    def placed(self, points: pd.DataFrame, order: Iterable) -> pd.DataFrame:
        """Return the points with y, from the place of their row and the lane of their series.
        order: of the series.
        """
        place = points[self.series].map({name: number for number, name in enumerate(order)})
        lane = place.groupby(points[self.within]).rank("dense") - 1
        middle = lane.groupby(points[self.within]).transform("max") / 2
        return points.assign(y=points["row"].map(self.places) + self.lane * (lane - middle))

    def show(self, axes: Axes) -> None:
        """Write the names of rows and heads, and draw a pale line along each row."""
        axes.set_ylim(self.height, 0)
        names = self.heads | self.names
        axes.set_yticks(list(names), list(names.values()), fontsize=7, linespacing=1.05)
        for label in axes.get_yticklabels()[: len(self.heads)]:
            label.set_fontweight("bold")
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x")
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        pale = {"color": style.GRID, "linewidth": 0.5, "zorder": 0.5}
        axes.hlines(list(self.names), 0, 1, transform=axes.get_yaxis_transform(), **pale)

    def draw(self, axes: Axes, points: pd.DataFrame, known: Mapping[str, Look]) -> None:
        """Draw the rows (show()) and the marks of each series in its lanes."""
        self.show(axes)
        for series, of_series in self.placed(points, known).groupby(self.series, sort=False):
            draw_marks(axes, of_series, known[series], "y", flat=True, linestyle="", capsize=0)


# ---- panels and figures


class Panel(NamedTuple):
    """points: the numbers that the panel shows; their marks (face_of()) are written on it. draw:
    called with its axes and points. title (bold) and detail (grey) are above the panel, heading
    (without its empty lines) above the whole line. height: of its axes, in inches; it grows to
    hold the names of `ends`. bands: the y of places without data, for the marks. ends: the names
    that stand at its right edge (ends_of()).
    """

    points: pd.DataFrame
    draw: Callable[[Axes, pd.DataFrame], None]
    title: str = ""
    detail: str = ""
    heading: str = ""
    height: float = 1.75
    bands: Sequence[float] = ()
    ends: Ends = ()

    @property
    def tall(self) -> float:
        lines = sum(wrapped_end(name).count("\n") + 1 for name, *_ in self.ends)
        return max(self.height, LINE * lines + 0.02 * len(self.ends))


def in_lines(panels: Sequence[Panel], across: int, heading: str = "") -> list[list[Panel]]:
    """Return the panels in lines of `across` panels, of fewer in a narrow figure. The first line
    gets the heading.
    """
    across = max(1, int(across * style.width() / style.WIDTHS[2]))
    panels = [panels[0]._replace(heading=heading), *panels[1:]]
    return [panels[start : start + across] for start in range(0, len(panels), across)]


def figure_of(
    lines: Sequence[Sequence[Panel]],
    legend: Sequence[tuple[str, list]] = (),
    *,
    share_x: bool = False,
    share_y: str = "",
    across: int = 1,
    note: str = "",
    beside: float = 0,
    spread: int = 0,
) -> Figure:
    """Return the figure of these lines of panels.

    share_x: all panels have the same x axis; the lowest label it. share_y: the panels of the
    `figure` or of each `line` have the same y axis; the first of a line labels it. across: a line
    has room for at least this many panels. note: under the panels. beside: inches to the right of
    a panel that its title may use, too. spread: a line of this many panels fills the width.
    """
    heights = [max(panel.tall for panel in line) for line in lines]
    figure = plt.figure(figsize=(style.width(), 1))
    foot = style.legends(figure, legend) + (0.19 if note else 0.04)
    # a first height, until arrange() has measured the texts around the axes
    figure.set_figheight(sum(heights) + len(lines) + foot)
    columns = max(across, *map(len, lines))
    grid = figure.add_gridspec(len(lines), columns, height_ratios=heights)
    placed: list[tuple[Axes, Panel, int]] = []
    ends: list[tuple[Axes, list[Annotation], Ends]] = []
    for number, line in enumerate(lines):
        for column, panel in enumerate(line):
            first = placed[0][0] if placed else None
            others = {"figure": first, "line": placed[-1][0] if column else None}
            wide = columns // len(line) if len(line) == spread else 1
            place = grid[number, column * wide : (column + 1) * wide]
            same_x = first if share_x else None
            axes = figure.add_subplot(place, sharex=same_x, sharey=others.get(share_y))
            panel.draw(axes, panel.points)
            if share_y and column:
                axes.tick_params(labelleft=False)
                axes.set_ylabel("")
            below = [other[column : column + 1] for other in lines[number + 1 :]]
            if share_x and any(below):
                axes.set_xlabel("")
            placed.append((axes, panel, number))
            if panel.ends:
                ends.append((axes, write_ends(axes, panel.ends), panel.ends))
    arrange(placed, heights, foot, max(beside, END) if ends else beside)
    for of_axes in ends:
        spread_ends(*of_axes)
    for axes, panel, _ in placed:
        wide, tall = axes.get_window_extent().size / figure.dpi
        most = np.clip(min(8.5 * wide, 14 * tall), 7, 17)
        style.mark(axes, face_of(panel.points), most, panel.bands)
    figure.text(0.5, (foot - 0.14) / figure.get_figheight(), note, ha="center", fontsize=7.5)
    return figure


def arrange(
    placed: list[tuple[Axes, Panel, int]], heights: list[float], foot: float, beside: float
) -> None:
    """Place the panels by constrained layout, write their titles, and set the figure's height.
    Inches: heights, of the axes in each line; foot, under the panels.
    """
    axes, _, line = placed[0]
    figure, engine = axes.figure, ConstrainedLayoutEngine()
    for step in ("titles", "height", "last"):
        height = figure.get_figheight()
        rect = (0.006, foot / height, 0.988, 1 - (foot + 0.04) / height)
        engine.set(rect=rect, w_pad=0.05, h_pad=0.06, wspace=0, hspace=0)
        engine.execute(figure)
        box = axes.get_position()
        if step == "titles":
            headings = write_titles(placed, box.width * style.width() + beside)
        elif step == "height":
            missing = sum(heights) * (1 - box.height * height / heights[line])
            figure.set_figheight(round(height + missing, 3))
    for axes, *_ in placed:  # the layout's last digits vary from run to run
        axes.set_position(np.round(axes.get_position().bounds, 6))
    for text, heading in headings:
        text.set_text(heading)


def write_titles(placed: list[tuple[Axes, Panel, int]], width: float) -> list[tuple[Text, str]]:
    """Write the titles, details and headings above the panels, in lines of this width. A heading
    may run to the figure's right edge. Returns the headings with their full texts: only the first
    letter of each line is written, because a full heading would widen its panel.
    """

    def wrapped(text: str, letter: float, width: float = width) -> list[str]:
        most = max(8, int(width / letter / TITLE))
        return [part for line in text.split("\n") for part in textwrap.wrap(line, most)]

    texts = [(wrapped(panel.title, BOLD), wrapped(panel.detail, LETTER)) for _, panel, _ in placed]
    headings = []
    deep = pd.Series([len(title) + len(detail) for title, detail in texts])
    deepest = deep.groupby([number for *_, number in placed]).transform("max")
    for (axes, panel, _), (title, detail), under in zip(placed, texts, deepest):
        bold, room = {"fontweight": "bold"}, (0.98 - axes.get_position().x0) * style.width()
        heading = wrapped(panel.heading, BOLD, room)
        same = {"xycoords": "axes fraction", "textcoords": "offset points", "fontsize": TITLE}
        for lines, below, look in (
            (detail, 0, {"color": style.GREY}),
            (title, len(detail), bold),
            ([line[:1] for line in heading], under + 0.4, bold),
        ):
            up = 5 + below * TITLE * 1.36  # points
            text = axes.annotate("\n".join(lines), (0, 1), (0, up), **same, **look)
        headings.append((text, "\n".join(heading)))
    return headings


def forest_of(
    tables: Sequence[tuple[str, str, pd.DataFrame]], xlabel: str, line: float, line_label: str
) -> Figure:
    """Return a figure of rows on one x axis, a panel for each table (title, detail, points).
    points: row, series, is_control (drawn grey), value, ci_low, ci_high. line: a share.
    """
    every = pd.concat([points for *_, points in tables])
    names = every.loc[~every["is_control"], "series"].unique()
    known = {
        name: Look(style.COLOURS[place % 6], style.MARKERS[place % 6], "")
        for place, name in enumerate(names)
    }
    handles = [look.handle(name) for name, look in known.items() if name]
    if every["is_control"].any():
        handles.append(BEST_CONTROL.handle(style.CONTROLS))
    known |= {name + style.CONTROLS: BEST_CONTROL for name in every["series"].unique()}

    def draw(axes: Axes, points: pd.DataFrame) -> None:
        draw_line(axes, line * 100, upright=True)
        Rows(points).draw(axes, points, known)
        axes.set_xlabel(xlabel)

    lines = []
    for title, detail, points in tables:
        # the control of a series is another series
        series = points["series"].mask(points["is_control"], points["series"] + style.CONTROLS)
        points = points.assign(series=series)
        lines.append([Panel(points, draw, title, detail, height=Rows(points).height)])
    return figure_of(lines, [("", [*handles, CHANCE.handle(line_label)])], share_x=True)


def publish(
    given: Given,
    points: pd.DataFrame,
    draw: Callable[[], Figure],
    nothing: str = "No run of this study has these numbers.",
) -> None:
    """Write a figure in every form, and its points. nothing: its text if there are no points."""
    style.save(lambda: style.nothing(nothing) if points.empty else draw(), given)
    write_points(points, given.output)
    log.info("%s: %d points", given.output, len(points))
