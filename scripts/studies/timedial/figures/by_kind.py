"""Draw 2-best accuracy on TimeDial by the kind of the masked span (scripts/text/temporal_spans.py;
other: what its rules do not find) and by the length of the dialog. The CSV has parts of few
instances, and all controls.
"""

import argparse

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import source_title, split_title
from scripts.publish.panels import CHANCE, Rows, draw_line, figure_of, publish
from scripts.running.program import UserError
from scripts.studies.timedial.figures.metrics import (
    accuracies,
    context_in_words,
    draw_systems,
    drawn,
    in_rows,
    legend_of,
    line_of,
    read,
    widest,
    with_best_control,
)

PANELS = {"kind": "by kind of the masked span", "turns": "by number of turns of the dialog"}
NAMES = {kind: kind for kind in "date time duration set age other".split()} | {
    "1-6": "up to 6 turns",
    "7-10": "7 to 10 turns",
    "11-15": "11 to 15 turns",
    "16+": "16 or more",
}
LEAST = 10  # instances
FEW = (
    f"No kind of span and no length of dialog has {LEAST} instances. Measure more of them (limit)."
)


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of parts with enough instances; of the controls random is a line."""
    is_chance, lines = points["model"] == "random", []
    chances = points[is_chance].groupby(["measured_on", "slice"])["value"].first()
    systems = points[~is_chance]

    def draw_part(axes: Axes, points: pd.DataFrame, rows: Rows) -> None:
        draw_systems(axes, points, rows)
        chance = chances[tuple(points[["measured_on", "slice"]].iloc[0])]
        draw_line(axes, chance * 100, upright=True)
        axes.set_xticks([0, 50, 100])

    def detail_of(part: pd.DataFrame) -> str:
        return f"n = {part['n'].max():,}"

    for (name, panel), of_panel in systems.groupby(["measured_on", "panel"], sort=False):
        table = in_rows(of_panel, of_panel.iloc[:0])
        place = f"{source_title(name, sources)}, {split_title(table['split'].iloc[0])}"
        titles = {part: part for part in [*NAMES, *table["part"]]} | NAMES
        lines += line_of(table, "part", titles, f"{place}\n{PANELS[panel]}", detail_of, draw_part)
    note = f"2-best accuracy (% of instances), {context_in_words(systems)}"
    legend = legend_of(in_rows(systems, systems.iloc[:0]), CHANCE.handle("chance"))
    return figure_of(lines, legend, share_y="line", note=note) if lines else style.nothing(FEW)


def main(given: argparse.Namespace) -> None:
    metrics, nothing, sources = read(given)
    points = widest(accuracies(metrics, "(kind|turns)=.*"))
    if points.empty:
        raise UserError(
            f"{given.metrics}: no two_best_accuracy by kind or turns; evaluate the runs of "
            "timedial again"
        )
    points[["panel", "part"]] = points["slice"].str.split("=", n=1, expand=True)
    shown = with_best_control(points[points["n"] >= LEAST], metrics)
    publish(given, drawn(points, nothing), lambda: draw(shown, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
