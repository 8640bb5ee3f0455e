"""Draw the exact match of what language models said of MC-TACO's test questions, as others released
it: a row for each model, a mark for each file, against the best control and "always no".
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load, load_systems
from scripts.publish.panels import CHANCE, Look, Panel, Rows, draw_line, figure_of, publish
from scripts.studies.mctaco.figures.looks import by_place
from scripts.studies.mctaco.figures.metrics import BASELINES, PLACE, POINTS
from scripts.studies.mctaco.figures.released import read_rows
from scripts.studies.mctaco.released import Released

CONTROL = Look(style.CONTROL, line="-", width=1)
HERE, OF_CORPUS = "measured here", "released with the corpus"
JOINED = "letters, joined"
MARKERS = {"1": "o", "2": "s", "3": "^", "": "D"}  # by wording; none: letters
LANE = 0.075


def series_of(one: Released) -> str:
    """What tells a mark of a model from its others: `few-shot, wording 1`."""
    how = JOINED if one.joined else f"wording {one.wording}" if one.wording else one.asked
    return f"{one.shots}, {how}"


def look_of(one: Released) -> Look:
    """Filled: few-shot; open: zero-shot; a marker for each wording."""
    colour = style.COLOURS[1] if one.joined else style.COLOURS[0]
    face = None if one.shots == "few-shot" else style.PAPER
    return Look(colour, MARKERS.get(one.wording, "v"), "", face, 4)


def exact_match(rows: pd.DataFrame, told: dict[str, Released]) -> pd.DataFrame:
    """The points: of each system its exact match, with row and series, the best row first."""
    points = rows[rows["metric"] == "exact_match"]
    own = points["method"].map({"released": OF_CORPUS}).fillna(HERE)
    series = [
        series_of(told[name]) if name in told else other
        for name, other in zip(points["model"], own)
    ]
    points = points.assign(origin="here", row=points["system"], series=series)
    best = points.groupby([*PLACE, "row"])["value"].transform("max")
    return points.assign(best=best).sort_values("best", ascending=False, kind="stable")


def draw_panel(axes: Axes, points: pd.DataFrame, known: dict[str, Look]) -> None:
    """The rows of one corpus and split, and the lines that they lie above or below."""
    for is_of, look in ((points["method"] == "control", CONTROL), (of_no(points), CHANCE)):
        for value in points.loc[is_of, "value"]:
            draw_line(axes, value * 100, upright=True, look=look)
    shown = drawn(points)
    Rows(shown, lane=LANE).draw(axes, shown, known)
    axes.set_xlabel("exact match (%)")


def of_no(points: pd.DataFrame) -> pd.Series:
    """Which points are of "always no"."""
    return points["model"] == "always_no"


def drawn(points: pd.DataFrame) -> pd.DataFrame:
    """The points that are marks: neither controls nor baselines."""
    return points[(points["method"] != "control") & ~points["model"].isin(BASELINES)]


def draw(points: pd.DataFrame, told: dict[str, Released], sources: dict) -> Figure:
    """The figure of a table made by exact_match()."""
    known = {series_of(one): look_of(one) for one in sorted(told.values(), key=series_of)}
    known |= {OF_CORPUS: Look(style.INK, "P", ""), HERE: Look(style.INK, "*", "", size=6)}
    lines = []
    for of_split, source, split in by_place(points, sources):
        detail, height = (
            f"{split}, {of_split['n'].max():,} questions",
            Rows(drawn(of_split), lane=LANE).height,
        )
        lines.append(
            [Panel(of_split, partial(draw_panel, known=known), source, detail, height=height)]
        )
    there = set(drawn(points)["series"])
    handles = [look.handle(name) for name, look in known.items() if name in there]
    handles += [CHANCE.handle("always no")]
    if (points["method"] == "control").any():
        handles.append(CONTROL.handle(style.BEST_CONTROL))
    return figure_of(lines, [("", handles)])


def main(given: argparse.Namespace) -> None:
    rows, told = read_rows(given, load_systems(given.models, given.sources))
    points, sources = exact_match(rows, told), load(given.sources)
    publish(given, points[[*POINTS, "series"]], lambda: draw(points, told, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
