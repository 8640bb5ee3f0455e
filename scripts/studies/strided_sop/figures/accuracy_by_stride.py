"""Draw accuracy against stride, a panel for each corpus
and evaluation split (Jain et al. 2020, figure 3).

Bold: the epoch that is reported (chosen on held-out training videos, the last where none are held
out), with the 95 % interval over videos and seeds; dots are single seeds.
Grey: each corpus's best control, which cannot understand time (of those that were measured in
several ways, the best in each); the table has the others. Light: the best epoch on the evaluation
split itself, as the paper reports. Human answers where there are any. Windows of captions, whose
strides are others, are left out where single captions of the corpus were measured
(scripts/studies/strided_sop/figures/windows.py draws them).
"""

import argparse
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.marks import replicate_name
from scripts.publish.names import load
from scripts.publish.panels import (
    CHANCE,
    DOTTED,
    PEOPLE,
    Look,
    Panel,
    count_under,
    dodges,
    draw_line,
    draw_marks,
    figure_of,
    in_lines,
    legend_of,
    looks,
    publish,
    with_best_control,
)
from scripts.studies.strided_sop.figures.metrics import NUMBERS, VARIANT, panels_of, strided_metrics

LETTER = 0.058  # inches, of a count
HUMAN = PEOPLE._replace(line=DOTTED, width=1)
COLUMNS = [
    "source",
    "split",
    "series",
    "model",
    "experiment",
    "stride",
    *VARIANT,
    "limit",
    "seed",
    "wording",
    "metric",
    *NUMBERS,
]


def of_captions(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows on single captions; of a corpus of which only windows of them were measured,
    those.
    """
    single = metrics["context"].isna()
    return metrics[single | ~metrics["source"].isin(metrics.loc[single, "source"])]


def with_few_controls(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows to draw: of each corpus's controls the best over all strides, in each way, such as
    size-matched, in which they were measured.
    """
    ways = ["source", *(name for name in VARIANT if name != "method")]
    return with_best_control(metrics, ways, ["series"], metrics["metric"] == "accuracy")


def series_looks(metrics: pd.DataFrame) -> dict[str, Look]:
    """The look of each series; a size-matched twin has the same, open and dashed."""
    systems = metrics[metrics["model"] != "human"]
    kind = systems["series"].str.replace(", size-matched", "", regex=False)
    systems = systems.assign(kind=kind, matched=systems["size_matched"].notna())
    return looks(systems, kind="kind", opened="matched")


def short(count: int) -> str:
    """A count that fits under a tick: 2,882, and 1.98 M from a million on."""
    return f"{count:,}" if count < 1_000_000 else f"{count / 1e6:.3g} M"


def between(low: int, high: int) -> str:
    """A range of counts that fits under a tick: 296–838, and 1.6–2.9 k from a thousand on."""
    if high < 1000:
        return f"{low}–{high}"
    return (
        f"{low / 1000:.1f}–{high / 1000:.1f} k"
        if high < 1_000_000
        else f"{low / 1e6:.2f}–{high / 1e6:.2f} M"
    )


def counts_of(points: pd.DataFrame) -> dict[float, list[str]]:
    """By stride the pairs and the videos behind its points, as text."""
    ends = points[points["model"] != "human"].groupby("stride")[["n", "groups"]].agg(["min", "max"])
    return {
        stride: [
            short(low) if low == high else between(low, high)
            for low, high in (row["n"], row["groups"])
        ]
        for stride, row in ends.iterrows()
    }


def draw_series(axes: Axes, points: pd.DataFrame, look: Look, shift: float) -> None:
    """One system: its peak (light), its seeds (dots), its accuracy (bold); of a control a line."""
    mean, accuracy = points["seed"].isna(), points["metric"] == "accuracy"
    peak = points[mean & (points["metric"] == "peak_accuracy")]
    draw_marks(
        axes,
        peak,
        look,
        "stride",
        shift=shift,
        intervals=False,
        linewidth=0.9,
        alpha=0.45,
        marker="_",
        markersize=6,
        zorder=2,
    )
    seeds = points[~mean & accuracy]
    if len(seeds.drop_duplicates(["seed", "wording"])) > 1:
        axes.scatter(
            seeds["stride"] + shift + 0.07,
            seeds["value"] * 100,
            s=4.5,
            color=look.colour,
            alpha=0.7,
            linewidths=0,
            zorder=5,
        )
    draw_marks(
        axes,
        points[mean & accuracy],
        look,
        "stride",
        shift=shift,
        intervals=look.colour != style.CONTROL,
    )


def draw_panel(
    axes: Axes, points: pd.DataFrame, known: dict[str, Look], strides: list[int]
) -> None:
    """One corpus and split."""
    draw_line(axes)
    axes.update_datalim([(strides[0], 48), (strides[-1], 54)])  # at least
    shifts = dodges(series for series, look in known.items() if look.colour != style.CONTROL)
    for series, look in known.items():
        draw_series(axes, points[points["series"] == series], look, shifts.get(series, 0))
    draw_marks(
        axes,
        points[points["metric"] == "human_accuracy"],
        HUMAN,
        "stride",
        shift=-0.3,
        ecolor=style.CONTROL,
        elinewidth=0.7,
        capsize=1.5,
        zorder=3,
    )
    axes.set_xticks(strides)
    axes.set_xlim(strides[0] - 0.45, strides[-1] + 0.45)
    place = axes.get_subplotspec()
    names = ("pairs", "videos") if place and place.is_first_col() else ()
    count_under(axes, counts_of(points), names)
    axes.set_xlabel("stride (sentences skipped)")
    axes.set_ylabel("accuracy (%)")


def legend(metrics: pd.DataFrame, known: dict[str, Look]) -> list[tuple[str, list]]:
    """What stands under the panels: the series, the controls, what the kinds of mark mean."""
    human = [HUMAN.handle("human")] if "human" in set(metrics["model"]) else []
    learns = bool((metrics["metric"] == "peak_accuracy").any())
    interval = "the epoch that is reported, " * learns + "95 % interval"
    marks = [Look(marker="|", size=9).handle(interval)]
    if learns:
        marks.append(
            Line2D(
                [],
                [],
                color=style.GREY,
                alpha=0.6,
                marker="_",
                linewidth=0.9,
                label="best epoch on this split, as in the paper",
            )
        )
    if len(metrics.dropna(subset="seed").drop_duplicates(["seed", "wording"])) > 1:
        marks.append(Look(marker="o", line="", size=2.5).handle(replicate_name(metrics)))
    return [*legend_of(known, *human, CHANCE.handle("chance, 50 %")), ("", marks)]


def panels_across(panels: list[Panel], strides: list[int]) -> int:
    """How many panels stand side by side: so few that the counts under their ticks do not touch."""
    wanted = 2 if len(panels) == 4 else min(3, len(panels))
    texts = [
        text for panel in panels for lines in counts_of(panel.points).values() for text in lines
    ]
    wide = (LETTER * max(map(len, texts), default=1) + 0.05) * len(strides)
    fitting = [
        across for across in range(1, wanted + 1) if (style.WIDTH - 0.7) / across - 0.2 > wide
    ]
    return max([1, *fitting])


def draw(metrics: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by strided_metrics()."""
    known, strides = series_looks(metrics), sorted(set(metrics["stride"]))
    panels = panels_of(metrics, partial(draw_panel, known=known, strides=strides), sources)
    return figure_of(
        in_lines(panels, panels_across(panels, strides)), legend(metrics, known), share_y="figure"
    )


def main(given: argparse.Namespace) -> None:
    metrics = strided_metrics(given.metrics, load(given.models))
    shown, sources = with_few_controls(of_captions(metrics)), load(given.sources)
    is_drawn = metrics["metric"].isin(["accuracy", "peak_accuracy", "human_accuracy"])
    publish(given, metrics.loc[is_drawn, COLUMNS], lambda: draw(shown, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
