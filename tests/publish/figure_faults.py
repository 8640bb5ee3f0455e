"""Find the faults of a figure from its artists: marks that are cut off, and texts that overlap."""

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text

from scripts.publish import style

CAPS = ("|", "_", 0, 1, 2, 3)  # of intervals, which may leave an axis if the figure says so
SLACK = 1.0  # pixels that boxes may share: letters do not fill their boxes


def cut_marks(figure: Figure) -> list[str]:
    """Return the marks that an axes cuts off, or that lie outside it."""
    faults = []
    for axes in figure.axes:
        box = axes.get_window_extent()
        for line in axes.lines:
            if line.get_marker() in ("None", "none", "", None, *CAPS):
                continue
            places = line.get_transform().transform(np.asarray(line.get_data(orig=False), float).T)
            radius = (line.get_markersize() + line.get_markeredgewidth()) / 2 * figure.dpi / 72
            inside = box.padded(0.5 - radius * line.get_clip_on())
            faults += [
                (
                    f"{line.get_marker()} at {x - box.x0:.1f}, {y - box.y0:.1f} of {box.width:.0f} "
                    f"× {box.height:.0f}"
                )
                for x, y in places[np.isfinite(places).all(1)]
                if not inside.contains(x, y)
            ]
    return faults


def texts_of(figure: Figure) -> list[Text]:
    """Return all drawn texts, except the marks behind the panels (style.mark)."""
    found = list(figure.texts)
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        found += [*axes.texts]
        if axes.axison:
            found += [axes.title, axes._left_title, axes._right_title]
            for axis in (axes.xaxis, axes.yaxis):
                found += [
                    axis.label,
                    *(tick.label1 for tick in axis._update_ticks() if tick.label1.get_visible()),
                ]
    for legend in [
        *figure.legends,
        *(axes.get_legend() for axes in figure.axes if axes.get_legend()),
    ]:
        found += [*legend.get_texts(), legend.get_title()]
    behind = to_rgba(style.PALE)
    return [
        text
        for text in found
        if text.get_visible() and text.get_text().strip() and to_rgba(text.get_color()) != behind
    ]


def text_faults(figure: Figure) -> list[str]:
    """Return the texts that overlap, or that lie outside the figure."""
    texts = texts_of(figure)
    boxes = [Text.get_window_extent(text) for text in texts]  # an annotation without its arrow
    inside, faults = figure.bbox, []
    for text, box in zip(texts, boxes):
        if (
            box.x0 < -SLACK
            or box.y0 < -SLACK
            or box.x1 > inside.x1 + SLACK
            or box.y1 > inside.y1 + SLACK
        ):
            faults.append(f"out of the figure: {text.get_text()!r}")
    for legend in figure.legends:
        box = legend.get_window_extent()
        if box.x0 < -SLACK or box.x1 > inside.x1 + SLACK or box.y0 < -SLACK:
            faults.append("a legend reaches out of the figure")
    corners = np.array([box.extents for box in boxes]).reshape(-1, 4)
    for number, corner in enumerate(corners[:-1]):
        others = corners[number + 1 :]
        shared = np.minimum(corner[2:], others[:, 2:]) - np.maximum(corner[:2], others[:, :2])
        faults += [
            (
                f"{texts[number].get_text()!r} on {texts[number + 1 + other].get_text()!r} "
                f"({shared[other, 0]:.0f} × {shared[other, 1]:.0f} pixels)"
            )
            for other in np.flatnonzero((shared > SLACK).all(1))
        ]
    return faults


def faults_of(figure: Figure) -> list[str]:
    """Return all faults of a figure, in words. The figure must be drawn in the style
    (style.drawn).
    """
    figure.draw_without_rendering()
    return cut_marks(figure) + text_faults(figure)
