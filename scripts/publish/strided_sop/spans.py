"""Draw how well k units are put in order against k: the whole order, Kendall's tau, and pairs by how far apart they stand.

A row for each corpus, evaluation split and stride between neighbours. Spans are put in order by scores of all their pairs, or of all their orders (the
method packed), by the same bags of words as well. Means over the seeds with 95 % intervals over videos and seeds; grey: the best control of each k, of
both ways, and chance (dotted).

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the points, values as shares from 0 to 1 (concordance c is tau = 2 c - 1)

    python -m scripts.publish.strided_sop.spans --metrics results/evaluate/extensions/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --output results/publish/extensions/figures/strided_sop_spans
"""

import argparse
import math

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scripts.common.program import execute, log
from scripts.evaluate.strided_sop import SCHEMA
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, model_title, split_title, study_metrics
from scripts.publish.strided_sop.metrics import variant_title
from scripts.publish.table import write_points

METRICS = ["exact_order", "concordance", "pair_accuracy"]
PLACE = ["source", "split", "stride"]
COLUMNS = [*PLACE, "system", "model", "method", "experiment", "span", "order_by", "metric", "slice", "value", "sd", "ci_low", "ci_high", "n", "groups", "sample", "limit"]
DODGE = 0.07  # between two systems at one k


def ordered(metrics: pd.DataFrame, models: dict) -> pd.DataFrame:
    """The rows of spans over all seeds, with `system`; of controls those of the best at each k by the whole order."""
    rows = metrics[metrics["span"].notna() & metrics["seed"].isna() & metrics["metric"].isin(METRICS)]
    rows = rows.assign(system=[model_title(row["model"], models) + variant_title(row) for row in rows.to_dict("records")], is_control=rows["method"] == "control")
    rows = rows.drop_duplicates([*PLACE, "system", "span", "order_by", "metric", "slice"])
    exact = rows[rows["is_control"] & (rows["metric"] == "exact_order")]
    best = exact.loc[exact.groupby([*PLACE, "span"])["value"].idxmax(), [*PLACE, "span", "order_by", "system"]]
    kept = pd.concat([rows[~rows["is_control"]], rows[rows["is_control"]].merge(best)])
    return kept.sort_values([*PLACE, "is_control", "system", "span", "metric", "slice"], kind="stable", ignore_index=True)


def draw_lines(axes: Axes, points: pd.DataFrame, across: str, looks: dict[str, tuple[str, str]], scale: float = 100, shift: float = 0) -> None:
    """A line for each system, along the column `across`; a value is drawn as scale · value + shift."""
    for _, line in points[points["is_control"]].groupby("system"):
        axes.plot(line[across], line["value"] * scale + shift, color=style.CONTROL, marker="x", linestyle="", markersize=4, zorder=2)
    for place, (system, (colour, marker)) in enumerate(looks.items()):
        line = points[points["system"] == system]
        axes.errorbar(line[across] + (place - (len(looks) - 1) / 2) * DODGE, line["value"] * scale + shift, yerr=style.error_bars(line) * scale / 100,
                      color=colour, marker=marker, markersize=4.5, elinewidth=0.9, capsize=2, zorder=4)


def draw_row(panels: list[Axes], points: pd.DataFrame, looks: dict[str, tuple[str, str]]) -> None:
    """The three panels of one place."""
    whole = points[points["slice"] == "all"]
    sizes = sorted(whole["span"].unique())
    draw_lines(panels[0], whole[whole["metric"] == "exact_order"], "span", looks)
    panels[0].plot(sizes, [100 / math.factorial(int(size)) for size in sizes], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, zorder=1)
    panels[0].set_ylabel("whole order right (%)")
    draw_lines(panels[1], whole[whole["metric"] == "concordance"], "span", looks, scale=2, shift=-1)
    panels[1].axhline(0, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, zorder=1)
    panels[1].set_ylabel("Kendall's τ")
    most = points[~points["is_control"]].groupby("system")["span"].max().min() if looks else sizes[-1]  # of which every model has a line
    largest = points[(points["span"] == most) & (points["metric"] == "concordance") & (points["slice"] != "all")]
    draw_lines(panels[2], largest.assign(apart=largest["slice"].str.removeprefix("distance=").astype(int)), "apart", looks)
    panels[2].axhline(50, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, zorder=1)
    panels[2].set_ylabel(f"pairs in order (%), k = {int(most)}")
    for axes, name in zip(panels, ("units (k)", "units (k)", "places apart")):
        axes.set_xlabel(name)
        axes.xaxis.get_major_locator().set_params(integer=True)
        style.mark(axes, face_of(points), 12)


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by ordered()."""
    style.apply()
    if points.empty:
        return style.nothing("no spans were put in order")
    models = points[~points["is_control"]].drop_duplicates("system")
    looks = style.told_apart(zip(models["system"], models["model"], models["method"]))
    handles = [Line2D([], [], color=colour, marker=marker, markersize=4.5, label=system) for system, (colour, marker) in looks.items()]
    handles += [Line2D([], [], color=style.CONTROL, marker="x", linestyle="", markersize=4, label=style.BEST_CONTROL),
                Line2D([], [], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, label="chance")]
    places = list(points.groupby(PLACE, sort=False))
    foot = 0.5 + style.legends_height([("", handles)])
    figure, grid = plt.subplots(len(places), 3, figsize=(style.WIDTH, 2.4 * len(places) + foot), squeeze=False)
    height = figure.get_figheight()
    figure.subplots_adjust(left=0.6 / style.WIDTH, right=1 - 0.08 / style.WIDTH, top=1 - 0.5 / height, bottom=(foot + 0.1) / height, wspace=0.36, hspace=0.6)
    for panels, ((source, split, stride), of_place) in zip(grid, places):
        draw_row(list(panels), of_place, looks)
        style.panel_title(panels[0], [sources.get(source, {}).get("title", source)], f"{split_title(split)}, {stride:.0f} skipped between neighbours")
    style.legends(figure, [("", handles)], 0.1)
    return figure


def main(given: argparse.Namespace) -> None:
    points, sources = ordered(study_metrics(given.metrics, "strided_sop", SCHEMA), load(given.models)), load(given.sources)
    style.save(lambda: draw(points, sources), given)
    write_points(points[COLUMNS], given.output)
    log.info("%s: %d points", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
