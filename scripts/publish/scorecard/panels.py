"""The scorecard's panels: each probe's headline against the number of parameters.

The best control and people stand in each panel as lines. Not a program.
"""

import math
import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from scripts.publish import style
from scripts.publish.panels import CHANCE, DASHED, Look, draw_line, draw_marks
from scripts.publish.scorecard.cells import DIRECT, FILLED, FINE_TUNED, KINDS, LIKELIHOOD
from scripts.publish.scorecard.layout import Scorecard, at, size_in_words

ACROSS, LINES = 4, 13  # panels beside one another, and how many lines of text one is tall
WAY_COLOURS = dict(zip((FINE_TUNED, FILLED, LIKELIHOOD, DIRECT), style.COLOURS))
KIND_MARKERS = dict(zip(KINDS.values(), "os^v"))
HUMAN = Look(style.INK, line=DASHED, width=0.9)


def look_of(way: str = "", kind: str = KINDS["encoder"], **more: object) -> Look:
    """How a model of a kind that was asked in this way is drawn; grey where no way is named."""
    colour = WAY_COLOURS.get(way, style.COLOURS[4]) if way else style.GREY
    return Look(colour, KIND_MARKERS.get(kind, "D"), "", size=4)._replace(**more)


def panel_lines(card: Scorecard) -> int:
    """How many lines of text the panels are tall; 0 if the runs have fewer than two sizes."""
    several = card.cells["parameters"].nunique() > 1
    return LINES * math.ceil(len(card.probes) / ACROSS) * several


def human_of(card: Scorecard, probe: dict) -> pd.Series:
    """What people reach on a probe: here, else in the paper."""
    here, printed = at(card.human, probe)["value"], at(card.papers, probe)
    return here if len(here) else printed.loc[printed["who"] == "human", "value"]


def draw_panel(axes: Axes, card: Scorecard, probe: dict, unknown: float) -> None:
    """One probe; unknown: where networks of an unknown size stand."""
    cells = at(card.cells, probe).fillna({"parameters": unknown})
    for (way, kind, clear), group in cells.groupby(["way", "kind", "clear"]):
        look = look_of(way, kind, face="" if clear else style.PAPER)
        draw_marks(axes, group, look, "parameters", capsize=0)
        draw_marks(
            axes,
            group.assign(value=group["blind"]),
            look_of(way, marker="x"),
            "parameters",
            intervals=False,
        )
    control = at(card.controls, probe)["value"]
    for values, look in ((control, CHANCE), (human_of(card, probe), HUMAN)):
        for value in values[:1]:
            draw_line(axes, value * 100, look=look)
    axes.margins(y=0.1)
    corpus = textwrap.fill(probe["corpus_title"], 28)
    axes.set_title(f"{probe['title']}\n{corpus}", loc="left", fontsize=6.8)
    style.mark(axes, probe["face"], 9)


def draw_panels(figure: SubFigure, card: Scorecard) -> None:
    """All panels, with one axis of sizes."""
    known = card.cells["parameters"].dropna()
    low, high = known.min() / 2.5, known.max() * 2.5
    steps = (1,) if high > 100 * low else (1, 2, 5)
    ticks = [tick for tick in LogLocator(subs=steps).tick_values(low, high) if low <= tick <= high]
    labels, unknown = [size_in_words(tick) for tick in ticks], high * 1.5
    if len(known) < len(card.cells):
        ticks, labels, high = [*ticks, unknown], [*labels, "?"], high * 2
    grid = figure.subplots(math.ceil(len(card.probes) / ACROSS), ACROSS, squeeze=False)
    for axes in grid.flat[len(card.probes) :]:
        axes.set_axis_off()
    for axes, probe in zip(grid.flat, card.probes):
        draw_panel(axes, card, probe, unknown)
        axes.set(xscale="log", xlim=(low, high))
        axes.set_xticks(ticks, labels, fontsize=6.5)
        axes.minorticks_off()
    figure.supxlabel("parameters", fontsize=7.5)
    figure.supylabel("headline (%)", fontsize=7.5)


def legend_handles(card: Scorecard) -> list:
    """What stands under it all: the colours of the cells, then the panels' marks and lines."""
    has_panels = panel_lines(card) > 0
    handles = [
        Patch(
            facecolor=style.COLOURS[0],
            alpha=0.4,
            label="clearly above the best control (darker: further)",
        ),
        Patch(
            facecolor=style.PAPER,
            edgecolor=style.GREY,
            linewidth=0.5,
            label="grey numbers: no better than a control",
        ),
    ]
    if card.cells["blind"].notna().any():
        blind = look_of(marker="x" * has_panels)
        handles.append(blind.handle("blind: the same model without what it should read"))
    if not has_panels:
        return handles
    handles += [
        Patch(facecolor=look_of(way).colour, label=way) for way in card.cells["way"].unique()
    ]
    handles += [look_of(kind=kind).handle(kind) for kind in card.cells["kind"].unique()]
    handles += [
        look_of(face=style.PAPER).handle("open: no better than a control"),
        CHANCE.handle(style.BEST_CONTROL),
    ]
    has_people = any(len(human_of(card, probe)) for probe in card.probes)
    return handles + [HUMAN.handle("human")] * has_people
