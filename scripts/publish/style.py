"""How every figure looks, and how it is saved: the same bytes from the same numbers.

Colours are those of Okabe and Ito (2008), told apart by people with any colour vision; what a colour says, a marker
or a line style says as well, for print in grey. The font comes with matplotlib, so figures look the same everywhere.
"""

import logging
import math
import sys
from collections.abc import Iterable
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.common.files import whole
from scripts.common.fingerprint import fingerprint
from scripts.common.project_version import version

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
MARKERS = ["o", "s", "D", "^", "v", "P"]
INK, GREY, PALE = "#222222", "#6b6b6b", "#dcdcdc"
CONTROL, CONTROL_MARKERS = "#9a9a9a", ["x", "+", "1", "2", "3", "4"]  # what no understanding of time reaches
CONTROLS, BEST_CONTROL = "controls (no understanding of time)", "best control (no understanding of time)"
LEGEND_LINE = 0.145  # inches
WIDTH = 7.0  # inches: the text width of a two-column page

SETTINGS = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8,
    "xtick.labelsize": 7.5, "ytick.labelsize": 7.5, "legend.fontsize": 7.5, "legend.frameon": False,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": GREY, "xtick.color": INK, "ytick.color": INK,
    "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5,
    "ytick.major.size": 2.5, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "axes.grid.axis": "y", "grid.color": "#ececec", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "lines.linewidth": 1.4, "figure.dpi": 100, "savefig.dpi": 220, "figure.facecolor": "white",
    "svg.fonttype": "path", "svg.hashsalt": "timestride", "pdf.fonttype": 42,
    "text.parse_math": False,  # a title may hold a $
}


def apply() -> None:
    """Set the style; to be called before a figure is made."""
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every glyph of a PDF
    matplotlib.use("Agg")
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(SETTINGS)


def panel_title(axes: Axes, lines: list[str], detail: str) -> None:
    """The title of a panel: what it shows in bold lines, and a lighter line of detail under them."""
    axes.annotate("\n".join(lines), (0, 1), (0, 16), xycoords="axes fraction", textcoords="offset points",
                  fontweight="bold", va="bottom", linespacing=1.15)
    axes.annotate(detail, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", color=GREY, va="bottom")


def mark(axes: Axes, text: str, size: float = 17) -> None:
    """Say on the face of a panel what marks its numbers: of face_of() (scripts/publish/marks.py), nothing where that is empty."""
    if text:
        longest = max(map(len, text.split("\n")))
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", rotation=24, linespacing=1.1,
                  fontsize=size * min(1, 12 / longest), fontweight="bold", color=PALE, zorder=0.6)


def told_apart(systems: Iterable[tuple[str, str, str]]) -> dict[str, tuple[str, str]]:
    """Of each system (its name, model and method) a colour and a marker, no two of 36 alike.

    The model has the colour and the method the marker; with one method, the model has both. What would look like another system
    takes the next marker.
    """
    systems = list(systems)
    models, methods = (list(dict.fromkeys(names)) for names in ([model for _, model, _ in systems], [method for *_, method in systems]))
    found: dict[str, tuple[str, str]] = {}
    for name, model, method in systems:
        colour, marker = models.index(model), methods.index(method) if len(methods) > 1 else models.index(model)
        looks = [(COLOURS[(colour + step // 6) % 6], MARKERS[(marker + step) % 6]) for step in range(36)]
        found.setdefault(name, next((look for look in looks if look not in found.values()), looks[0]))
    return found


def with_ends(points: pd.DataFrame) -> pd.DataFrame:
    """The points with their value as both ends where they have no interval, since one group allows none."""
    return points.assign(ci_low=points["ci_low"].fillna(points["value"]), ci_high=points["ci_high"].fillna(points["value"]))


def error_bars(points: pd.DataFrame) -> np.ndarray:
    """(2, n) distances from the value down and up to its interval, in per cent."""
    points = with_ends(points)
    return np.clip([points["value"] - points["ci_low"], points["ci_high"] - points["value"]], 0, None) * 100


def side_by_side(handles: list) -> int:
    """How many entries of a legend stand side by side: a line holds 118 characters, of which a mark takes nine."""
    return max(1, min(len(handles), 118 // (max(len(handle.get_label()) for handle in handles) + 9)))


def legends_height(groups: list[tuple[str, list]]) -> float:
    """Inches that legends() takes for these groups."""
    return sum(LEGEND_LINE * (bool(title) + math.ceil(len(handles) / side_by_side(handles))) + 0.05 for title, handles in groups if handles)


def legends(figure: Figure, groups: list[tuple[str, list]], bottom: float) -> None:
    """Legends one under the other, the last `bottom` inches above the figure's lower edge: of each group its title and its handles."""
    for title, handles in reversed([group for group in groups if group[1]]):
        figure.legend(handles=handles, title=title or None, title_fontsize=7.5, loc="lower center", ncols=side_by_side(handles),
                      bbox_to_anchor=(0.5, bottom / figure.get_figheight()), handlelength=2.2, columnspacing=1.6, borderaxespad=0,
                      borderpad=0, labelspacing=0.35)
        bottom += legends_height([(title, handles)])


def lines_of(groups: list[list], across: int) -> list[list]:
    """Panels in lines of at most `across`, as text is set: a group goes to the next line whole where it can."""
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
    """A figure that says that there is nothing to draw."""
    apply()
    figure = plt.figure(figsize=(WIDTH, 0.8))
    figure.text(0.5, 0.5, text, ha="center", va="center", color=GREY)
    return figure


def maker() -> str:
    """What a figure's files say of who made them: version, program and the fingerprint of its code, as the page tells it. Not the commit:
    with it equal figures would be unequal files."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    program = spec.name if spec and spec.name.startswith("scripts.publish.") else None
    return f"timestride {version()}" + (f", {fingerprint(program)}" if program else "")


def save(figure: Figure, output: Path) -> None:
    """Write <output>.svg, .png and .pdf, with what made them and without dates, so that equal figures are equal files."""
    told = {"svg": {"Date": None, "Source": maker()}, "pdf": {"CreationDate": None, "Keywords": maker()}, "png": {"Source": maker()}}
    for suffix, metadata in told.items():
        with whole(output.with_name(f"{output.name}.{suffix}")) as place:
            figure.savefig(place, format=suffix, metadata=metadata)
