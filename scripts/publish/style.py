"""How every figure looks, on light paper and on dark, and how it is saved: the same bytes from the
same numbers and commit.

A colour is named by its role (INK, COLOURS[0]), as a place in matplotlib's cycle of colours: THEMES
says which colour that is. A figure is drawn on light paper; its dark form has each role's other
colour. The six are those of Okabe and Ito (2008), and lighter ones of the same hues. What a colour
says, a marker or a line style says as well, for print in grey.
"""

import argparse
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
from scripts.publish.provenance import commit_text
from scripts.running.identity import identity
from scripts.running.project_version import commit_date, project_version

COLOURS = ["C0", "C1", "C2", "C3", "C4", "C5"]
INK, GREY, PALE, CONTROL, PAPER, GRID, BAR = "C6", "C7", "C8", "C9", "C10", "C11", "C12"
# Of each role above its colour, in that order: the six, ink, grey, pale, control, paper (in the
# dark that of the page), grid, bar.
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
CONTROL_MARKERS = ["x", "+", "1", "2", "3", "4"]  # of what no understanding of time reaches
CONTROLS = "controls (no understanding of time)"
BEST_CONTROL = "best control (no understanding of time)"
LETTERS = 118  # of a line of text
WIDTH = 7.0  # inches: the text width of a two-column page

SETTINGS = {
    # The first comes with matplotlib, which measures with it; a browser without it takes the next,
    # of nearly the same widths.
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


def apply() -> None:
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every glyph of a PDF
    matplotlib.use("Agg")
    matplotlib.rcdefaults()
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=THEMES["light"])
    matplotlib.rcParams.update(SETTINGS)


def mark(axes: Axes, text: str, size: float = 17, bands: Iterable[float] = ()) -> None:
    """Write on a panel what marks its numbers (face_of()); at each y of bands, without data."""
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
    """Draw marks whole that stand at the end of an axis."""
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
    """Of each system (its name, model and method) a colour and a marker, no two of 36 alike. The
    model has the colour and the method the marker; with one method, the model has both.
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
    """(2, n) distances from the value down and up to its interval, in per cent; 0 without an
    interval.
    """
    ends = np.array([points["value"] - points["ci_low"], points["ci_high"] - points["value"]])
    with np.errstate(invalid="ignore"):  # a missing end is no fault, though some processors say so
        return np.where(ends > 0, ends, 0) * 100


def legends(figure: Figure, groups: Iterable[tuple[str, list]]) -> float:
    """Legends one under the other, the last above the figure's lower edge. Returns how many inches
    they take.
    """
    bottom = 0.06
    for title, handles in reversed([group for group in groups if group[1]]):
        longest = max(len(handle.get_label()) for handle in handles)
        legend = figure.legend(
            handles=handles,
            title=title or None,
            title_fontsize=7.5,
            loc="lower center",
            ncols=max(1, min(len(handles), LETTERS // (longest + 9))),  # a mark takes nine letters
            bbox_to_anchor=(WIDTH / 2, bottom),
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
    """Panels in lines of at most `across`; a group goes to the next line whole where it can."""
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
    """In the place of a figure: why it is not drawn. The page shows the text alone, which is the
    title of the files.
    """
    figure = plt.figure(figsize=(WIDTH, 0.8))
    figure.text(0.5, 0.5, fill(text, LETTERS), ha="center", va="center", color=GREY)
    figure.set_label(text)
    return figure


def drawn(draw: Callable[[], Figure]) -> Figure:
    apply()
    figure = draw()
    whole_marks(figure)
    return figure


def maker(program: str | None) -> str:
    version = commit_text(project_version()).removesuffix(", no git commit")
    code = f", {program} {identity(program)}" if program else ""
    return f"timestride {version}{code}"


def file_metadata(metrics: Path, program: str | None) -> dict[str, dict]:
    """The metadata of a figure's files, by suffix. The date is that of the commit: the same commit
    makes the same file of the same numbers.
    """
    source, date = maker(program), commit_date()
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


def save(draw: Callable[[], Figure], given: argparse.Namespace) -> None:
    """Write the figure in all forms; given: output, metrics and program (a module)."""
    is_module = given.program.startswith("scripts.")
    metadata = file_metadata(given.metrics, given.program if is_module else None)
    figure = drawn(draw)

    def file(suffix: str) -> Path:
        return given.output.with_name(f"{given.output.name}.{suffix}")

    title = {"Title": figure.get_label()} if figure.get_label() else {}
    for kind in ("svg", "png", "pdf"):
        with whole(file(kind)) as place:
            figure.savefig(place, format=kind, metadata=metadata[kind] | title)
    plt.close(figure)
    with whole(file("dark.svg")) as place:
        place.write_text(in_the_dark(file("svg").read_text(encoding="utf-8")), encoding="utf-8")
