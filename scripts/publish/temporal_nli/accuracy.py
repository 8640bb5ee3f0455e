"""Draw accuracy on one challenge set by what it varies (Thukral et al. 2021, figure 1 and the text of section 5).

A panel for each source, model and method. Dots: accuracy, mean over the seeds, with the 95 % interval over templates and
seeds; grey ticks: the majority baseline on the same pairs; crosses: the control that is best over all pairs. Scoring is
ternary, binary for models of two labels.
Set I is shown by the way times are chosen, set II by hypothesis and by the way times are chosen, set III by units; all by the
distance of the two times, set III by the size of the hypothesis's duration as well.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

The last part of --output says which set is drawn: temporal_nli_temp_order, temporal_nli_temp_duration or
temporal_nli_cross_unit.

    python -m scripts.publish.temporal_nli.accuracy --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/temporal_nli_temp_order
"""

import argparse
import math
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scripts.common.program import UserError, execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import load, method_title, people_points
from scripts.publish.table import write_points
from scripts.publish.temporal_nli.metrics import SETS, STUDY, data_title, nli_metrics
from scripts.publish.temporal_nli.sections import ALL, points_of

COLUMNS = ["source", "dataset", "challenge_set", "split", "model", "method", "scoring", "experiment", "section", "row",
           "series_name", "slice", "metric", "value", "sd", "ci_low", "ci_high", "n", "groups", "majority", "control", "sample", "limit"]
# Of a dot, by what it stands for.
LOOKS = {"": (style.INK, "D", 3.4), "fixed": (style.COLOURS[0], "o", 4.2), "interval": (style.COLOURS[1], "s", 3.6),
         "false": (style.COLOURS[2], "o", 4.2), "true": (style.COLOURS[3], "s", 3.6),
         "equal_gold": (style.COLOURS[0], "o", 4.2), "equal_gold_plus_1": (style.COLOURS[1], "s", 3.6),
         "less_than_gold": (style.COLOURS[4], "^", 4.4),
         "before": (style.COLOURS[0], "<", 4.4), "after": (style.COLOURS[1], ">", 4.4),
         "lower": (style.COLOURS[5], "v", 4.4), "higher": (style.COLOURS[4], "^", 4.4)}
LANE = 0.5  # of a row, between the dots of one
MAJORITY, CONTROL = style.CONTROL, style.GREY
# Inches: above all, a row, between panels, a block's title, a panel's title, under a line of panels; how wide a letter
# of the rows' and of the sections' names is.
TOP, ROW, GAP, HEAD, TITLE, FOOT = 0.1, 0.148, 0.27, 0.3, 0.38, 0.32
LETTER, BOLD = 0.054, 0.062


def rows_of(points: pd.DataFrame) -> pd.DataFrame:
    """Every row of a panel, headings included, with its y (in rows from the top); all panels have the same ones. A row is as tall as its
    dots need."""
    rows = points[["section_place", "section", "row_place", "row"]].drop_duplicates()
    rows = rows.sort_values(["section_place", "row_place", "row"], ignore_index=True)
    first = ~rows["section_place"].duplicated()
    lanes = rows["section_place"].map(points.groupby("section_place")["dot_place"].nunique())
    tall = np.maximum(1, LANE * lanes + 0.2)
    # A heading takes a row and, below another section, half a row of air.
    return rows.assign(first=first, y=tall.cumsum() - tall / 2 + 1.5 * first.cumsum() - 0.5, tall=tall)


def end_of(rows: pd.DataFrame) -> float:
    """Where the axes of a panel end, in rows from the top."""
    return (rows["y"] + rows["tall"] / 2).max() + 0.25


def draw_panel(axes: Axes, points: pd.DataFrame, rows: pd.DataFrame) -> None:
    """The dots of one model and method, with their intervals and the baseline."""
    points = points.merge(rows[["section_place", "row", "y"]], on=["section_place", "row"])
    for dot, of_dot in points.groupby("dot"):
        colour, marker, size = LOOKS.get(dot, LOOKS[""])
        dots = points.loc[points["section_place"].isin(of_dot["section_place"]), "dot_place"].nunique()
        y = of_dot["y"] + (of_dot["dot_place"] - (dots - 1) / 2) * LANE
        # Both stand out from under a dot of the same value.
        axes.plot(of_dot["majority"] * 100, y, linestyle="", marker="|", markersize=7.4, markeredgewidth=1.2, color=MAJORITY, zorder=2,
                  clip_on=False)
        axes.plot(of_dot["control"] * 100, y, linestyle="", marker="x", markersize=5.4, markeredgewidth=0.9, color=CONTROL, zorder=3,
                  clip_on=False)
        axes.errorbar(of_dot["value"] * 100, y, xerr=style.error_bars(of_dot), linestyle="", color=colour, marker=marker,
                      markersize=size, markeredgewidth=0, elinewidth=1, zorder=4, clip_on=False)
    for y in rows["y"]:
        axes.axhline(y, color=style.GRID, linewidth=0.5, zorder=0.5)
    axes.set_ylim(end_of(rows), 0.25)
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100], ["0", "", "50", "", "100"])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)


def draw_people(axes: Axes, people: pd.DataFrame, panel: pd.DataFrame, rows: pd.DataFrame) -> None:
    """In the row of all pairs what people reached on those that they answered, with its interval; people: of people_points()."""
    place = ["source", "dataset", "split", "scoring"]
    here = people[(people[place] == panel[place].iloc[0]).all(axis=1)]
    whole = panel.loc[panel["slice"] == ALL, ["section_place", "row"]].merge(rows, on=["section_place", "row"])
    for y in whole["y"] if len(here) else ():
        axes.errorbar(here["value"] * 100, [y], xerr=style.error_bars(here), linestyle="", color=style.INK, marker="*", markersize=6,
                      elinewidth=0.8, alpha=0.9, zorder=5, clip_on=False)


def label_rows(axes: Axes, rows: pd.DataFrame) -> None:
    """Left of a panel: the rows' names, and the sections' titles above them."""
    same = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "ha": "right", "va": "center",
            "fontsize": 7, "annotation_clip": False}
    for _, row in rows.iterrows():
        axes.annotate(row["row"], (0, row["y"]), (-6, 0), **same)
        if row["first"]:
            axes.annotate(row["section"], (0, row["y"] - row["tall"] / 2 - 0.5), (-6, 0), fontweight="bold", **same)


def counts_of(points: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    """For each row the pairs that its dots are measured on: `2 × 170`, `800 + 1,600`."""
    dots = points.drop_duplicates(["section_place", "row", "dot"]).sort_values("dot_place")
    counts = dots.groupby(["section_place", "row"])["n"].agg(list)
    return [f"{len(of)} × {of[0]:,}" if len(of) > 1 and len(set(of)) == 1 else " + ".join(f"{n:,}" for n in of)
            for of in rows.set_index(["section_place", "row"]).index.map(lambda key: counts.get(key, []))]


def count_rows(axes: Axes, counts: list[str], rows: pd.DataFrame) -> None:
    """Right of a line of panels: the pairs behind the dots."""
    same = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "fontsize": 6.5, "color": style.GREY,
            "va": "center", "annotation_clip": False}
    axes.annotate("pairs", (1, (rows["y"] - rows["tall"] / 2).min() - 0.5), (10, 0), **same)
    for y, text in zip(rows["y"], counts):
        axes.annotate(text, (1, y), (10, 0), **same)


def legend(figure: Figure, points: pd.DataFrame, people: pd.DataFrame) -> None:
    """Under the panels: what the dots and bars stand for."""
    known = points.sort_values(["section_place", "dot_place"]).drop_duplicates("dot")
    handles = [Line2D([], [], color=LOOKS.get(dot, LOOKS[""])[0], marker=LOOKS.get(dot, LOOKS[""])[1], markersize=4.4,
                      markeredgewidth=0, linewidth=1, label="all pairs of the row" if dot == "" else name)
               for dot, name in zip(known["dot"], known["series_name"])]
    handles.append(Line2D([], [], color=MAJORITY, marker="|", markersize=7, markeredgewidth=1.5, linestyle="",
                          label="majority baseline on the same pairs"))
    if points["control"].notna().any():
        handles.append(Line2D([], [], color=CONTROL, marker="x", markersize=4.4, linestyle="", label=style.BEST_CONTROL))
    if len(people):
        counts = " to ".join(dict.fromkeys(f"{count:,}" for count in (people["n"].min(), people["n"].max())))
        handles.append(Line2D([], [], color=style.INK, marker="*", markersize=6, linestyle="", label=f"people, on {counts} of all pairs"))
    figure.legend(handles=handles, loc="lower center", ncols=min(len(handles), 3), handlelength=1.6, columnspacing=1.8,
                  bbox_to_anchor=(0.5, 0.04 / figure.get_figheight()), borderaxespad=0)


def blocks_of(points: pd.DataFrame, sources: dict) -> list[tuple[str, pd.DataFrame, list[list]]]:
    """Of each dataset its title, its points, and its panels in lines; those of one model stand beside one another."""
    found = []
    for (source, dataset, _), of_dataset in points.groupby(["source", "dataset", "split"], sort=False):
        panels = list(of_dataset.groupby(["series", "method", "scoring"], sort=False))
        models = [[panel for panel in panels if panel[0][0] == series] for series in of_dataset["series"].unique()]
        found.append((data_title(source, dataset, sources), of_dataset, models))
    most = max(len(panels) for _, _, models in found for panels in models)
    across = min(3, most if most > 1 else max(len(models) for _, _, models in found))
    return [(title, of_dataset, style.lines_of(models, across)) for title, of_dataset, models in found]


def draw(points: pd.DataFrame, sources: dict, people: pd.DataFrame) -> Figure:
    """The figure of points_of() one set; people: of people_points(), on it."""
    rows, blocks = rows_of(points), blocks_of(points, sources)
    across = max(len(line) for _, _, lines in blocks for line in lines)
    left = 0.14 + max(LETTER * rows["row"].str.len().max(), BOLD * rows["section"].str.len().max())
    right = 0.2 + LETTER * max(len(text) for _, block, _ in blocks for text in counts_of(block, rows))
    wide = (style.WIDTH - left - right - (across - 1) * GAP) / across
    tall = (end_of(rows) - 0.25) * ROW
    names = {series: textwrap.wrap(series, int(wide * 14)) for series in points["series"].unique()}
    head = TITLE + 0.13 * (max(len(name) for name in names.values()) - 1)
    foot = 0.26 + 0.17 * math.ceil((points["dot"].nunique() + 2 + (len(people) > 0)) / 3)
    height = TOP + foot + sum(HEAD + len(lines) * (head + tall + FOOT) for _, _, lines in blocks)
    figure = plt.figure(figsize=(style.WIDTH, height))
    top = height - TOP
    for title, block, lines in blocks:
        figure.text(0.06 / style.WIDTH, (top - 0.1) / height, f"{SETS[block['challenge_set'].iloc[0]]} · {title}",
                    fontweight="bold", fontsize=8.5, va="center")
        top -= HEAD
        for line in lines:
            bottom = top - head - tall
            for number, ((series, method, scoring), panel) in enumerate(line):
                axes = figure.add_axes([(left + number * (wide + GAP)) / style.WIDTH, bottom / height,
                                        wide / style.WIDTH, tall / height])
                draw_panel(axes, panel, rows)
                draw_people(axes, people, panel, rows)
                style.mark(axes, face_of(panel), 13)
                detail = method_title(method) + ("" if scoring == "ternary" else f", {scoring}")
                style.panel_title(axes, names[series], detail)
                if block is blocks[-1][1] and line is lines[-1]:
                    axes.set_xlabel("accuracy (%)")
                if number == 0:
                    label_rows(axes, rows)
            count_rows(axes, counts_of(block, rows), rows)
            top = bottom - FOOT
    legend(figure, points, people)
    return figure


def main(given: argparse.Namespace) -> None:
    challenge_set = given.output.name.removeprefix(f"{STUDY}_")
    if challenge_set not in SETS:
        raise UserError(f"--output: {given.output.name} names no challenge set; "
                        f"write one of {', '.join(f'{STUDY}_{name}' for name in SETS)}")
    points = points_of(nli_metrics(given.metrics, load(given.models)), challenge_set)
    sources, none = load(given.sources), f"{SETS[challenge_set]}: not measured in this run"
    people = people_points(given.metrics, STUDY, "accuracy")
    people = people[people["dataset"].isin(points["dataset"]) & people["split"].isin(points["split"])]
    style.save(lambda: style.nothing(none) if points.empty else draw(points, sources, people), given)
    write_points(points[COLUMNS], given.output)
    log.info("%s: %d points in %d panels", given.output, len(points),
             len(points[["source", "dataset", "split", "series", "method"]].drop_duplicates()))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
