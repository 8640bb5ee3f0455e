"""Draw F1 and exact match of MC-TACO against the number of training pairs (Zhou et al. 2019, figure
3). The figure shows systems that were run with more than one size.
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scripts.measure.intervals import mean_of
from scripts.measure.comparisons import MADE_ELSEWHERE
from scripts.publish import style
from scripts.publish.item import Given
from scripts.publish.marks import replicate_name
from scripts.publish.panels import (
    CHANCE,
    DASHED,
    Look,
    Panel,
    among,
    dodges,
    draw_line,
    draw_marks,
    ends_of,
    figure_of,
    highest,
    in_lines,
    publish,
    same_place,
)
from scripts.publish.message import titled
from scripts.publish.published import claims_beside
from scripts.publish.selection import only
from scripts.publish.table import percent
from scripts.studies.mctaco.figures.metrics import (
    BASELINES,
    NORMALIZED,
    PLACE,
    POINTS,
    SYSTEM,
    by_place,
    metrics_to_draw,
    system_looks,
)

METRICS = {"f1": "F1 (%)", "exact_match": "exact match (%)"}
CONTROL = Look(style.GREY, line=(0, (6, 2, 1, 2)), width=1)
PLATEAU = Look(line=DASHED, width=0.7)
ONE_SIZE = (
    "No model was trained on several numbers of questions. "
    "Run an experiment of mctaco with data: {train_questions: [70, 280]}."
)
# how a mark of one draw looks
ONE: dict[str, Any] = {"linestyle": "", "markersize": 2.4, "markeredgewidth": 0.6, "alpha": 0.8}
ONE |= {"zorder": 5, "intervals": False}


def sized(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of models with several sizes, of random and of the control like for like with
    the same units. The table is empty if no model has several sizes.
    """
    rows = only(metrics, slice="all", metric=METRICS)
    trained = of_models(rows)
    trained = trained[~trained["method"].isin(MADE_ELSEWHERE)]
    sizes = trained.groupby(SYSTEM)["train_questions"].transform(
        lambda size: size.nunique(dropna=False)
    )
    chosen = trained[sizes > 1]
    is_control = (rows["method"] == "control") & rows["drawn"]
    is_control &= among(rows, chosen, ["source", "unit_normalization"])
    is_random = (rows["model"] == "random") & rows["source"].isin(chosen["source"])
    lines = rows[is_control | is_random]
    return pd.concat([lines, chosen], ignore_index=True)


def of_models(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[~rows["model"].isin(BASELINES) & (rows["method"] != "control")]


def means(rows: pd.DataFrame) -> pd.DataFrame:
    trained = of_models(rows[rows["seed"].isna()])
    key = "kind model unit_normalization experiment train_questions slice metric".split()
    # Two experiments may share a system's sizes: give all its rows the same experiment.
    trained = trained.assign(experiment=trained.groupby(SYSTEM)["experiment"].transform("first"))
    by_size = trained.groupby([*SYSTEM, *key], dropna=False, sort=False)
    points = by_size.agg(
        train_pairs=("train_pairs", "mean"),
        sd=("value", "std"),
        n=("n", "max"),
        draws=("draw", "nunique"),
        sample=("sample", "any"),
        limit=("limit", "first"),
    ).reset_index()
    ends = [mean_of(of_size.to_dict("records"))[:3] for _, of_size in by_size]
    points[["value", "ci_low", "ci_high"]] = np.array(ends, float).reshape(-1, 3)
    return points.sort_values([*SYSTEM, "metric", "train_pairs"], ignore_index=True)


def draw_panel(
    axes: Axes, rows: pd.DataFrame, points: pd.DataFrame, known: dict[str, Look], flat: pd.DataFrame
) -> None:
    mean = same_place(points, rows, [*PLACE, "metric"])
    for _, value, look in level_lines(rows):
        draw_line(axes, value, look=look)
    span = max(mean["train_pairs"].max(), 1)
    for system, shift in dodges(mean["system"].unique(), 0.7).items():
        look, single = known[system], rows[rows["system"] == system]
        single = single[single["seed"].notna()] if single["seed"].notna().any() else single
        shift *= 0.12 * span  # within the limits of the axis
        draw_marks(axes, single, look, "train_pairs", shift=shift + span * 0.014, **ONE)
        draw_marks(axes, mean[mean["system"] == system], look, "train_pairs", shift=shift)
    for place in same_place(flat, rows, ["source"])["train_pairs"]:
        draw_line(axes, place, upright=True, look=PLATEAU)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(-0.04 * span, 1.06 * span)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(METRICS[rows["metric"].iloc[0]])
    axes.set_xlabel("training pairs (question and candidate)")


def level_lines(rows: pd.DataFrame) -> list[tuple[str, float, Look]]:
    """Return the name, the value in per cent and the look of random and of the control."""
    means = rows[rows["seed"].isna()]
    is_control, units = means["method"] == "control", means["unit_normalization"].astype(bool)
    best = style.BEST_CONTROL
    lines = (
        ("random", means["model"] == "random", CHANCE),
        (f"{best}, all questions", is_control & ~units, CONTROL),
        (f"{best}{NORMALIZED}, all questions", is_control & units, CONTROL),
    )
    return [
        (name, value * 100, look)
        for name, is_of, look in lines
        for value in means.loc[is_of, "value"].head(1)
    ]


def from_to(mean: pd.DataFrame) -> str:
    """Return the first and last score of the system with the highest score: `tiny BERT: 13.2 % from
    0 pairs, 45.0 % from 2,260`.
    """
    best = mean[mean["system"] == mean.loc[mean["value"].idxmax(), "system"]]
    ends = best.sort_values("train_pairs")[["value", "train_pairs"]].iloc[[0, -1]].to_numpy()
    first, last = (f"{percent(value)} % from {pairs:,.0f}" for value, pairs in ends)
    return f"{best['system'].iloc[0]}: {first} pairs, {last}"


def draw(rows: pd.DataFrame, flat: pd.DataFrame, sources: dict) -> Figure:
    rows, note = highest(rows, rows["metric"] == "exact_match")
    points, known = means(rows), system_looks(of_models(rows))
    in_sight = flat["source"].map(points.groupby("source")["train_pairs"].max() * 1.05)
    flat, lines = flat[flat["train_pairs"] <= in_sight], []
    draw_metric = partial(draw_panel, points=points, known=known, flat=flat)
    for mean, source, split in by_place(points, sources):
        here, detail = same_place(rows, mean), f"{split}, {mean['n'].max():,} questions"
        panels = []
        for metric in METRICS:
            of_metric, shown = mean[mean["metric"] == metric], here[here["metric"] == metric]
            ends = ends_of(of_metric.assign(series=of_metric["system"]), known, "train_pairs")
            ends = [*ends, *level_lines(shown)]
            panel = Panel(shown, draw_metric, source, detail, height=2.2, ends=ends)
            panels.append(titled(panel, from_to(of_metric)))
        lines += in_lines(panels, 2)
    one = f"one draw, {replicate_name(rows)}"
    marks = [Look(style.INK, "o", "", size=2).handle(one)]
    for place in flat["train_pairs"].unique():
        marks.append(PLATEAU.handle(f"the paper: flat from about {place:,.0f}"))
    return figure_of(lines, [("", marks)], note=note)


def main(given: Given) -> None:
    rows = sized(metrics_to_draw(given, [*PLACE, "unit_normalization"], draws=True))
    claims, sources = claims_beside(given.resources, "mctaco", ["source"]), given.sources
    claims = claims[claims["metric"] == "plateau.train_pairs"]
    flat = claims[["source"]].assign(train_pairs=pd.to_numeric(claims["value"]))
    mean = means(rows).assign(origin="mean over draws", draw=np.nan, seed=np.nan, wording=None)
    points = pd.concat([mean, rows.assign(origin="one draw", draws=np.nan)])
    publish(given, points[[*POINTS, "draws"]], lambda: draw(rows, flat, sources), ONE_SIZE)
