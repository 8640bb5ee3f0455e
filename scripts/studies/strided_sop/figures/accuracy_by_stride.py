"""Draw accuracy against stride, a panel for each corpus and evaluation split (Jain et al. 2020,
figure 3).

Rows on windows are left out if the corpus has rows on single captions. Rows on chosen pairs are
left out if there are rows on all pairs. extensions.py draws the rows left out, in the same way.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.measure.comparisons import LIKE, SHORTCUT, TITLES
from scripts.publish import style
from scripts.publish.item import Given
from scripts.publish.marks import replicate_name
from scripts.publish.compared import SYSTEM as COMPARED, read_comparisons, with_comparisons
from scripts.publish.message import message, titled
from scripts.publish.names import source_title, split_title
from scripts.publish.panels import (
    CHANCE,
    DOTTED,
    END,
    PEOPLE,
    Look,
    Panel,
    count_under,
    dodges,
    draw_line,
    draw_marks,
    ends_of,
    figure_of,
    highest,
    in_lines,
    looks,
    publish,
    with_best_control,
)
from scripts.studies.strided_sop.figures.metrics import (
    NUMBERS,
    VARIANT,
    strided_metrics,
    variant_title,
)

LETTER = 0.058  # width in inches of a letter of a count
HUMAN = PEOPLE._replace(line=DOTTED, width=1)
COLUMNS = "source split series model experiment stride".split()
COLUMNS += [*VARIANT, "limit", "seed", "wording", "metric", *NUMBERS]


class Axis(NamedTuple):
    """The axes: a column, its name, the name of the value, chance in per cent."""

    along: str = "stride"
    xlabel: str = "stride (sentences skipped)"
    ylabel: str = "accuracy (%)"
    chance: float = 50


def is_plain(metrics: pd.DataFrame) -> pd.Series:
    chosen = metrics[["size_matched", "same_videos"]].notna().any(axis=1)
    return ~(chosen | metrics["hard"].eq(True))


def drawn(metrics: pd.DataFrame, kinds: Sequence[str] = (LIKE,)) -> pd.DataFrame:
    """Return the rows on single captions, or on windows if a corpus has no others, with the control
    of each kind at each stride, for each way in which controls were measured.
    """
    single = metrics["context"].isna()
    shown = metrics[single | ~metrics["source"].isin(metrics.loc[single, "source"])]
    return best_controls(shown, kinds=kinds)


def best_controls(
    metrics: pd.DataFrame, along: str = "stride", kinds: Sequence[str] = (LIKE,)
) -> pd.DataFrame:
    """Return the rows with the control of each kind at each place as one series. along: the column
    of the places.
    """
    ways = ["source", "split", "predict", "order_by", along, *VARIANT[:-1]]
    metrics = with_best_control(metrics, ways, ["series"], metrics["metric"] == "accuracy", kinds)
    best = [
        (style.BEST_CONTROL if row["kind_of_control"] == LIKE else TITLES[SHORTCUT])
        + variant_title(row)
        for row in metrics.to_dict("records")
    ]
    is_control = metrics["method"] == "control"
    return metrics.assign(series=metrics["series"].mask(is_control, pd.Series(best, metrics.index)))


def series_looks(metrics: pd.DataFrame) -> dict[str, Look]:
    """Return the look of each series. A size-matched twin has the same look, open and dashed."""
    systems = metrics[metrics["model"] != "human"]
    kind = systems["series"].str.replace(", size-matched", "", regex=False)
    systems = systems.assign(kind=kind, matched=systems["size_matched"].notna())
    return looks(systems, kind="kind", opened="matched")


def in_short(low: int, high: int) -> str:
    """Return a range of counts that fits under a tick: 2,882, 296–838, 1.6–2.9 k, 1.60–2.86 M."""
    if low == high:
        return f"{low:,}" if low < 1e6 else f"{low / 1e6:.3g} M"
    if high < 1000:
        return f"{low}–{high}"
    if high < 1e6:
        return f"{low / 1000:.1f}–{high / 1000:.1f} k"
    return f"{low / 1e6:.2f}–{high / 1e6:.2f} M"


def counts_of(points: pd.DataFrame, along: str) -> dict[float, list[str]]:
    ends = points[points["model"] != "human"].groupby(along)[["n", "groups"]].agg(["min", "max"])
    return {
        place: [in_short(*row[name]) for name in ("n", "groups")] for place, row in ends.iterrows()
    }


def draw_series(axes: Axes, points: pd.DataFrame, look: Look, along: str, shift: float) -> None:
    """Draw one system: its peak (light), its seeds (dots), its accuracy (bold); a control as a
    line.
    """
    mean, accuracy = points["seed"].isna(), points["metric"] == "accuracy"
    peak = points[mean & (points["metric"] == "peak_accuracy")]
    light = look._replace(marker="_", size=6, width=0.9)
    draw_marks(axes, peak, light, along, shift=shift, intervals=False, alpha=0.45, zorder=2)
    seeds = points[~mean & accuracy]
    if len(seeds.drop_duplicates(["seed", "wording"])) > 1:
        x, y = seeds[along] + shift + 0.07, seeds["value"] * 100
        axes.scatter(x, y, s=4.5, color=look.colour, alpha=0.7, linewidths=0, zorder=5)
    shown = points[mean & accuracy]
    draw_marks(axes, shown, look, along, shift=shift, intervals=not look.is_control)


def draw_panel(
    axes: Axes, points: pd.DataFrame, known: dict[str, Look], places: list[int], axis: Axis
) -> None:
    draw_line(axes, axis.chance)
    ends = (places[0], axis.chance - 2), (places[-1], axis.chance + 4)
    axes.update_datalim(ends)  # the axis reaches at least these ends
    shifts = dodges(series for series, look in known.items() if not look.is_control)
    for series, look in known.items():
        of_series = points[points["series"] == series].sort_values(axis.along)
        draw_series(axes, of_series, look, axis.along, shifts.get(series, 0))
    human = points[points["metric"] == "human_accuracy"]
    thin: dict[str, Any] = {"ecolor": style.CONTROL, "elinewidth": 0.7, "capsize": 1.5}
    draw_marks(axes, human, HUMAN, axis.along, shift=-0.3, zorder=3, **thin)
    axes.set_xticks(places)
    axes.set_xlim(places[0] - 0.45, places[-1] + 0.45)
    place = axes.get_subplotspec()
    names = ("pairs", "videos") if place and place.is_first_col() else ()
    count_under(axes, counts_of(points, axis.along), names)
    axes.set_xlabel(axis.xlabel)
    axes.set_ylabel(axis.ylabel)


def legend(metrics: pd.DataFrame) -> list[tuple[str, list]]:
    learns = bool((metrics["metric"] == "peak_accuracy").any())
    interval = "reported epoch, 95 % interval" if learns else "95 % interval"
    marks = [Look(style.INK, "|", size=9).handle(interval)]
    if learns:
        label = "best epoch on this split, as in the paper"
        light = Look(style.INK, "_", width=0.9, size=6).handle(label)
        light.set_alpha(0.6)
        marks.append(light)
    if len(metrics.dropna(subset="seed").drop_duplicates(["seed", "wording"])) > 1:
        marks.append(Look(style.INK, "o", "", size=2.5).handle(replicate_name(metrics)))
    return [("", marks)]


def panels_across(panels: list[Panel], places: list[int], along: str) -> int:
    """Return the number of panels in a line such that the counts under their ticks do not touch."""
    counts = [lines for panel in panels for lines in counts_of(panel.points, along).values()]
    longest = max((len(text) for lines in counts for text in lines), default=1)
    wide = (LETTER * longest + 0.05) * len(places)
    return 2 if len(panels) > 1 and (style.width() - 0.7) / 2 - 0.2 - END > wide else 1


def draw(metrics: pd.DataFrame, sources: dict, axis: Axis) -> Figure:
    metrics, note = highest(metrics, metrics["metric"] == "accuracy")
    known, places = series_looks(metrics), sorted(set(metrics[axis.along]))
    people = metrics.loc[metrics["model"] == "human", "series"].unique()
    named = known | dict.fromkeys(people, HUMAN)
    draw_one = partial(draw_panel, known=known, places=places, axis=axis)
    panels = []
    for (source, split), points in metrics.groupby(["source", "split"], sort=False):
        means = points[points["seed"].isna() & points["metric"].ne("peak_accuracy")]
        ends = ends_of(means, named, axis.along)
        ends = [*ends, ("chance", axis.chance, CHANCE)]
        title = source_title(source, sources), split_title(split)
        panel = Panel(points, draw_one, *title, ends=ends)
        panels.append(titled(panel, message(points, "accuracy", "series", axis.along)))
    lines = in_lines(panels, panels_across(panels, places, axis.along))
    return figure_of(lines, legend(metrics), share_y="figure", note=note)


def main(given: Given) -> None:
    metrics = strided_metrics(given.metrics, given.models)
    metrics = with_comparisons(metrics, read_comparisons(given.metrics), COMPARED)
    plain = metrics[is_plain(metrics)]
    has_model = (~plain["method"].isin(["control", "human"])).any()
    shown, sources = drawn(plain if has_model else metrics, (LIKE, SHORTCUT)), given.sources
    is_drawn = metrics["metric"].isin(["accuracy", "peak_accuracy", "human_accuracy"])
    publish(given, metrics.loc[is_drawn, COLUMNS], lambda: draw(shown, sources, Axis()))
