"""Draw accuracy by slice against stride: a block for each corpus, a row for each slice, a column
for each stride.

Left out of the figure, not of the CSV: slices with fewer than LEAST pairs, or of nearly all pairs;
chosen pairs where the corpus has all of them; the other controls and splits.
"""

import argparse
import textwrap
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scripts.running.program import UserError
from scripts.studies.strided_sop.slices import PARTS
from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import (
    Look,
    Panel,
    Rows,
    draw_line,
    figure_of,
    highest,
    in_lines,
    legend_of,
    looks,
    publish,
    with_best_control,
    write_beside,
)
from scripts.studies.strided_sop.figures.metrics import (
    NUMBERS,
    VARIANT,
    accuracies,
    place_title,
    strided_metrics,
)

COLUMNS = ["source", "split", "series", "model", "experiment", "stride", *VARIANT]
COLUMNS += ["limit", "slice", "seed", "metric", *NUMBERS]
LEAST = 10  # pairs
NEARLY_ALL = 0.97  # of the pairs of every stride: such a slice says what they all say
HEADS = {
    "all": "",
    "overlap": "the two clips overlap",
    "same_start": "the two start together",
    "position": "place in the video",
    "sentences": "sentences of the video",
    "words": "words of both",
    "category": "category",
}
NAMES = {
    "none": "not at all",
    "partial": "partly",
    "contained": "one lies in the other",
    "false": "no",
    "true": "yes",
    "first_third": "first third",
    "middle_third": "middle third",
    "last_third": "last third",
}
LEAST_ACROSS, ACROSS = 3, 5  # strides side by side; more go to the next block


def sliced_points(metrics: pd.DataFrame) -> pd.DataFrame:
    """The accuracy over all seeds on every slice, in the order of the rows. pairs: the choice of
    pairs that a block is made of. system: the series without that.
    """
    points = accuracies(metrics)
    pairs = (
        np.where(points["same_videos"].notna(), ", same videos", "")
        + np.where(points["hard"].eq(True), ", hard pairs", "")
        + (", windows of " + points["context"]).fillna("")
    )
    names = points["slice"].str.partition("=")
    shown = names[2].replace(NAMES).map(partial(textwrap.shorten, width=26, placeholder="…"))
    parts = [part for of_panel in PARTS.values() for part in of_panel]
    points = points.assign(
        pairs=pairs,
        system=[
            series.replace(chosen, "") if chosen else series
            for series, chosen in zip(points["series"], pairs)
        ],
        panel=names[0],
        part=names[2],
        row=points["slice"],
        name=shown.where(names[0] != "all", "all pairs"),
        head=names[0].map(HEADS),
    )
    order = points.assign(  # the places of rows
        panel=names[0].map(list(HEADS).index),
        known=names[2].map({part: at for at, part in enumerate(parts)}).fillna(len(parts)),
    )
    return points.loc[order.sort_values(["panel", "known", "part"], kind="stable").index]


def limits_of(points: pd.DataFrame) -> tuple[float, float]:
    """The ends of all axes, in per cent: the values and most of every interval."""
    low, high = (points[name].fillna(points["value"]) * 100 for name in ("ci_low", "ci_high"))
    return (
        max(0, min(points["value"].min() * 100, low.quantile(0.1), 48) - 3),
        min(100, max(points["value"].max() * 100, high.quantile(0.9), 54) + 3),
    )


def without_nearly_all(points: pd.DataFrame) -> pd.DataFrame:
    if points.empty:  # no slice has LEAST pairs
        return points
    pairs = points.groupby(["stride", "slice"])["n"].max().unstack("slice")
    share = pairs.div(pairs["all"], axis=0).min().drop("all")
    return points[~points["slice"].isin(share[share >= NEARLY_ALL].index)]


def blocks_of(points: pd.DataFrame, sources: dict) -> list[tuple[str, pd.DataFrame]]:
    """Title and points of each block: all pairs, or where there is no such dataset each choice of
    them.
    """
    blocks = []
    has_all = points["source"].isin(points.loc[points["pairs"] == "", "source"])
    points = points[~has_all | (points["pairs"] == "")]
    for (source, pairs), of_source in points.groupby(["source", "pairs"]):
        known, there = sources.get(source, {}).get("evaluate", []), set(of_source["split"])
        split = next((name for name in known if name in there), of_source["split"].iloc[0])
        of_split = of_source[(of_source["split"] == split) & (of_source["n"] >= LEAST)]
        is_whole = of_split["slice"] == "all"
        shown = without_nearly_all(with_best_control(of_split, ["source"], judged=is_whole))
        strides = sorted(set(shown["stride"]))
        for start in range(0, len(strides), ACROSS):
            part = shown[shown["stride"].isin(strides[start : start + ACROSS])]
            blocks.append((place_title(source, split, sources) + pairs, part))
    return blocks


def line_of(title: str, points: pd.DataFrame, known: dict[str, Look]) -> list[Panel | None]:
    here = set(points["system"])
    known = {name: look._replace(size=3.2) for name, look in known.items() if name in here}
    rows, limits = Rows(points, "source", series="system"), limits_of(points)

    def draw_column(axes: Axes, points: pd.DataFrame) -> None:
        draw_line(axes, upright=True)
        rows.draw(axes, points, known)
        counts = points.groupby("slice")["n"].max()
        texts = {rows.places[name]: f"{count:,}" for name, count in counts.items()}
        write_beside(axes, texts, "n", fontsize=6)
        axes.set_xlim(*limits)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
        axes.set_xlabel("accuracy (%)", fontsize=7, labelpad=2)

    panels = [
        Panel(of_stride, draw_column, "", f"stride {stride}", height=rows.height)
        for stride, of_stride in points.groupby("stride")
    ]
    return [*in_lines(panels, ACROSS, title)[0], *[None] * (LEAST_ACROSS - len(panels))]


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    points, note = highest(points, points["slice"] == "all")
    blocks = blocks_of(points, sources)
    if not blocks:
        return style.nothing(f"No slice has {LEAST} pairs. Measure more of them (limit).")
    shown = pd.concat([part for _, part in blocks])
    shown = shown.assign(is_control=shown["method"] == "control")
    known = looks(shown.sort_values(["is_control", "system"]), "system", line="")
    lines = [line_of(title, part, known) for title, part in blocks]
    legend = legend_of(known, controls=style.BEST_CONTROL)
    return figure_of(lines, legend, share_y="line", note=note)


def main(given: argparse.Namespace) -> None:
    points = sliced_points(strided_metrics(given.metrics, load(given.models), slices=True))
    if set(points["slice"]) == {"all"}:
        raise UserError(
            f"{given.metrics}: no accuracy on slices; evaluate the runs of strided_sop again"
        )
    sources = load(given.sources)
    publish(given, points[COLUMNS], lambda: draw(points, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
