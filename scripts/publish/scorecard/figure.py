"""Draw the scorecard: a panel for each probe, a row for each model and way of asking it.

Each mark has its score and its difference in points to the control like for like of the same
conditions. The rows below the models show the control of each kind, the paper's best number, and
people.
"""

import itertools
import textwrap
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.measure.comparisons import ABOVE, BELOW as BELOW_CONTROL
from scripts.running.program import log
from scripts.publish import style
from scripts.publish.compared import COLUMNS as COMPARED
from scripts.publish.item import Given
from scripts.publish.panels import (
    BEST_CONTROL,
    CHANCE as DOTTED_LINE,
    PEOPLE,
    Look,
    Panel,
    Rows,
    draw_line,
    figure_of,
    write_beside,
)
from scripts.publish.scorecard.card import (
    BELOW,
    FEET,
    NOT_RUN,
    Scorecard,
    at,
    corpus_line,
    NO_HEADLINE,
    read_scorecard,
    size_in_words,
)
from scripts.publish.scorecard.cells import PROBE
from scripts.publish.table import percent, signed, write_points

COLUMNS = (
    "split kind parameters model way method value sd seeds ci_low ci_high n above above_low "
    "above_high control verdict words family blind blind_low blind_high wordings lowest highest "
    "unread sample"
)
NONE = "–"  # for a row that did not run
ACROSS = 4  # panels in a line
BESIDE = 0.5  # inches for the numbers at the right of a panel
LETTERS = 28  # in a line of a row's name
CLEAR, LEVEL, UNDER, ALONE, BLIND, UNREAD = (
    "above the control like for like",
    "level with it, or not clear",
    "below it",
    "no control like for like",
    "blind: the same model without the text",
    "most answers could not be read: no accuracy",
)
MARKS = {
    CLEAR: Look(style.COLOURS[0], "o", ""),
    LEVEL: Look(style.COLOURS[0], "o", "", style.PAPER),
    UNDER: Look(style.COLOURS[0], "v", "", style.PAPER),
    ALONE: Look(style.INK, "s", "", size=4),
    BLIND: Look(style.GREY, "x", "", size=4),
    UNREAD: Look(style.GREY, "o", "", style.PAPER),
}
MOST = 0.5  # of the answers
NOTE = "score in %, points above the control like for like"
LOOKS = MARKS | dict(
    zip(
        FEET,
        (
            BEST_CONTROL,
            Look(style.CONTROL, "v", "", style.PAPER, size=4),
            Look(style.CONTROL, "^", "", size=4),
            Look(style.CONTROL, "|", "", size=6),
            Look(style.INK, "D", "", style.PAPER),
            PEOPLE,
        ),
    )
)


def series_of(cell: dict) -> str:
    """Return the kind of mark of a cell."""
    if cell["unread"] > MOST:
        return UNREAD
    if pd.isna(cell["above"]):
        return ALONE
    return {ABOVE: CLEAR, BELOW_CONTROL: UNDER}.get(cell["verdict"], LEVEL)


def points_of(card: Scorecard) -> pd.DataFrame:
    """Return all marks for Rows, with `number`, the text beside a mark. Blind models have no
    number. A model that did not run has no value.
    """
    points = []
    for row in card.rows:
        detail = " · ".join(filter(None, [size_in_words(row["parameters"]), row["asked"]]))
        lines = [textwrap.fill(line, LETTERS) for line in (row["title"], detail)]
        key = f"{row['model']} {row['way']}"
        of_row = {"row": key, "head": "", "name": "\n".join(lines)}
        for probe in card.probes:
            cell = card.cell(row, probe)
            if isinstance(cell, str):
                number = cell.replace(NOT_RUN, NONE).split(":")[0]
                point = {"probe": probe["probe"], "series": ALONE, "number": number}
                points.append(of_row | point | {"sample": False})
                continue
            above = f" {signed(cell['above'])}" if pd.notna(cell["above"]) else ""
            part = f"\n({cell['learnt_part']})" if cell["learnt_part"] else ""
            unread = f"\n(unread {percent(cell['unread'])})" if cell["unread"] > 0 else ""
            number = f"{percent(cell['value'])}{above}{part}{unread}"
            series = series_of(cell)
            points.append(cell | of_row | {"series": series, "number": number})
            if pd.notna(cell["blind"]):
                ends = {"ci_low": cell["blind_low"], "ci_high": cell["blind_high"]}
                points.append(cell | of_row | ends | {"series": BLIND, "value": cell["blind"]})
    feet = card.feet.assign(row=card.feet["who"], name=card.feet["who"], series=card.feet["who"])
    feet = feet.assign(head=BELOW, sample=False, limit=np.nan, number=feet["value"].map(percent))
    return pd.concat([pd.DataFrame(points), feet], ignore_index=True)


def draw_probe(axes: Axes, points: pd.DataFrame, rows: Rows) -> None:
    rows.draw(axes, points, LOOKS)
    for value in points.loc[points["series"] == FEET[0], "value"]:
        draw_line(axes, value * 100, upright=True)
    numbers = points.dropna(subset="number")
    write_beside(axes, dict(zip(numbers["row"].map(rows.places), numbers["number"])))
    axes.margins(x=0.08)


def by_study(probes: list[dict]) -> list[list[dict]]:
    return [list(of) for _, of in itertools.groupby(probes, key=lambda probe: probe["study"])]


def in_lines(probes: list[dict], across: int = ACROSS) -> list[list[dict]]:
    """Return the probes in lines of at most `across`. A probe stands alone only where it must, few
    places stay empty, and a corpus, then a study, stands in one line where it can.
    """
    best: list[tuple[int, list[list[dict]]]] = [(0, [])]
    for end in range(1, len(probes) + 1):
        following = probes[end] if end < len(probes) else {}
        same = [probes[end - 1][name] == following.get(name) for name in ("study", "corpus")]
        cut = 2 * same[0] + 10 * all(same)
        found = []
        for size in range(1, min(across, end) + 1):
            cost, lines = best[end - size]
            line = probes[end - size : end]
            empty = 100 if size == 1 else across - size
            found.append((cost + 1 + cut + empty, [*lines, line]))
        best.append(min(found, key=lambda one: one[0]))
    return best[-1][1]


def draw(card: Scorecard) -> Figure:
    """Draw the probes in lines (in_lines()). A line leaves out rows that ran in none
    of its panels.
    """
    every, lines = points_of(card), []
    for probes in in_lines(card.probes):
        points = every[every["probe"].isin([probe["probe"] for probe in probes])]
        points = points[points["row"].isin(points.loc[points["number"] != NONE, "row"])]
        rows = Rows(points, lane=0)
        draw_one, lines = partial(draw_probe, rows=rows), [*lines, []]
        for of_study in by_study(probes):
            study = of_study[0]["study"]
            heading = card.studies[study].get("short", of_study[0]["study_title"])
            for probe in of_study:
                detail = ", ".join(
                    filter(None, [corpus_line(probe), f"n\u00a0=\u00a0{probe['n']:,}"])
                )
                title, shown = probe["title"], at(points, probe)
                panel = Panel(shown, draw_one, title, detail, heading, rows.height)
                lines[-1].append(panel._replace(bands=[*rows.heads]))
                heading = ""
    shown = set(every.dropna(subset="value")["series"])
    marks = [look.handle(name) for name, look in MARKS.items() if name in shown]
    legend = [("", [*marks, DOTTED_LINE.handle(style.BEST_CONTROL)])]
    return figure_of(lines, legend, share_y="line", note=NOTE, beside=BESIDE)


def main(given: Given) -> None:
    card, columns = read_scorecard(given), [*PROBE, *COLUMNS.split(), *COMPARED]
    style.save(lambda: draw(card) if card else style.nothing(NO_HEADLINE), given)
    cells = card.cells[columns] if card else pd.DataFrame(columns=columns)
    write_points(cells, given.output)
    log.info("%s: %d cells of %d models", given.output, len(cells), cells["model"].nunique())
