"""Draw what one range a question does to exact match on MC-TACO, and to the gap between F1 and
exact match (Zhou et al. 2019, section 4).
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.measure.intervals import difference
from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import (
    LANE,
    Look,
    Panel,
    Rows,
    draw_line,
    draw_marks,
    figure_of,
    in_lines,
    publish,
)
from scripts.publish.table import signed
from scripts.studies.mctaco.figures.metrics import (
    BASELINES,
    PLACE,
    POINTS,
    SYSTEM,
    by_place,
    metrics_to_draw,
    system_means,
)

# Of each panel: the slice, what it is of, the metric, what its axis says.
PANELS = [
    ("all", "all questions", "exact_match", "exact match (%)"),
    ("quantities=several", "several quantities", "exact_match", "exact match (%)"),
    ("all", "all questions", "f1_minus_exact_match", "F1 − exact match\n(points)"),
]
RANGE = "_range"
SHOWN = {metric + decoding for *_, metric, _ in PANELS for decoding in ("", RANGE)}
WRAP = 32  # letters of a name in a line
SINGLE = Look(style.COLOURS[0], "o", "", style.PAPER, 5.5)
RANGED = Look(style.COLOURS[0], "o", size=3.2, width=1)


def decoded(metrics: pd.DataFrame) -> pd.DataFrame:
    """Exact match and the gap of every system that was judged both ways; the labels last."""
    rows = system_means(metrics)
    rows = rows[rows["metric"].isin(SHOWN) & rows["slice"].isin([name for name, *_ in PANELS])]
    rows = rows[~rows["model"].isin(set(BASELINES) - {"gold"})]
    ranged = rows.loc[rows["metric"] == f"exact_match{RANGE}", SYSTEM].drop_duplicates()
    rows = rows.merge(ranged, on=SYSTEM).assign(origin="here")
    rows["last"] = rows["model"] == "gold"
    return rows.sort_values([*PLACE, "last"], kind="stable", ignore_index=True)


def draw_panel(axes: Axes, points: pd.DataFrame, rows: Rows, metric: str, label: str) -> None:
    rows.show(axes)
    points = points.assign(y=points["row"].map(rows.places))
    for is_control, of_kind in points.groupby(points["method"] == "control"):
        colour = style.CONTROL if is_control else style.COLOURS[0]
        single, ranged = (of_kind[of_kind["metric"] == name] for name in (metric, metric + RANGE))
        low, high = (table.set_index("y")["value"] * 100 for table in (single, ranged))
        axes.hlines(low.index, low, high, colors=colour, linewidth=1, alpha=0.6, zorder=3)
        draw_marks(axes, single, SINGLE._replace(colour=colour), "y", flat=True, intervals=False)
        draw_marks(axes, ranged, RANGED._replace(colour=colour, line=""), "y", flat=True, zorder=5)
    if metric == "exact_match":
        axes.set_xlim(0, 100)
    else:
        axes.set_xlim(left=min(0, points["value"].min() * 100 - 2))
    axes.set_xlabel(label)


def gains_of(points: pd.DataFrame, metric: str) -> pd.DataFrame:
    """What one range adds to each system, paired by question."""
    single, ranged = (
        points[points["metric"] == name].set_index("row", drop=False)
        for name in (metric, metric + RANGE)
    )
    gains = [difference(ranged.loc[row], single.loc[row])[:3] for row in ranged.index]
    return ranged.assign(**dict(zip(("value", "ci_low", "ci_high"), map(list, zip(*gains)))))


def draw_gains(axes: Axes, gains: pd.DataFrame, rows: Rows) -> None:
    rows.show(axes)
    draw_line(axes, 0, upright=True)
    for is_control, of_kind in gains.groupby(gains["method"] == "control"):
        look = RANGED._replace(colour=style.CONTROL if is_control else RANGED.colour, line="")
        placed = of_kind.assign(y=of_kind["row"].map(rows.places))
        draw_marks(axes, placed, look, "y", flat=True)
    axes.set_xlabel("one range adds\n(points of exact match)")


def most_gained(gains: pd.DataFrame) -> str:
    """`One range a question adds at most +0.7 points (tiny BERT)`, to models and controls."""
    gains = gains[gains["model"] != "gold"]
    if gains.empty:
        return ""
    most = gains.loc[gains["value"].idxmax()]
    return f"One range a question adds at most {signed(most['value'])} points ({most['system']})"


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    points = points.assign(row=points["system"], series="", name=points["system"].str.wrap(WRAP))
    lines = []
    for of_split, *titles in by_place(points, sources):
        rows, panels, says = Rows(of_split, lane=2 * LANE), [], ""
        for part, questions, metric, label in PANELS:
            of_metric = of_split["metric"].isin([metric, metric + RANGE])
            table = of_split[of_metric & (of_split["slice"] == part)]
            draw_metric = partial(draw_panel, rows=rows, metric=metric, label=label)
            if len(table):  # of few questions none may have several quantities
                detail = f"{questions}\nn = {table['n'].max():,}"
                panels.append(Panel(table, draw_metric, detail=detail, height=rows.height))
            if (part, metric) == PANELS[0][::2]:
                gains, draw_gain = gains_of(table, metric), partial(draw_gains, rows=rows)
                says = most_gained(gains)
                panels.append(Panel(gains, draw_gain, detail=detail, height=rows.height))
        lines += in_lines(panels, len(PANELS) + 1, f"{says}\n{', '.join(titles)}")
    handles = [
        SINGLE.handle("each candidate for itself"),
        RANGED.handle("one range a question, and what it adds, with 95 % intervals"),
    ]
    if (points["method"] == "control").any():
        handles.append(RANGED._replace(colour=style.CONTROL).handle(style.BEST_CONTROL))
    return figure_of(lines, [("", handles)], share_y="line")


def main(given: argparse.Namespace) -> None:
    points, sources = decoded(metrics_to_draw(given, draws=True)), load(given.sources)
    publish(given, points[POINTS], lambda: draw(points[points["drawn"]], sources))


if __name__ == "__main__":
    run_program(main, __doc__)
