"""Draw F1 and exact match of MC-TACO against the number of training pairs (Zhou et al. 2019, figure 3).

Small marks: single draws of training questions and single seeds. Lines: the mean over the draws of a size, from no training
data on where the model was measured untrained (method untrained), with the 95 % interval over questions and draws.
Dotted: random. Dashed: where the paper says that the curve goes flat, on the corpus of the paper only. Drawn are the
systems that were run with more than one size; all of them, where none was.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles, published.csv beside them
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.mctaco.training_size --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/mctaco_training_size
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scripts.common.intervals import mean_of
from scripts.common.program import UserError, execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of, replicate_name
from scripts.publish.mctaco.looks import looks
from scripts.publish.mctaco.metrics import (
    BASELINES, POINTS, claims_of, mctaco_metrics, title_of, with_best_control)
from scripts.publish.names import load, load_systems, split_title
from scripts.publish.table import write_points

METRICS = {"f1": "F1 (%)", "exact_match": "exact match (%)"}
COLUMNS = [*POINTS, "draws"]


def sized(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows to draw from: models at several sizes (all models, where none has several), random, and the best control."""
    rows = metrics[(metrics["slice"] == "all") & metrics["metric"].isin(METRICS)]
    trained = rows[~rows["model"].isin(BASELINES) & ~rows["method"].isin(["control", "released", "external"])]
    by_system = trained.groupby(["source", "split", "system"])["train_questions"]
    sizes = by_system.transform(lambda size: size.nunique(dropna=False))
    chosen = trained[sizes > 1] if (sizes > 1).any() else trained
    lines = with_best_control(rows, metrics)
    lines = lines[((lines["model"] == "random") | (lines["method"] == "control")) & lines["source"].isin(chosen["source"])]
    return pd.concat([lines, chosen], ignore_index=True)


def means(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean over draws (and seeds) at each size of each system: value, ci_low, ci_high, train_pairs, draws."""
    trained = rows[rows["seed"].isna() & ~rows["model"].isin(BASELINES) & (rows["method"] != "control")]
    key = ["source", "split", "system", "kind", "model", "unit_normalization", "experiment", "train_questions", "slice",
           "metric"]
    # Two experiments may share sizes: their rows are one system's, so that the experiment does not part them.
    trained = trained.assign(experiment=trained.groupby(["source", "split", "system"])["experiment"].transform("first"))
    by_size = trained.groupby(key, dropna=False, sort=False)
    points = by_size.agg(train_pairs=("train_pairs", "mean"), sd=("value", "std"), n=("n", "max"), draws=("draw", "nunique"),
                         sample=("sample", "any"), limit=("limit", "first")).reset_index()
    points[["value", "ci_low", "ci_high"]] = [mean_of(of_size.to_dict("records")) for _, of_size in by_size]
    return points.sort_values(["source", "split", "system", "metric", "train_pairs"], ignore_index=True)


def plateau(file: Path) -> pd.DataFrame:
    """Where the paper says that its curve goes flat: source, train_pairs."""
    claims = claims_of(file)
    claims = claims[claims["metric"] == "plateau.train_pairs"]
    return pd.DataFrame({"source": claims["setting"].str.removeprefix("source="),
                         "train_pairs": pd.to_numeric(claims["value"])})


def draw_panel(axes: Axes, single: pd.DataFrame, mean: pd.DataFrame, known: dict[str, dict], span: float) -> None:
    """One metric on one corpus and split."""
    random = single[(single["model"] == "random") & single["seed"].isna()]
    if len(random):
        axes.axhline(random["value"].iloc[0] * 100, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, zorder=1)
    control = single[(single["method"] == "control") & single["seed"].isna()]
    if len(control):
        axes.axhline(control["value"].iloc[0] * 100, color=style.CONTROL, linestyle=(0, (6, 2, 1, 2)), linewidth=1, zorder=1)
    here = [system for system in known if (mean["system"] == system).any()]
    for number, system in enumerate(here):
        look, line = known[system], mean[mean["system"] == system]
        shift = (number - (len(here) - 1) / 2) * span * min(0.011, 0.06 / len(here))  # within the limits of the axis
        dots = single[single["system"] == system]
        seeded = dots["seed"].notna()
        dots = dots[seeded] if seeded.any() else dots
        axes.plot(dots["train_pairs"] + shift + span * 0.014, dots["value"] * 100, linestyle="", marker=look["marker"],
                  markersize=2.4, markeredgewidth=0.6, color=look["colour"], markerfacecolor=look["face"], alpha=0.8,
                  zorder=5)
        axes.errorbar(line["train_pairs"] + shift, line["value"] * 100, yerr=style.error_bars(line), linestyle=look["line"],
                      color=look["colour"], marker=look["marker"], markersize=4.5, markerfacecolor=look["face"],
                      markeredgewidth=1, elinewidth=0.9, capsize=2, zorder=4)


def draw(rows: pd.DataFrame, flat: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by sized()."""
    points, known = means(rows), looks(rows[rows["method"] != "control"])
    panels = list(points.groupby(["source", "split"], sort=False).groups)
    handles = [Line2D([], [], color=look["colour"], marker=look["marker"], markersize=4.5, linestyle=look["line"],
                      markerfacecolor=look["face"], label=system) for system, look in known.items()]
    lines = [Line2D([], [], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, label="random"),
             Line2D([], [], color=style.GREY, marker="o", markersize=2, linestyle="", label=f"one draw, {replicate_name(rows)}"),
             *(Line2D([], [], color=style.CONTROL, linestyle=(0, (6, 2, 1, 2)), linewidth=1,
                      label=f"best control (no understanding of time), all questions: {name}")
               for name in rows.loc[rows["method"] == "control", "system"].unique())]
    groups = [("", handles), ("", lines[:2]), ("", lines[2:])]
    foot, top, panel, gap = 0.2 + style.legends_height(groups), 0.5, 2.2, 0.95
    width, height = style.WIDTH, foot + 0.5 + top + len(panels) * panel + (len(panels) - 1) * gap
    figure, grid = plt.subplots(len(panels), 2, figsize=(width, height), squeeze=False)
    figure.subplots_adjust(left=0.55 / width, right=1 - 0.22 / width, top=1 - top / height,
                           bottom=(foot + 0.5) / height, hspace=gap / panel, wspace=0.2)
    for line, (source, split) in enumerate(panels):
        draws, mean = ((table[(table["source"] == source) & (table["split"] == split)]) for table in (rows, points))
        span = max(mean["train_pairs"].max(), 1)
        for axes, (metric, label) in zip(grid[line], METRICS.items()):
            draw_panel(axes, draws[draws["metric"] == metric], mean[mean["metric"] == metric], known, span)
            axes.set_xlim(-0.04 * span, 1.06 * span)
            axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, steps=[1, 2, 5, 10]))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            axes.set_ylim(bottom=0)
            axes.set_ylabel(label)
            axes.set_xlabel("training pairs (question and candidate)")
            for place in flat.loc[(flat["source"] == source) & (flat["train_pairs"] <= 1.05 * span), "train_pairs"]:
                axes.axvline(place, color=style.GREY, linestyle=(0, (4, 3)), linewidth=0.7, zorder=1)
                axes.annotate(f"the paper: flat\nfrom about {place:,.0f}", (place, 0), (4, 4), color=style.GREY,
                              xycoords=("data", "axes fraction"), textcoords="offset points", va="bottom", zorder=2,
                              fontsize=6.5,
                              bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 1})
            style.mark(axes, face_of(draws), 14)
        questions = f"{split_title(split)}, {mean['n'].max():,} questions"
        style.panel_title(grid[line, 0], [title_of(source, sources)], questions)
    style.legends(figure, groups, 0.07)
    return figure


def main(given: argparse.Namespace) -> None:
    rows = sized(mctaco_metrics(given.metrics, load_systems(given.models, given.sources), draws=True))
    if rows[~rows["model"].isin(BASELINES) & (rows["method"] != "control")].empty:
        raise UserError(f"{given.metrics}: no f1 or exact_match of a model; run an experiment of mctaco with a model")
    flat, sources = plateau(given.sources.parent / "published.csv"), load(given.sources)
    style.save(lambda: draw(rows, flat, sources), given)
    mean = means(rows).assign(origin="mean over draws", draw=np.nan, seed=np.nan, wording=None)
    write_points(pd.concat([mean[COLUMNS], rows.assign(origin="one draw", draws=np.nan).reindex(columns=COLUMNS)]), given.output)
    log.info("%s: %d sizes", given.output, mean["train_questions"].nunique(dropna=False))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
