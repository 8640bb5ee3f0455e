"""Draw accuracy by slice against stride: is it order that is learnt, or what else tells two sentences apart?

A block for each corpus, on its first evaluation split: a row for each slice (scripts/evaluate/strided_slices.py says which), a column
for each stride, a mark for each system with its 95 % interval, the best control (over all pairs of the block) in grey, and n, the
pairs, at the right. The dotted line is chance. Left out of the figure, not of the CSV: slices with fewer than 10 pairs, or of nearly all
pairs; pairs chosen otherwise (same videos, hard, windows) where the corpus has all of them; the other controls and splits.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the points, values as shares from 0 to 1

    python -m scripts.publish.strided_sop.slices --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/strided_sop_slices
"""

import argparse
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

from scripts.common.program import UserError, execute, log
from scripts.evaluate.strided_slices import PARTS
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, split_title
from scripts.publish.strided_sop.metrics import VARIANT, strided_metrics
from scripts.publish.table import write_points

COLUMNS = ["source", "split", "series", "model", "experiment", "stride", *VARIANT, "limit", "slice", "seed", "metric", "value",
           "sd", "ci_low", "ci_high", "n", "groups", "sample"]
LEAST = 10  # pairs
NEARLY_ALL = 0.97  # of the pairs of every stride: such a slice says what they all say
HEADS = {"all": "", "overlap": "the two clips overlap", "same_start": "the two start together", "position": "place in the video",
         "sentences": "sentences of the video", "words": "words of both", "category": "category"}
NAMES = {"none": "not at all", "partial": "partly", "contained": "one lies in the other", "false": "no", "true": "yes",
         "first_third": "first third", "middle_third": "middle third", "last_third": "last third"}
ACROSS = 5  # strides side by side; more go to the next block
MARK, ROW, HEAD, TOP, UNDER, LABELS, GAP, NUMBERS = 0.085, 0.10, 0.19, 0.44, 0.52, 1.42, 0.14, 0.36  # inches


def sliced_points(metrics: pd.DataFrame) -> pd.DataFrame:
    """The accuracy over all seeds on every slice, in the order of the rows.

    Beside the columns of metrics: the partition (`panel`), the part of it, the choice of pairs that a block is made of, and
    the `system`, which is the series without that.
    """
    points = metrics[metrics["seed"].isna() & (metrics["metric"] == "accuracy")]
    hard = points["hard"].map(lambda value: pd.notna(value) and bool(value))
    points = points.assign(pairs=points["same_videos"].notna().map({True: ", same videos", False: ""})
                           + hard.map({True: ", hard pairs", False: ""})
                           + points["context"].map(lambda context: f", windows of {context}" if pd.notna(context) else ""))
    points["system"] = [series.replace(pairs, "") if pairs else series for series, pairs in zip(points["series"], points["pairs"])]
    names = points["slice"].str.partition("=")
    panels, parts = list(HEADS), [part for of_panel in PARTS.values() for part in of_panel]
    places = {part: number for number, part in enumerate(parts)}
    points = points.assign(panel=names[0], part=names[2], panel_place=names[0].map({name: at for at, name in enumerate(panels)}),
                           part_place=names[2].map(places).fillna(len(places)))
    return points.sort_values(["panel_place", "part_place", "part"], kind="stable")


def looks(points: pd.DataFrame) -> dict[str, dict]:
    """Colour, marker and face of each system: of models, then of controls, which are grey."""
    systems = points.sort_values("system").drop_duplicates("system")
    models, controls = systems[systems["method"] != "control"], systems[systems["method"] == "control"]
    found = {name: (style.CONTROL, style.CONTROL_MARKERS[place % 6]) for place, name in enumerate(controls["system"])}
    found = style.told_apart(zip(models["system"], models["model"], models["method"])) | found
    return {name: {"color": colour, "marker": marker, "markerfacecolor": colour} for name, (colour, marker) in found.items()}


def rows_of(points: pd.DataFrame, systems: int) -> tuple[dict[str, float], dict[str, float], float]:
    """In inches from the top: where each slice's row stands, where each partition's head, and the end."""
    height = ROW + MARK * systems
    rows, heads, y, last = {}, {}, 0.0, "all"
    for name, panel in points.drop_duplicates("slice")[["slice", "panel"]].to_numpy():
        if panel != last:
            heads[panel], last = y + HEAD / 2 + 0.02, panel
            y += HEAD
        rows[name] = y + height / 2
        y += height
    return rows, heads, y


def draw_column(axes: Axes, points: pd.DataFrame, rows: dict[str, float], known: dict[str, dict]) -> None:
    """One stride: the marks of every system, and n."""
    systems = list(known)
    axes.axvline(50, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=0.9, zorder=1)
    for name, of_slice in points.groupby("slice", sort=False):
        for row in of_slice.to_dict("records"):
            y = rows[name] + MARK * (systems.index(row["system"]) - (len(systems) - 1) / 2)
            look = known[row["system"]]
            value, low, high = row["value"] * 100, row["ci_low"] * 100, row["ci_high"] * 100
            spread = None if np.isnan([low, high]).any() else [[max(value - low, 0)], [max(high - value, 0)]]
            axes.errorbar(value, y, xerr=spread, linestyle="", markersize=3.2, markeredgewidth=0.8, elinewidth=0.8, zorder=4, **look)
        axes.annotate(f"{of_slice['n'].max():,}", (1, rows[name]), (8, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                      fontsize=6, color=style.GREY, va="center", annotation_clip=False)


def limits_of(points: pd.DataFrame) -> tuple[float, float]:
    """The ends of all axes, in per cent: the values and most of every interval; an interval may run out of the axis."""
    low, high = (points[name].fillna(points["value"]) * 100 for name in ("ci_low", "ci_high"))
    return (max(0, min(points["value"].min() * 100, low.quantile(0.1), 48) - 3),
            min(100, max(points["value"].max() * 100, high.quantile(0.9), 54) + 3))


def draw_block(figure: Figure, points: pd.DataFrame, title: str, top: float, known: dict[str, dict]) -> None:
    """One corpus and some strides, its upper end `top` inches under the figure's."""
    rows, heads, end = rows_of(points, len(known))
    strides, height = sorted(set(points["stride"])), figure.get_figheight()
    each = (style.WIDTH - LABELS - 0.08) / max(len(strides), 3) - GAP - NUMBERS
    limits = limits_of(points)
    for number, stride in enumerate(strides):
        left = LABELS + number * (each + GAP + NUMBERS)
        axes = figure.add_axes([left / style.WIDTH, 1 - (top + TOP + end) / height, each / style.WIDTH, end / height])
        axes.set_xlim(*limits)
        axes.set_ylim(end, 0)
        axes.grid(True, axis="x")
        axes.grid(False, axis="y")
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(plt.MaxNLocator(nbins=4, integer=True))
        axes.tick_params(labelsize=6.5)
        for y in rows.values():
            axes.axhline(y, color=style.GRID, linewidth=0.6, zorder=0.5)
        draw_column(axes, points[points["stride"] == stride], rows, known)
        axes.set_title(f"stride {stride}", loc="left", fontsize=7.5, color=style.GREY, pad=3)
        axes.annotate("n", (1, 1), (8, 3), xycoords="axes fraction", textcoords="offset points", fontsize=6,
                      color=style.GREY)
        axes.set_xlabel("accuracy (%)", fontsize=7, labelpad=2)
        style.mark(axes, face_of(points), 11)
    first = figure.axes[-len(strides)]
    across = blended_transform_factory(figure.transFigure, first.transData)
    for panel, y in heads.items():
        first.text(0.08 / style.WIDTH, y, HEADS[panel], transform=across, fontsize=7, fontweight="bold", va="center")
    for name, _, part in points.drop_duplicates("slice")[["slice", "panel", "part"]].to_numpy():
        label = "all pairs" if name == "all" else textwrap.shorten(NAMES.get(part, part), 26, placeholder="…")
        first.text((0.08 if name == "all" else 0.16) / style.WIDTH, rows[name], label, transform=across, fontsize=7, va="center",
                   fontweight="bold" if name == "all" else "normal")
    figure.text(0.08 / style.WIDTH, 1 - (top + 0.04) / height, title, fontweight="bold", fontsize=8, va="top")


def with_best_control(points: pd.DataFrame) -> pd.DataFrame:
    """The points of one corpus without those of controls, but for the one that is best over all pairs, on average over the strides."""
    control = points["method"] == "control"
    reached = points[control & (points["slice"] == "all")].groupby("system")["value"].mean()
    return points[~control | points["system"].isin(reached.nlargest(1).index)]


def without_nearly_all(points: pd.DataFrame) -> pd.DataFrame:
    """The points of one block without slices that hold nearly all pairs at every stride."""
    if points.empty:  # no slice has LEAST pairs
        return points
    pairs = points.groupby(["stride", "slice"])["n"].max().unstack("slice")
    share = pairs.div(pairs["all"], axis=0).min().drop("all")
    return points[~points["slice"].isin(share[share >= NEARLY_ALL].index)]


def blocks_of(points: pd.DataFrame, sources: dict) -> list[tuple[str, pd.DataFrame]]:
    """Title and points of each block: of a corpus the first evaluation split, at most ACROSS strides; all pairs, or where there is no
    such dataset each other choice of them."""
    blocks = []
    has_all = points["source"].isin(points.loc[points["pairs"] == "", "source"])
    for (source, pairs), of_source in points[~has_all | (points["pairs"] == "")].groupby(["source", "pairs"]):
        entry = sources.get(source, {})
        measured = [name for name in entry.get("evaluate", []) if name in set(of_source["split"])]
        split = measured[0] if measured else of_source["split"].iloc[0]
        shown = without_nearly_all(with_best_control(of_source[(of_source["split"] == split) & (of_source["n"] >= LEAST)]))
        strides = sorted(set(shown["stride"]))
        for start in range(0, len(strides), ACROSS):
            part = shown[shown["stride"].isin(strides[start : start + ACROSS])]
            blocks.append((f"{entry.get('title', source)}, {split_title(split)}{pairs}", part))
    return blocks


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    """The figure of points made by sliced_points()."""
    blocks = blocks_of(points, sources)
    if not blocks:
        return style.nothing(f"No slice has {LEAST} pairs.")
    every = looks(pd.concat([part for _, part in blocks]))
    known = [{name: look for name, look in every.items() if name in set(part["system"])} for _, part in blocks]
    handles = {name: Line2D([], [], linestyle="", markersize=4, label=name, **look) for name, look in every.items()}
    groups = [("", [handles[name] for name, look in every.items() if look["color"] != style.CONTROL]),
              (style.BEST_CONTROL, [handles[name] for name, look in every.items() if look["color"] == style.CONTROL])]
    foot = 0.2 + style.legends_height(groups)
    heights = [TOP + rows_of(part, len(of_block))[2] + UNDER for (_, part), of_block in zip(blocks, known)]
    figure = plt.figure(figsize=(style.WIDTH, sum(heights) + foot))
    top = 0.0
    for (title, part), of_block, height in zip(blocks, known, heights):
        draw_block(figure, part, title, top, of_block)
        top += height
    style.legends(figure, groups, 0.08)
    return figure


def main(given: argparse.Namespace) -> None:
    points = sliced_points(strided_metrics(given.metrics, load(given.models), slices=True))
    if set(points["slice"]) == {"all"}:
        raise UserError(f"{given.metrics}: no accuracy on slices; evaluate the runs of strided_sop again")
    sources = load(given.sources)
    style.save(lambda: draw(points, sources), given)
    write_points(points[COLUMNS], given.output)
    log.info("%s: %d points", given.output, len(points))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
