"""Draw 2-best accuracy on TimeDial by the kind of the masked span and by the length of the dialog.

For each challenge two panels, a row for each system and a column for each kind (as the rules of
scripts/build/temporal_spans.py tell it; other: spans that they do not find) or each number of turns. Means over the
seeds with 95 % intervals over instances and seeds; n is the instances. The dotted line is chance; the control is the best over
all instances. Kinds with fewer than 10 instances and the other controls are left out of the figure, not of the CSV.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the points, values as shares from 0 to 1

    python -m scripts.publish.timedial.by_kind --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/timedial_by_kind
"""

import argparse

import pandas as pd

from scripts.common.program import UserError, execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, split_title
from scripts.publish.table import write_points
from scripts.publish.timedial.metrics import (
    context_told, drawn, over_seeds, systems_of, timedial_metrics, title_of, widest, with_best_control)
from scripts.publish.timedial.rows import Block, Column, figure_of, handles_of, marks_of

PANELS = {"kind": "by kind of the masked span", "turns": "by number of turns of the dialog"}
NAMES = {"date": "date", "time": "time", "duration": "duration", "set": "set", "age": "age", "other": "other",
         "1-6": "up to 6 turns", "7-10": "7 to 10 turns", "11-15": "11 to 15 turns", "16+": "16 or more"}
LEAST = 10  # instances


def sliced_points(metrics: pd.DataFrame) -> pd.DataFrame:
    """2-best accuracy by kind and by turns of every system, with the most context it was measured with."""
    rows = over_seeds(metrics)
    rows = widest(rows[(rows["metric"] == "two_best_accuracy") & rows["slice"].str.contains("^kind=|^turns=")])
    order = {name: number for number, name in enumerate(NAMES)}
    part = rows["slice"].str.split("=").str[1]
    return rows.assign(panel=rows["slice"].str.split("=").str[0], part=part, place=part.map(order).fillna(len(order)))


def block_of(points: pd.DataFrame, panel: str, sources: dict) -> Block | None:
    """One panel of one challenge; None where no slice of a model has enough instances; of the controls random is a line."""
    shown = points[(points["panel"] == panel) & (points["n"] >= LEAST)]
    if (shown["paradigm"] == "control").all():
        return None
    rows = shown[shown["model"] != "random"]
    first, systems, columns = shown.iloc[0], systems_of(rows, rows.iloc[:0]), []
    for part, of_part in shown.sort_values("place", kind="stable").groupby("part", sort=False):
        chance = float(of_part.loc[of_part["model"] == "random", "value"].iloc[0]) * 100
        marks = marks_of(of_part[of_part["model"] != "random"], systems)
        columns.append(Column(f"{NAMES.get(part, part)}\nn = {of_part['n'].max():,}", marks,
                              lines={chance: ((0, (1, 1.5)), "" if columns else "chance")}))
    return Block(f"{title_of(first['measured_on'], sources)}: {PANELS[panel]}",
                 f"2-best accuracy (% of instances), {split_title(first['split'])}, {context_told(rows)}", systems, columns,
                 face_of(points))


def main(given: argparse.Namespace) -> None:
    sources = load(given.sources)
    metrics = timedial_metrics(given.metrics, load(given.models), sources)
    points = sliced_points(metrics)
    if points.empty:
        raise UserError(f"{given.metrics}: no two_best_accuracy by kind or turns; evaluate the runs of timedial again")
    shown = with_best_control(points, metrics, ("random",))
    blocks = [block for _, challenge in shown.groupby("measured_on", sort=False) for panel in PANELS
              if (block := block_of(challenge, panel, sources))]
    few = f"No kind of span and no length of dialog has {LEAST} instances."
    style.save(lambda: figure_of(blocks, handles_of(blocks)) if blocks else style.nothing(few), given)
    write_points(drawn(points, points.iloc[:0]), given.output)
    log.info("%s: %d points", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
