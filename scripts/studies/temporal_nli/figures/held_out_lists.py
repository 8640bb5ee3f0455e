"""Draw accuracy on set I by list, for lists that training lacks and for lists that it has, and by
the distance of the two items.

Upper panels: all pairs of each list. `held out`: the model learnt from other lists. `learnt`: the
same pairs, and a model that learnt from this list (only where half of the lists were held out).
Lower panels: the held-out pairs of one list, by the distance of their items as a share of the list.

A pale bar is what a model with one fixed order of the items reaches in 95 % of cases, if that order
was drawn by lot. It is wider than an interval over pairs, because pairs share items. The share of
pairs in the right order is (1 + tau) / 2. The variance of Kendall's tau of n items in random order
is 2 (2 n + 5) / (9 n (n - 1)) (Kendall 1938).
"""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from scripts.publish import style
from scripts.publish.item import Given
from scripts.publish.comparison import parts_of
from scripts.publish.panels import (
    BEST_CONTROL,
    CHANCE,
    Look,
    Panel,
    Rows,
    draw_line,
    draw_marks,
    figure_of,
    in_lines,
    looks,
    publish,
    with_best_control,
    write_beside,
)
from scripts.studies.temporal_nli.figures.metrics import (
    ABOUT,
    PLACE,
    VALUES,
    data_title,
    finest,
    nli_metrics,
)
from scripts.studies.temporal_nli.times import HALVES, LISTS, held_out_choices

GROUPS = {
    "Names of times": ["weekday", "month_full"],
    "Numerals and number words": "hour_12 hour_24 hour_both month_day year number_word".split(),
    "Lists that are not of time": ["letter", "greek", "rank", "planet"],
    "An order drawn by lot": ["invented"],
}
HEADS = {name: head for head, names in GROUPS.items() for name in names}
DISTANCES = ["to_eighth", "to_quarter", "to_half", "over_half"]
TICKS = ["⅛", "¼", "½", "1"]
BY_DISTANCE = "Held-out lists, by the distance of the two items (up to this share of the list)"
HELD_OUT, LEARNT = "held out of training", "learnt in training"
COLUMNS = [*ABOUT, *"held_out_list part list items luck_low luck_high distance series".split()]
COLUMNS += "value ci_low ci_high n groups seeds sample limit".split()
ACROSS, HEIGHT = 4, 0.95  # small panels in a line; inches


def luck_of(items: pd.Series) -> pd.Series:
    """Return half the width of the pale bar of lists with so many items."""
    return 1.96 / 2 * (2 * (2 * items + 5) / (9 * items * (items - 1))) ** 0.5


def points_of(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each system, list, part and distance (missing: all distances). Of the
    controls it keeps the best one on each list.
    """
    rows = finest(metrics[~metrics["method"].isin(["majority", "baseline"])])
    rows = rows[rows["slice"].str.fullmatch(r"choice=\w+(; distance=\w+)?")]
    named = pd.DataFrame([parts_of(name, "=") for name in rows["slice"]], rows.index)
    rows = rows.assign(list=named["choice"], distance=named["distance"])
    lacking = {name: held_out_choices(name) for name in rows["held_out_list"].unique()}
    both = zip(rows["list"], rows["held_out_list"])
    is_out = np.array([name in lacking[held_out] for name, held_out in both])
    rows["part"] = np.where(is_out, HELD_OUT, LEARNT)
    rows = rows[rows["held_out_list"].isin(HALVES) | is_out]
    rows = with_best_control(rows, [*PLACE, "list"], ["model"], rows["distance"].isna())
    items = rows["list"].map(lambda name: LISTS[name][1])
    rows = rows.assign(
        items=items,
        luck_low=0.5 - luck_of(items),
        luck_high=0.5 + luck_of(items),
        series=rows["series"].where(rows["method"] != "control", style.BEST_CONTROL),
        row=rows["list"],
        name=rows["list"].map(VALUES["choice"]),
        head=rows["list"].map(HEADS),
    )
    return rows.sort_values("list", key=lambda of: of.map([*HEADS].index), kind="stable")


def draw_lists(axes: Axes, points: pd.DataFrame, known: dict[str, Look], rows: Rows) -> None:
    """Draw a row for each list, with the number of different pairs beside it."""
    lists = points.drop_duplicates("row")
    y, low, high = lists["row"].map(rows.places), lists["luck_low"], lists["luck_high"]
    axes.barh(y, 100 * (high - low), 0.11, 100 * low, color=style.PALE, zorder=0.8)
    draw_line(axes, upright=True)
    rows.draw(axes, points, known)
    axes.set_xlim(0, 100)
    axes.set_xlabel("accuracy (%)")
    write_beside(axes, {at: f"{count:,}" for at, count in zip(y, lists["groups"])}, "pairs")


def draw_distances(axes: Axes, points: pd.DataFrame, known: dict[str, Look]) -> None:
    draw_line(axes)
    points = points.assign(x=points["distance"].map(DISTANCES.index)).sort_values("x")
    for series, of_series in points.groupby("series", sort=False):
        draw_marks(axes, of_series, known[series]._replace(line="-"), "x", capsize=0)
    axes.set_xticks(range(len(DISTANCES)), TICKS)
    axes.set_xlim(-0.4, len(DISTANCES) - 0.6)
    axes.set_ylim(-4, 104)
    axes.set_yticks([0, 50, 100])
    axes.set_ylabel("accuracy (%)")


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    models = points[points["series"] != style.BEST_CONTROL]
    known = (looks(models, line="") if len(models) else {}) | {style.BEST_CONTROL: BEST_CONTROL}
    lines: list[list[Panel]] = []
    for (source, _), block in points.groupby(["source", "split"], sort=False):
        every, by_distance = block[block["distance"].isna()], block[block["distance"].notna()]
        rows = Rows(every)
        large = [
            Panel(shown, partial(draw_lists, known=known, rows=rows), part, height=rows.height)
            for part, shown in every.groupby("part")
        ]
        lines += in_lines(large, 2, data_title(source, block["dataset"].iloc[0], sources))
        held_out = by_distance[by_distance["part"] == HELD_OUT]
        small = [
            Panel(shown, partial(draw_distances, known=known), name, height=HEIGHT)
            for name, shown in held_out.groupby("name", sort=False)
        ]
        lines += in_lines(small, ACROSS, BY_DISTANCE)
    luck = Patch(color=style.PALE, label="one order drawn by lot: 95 % of draws")
    handles = [look.handle(name) for name, look in known.items()]
    return figure_of(
        lines, [("", [*handles, CHANCE.handle("chance"), luck])], share_y="line", spread=2
    )


def main(given: Given) -> None:
    points = points_of(nli_metrics(given.metrics, given.models, ["list"], by_list=True))
    publish(given, points[COLUMNS], lambda: draw(points, given.sources))
