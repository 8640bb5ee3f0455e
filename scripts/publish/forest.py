"""A figure of rows: in each row a mark with its interval for each series, against one line; panels one above the other. Not a program."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scripts.publish import style

ROW, DODGE = 0.3, 0.62  # inches of a row; the share of it that its series take


class Panel(NamedTuple):
    """points: row, series, value, ci_low, ci_high (shares), is_control; face: what marks its numbers."""

    title: str
    detail: str
    points: pd.DataFrame
    face: str


def draw_panel(axes: Axes, panel: Panel, looks: dict[str, tuple[str, str]], line: float) -> None:
    """The rows of a panel, the first at the top."""
    rows, points = list(dict.fromkeys(panel.points["row"])), style.with_ends(panel.points)
    axes.axvline(line * 100, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, zorder=1)
    for place, row in enumerate(rows):
        of_row = points[points["row"] == row]
        shifts = (np.arange(len(of_row)) - (len(of_row) - 1) / 2) * DODGE / max(2, len(of_row))
        for (_, point), shift in zip(of_row.iterrows(), shifts):
            colour, marker = (style.CONTROL, "x") if point["is_control"] else looks[point["series"]]
            axes.errorbar(point["value"] * 100, place + shift, xerr=[[(point["value"] - point["ci_low"]) * 100], [(point["ci_high"] - point["value"]) * 100]],
                          color=colour, marker=marker, markersize=4.5, elinewidth=0.9, capsize=2, linestyle="", zorder=3)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    style.panel_title(axes, [panel.title], panel.detail)
    style.mark(axes, panel.face, min(17, 5 * len(rows)))


def figure_of(panels: list[Panel], xlabel: str, line: float, line_label: str, controls_label: str = style.CONTROLS) -> Figure:
    """The figure of panels, with one legend; line: the share at which a line stands."""
    counts = [panel.points["row"].nunique() for panel in panels]
    series = list(dict.fromkeys(name for panel in panels for name in panel.points.loc[~panel.points["is_control"], "series"]))
    looks = dict(zip(series, ((style.COLOURS[place % 6], style.MARKERS[place % 6]) for place in range(len(series)))))
    handles = [Line2D([], [], color=colour, marker=marker, markersize=4.5, linestyle="", label=name) for name, (colour, marker) in looks.items()]
    handles = [] if series == [""] else handles
    controls = any(panel.points["is_control"].any() for panel in panels)
    handles += [Line2D([], [], color=style.CONTROL, marker="x", markersize=4.5, linestyle="", label=controls_label)] if controls else []
    handles.append(Line2D([], [], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, label=line_label))
    foot = 0.55 + style.legends_height([("", handles)])
    heights = [max(0.5, ROW * count) for count in counts]
    height = sum(heights) + 0.62 * len(panels) + foot
    figure = plt.figure(figsize=(style.WIDTH, height))
    longest = max(len(row) for panel in panels for row in panel.points["row"])
    left, top, first = min(0.45, (0.25 + 0.065 * longest) / style.WIDTH), height, None
    for panel, tall in zip(panels, heights):
        top -= 0.5 + tall
        first = figure.add_axes((left, top / height, 0.97 - left, tall / height), sharex=first)
        draw_panel(first, panel, looks, line)
        top -= 0.12
    first.set_xlabel(xlabel)
    style.legends(figure, [("", handles)], 0.08)
    return figure
