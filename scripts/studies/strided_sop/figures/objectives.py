"""Draw accuracy against stride by the weight of a second objective (masked words), a panel for each
corpus, model and evaluation split.
"""

import argparse

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.data.tables import read_metrics
from scripts.data.yaml_files import read_yaml
from scripts.plan.comparable import ROW
from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import (
    BEST_CONTROL,
    CHANCE,
    dodges,
    draw_line,
    draw_marks,
    draw_series,
    figure_of,
    in_lines,
    palette,
    publish,
    same_place,
)
from scripts.publish.table import signed
from scripts.publish.message import titled
from scripts.studies.strided_sop.evaluate import SCHEMA
from scripts.studies.strided_sop.figures.metrics import accuracies, panels_of, system_titles

PLACE = ["source", "dataset", "split", "stride"]
COLUMNS = (
    "source split model method variant stride weight experiment value sd seeds ci_low ci_high n "
    "groups sample limit"
).split()


def weighed(rows: pd.DataFrame, compared: list[dict], models: dict) -> pd.DataFrame:
    """The rows of the systems that are compared, with `weight` and `variant`."""
    systems = pd.DataFrame(compared)[["experiment", *ROW, "weight"]]
    rows = rows.merge(systems, on=["experiment", *ROW])
    rows = rows.assign(variant=system_titles(rows, models, objectives=None))
    return rows.drop_duplicates([*PLACE[:3], "model", "method", "weight"])


def most_added(points: pd.DataFrame) -> str:
    """`Masked words add at most +0.7 points (stride 2)`; empty where no system learnt without."""
    by_weight = points.pivot_table("value", "stride", "weight")
    if 0 not in by_weight or by_weight.shape[1] < 2:
        return ""
    added = by_weight.drop(columns=0).max(axis=1) - by_weight[0]
    return f"Masked words add at most {signed(added.max())} points (stride {added.idxmax():.0f})"


def draw(points: pd.DataFrame, controls: pd.DataFrame, sources: dict) -> Figure:
    known, strides = palette(sorted(points["weight"].unique())), sorted(set(points["stride"]))
    shifts = dodges([*known, "control"])

    def draw_panel(axes: Axes, points: pd.DataFrame) -> None:
        draw_line(axes)
        draw_series(axes, points.sort_values("stride"), known, "weight", "stride", shifts)
        beside = same_place(controls, points)
        draw_marks(axes, beside, BEST_CONTROL, "stride", shift=shifts["control"], zorder=2)
        axes.set_xticks(strides)
        axes.set_xlim(strides[0] - 0.5, strides[-1] + 0.5)
        axes.set_xlabel("stride (sentences skipped)")
        axes.set_ylabel("accuracy (%)")

    panels = panels_of(points, draw_panel, sources, "variant")
    panels = [titled(panel, most_added(panel.points)) for panel in panels]
    handles = [
        look.handle(f"masked words, weight {weight:g}" if weight else "sentence order alone")
        for weight, look in known.items()
    ]
    handles += [BEST_CONTROL.handle(style.BEST_CONTROL)] * bool(len(controls))
    handles.append(CHANCE.handle("chance, 50 %"))
    return figure_of(in_lines(panels, min(3, len(panels))), [("", handles)], share_y="figure")


def main(given: argparse.Namespace) -> None:
    rows = accuracies(read_metrics(given.metrics, SCHEMA).to_pandas())
    rows = rows[(rows["study"] == "strided_sop") & (rows["slice"] == "all")]
    compared = read_yaml(given.sources.with_name("compared.yaml"))
    points = weighed(rows, compared, load(given.models))
    controls = rows[rows["method"] == "control"]
    controls = controls.merge(points[[*PLACE, "experiment"]].drop_duplicates())
    controls = controls.sort_values("value", ascending=False, kind="stable").drop_duplicates(PLACE)
    controls, sources = controls.assign(weight=float("nan"), variant=""), load(given.sources)
    publish(given, pd.concat([points, controls])[COLUMNS], lambda: draw(points, controls, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
