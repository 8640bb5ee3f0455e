"""Draw the exact match of what language models said of MC-TACO's test questions, as others released
it: a row for each model, a mark for each file.
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import CHANCE, Look, Panel, Rows, draw_line, figure_of, publish
from scripts.studies.mctaco.figures.metrics import BASELINES, PLACE, POINTS, by_place
from scripts.studies.mctaco.figures.released import read_rows
from scripts.studies.mctaco.released import Released

CONTROL = Look(style.CONTROL, line="-", width=1)
HERE, OF_CORPUS = "measured here", "released with the corpus"
MARKERS = {"1": "o", "2": "s", "3": "^", "": "D"}  # by wording; none: letters
LANE = 0.075


def series_of(one: Released) -> str:
    """`few-shot, wording 1`: how a mark of a model differs from its others."""
    wording = f"wording {one.wording}" if one.wording else one.asked
    return f"{one.shots}, {'letters, joined' if one.joined else wording}"


def look_of(one: Released) -> Look:
    """Filled: few-shot; open: zero-shot; a marker for each wording."""
    face = None if one.shots == "few-shot" else style.PAPER
    return Look(style.COLOURS[bool(one.joined)], MARKERS.get(one.wording, "v"), "", face, 4)


def exact_match(rows: pd.DataFrame, told: dict[str, Released]) -> pd.DataFrame:
    """Of each system its exact match, the best row first. `drawn`: a mark; controls and baselines
    are lines.
    """
    points = rows[rows["metric"] == "exact_match"]
    own = points["method"].map({"released": OF_CORPUS}).fillna(HERE)
    series = points["model"].map({name: series_of(one) for name, one in told.items()}).fillna(own)
    is_line = (points["method"] == "control") | points["model"].isin(BASELINES)
    points = points.assign(origin="here", row=points["system"], series=series, drawn=~is_line)
    best = points.groupby([*PLACE, "row"])["value"].transform("max")
    return points.assign(best=best).sort_values("best", ascending=False, kind="stable")


def draw_panel(axes: Axes, points: pd.DataFrame, rows: Rows, known: dict[str, Look]) -> None:
    is_no = points["model"] == "always_no"
    for is_of, look in ((points["method"] == "control", CONTROL), (is_no, CHANCE)):
        for value in points.loc[is_of, "value"]:
            draw_line(axes, value * 100, upright=True, look=look)
    rows.draw(axes, points[points["drawn"]], known)
    axes.set_xlabel("exact match (%)")


def draw(points: pd.DataFrame, told: dict[str, Released], sources: dict) -> Figure:
    known = {series_of(one): look_of(one) for one in sorted(told.values(), key=series_of)}
    known |= {OF_CORPUS: Look(style.INK, "P", ""), HERE: Look(style.INK, "*", "", size=6)}
    lines, there = [], set(points.loc[points["drawn"], "series"])
    for of_split, source, split in by_place(points, sources):
        rows = Rows(of_split[of_split["drawn"]], lane=LANE)
        draw_split = partial(draw_panel, rows=rows, known=known)
        detail = f"{split}, {of_split['n'].max():,} questions"
        lines.append([Panel(of_split, draw_split, source, detail, height=rows.height)])
    handles = [look.handle(name) for name, look in known.items() if name in there]
    handles.append(CHANCE.handle("always no"))
    if (points["method"] == "control").any():
        handles.append(CONTROL.handle(style.BEST_CONTROL))
    return figure_of(lines, [("", handles)])


def main(given: argparse.Namespace) -> None:
    rows, told = read_rows(given)
    points, sources = exact_match(rows, told), load(given.sources)
    publish(given, points[[*POINTS, "series"]], lambda: draw(points, told, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
