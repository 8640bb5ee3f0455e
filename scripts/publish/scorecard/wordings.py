"""Draw how far the wordings of a prompt spread: a line of panels for each study, a panel for each
probe, a row for each model and method that was asked in several wordings.
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load, method_title, model_title
from scripts.publish.panels import (
    CHANCE,
    Look,
    Panel,
    Rows,
    draw_line,
    draw_marks,
    figure_of,
    in_lines,
    palette,
    publish,
)
from scripts.publish.scorecard.card import at, corpus_line, probe_names, read_measured
from scripts.publish.scorecard.cells import PROBE, asked_rows, best_controls

COLUMNS = [*PROBE, *"model method split wording value sd seeds ci_low ci_high n sample".split()]
MEAN = Look(style.INK, "|", "", size=7)


def worded(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of systems with several wordings, and their means (no wording).

    The value of a wording is its mean over few-shot seeds. What is scored by three labels and by
    two is shown by three.
    """
    system = [*PROBE, "model", "method"]
    scorings = rows.groupby(system, dropna=False)["scoring"].transform("nunique")
    rows = rows[(rows["scoring"] != "binary") | (scorings < 2)]
    several = rows.groupby("key")["wording"].transform("nunique") > 1
    rows = rows[several & (rows["wording"].notna() | rows["seed"].isna())]
    place = [*PROBE, "key", "wording"]
    rows = rows.assign(value=rows.groupby(place, dropna=False)["value"].transform("mean"))
    return rows.groupby(place, dropna=False, sort=False, as_index=False).first()


def draw(points: pd.DataFrame, probes: list[dict], controls: pd.DataFrame, models: dict) -> Figure:
    points = points.assign(
        series=points["wording"].fillna(""),
        row=points["model"] + " " + points["method"],
        name=points["method"].map(method_title),
        head=points["model"].map(lambda name: model_title(name, models)),
    )
    marks = [
        MEAN.handle("mean over the wordings, 95 % interval"),
        CHANCE.handle(style.BEST_CONTROL),
    ]
    lines, legend = [], [("", marks)]

    def draw_probe(axes: Axes, points: pd.DataFrame, rows: Rows, looks: dict[str, Look]) -> None:
        """The wordings of one probe and their means, a row for each model and method."""
        rows.show(axes)
        points = points.assign(y=points["row"].map(rows.places))
        for wording, group in points.groupby("series", sort=False):
            look, is_mean = looks.get(wording, MEAN), wording not in looks
            draw_marks(axes, group, look, "y", flat=True, intervals=is_mean)
        for value in at(controls, points.iloc[0])["value"]:
            draw_line(axes, value * 100, upright=True)
        axes.set_xlabel("%")
        axes.margins(x=0.08)

    for study, of_study in points.groupby("study", sort=False):
        known = palette(of_study["wording"].dropna().unique(), "")
        looks = {name: look._replace(face=style.PAPER) for name, look in known.items()}
        rows, asked = (
            Rows(of_study, lane=0),
            [probe for probe in probes if probe["study"] == study],
        )
        panels = []
        for probe in asked:
            draw_one, detail = partial(draw_probe, rows=rows, looks=looks), corpus_line(probe)
            panel = Panel(at(of_study, probe), draw_one, probe["title"], detail)
            panels.append(panel._replace(height=rows.height))
        title = asked[0]["study_title"]
        worded = of_study[of_study["wording"].notna()].groupby(["probe", "row"])["value"]
        most = (worded.max() - worded.min()).max() * 100
        heading = f"{title}: another wording moves a score by up to {most:.1f} points"
        lines += in_lines(panels, len(panels), heading)
        handles = [look.handle(name.replace("_", " ")) for name, look in looks.items()]
        legend.append((f"wordings: {title}", handles))
    return figure_of(lines, legend, share_y="line")


def main(given: argparse.Namespace) -> None:
    sources, models = load(given.sources), load(given.models)
    metrics, studies, networks = read_measured(given)
    rows = worded(asked_rows(metrics, studies, sources, networks))
    probes = probe_names(rows, studies, sources).to_dict("records")
    controls = best_controls(metrics, rows, studies, sources)
    publish(given, rows[COLUMNS], lambda: draw(rows, probes, controls, models))


if __name__ == "__main__":
    run_program(main, __doc__, "runs")
