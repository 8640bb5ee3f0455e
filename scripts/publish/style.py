"""The look of every figure, on light and on dark paper, and how a figure is saved. The same numbers
and the same commit give the same bytes.

A colour is named by its role (INK, COLOURS[0]), as a place in matplotlib's cycle of colours. THEMES
gives the colour of each role. A figure is drawn on light paper. Its dark form replaces the colour
of each role. The six light COLOURS are those of Okabe and Ito (2008); the dark ones are lighter
colours of the same hues. Systems also differ in marker or line style, for print in grey.
"""

import logging
import re
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from pathlib import Path
from textwrap import fill

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from scripts.data.files import sha256_of, whole
from scripts.publish.item import Given
from scripts.publish.provenance import commit_text
from scripts.running.code_lock import identity
from scripts.running.project_version import commit_date, project_version

COLOURS = ["C0", "C1", "C2", "C3", "C4", "C5"]
INK, GREY, PALE, CONTROL, PAPER, GRID, BAR = "C6", "C7", "C8", "C9", "C10", "C11", "C12"
# The colours of the roles above, in this order: the six, ink, grey, pale, control, paper (in the
# dark theme the colour of the page), grid, bar.
THEMES = {
    "light": (
        "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #222222 #6b6b6b #dcdcdc #9a9a9a #ffffff "
        "#ececec #d4d4d4"
    ).split(),
    "dark": (
        "#2b93dc #e8702a #12b886 #d98fba #f0b429 #9bd8fb #e4e6e8 #a3a9b0 #33373c #8a9098 #16181b "
        "#2a2e33 #43484e"
    ).split(),
}
MARKERS = ["o", "s", "D", "^", "v", "P"]
CONTROL_MARKERS = ["x", "+", "1", "2", "3", "4"]
CONTROLS = "controls"
BEST_CONTROL = "control like for like"
LETTERS = 118 / 7  # letters of a line of text in an inch
WIDTHS = {2: 7.0, 1: 3.3}  # inches: the text of a page with two columns, and one of its columns

SETTINGS = {
    # matplotlib brings the first and measures with it. A browser without it takes the next, of
    # nearly the same widths.
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Bitstream Vera Sans", "Verdana", "Helvetica", "Arial"],
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.facecolor": PAPER,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "figure.dpi": 100,
    "savefig.dpi": 220,
    "svg.fonttype": "none",
    "svg.hashsalt": "timestride",
    "pdf.fonttype": 42,  # text stays text: it can be searched and copied
    "text.parse_math": False,  # a title may hold a $
}


def width() -> float:
    """Return the width of the figures that are drawn now, in inches."""
    return matplotlib.rcParams["figure.figsize"][0]


def letters() -> int:
    return int(LETTERS * width())


def mark(axes: Axes, text: str, size: float = 17, bands: Iterable[float] = ()) -> None:
    """Write the marks of a panel's numbers (face_of()) across the panel or, if it has bands (places
    without data), at the y of each band.
    """
    look = {"ha": "center", "va": "center", "fontweight": "bold", "color": PALE, "zorder": 0.6}
    if not text:
        return
    line, lines = text.replace("\n", " · "), text.split("\n")
    for y in bands:
        look |= {"transform": axes.get_yaxis_transform()}
        axes.text(0.5, y, line, fontsize=min(size / 2, 9 * size / len(line)), **look)
    if not bands:
        look |= {"transform": axes.transAxes, "rotation": 24, "linespacing": 1.1}
        axes.text(0.5, 0.5, text, fontsize=size * min(1, 12 / max(map(len, lines))), **look)


def whole_marks(figure: Figure) -> None:
    """Let markers at the end of an axis be drawn whole, not clipped."""
    for axes in figure.axes:
        (left, right), (low, high) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
        for line in axes.lines:
            x, y = (np.asarray(values, float) for values in line.get_data())
            inside = np.isnan(x + y) | ((left <= x) & (x <= right) & (low <= y) & (y <= high))
            has_marks = line.get_marker() not in ("None", "", None)
            if has_marks and line.get_transform() == axes.transData and inside.all():
                line.set_clip_on(False)
        for dots in axes.collections:
            dots.set_clip_on(not isinstance(dots, PathCollection))


def distinct_titles(systems: Iterable[tuple[str, str, str]]) -> dict[str, tuple[str, str]]:
    """Return a colour and a marker for each system (its name, model and method), different ones for
    up to 36 systems. The model gives the colour and the method the marker. If all have the same
    method, the model gives both.
    """
    systems = list(systems)
    models, methods = (list(dict.fromkeys(one[place] for one in systems)) for place in (1, 2))
    found: dict[str, tuple[str, str]] = {}
    for name, model, method in systems:
        colour = models.index(model)
        marker = methods.index(method) if len(methods) > 1 else colour
        looks = [
            (COLOURS[(colour + step // 6) % 6], MARKERS[(marker + step) % 6]) for step in range(36)
        ]
        free = [look for look in looks if look not in found.values()]
        found.setdefault(name, [*free, looks[0]][0])
    return found


def error_bars(points: pd.DataFrame) -> np.ndarray:
    """Return (2, n) distances from each value down and up to the ends of its interval, in per cent;
    0 without an interval.
    """
    ends = np.array([points["value"] - points["ci_low"], points["ci_high"] - points["value"]])
    with np.errstate(invalid="ignore"):  # a missing end is no error, but some processors report it
        return np.where(ends > 0, ends, 0) * 100


def legends(figure: Figure, groups: Iterable[tuple[str, list]]) -> float:
    """Draw the legends one under the other; the last is at the lower edge of the figure. Returns
    their height in inches.
    """
    bottom = 0.06
    for title, handles in reversed([group for group in groups if group[1]]):
        longest = max(len(handle.get_label()) for handle in handles)
        legend = figure.legend(
            handles=handles,
            title=title or None,
            title_fontsize=7.5,
            loc="lower center",
            ncols=max(1, min(len(handles), letters() // (longest + 9))),  # a marker: 9 letters
            bbox_to_anchor=(width() / 2, bottom),
            bbox_transform=figure.dpi_scale_trans,
            handlelength=2.2,
            columnspacing=1.6,
            borderaxespad=0,
            borderpad=0,
            labelspacing=0.35,
        )
        bottom += round(legend.get_window_extent().height / figure.dpi, 3) + 0.1
    return bottom


def lines_of(groups: list[list], across: int) -> list[list]:
    """Return the panels in lines of at most `across` panels. A group that does not fit into the
    rest of a line starts a new line.
    """
    lines: list[list] = [[]]
    for group in groups:
        if len(lines[-1]) + len(group) > across:
            lines.append([])
        for panel in group:
            if len(lines[-1]) == across:
                lines.append([])
            lines[-1].append(panel)
    return [line for line in lines if line]


def nothing(text: str) -> Figure:
    """Return a figure with the reason why the real one is not drawn. The text is also the title of
    the files, which the page shows alone.
    """
    figure = plt.figure(figsize=(width(), 0.8))
    figure.text(0.5, 0.5, fill(text, letters()), ha="center", va="center", color=GREY)
    figure.set_label(text)
    return figure


def drawn(draw: Callable[[], Figure], columns: int = 2) -> Figure:
    """Draw a figure in the style of every figure, for this many columns of a page (width())."""
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it logs every glyph of a PDF
    matplotlib.use("Agg")
    matplotlib.rcdefaults()
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=THEMES["light"])
    matplotlib.rcParams.update(SETTINGS | {"figure.figsize": (WIDTHS[columns], 1)})
    figure = draw()
    whole_marks(figure)
    return figure


def file_metadata(metrics: Path, program: str) -> dict[str, dict]:
    """Return the metadata of a figure's files, by suffix. The date is that of the commit: the same
    commit and numbers give the same file.
    """
    version = commit_text(project_version()).removesuffix(", no git commit")
    source, date = f"timestride {version}, {identity(program)}", commit_date()
    numbers = f"drawn from {metrics.name} of sha256 {sha256_of(metrics)}"
    moment = datetime.fromtimestamp(date, timezone.utc) if date is not None else None
    iso, about = moment and moment.isoformat(), {"Source": source, "Description": numbers}
    return {
        "svg": about | {"Date": iso},
        "pdf": {"CreationDate": moment, "Keywords": source, "Subject": numbers},
        "png": about | ({"Creation Time": iso} if iso else {}),
    }


def in_the_dark(svg: str) -> str:
    colours = {light.lower(): dark for light, dark in zip(*THEMES.values())}
    return re.sub(r"(?<=(?:ill|oke): )#\w{6}", lambda found: colours.get(found[0], found[0]), svg)


def save(draw: Callable[[], Figure], given: Given) -> None:
    """Write the figure in all forms. given: output, metrics, program (a module) and columns."""
    metadata = file_metadata(given.metrics, given.program)
    figure = drawn(draw)

    def file(suffix: str) -> Path:
        return given.output.with_name(f"{given.output.name}.{suffix}")

    title = {"Title": figure.get_label()} if figure.get_label() else {}
    for kind in ("svg", "png", "pdf"):
        with whole(file(kind)) as place:
            figure.savefig(place, format=kind, metadata=metadata[kind] | title)
    plt.close(figure)
    if given.columns == 1:
        narrow = drawn(draw, 1)
        with whole(file("column.pdf")) as place:
            narrow.savefig(place, format="pdf", metadata=metadata["pdf"] | title)
        plt.close(narrow)
    with whole(file("dark.svg")) as place:
        place.write_text(in_the_dark(file("svg").read_text(encoding="utf-8")), encoding="utf-8")
