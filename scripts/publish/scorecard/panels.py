"""The scorecard's panels: of each probe the headline against the number of parameters, with the best control and people."""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from scripts.publish import style
from scripts.publish.scorecard.cells import DIRECT, FILLED, FINE_TUNED, KINDS, LIKELIHOOD
from scripts.publish.scorecard.layout import Scorecard, at, size_told

ACROSS, LEFT, GAP, TALL, HEAD, FOOT = 4, 0.5, 0.36, 1.0, 0.36, 0.34  # panels beside one another; inches
WAY_COLOURS = {FINE_TUNED: style.COLOURS[0], FILLED: style.COLOURS[1], LIKELIHOOD: style.COLOURS[2], DIRECT: style.COLOURS[3]}
KIND_MARKERS = {KINDS["encoder"]: "o", KINDS["encoder_decoder"]: "s", KINDS["decoder"]: "^", KINDS["esim"]: "v"}
OTHER_WAY, OTHER_KIND = style.COLOURS[4], "D"
BLIND = "x"
CONTROL, HUMAN = (0, (1, 1.5)), (0, (4, 1.6))  # lines


def panels_height(card: Scorecard) -> float:
    """Inches that the panels take; none where the runs tell of fewer than two sizes."""
    if card.cells["parameters"].nunique() < 2:
        return 0.0
    return math.ceil(len(card.probes) / ACROSS) * (HEAD + TALL + FOOT)


def draw_panel(axes: Axes, card: Scorecard, probe: dict, unknown: float) -> None:
    """One probe; unknown: where networks of an unknown size stand."""
    cells = at(card.cells, probe)
    for _, cell in cells.iterrows():
        colour, marker = WAY_COLOURS.get(cell["way"], OTHER_WAY), KIND_MARKERS.get(cell["kind"], OTHER_KIND)
        x = unknown if pd.isna(cell["parameters"]) else cell["parameters"]
        ends = cell[["value", "ci_low", "ci_high"]].to_frame().T.astype(float)
        axes.errorbar(x, cell["value"] * 100, yerr=style.error_bars(ends), linestyle="", color=colour, marker=marker, markersize=3.8, markerfacecolor=colour if cell["clear"] else style.PAPER,
                      markeredgewidth=0.8, elinewidth=0.7, zorder=4, clip_on=False)
        axes.plot(x, cell["blind"] * 100, linestyle="", color=colour, marker=BLIND, markersize=3, markeredgewidth=0.8, zorder=3, clip_on=False)
    lines = {CONTROL: at(card.controls, probe)["value"], HUMAN: human_of(card, probe)}
    for line, values in lines.items():
        for value in values[:1]:
            axes.axhline(value * 100, color=style.GREY if line == CONTROL else style.INK, linestyle=line, linewidth=0.9, zorder=1)
    known = [cells["value"], cells["blind"].dropna(), cells["ci_low"].dropna(), cells["ci_high"].dropna(), *(values[:1] for values in lines.values())]
    every = np.concatenate(known) * 100
    axes.set_ylim(max(every.min() - 4, -2), min(every.max() + 4, 103))


def human_of(card: Scorecard, probe: dict) -> pd.Series:
    """What people reach on a probe: here, else in the paper."""
    here, printed = at(card.human, probe)["value"], at(card.papers, probe)
    return here if len(here) else printed.loc[printed["who"] == "human", "value"]


def sizes(card: Scorecard) -> tuple[float, float, float | None]:
    """The ends of the axis, and where networks of an unknown size stand; None where there are none."""
    known = card.cells["parameters"].dropna()
    low, high = known.min() / 2.5, known.max() * 2.5
    if card.cells["parameters"].isna().any():
        wide = (high / low) ** 0.12
        return low, high * wide**2, high * wide
    return low, high, None


def ticks_between(low: float, high: float) -> list[float]:
    """Decades, or where there are not two of them 1, 2 and 5 of each."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    series = ([step * 10.0**power for power in powers for step in steps] for steps in ((1,), (1, 2, 5)))
    coarse, fine = ([tick for tick in ticks if low <= tick <= high] for ticks in series)
    return coarse if len(coarse) > 1 else fine


def draw_panels(figure: Figure, card: Scorecard, top: float) -> None:
    """All panels, the first line `top` inches above the figure's lower edge."""
    if not panels_height(card):
        return
    height, wide = figure.get_figheight(), (style.WIDTH - LEFT - 0.1 - GAP * (ACROSS - 1)) / ACROSS
    low, high, unknown = sizes(card)
    ticks = ticks_between(low, high if unknown is None else unknown / 1.3)
    labels = [size_told(tick) for tick in ticks]
    if unknown is not None:
        ticks, labels = [*ticks, unknown], [*labels, "?"]
    for number, probe in enumerate(card.probes):
        line, column = divmod(number, ACROSS)
        bottom = top - HEAD - TALL - line * (HEAD + TALL + FOOT)
        axes = figure.add_axes([(LEFT + column * (wide + GAP)) / style.WIDTH, bottom / height, wide / style.WIDTH, TALL / height])
        axes.set_xscale("log")
        draw_panel(axes, card, probe, unknown)
        axes.set_xlim(low, high)
        axes.set_xticks(ticks, labels)
        axes.minorticks_off()
        axes.tick_params(labelsize=6.5)
        titles = (probe["title"], 13, "bold", style.INK), (shortened(probe["corpus_title"], wide), 4, "normal", style.GREY)
        for text, drop, weight, colour in titles:
            axes.annotate(text, (0, 1), (0, drop), xycoords="axes fraction", textcoords="offset points", fontsize=6.8, fontweight=weight,
                          color=colour, va="bottom")
        style.mark(axes, probe["face"], 9)
        if column == 0:
            axes.set_ylabel("headline (%)")
        if number >= len(card.probes) - ACROSS:
            axes.set_xlabel("parameters", labelpad=1)


def shortened(title: str, wide: float) -> str:
    """A title as it fits over a panel."""
    letters = int(wide / 0.057)
    return title if len(title) <= letters else f"{title[:letters - 1].rstrip()}…"


def legend_groups(card: Scorecard) -> list[tuple[str, list]]:
    """What stands under it all: colours of the cells, then the panels' marks and lines."""
    cells = [Patch(facecolor=style.COLOURS[0], alpha=0.4, label="clearly above the best control (darker: further)"),
             Patch(facecolor=style.PAPER, edgecolor=style.GREY, linewidth=0.5, label="grey numbers: no better than a control")]
    if card.cells["blind"].notna().any():
        cells.append(Line2D([], [], color=style.GREY, marker=BLIND if panels_height(card) else "", markersize=4, linestyle="",
                            label="blind: the same model without what it should read"))
    if not panels_height(card):
        return [("", cells)]
    ways = [Patch(facecolor=WAY_COLOURS.get(way, OTHER_WAY), label=way)
            for way in dict.fromkeys(row["way"] for row in card.rows if row["way"] in set(card.cells["way"]))]
    kinds = [Line2D([], [], color=style.GREY, marker=KIND_MARKERS.get(kind, OTHER_KIND), markersize=4, linestyle="", label=kind)
             for kind in dict.fromkeys(card.cells["kind"])]
    kinds.append(Line2D([], [], color=style.GREY, marker="o", markerfacecolor=style.PAPER, markersize=4, linestyle="",
                        label="open: no better than a control"))
    lines = [Line2D([], [], color=style.GREY, linestyle=CONTROL, linewidth=0.9, label=style.BEST_CONTROL)]
    if any(len(human_of(card, probe)) for probe in card.probes):
        lines.append(Line2D([], [], color=style.INK, linestyle=HUMAN, linewidth=0.9, label="human"))
    return [("", cells), ("", ways), ("", kinds), ("", lines)]
