"""What can be wrong with a figure, found from its artists: marks cut off, texts on one another, legends of what is not drawn."""

import importlib

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from scripts.publish import style
from scripts.publish.arguments import publisher_arguments

CAPS = ("|", "_", 0, 1, 2, 3)  # of intervals, which may run out of an axis where the figure says so
SLACK = 1.0  # pixels that boxes may share: letters do not fill theirs


def marks_of(axes: Axes) -> list[tuple[str, float, np.ndarray, bool]]:
    """Marker, radius (pixels), places (n, 2 pixels) and whether it is clipped, of all that is marked in an axes."""
    point, found = axes.figure.dpi / 72, []
    for line in axes.lines:
        if line.get_marker() not in ("None", "none", "", None, *CAPS) and line.get_visible():
            places = line.get_transform().transform(np.column_stack([np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)]))
            found.append((str(line.get_marker()), (line.get_markersize() + line.get_markeredgewidth()) / 2 * point, places, line.get_clip_on()))
    for dots in axes.collections:
        if isinstance(dots, PathCollection) and len(dots.get_sizes()):
            found.append(("dots", np.sqrt(dots.get_sizes().max()) / 2 * point, dots.get_offset_transform().transform(dots.get_offsets()), dots.get_clip_on()))
    return found


def cut_marks(figure: Figure) -> list[str]:
    """The marks that an axes cuts off, or that lie out of it."""
    faults = []
    for axes in figure.axes:
        box = axes.get_window_extent()
        for marker, radius, places, clipped in marks_of(axes):
            room = -radius + 0.5 if clipped else 0.5
            for x, y in places[np.isfinite(places).all(1)]:
                if not (box.x0 - room <= x <= box.x1 + room and box.y0 - room <= y <= box.y1 + room):
                    faults.append(f"{marker} at {x - box.x0:.1f}, {y - box.y0:.1f} of {box.width:.0f} × {box.height:.0f}")
    return faults


def texts_of(figure: Figure) -> list[Text]:
    """All texts that are drawn, but the marks that stand behind the panels (style.mark)."""
    found = list(figure.texts)
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        found += [*axes.texts]
        if axes.axison:
            found += [axes.title, axes._left_title, axes._right_title]
            for axis in (axes.xaxis, axes.yaxis):
                found += [axis.label, *(tick.label1 for tick in axis._update_ticks() if tick.label1.get_visible())]
    for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]:
        found += [*legend.get_texts(), legend.get_title()]
    behind = to_rgba(style.PALE)
    return [text for text in found if text.get_visible() and text.get_text().strip() and to_rgba(text.get_color()) != behind]


def text_faults(figure: Figure) -> list[str]:
    """Texts that lie on one another, or out of the figure."""
    texts = texts_of(figure)
    boxes = [Text.get_window_extent(text) for text in texts]  # of an annotation without its arrow
    inside, faults = figure.bbox, []
    for text, box in zip(texts, boxes):
        if box.x0 < -SLACK or box.y0 < -SLACK or box.x1 > inside.x1 + SLACK or box.y1 > inside.y1 + SLACK:
            faults.append(f"out of the figure: {text.get_text()!r}")
    for legend in figure.legends:
        box = legend.get_window_extent()
        if box.x0 < -SLACK or box.x1 > inside.x1 + SLACK or box.y0 < -SLACK:
            faults.append("a legend reaches out of the figure")
    corners = np.array([box.extents for box in boxes]).reshape(-1, 4)
    for number, corner in enumerate(corners[:-1]):
        others = corners[number + 1:]
        shared = np.minimum(corner[2:], others[:, 2:]) - np.maximum(corner[:2], others[:, :2])
        faults += [f"{texts[number].get_text()!r} on {texts[number + 1 + other].get_text()!r} ({shared[other, 0]:.0f} × {shared[other, 1]:.0f} pixels)"
                   for other in np.flatnonzero((shared > SLACK).all(1))]
    return faults


def legend_faults(figure: Figure) -> list[str]:
    """Entries of legends whose mark, line or colour is not drawn in any panel. What ink or grey says, any colour may."""
    neutral = {to_rgba(role) for role in (style.INK, style.GREY)}
    lines = [line for axes in figure.axes for line in axes.lines]
    marks = {(str(line.get_marker()), to_rgba(line.get_color())) for line in lines}
    marks |= {(str(line.get_marker()), to_rgba(line.get_markeredgecolor())) for line in lines}
    dotted = any(isinstance(dots, PathCollection) for axes in figure.axes for dots in axes.collections)
    dashes = {line._unscaled_dash_pattern[1] and tuple(line._unscaled_dash_pattern[1]) for line in lines if line.get_linestyle() != "None"}
    faults = []
    for handle in [handle for legend in figure.legends for handle in legend.legend_handles if isinstance(handle, Line2D)]:
        marker, colour = str(handle.get_marker()), to_rgba(handle.get_color())
        if marker in ("None", "", "none"):
            pattern = handle._unscaled_dash_pattern[1]
            drawn = (pattern and tuple(pattern)) in dashes
        else:
            drawn = any(marker == other and (colour in neutral or colour == other_colour) for other, other_colour in marks)
            edge = to_rgba(handle.get_markeredgecolor())
            drawn |= any(marker == other and edge == other_colour for other, other_colour in marks) or (marker == "o" and dotted)
            drawn |= marker in ("|", "_")  # an interval, a best epoch
        if not drawn:
            faults.append(f"in the legend, and not drawn: {handle.get_label()!r}")
    return faults


def faults_of(figure: Figure) -> list[str]:
    """All faults of a figure, in words; of one that was drawn in the style (style.apply)."""
    figure.canvas.draw()
    return cut_marks(figure) + text_faults(figure) + legend_faults(figure)


def faults_in(monkeypatch, module: str, *given) -> list[str]:
    """The faults of the figure that a program of scripts/publish draws, run here with these arguments."""
    found: list[str] = []

    def look(draw, _) -> None:
        found.extend(faults_of(style.drawn(draw)))
        plt.close("all")

    monkeypatch.setattr(style, "save", look)
    importlib.import_module(module).main(publisher_arguments("").parse_args(list(map(str, given))))
    return found
