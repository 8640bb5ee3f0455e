"""Draw how far the wordings of a prompt spread: each wording a mark, their mean with its interval.

A line of panels for each study, a panel for each of its probes, a row for each model and method
that was asked in several wordings.
"""

import argparse
from collections.abc import Mapping
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
    palette,
    publish,
)
from scripts.publish.scorecard.cells import PROBE, asked_rows, best_controls
from scripts.publish.scorecard.card import at, corpus_line, probe_names, read_measured

COLUMNS = [
    *PROBE,
    "model",
    "method",
    "split",
    "wording",
    "value",
    "sd",
    "seeds",
    "ci_low",
    "ci_high",
    "n",
    "sample",
]
MEAN = Look(style.INK, "|", "", size=7)


def worded(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of asked_rows() of systems with several wordings, and their means (no wording).

    The value of a wording is its mean over few-shot seeds. What is scored by three labels and by
    two (NLI) is shown by three.
    """
    system = [*PROBE, "model", "method"]
    scorings = rows.groupby(system, dropna=False)["scoring"].transform("nunique")
    rows = rows[(rows["scoring"] != "binary") | (scorings < 2)]
    several = rows.groupby("key")["wording"].transform("nunique") > 1
    rows = rows[several & (rows["wording"].notna() | rows["seed"].isna())]
    place = [*PROBE, "key", "wording"]
    rows = rows.assign(value=rows.groupby(place, dropna=False)["value"].transform("mean"))
    return rows.groupby(place, dropna=False, sort=False, as_index=False).first()


def draw_probe(
    axes: Axes, points: pd.DataFrame, rows: Rows, looks: Mapping[str, Look], controls: pd.DataFrame
) -> None:
    """The wordings of one probe and their means, a row for each model and method.

    controls: of best_controls().
    """
    rows.show(axes)
    points = points.assign(y=points["row"].map(rows.places))
    for wording, group in points.groupby("series", sort=False):
        is_mean = wording not in looks
        look = MEAN if is_mean else looks[wording]
        draw_marks(axes, group, look, "y", flat=True, intervals=is_mean)
    for value in at(controls, points.iloc[0])["value"]:
        draw_line(axes, value * 100, upright=True)
    axes.set_xlabel("%")
    axes.margins(x=0.08)


def draw(points: pd.DataFrame, probes: list[dict], controls: pd.DataFrame, models: dict) -> Figure:
    """The figure of worded(); probes: of probe_names()."""
    points = points.assign(
        series=points["wording"].fillna(""),
        row=points["model"] + " " + points["method"],
        name=points["method"].map(method_title),
        head=points["model"].map(lambda name: model_title(name, models)),
    )
    lines, legend = (
        [],
        [
            (
                "",
                [
                    MEAN.handle("mean over the wordings, 95 % interval"),
                    CHANCE.handle(style.BEST_CONTROL),
                ],
            )
        ],
    )
    for study, of_study in points.groupby("study", sort=False):
        known = palette(of_study["wording"].dropna().unique(), "")
        looks = {name: look._replace(face=style.PAPER) for name, look in known.items()}
        rows = Rows(of_study, lane=0)
        draw_one = partial(draw_probe, rows=rows, looks=looks, controls=controls)
        of_line = [
            Panel(
                at(of_study, probe),
                draw_one,
                probe["title"],
                corpus_line(probe),
                height=rows.height,
            )
            for probe in probes
            if probe["study"] == study
        ]
        title = next(probe["study_title"] for probe in probes if probe["study"] == study)
        lines.append([of_line[0]._replace(heading=title), *of_line[1:]])
        handles = [look.handle(name.replace("_", " ")) for name, look in looks.items()]
        legend.append((f"wordings: {title}", handles))
    return figure_of(lines, legend, share_y="line")


def main(given: argparse.Namespace) -> None:
    sources, models = load(given.sources), load(given.models)
    metrics, studies, networks = read_measured(given)
    rows = worded(asked_rows(metrics, studies, sources, networks))
    probes = probe_names(rows, studies, sources).to_dict("records")
    controls = best_controls(metrics, rows, studies, sources)
    publish(
        given,
        rows[COLUMNS],
        lambda: draw(rows, probes, controls, models),
        "no model was asked in several wordings in this run",
    )


if __name__ == "__main__":
    run_program(main, __doc__, "runs")
