"""Draw consistency on MC-TACO: the share of questions whose accepted quantities form one range
(Zhou et al. 2019, section 4). The CSV has all controls, and systems with few such questions.
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import (
    LANE,
    Look,
    Panel,
    Rows,
    figure_of,
    in_lines,
    publish,
    write_beside,
)
from scripts.studies.mctaco.figures.metrics import (
    BASELINES,
    NORMALIZED,
    PLACE,
    POINTS,
    SLICES,
    by_place,
    metrics_to_draw,
    system_looks,
    system_means,
)

RANGED = ["category=duration", "category=frequency"]
LEAST = 10  # questions
REFERENCE = Look(style.INK, "|", "", size=9)
FEW = (
    f"No model accepts two quantities or more in {LEAST} questions of duration or of frequency. "
    "Measure whole test sets (limit: null), or a model that accepts more."
)


def consistencies(metrics: pd.DataFrame) -> pd.DataFrame:
    rows = system_means(metrics)
    rows = rows[(rows["metric"] == "consistency") & rows["slice"].isin(RANGED)]
    is_control, is_gold = rows["method"] == "control", rows["model"] == "gold"
    last = rows["model"].isin(BASELINES) - is_gold / 2 + is_control / 4
    rows = rows.assign(origin="here", last=last)
    return rows.sort_values([*PLACE, "last"], kind="stable", ignore_index=True)


def with_names(points: pd.DataFrame) -> pd.DataFrame:
    """The points as Rows wants them. What adds unit normalization to the row above is named by
    that.
    """
    system, is_control = points["system"], points["method"] == "control"
    rows = system.drop_duplicates()
    added = rows[rows == rows.shift() + NORMALIZED]
    names = system.mask(is_control, system + " (best control)")
    names = names.mask(system.isin(added), NORMALIZED.strip())
    return points.assign(row=system, series=system, name=names)


def draw_panel(axes: Axes, points: pd.DataFrame, rows: Rows, known: dict[str, Look]) -> None:
    rows.draw(axes, points[points["n"] >= LEAST], known)
    counts = zip(points["row"].map(rows.places), points["n"])
    write_beside(axes, {y: f"{n:,}" + ", too few" * (n < LEAST) for y, n in counts}, "n")
    axes.set_xlim(0, 100)
    axes.set_xlabel("questions whose accepted\nquantities form one range (%)")


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    known = {system: REFERENCE for system in points["system"]} | system_looks(points, line="")
    lines = []
    for of_split, *titles in by_place(points, sources):
        table = with_names(of_split)
        rows = Rows(table, lane=2 * LANE)
        draw_part = partial(draw_panel, rows=rows, known=known)
        parts = [(table[table["slice"] == part], SLICES[part]) for part in RANGED]
        panels = [Panel(one, draw_part, detail=name, height=rows.height) for one, name in parts]
        lines += in_lines(panels, len(RANGED), ", ".join(titles))
    return figure_of(lines, share_y="line")


def main(given: argparse.Namespace) -> None:
    points, sources = consistencies(metrics_to_draw(given)), load(given.sources)
    is_model = ~points["model"].isin(BASELINES) & (points["method"] != "control")
    enough, shown = (is_model & (points["n"] >= LEAST)).any(), points[points["drawn"]]
    publish(
        given, points[POINTS], lambda: draw(shown, sources) if enough else style.nothing(FEW), FEW
    )


if __name__ == "__main__":
    run_program(main, __doc__)
