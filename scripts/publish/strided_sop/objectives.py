"""Draw accuracy against stride by the weight of a second objective (masked words), a panel for each corpus, model and evaluation split.

Weight 0 is sentence order alone. Marks are means over the seeds, at the epoch that is reported, with 95 % intervals over videos and seeds. Grey: the best
control, and chance.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles, compared.yaml beside them
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.strided_sop.objectives --metrics results/evaluate/transfer/metrics.parquet \\
        --sources FOLDER/sources.yaml --models FOLDER/models.yaml --output results/publish/transfer/figures/strided_sop_objectives
"""

import argparse
import math

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scripts.common.comparable import ROW
from scripts.common.program import UserError, execute, log
from scripts.common.tables import read_metrics
from scripts.common.yaml_files import read_yaml
from scripts.evaluate.strided_sop import SCHEMA
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, model_title, split_title
from scripts.publish.strided_sop.metrics import variant_title
from scripts.publish.table import write_points

COLUMNS = ["source", "split", "model", "method", "variant", "stride", "weight", "experiment", "value", "sd", "seeds", "ci_low", "ci_high", "n", "groups",
           "sample", "limit"]


def weighed(metrics: pd.DataFrame, compared: list[dict], models: dict) -> pd.DataFrame:
    """The accuracies over all seeds of the systems that are compared, with `weight` and `variant` (how they were trained and measured, in words)."""
    told = pd.DataFrame(compared)[["experiment", *ROW, "weight"]]
    rows = metrics[(metrics["study"] == "strided_sop") & (metrics["slice"] == "all") & (metrics["metric"] == "accuracy") & metrics["seed"].isna()]
    rows = rows.merge(told, on=["experiment", *ROW])
    variant = [model_title(row["model"], models) + variant_title(row | {"objectives": None}) for row in rows.to_dict("records")]
    return rows.assign(variant=variant).drop_duplicates(["source", "dataset", "split", "model", "method", "weight"])


def best_controls(metrics: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Of each dataset and split of the points the control with the highest accuracy: rows like theirs, without a weight."""
    keys = ["source", "dataset", "split", "stride"]
    rows = metrics[(metrics["method"] == "control") & (metrics["slice"] == "all") & (metrics["metric"] == "accuracy") & metrics["seed"].isna()]
    rows = rows.merge(points[[*keys, "experiment"]].drop_duplicates()).sort_values("value", ascending=False, kind="stable")
    return rows.drop_duplicates(keys).assign(weight=float("nan"), variant="")


def draw(points: pd.DataFrame, controls: pd.DataFrame, sources: dict) -> Figure:
    """The figure of tables made by weighed() and best_controls()."""
    panels = list(points.groupby(["source", "split", "variant"], sort=False))
    weights = sorted(points["weight"].unique())
    looks = {weight: (style.COLOURS[place % 6], style.MARKERS[place % 6]) for place, weight in enumerate(weights)}
    handles = [Line2D([], [], color=colour, marker=marker, markersize=4.5, label="sentence order alone" if weight == 0 else f"masked words, weight {weight:g}")
               for weight, (colour, marker) in looks.items()]
    if len(controls):
        handles.append(Line2D([], [], color=style.CONTROL, marker="x", markersize=4.5, linestyle="", label=style.BEST_CONTROL))
    handles.append(Line2D([], [], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, label="chance, 50 %"))
    across = min(3, len(panels))
    down = math.ceil(len(panels) / across)
    foot = 0.6 + style.legends_height([("", handles)])
    figure, grid = plt.subplots(down, across, figsize=(style.WIDTH, 2.4 * down + foot), sharey=True, squeeze=False)
    height = figure.get_figheight()
    figure.subplots_adjust(left=0.09, right=0.985, top=1 - 0.5 / height, bottom=foot / height, wspace=0.12, hspace=0.55)
    for place, ((source, split, variant), of_panel) in enumerate(panels):
        axes = grid.flat[place]
        axes.axhline(50, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, zorder=1)
        for number, (weight, line) in enumerate(of_panel.sort_values("stride").groupby("weight")):
            colour, marker = looks[weight]
            axes.errorbar(line["stride"] + (number - (len(weights) - 1) / 2) * 0.09, line["value"] * 100, yerr=style.error_bars(line), color=colour,
                          marker=marker, markersize=4.5, elinewidth=0.9, capsize=2, zorder=3)
        beside = controls[(controls["source"] == source) & (controls["split"] == split)].sort_values("stride")
        axes.errorbar(beside["stride"] + len(weights) / 2 * 0.09, beside["value"] * 100, yerr=style.error_bars(beside), color=style.CONTROL, marker="x",
                      markersize=4.5, linestyle="", elinewidth=0.9, capsize=2, zorder=2)
        style.panel_title(axes, [sources.get(source, {}).get("title", source)], f"{split_title(split)}, {variant}")
        style.mark(axes, face_of(of_panel))
        strides = sorted(set(points["stride"]))
        axes.set_xticks(strides)
        axes.set_xlim(strides[0] - 0.5, strides[-1] + 0.5)
        axes.set_xlabel("stride (sentences skipped)")
        if place % across == 0:
            axes.set_ylabel("accuracy (%)")
    for axes in grid.flat[len(panels):]:
        axes.set_visible(False)
    style.legends(figure, [("", handles)], 0.08)
    return figure


def main(given: argparse.Namespace) -> None:
    metrics = read_metrics(given.metrics, SCHEMA).to_pandas()
    points = weighed(metrics, read_yaml(given.sources.with_name("compared.yaml")), load(given.models))
    if points.empty:
        raise UserError(f"{given.metrics}: no accuracy of runs with a second objective; evaluate them again")
    controls, sources = best_controls(metrics, points), load(given.sources)
    style.save(lambda: draw(points, controls, sources), given)
    write_points(pd.concat([points, controls])[COLUMNS], given.output)
    log.info("%s: %d points", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
