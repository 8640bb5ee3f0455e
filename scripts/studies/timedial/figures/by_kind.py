"""Draw 2-best accuracy on TimeDial by the kind of the masked span and by the length of the dialog.

For each challenge two panels, a row for each system and a column for each kind (as the rules of
scripts/text/temporal_spans.py tell it; other: spans that they do not find) or each number of
turns. Means over the seeds with 95 % intervals over instances and seeds; n is the instances. The
dotted line is chance; the control is the best over all instances. Kinds with fewer than 10
instances and the other controls are left out of the figure, not of the CSV.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the points, values as shares from 0 to 1

    python -m scripts.studies.timedial.figures.by_kind --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/timedial_by_kind
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.running.program import UserError, execute
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.names import load, source_title, split_title
from scripts.publish.panels import CHANCE, Panel, Rows, draw_line, figure_of, in_lines, publish
from scripts.studies.timedial.figures.metrics import (
    context_told, drawn, over_seeds, timedial_metrics, widest, with_best_control)
from scripts.studies.timedial.figures.rows import in_rows, legend_of, system_looks

PANELS = {"kind": "by kind of the masked span", "turns": "by number of turns of the dialog"}
NAMES = {"date": "date", "time": "time", "duration": "duration", "set": "set", "age": "age",
         "other": "other",
         "1-6": "up to 6 turns", "7-10": "7 to 10 turns", "11-15": "11 to 15 turns",
         "16+": "16 or more"}
LEAST = 10  # instances
FEW = f"No kind of span and no length of dialog has {LEAST} instances."


def sliced_points(metrics: pd.DataFrame) -> pd.DataFrame:
    """2-best accuracy by kind and by turns of every system, with the most context it was measured
    with.
    """
    rows = over_seeds(metrics)
    rows = widest(rows[(rows["metric"] == "two_best_accuracy")
                       & rows["slice"].str.contains("^kind=|^turns=")])
    rows[["panel", "part"]] = rows["slice"].str.split("=", expand=True)[[0, 1]]
    return rows


def draw_part(axes: Axes, points: pd.DataFrame, rows: Rows, chance: float) -> None:
    """The systems of a challenge on one kind or number of turns."""
    rows.draw(axes, points, system_looks(points))
    draw_line(axes, chance * 100, upright=True)
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 50, 100])


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of sliced_points(), all with enough instances; of the controls random is a
    line.
    """
    systems, lines = points[points["model"] != "random"], []
    chances = points[points["model"] == "random"].set_index(["measured_on", "slice"])["value"]
    for (name, panel), of_panel in systems.groupby(["measured_on", "panel"], sort=False):
        if (of_panel["paradigm"] == "control").all():
            continue
        table = in_rows(of_panel, of_panel.iloc[:0])
        split = split_title(table["split"].iloc[0])
        heading = f"{source_title(name, sources)}, {split}\n{PANELS[panel]}"
        rows, panels = Rows(table), []
        by_part = dict(iter(table.groupby("part", sort=False)))
        for part in [part for part in dict.fromkeys([*NAMES, *by_part]) if part in by_part]:
            draw_systems = partial(draw_part, rows=rows, chance=chances[name, f"{panel}={part}"])
            detail = f"n = {by_part[part]['n'].max():,}"
            panels.append(Panel(by_part[part], draw_systems, NAMES.get(part, part), detail,
                                height=rows.height))
        lines += in_lines(panels, len(panels), heading)
    note = f"2-best accuracy (% of instances), {context_told(systems)}"
    legend = legend_of(in_rows(systems, systems.iloc[:0]), CHANCE.handle("chance"))
    return figure_of(lines, legend, share_y="line", note=note) if lines else style.nothing(FEW)


def main(given: argparse.Namespace) -> None:
    sources = load(given.sources)
    metrics = timedial_metrics(given.metrics, load(given.models), sources)
    points = sliced_points(metrics)
    if points.empty:
        raise UserError(f"{given.metrics}: no two_best_accuracy by kind or turns; evaluate the runs of timedial again")
    shown = with_best_control(points[points["n"] >= LEAST], metrics, ("random",))
    publish(given, drawn(points, points.iloc[:0]), lambda: draw(shown, sources))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
