"""Draw how well k units are put in order against k: the whole order, Kendall's tau, and pairs by
how far apart they stand. A concordance c in the CSV is tau = 2 c - 1.
"""

import argparse
import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import (
    BEST_CONTROL,
    CHANCE,
    Panel,
    dodges,
    draw_line,
    draw_marks,
    draw_series,
    figure_of,
    in_lines,
    legend_of,
    looks,
    publish,
    with_best_control,
)
from scripts.publish.table import percent
from scripts.studies.strided_sop.figures.metrics import (
    NUMBERS,
    place_title,
    sop_metrics,
    system_titles,
)

METRICS = ["exact_order", "concordance", "pair_accuracy"]
PLACE = ["source", "split", "stride"]
COLUMNS = [*PLACE, *"system model method experiment span order_by metric slice".split()]
COLUMNS += [*NUMBERS, "limit"]


def ordered(metrics: pd.DataFrame, models: dict) -> pd.DataFrame:
    """The rows of spans over all seeds; of controls the best at each k by the whole order."""
    of_spans = metrics["span"].notna() & metrics["seed"].isna()
    rows = metrics[of_spans & metrics["metric"].isin(METRICS)]
    rows = rows.assign(system=system_titles(rows, models), is_control=rows["method"] == "control")
    rows = rows.drop_duplicates([*PLACE, "system", "span", "order_by", "metric", "slice"])
    is_whole = rows["metric"] == "exact_order"
    rows = with_best_control(rows, [*PLACE, "span"], ["order_by", "system"], is_whole)
    order = [*PLACE, "is_control", "system", "span", "metric", "slice"]
    return rows.sort_values(order, kind="stable", ignore_index=True)


def of_longest(whole: pd.DataFrame) -> str:
    """`5 units: MPNet has 9.1 % of the orders right, the best control 4.0`."""
    whole = whole[whole["metric"] == "exact_order"]
    whole = whole[whole["span"] == whole["span"].max()].sort_values("value")
    models, controls = whole[~whole["is_control"]], whole[whole["is_control"]]
    if models.empty:
        return ""
    best, units = models.iloc[-1], f"{whole['span'].iloc[0]:.0f} units"
    beside = f", the best control {percent(controls['value'].max())}" * bool(len(controls))
    return f"{units}: {best['system']} has {percent(best['value'])} % of the orders right{beside}"


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    known, lines = looks(points[~points["is_control"]], "system"), []
    shifts = dodges(known)

    def draw_lines(axes: Axes, points: pd.DataFrame, along: str, xlabel: str, ylabel: str) -> None:
        controls = points[points["is_control"]]
        draw_marks(axes, controls, BEST_CONTROL, along, intervals=False, zorder=2)
        draw_series(axes, points, known, "system", along, shifts)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        locator = axes.xaxis.get_major_locator()
        assert isinstance(locator, MaxNLocator)  # that of axes with a linear scale
        locator.set_params(integer=True)

    def draw_whole(axes: Axes, points: pd.DataFrame) -> None:
        sizes = sorted(points["span"].unique())
        chance = [100 / math.factorial(int(size)) for size in sizes]
        axes.plot(sizes, chance, zorder=1, **CHANCE.settings())
        whole = points[points["metric"] == "exact_order"]
        draw_lines(axes, whole, "span", "units (k)", "whole order right (%)")

    def draw_tau(axes: Axes, points: pd.DataFrame) -> None:
        """Kendall's tau, which is twice the concordance less one."""
        draw_line(axes, 0)
        numbers = ["value", "ci_low", "ci_high"]
        points = points[points["metric"] == "concordance"]
        points = points.assign(**(points[numbers] * 2 - 1) / 100)  # not in per cent
        draw_lines(axes, points, "span", "units (k)", "Kendall's τ")

    def draw_pairs(axes: Axes, points: pd.DataFrame) -> None:
        """The pairs of the largest spans that every model has, by how far apart they stand."""
        draw_line(axes)
        models = points[~points["is_control"]].groupby("system")["span"]
        largest = models.max().min() if known else points["span"].max()
        points = points[(points["span"] == largest) & (points["slice"] != "all")]
        points = points[points["metric"] == "concordance"]
        points = points.assign(places=points["slice"].str.removeprefix("distance=").astype(int))
        name = f"pairs in order (%), k = {int(largest)}"
        draw_lines(axes, points, "places", "places apart", name)

    for (source, split, stride), of_place in points.groupby(PLACE, sort=False):
        whole = of_place[of_place["slice"] == "all"]
        shown = (whole, draw_whole), (whole, draw_tau), (of_place, draw_pairs)
        place = place_title(source, split, sources)
        heading = f"{of_longest(whole)}\n{place}, {stride:.0f} skipped between neighbours"
        lines += in_lines([Panel(*panel) for panel in shown], 3, heading)
    others = BEST_CONTROL.handle(style.BEST_CONTROL), CHANCE.handle("chance")
    return figure_of(lines, legend_of(known, *others))


def main(given: argparse.Namespace) -> None:
    points, sources = ordered(sop_metrics(given.metrics), load(given.models)), load(given.sources)
    publish(given, points[COLUMNS], lambda: draw(points, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
