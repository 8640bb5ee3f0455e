"""Draw accuracy against stride, a panel for each corpus and evaluation split (Jain et al. 2020, figure 3).

Bold: the epoch that is reported (chosen on held-out training videos, the last where none are held out), with the 95 % interval over
videos and seeds; dots are single seeds.
Grey: controls, which cannot understand time (where they were measured in several ways, the best in each). Light: the best epoch
on the evaluation split itself, as the paper reports. Human answers where there are any. Windows of captions, whose strides are others,
are left out where single captions of the corpus were measured (scripts/publish/strided_sop/windows.py draws them).

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.strided_sop.accuracy_by_stride --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/accuracy_by_stride
"""

import argparse
import math
import textwrap

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scripts.common.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of, replicate_name
from scripts.publish.names import load, split_title
from scripts.publish.strided_sop.metrics import VARIANT, strided_metrics
from scripts.publish.table import write_points

DODGE = 0.09  # between two series at one stride
LETTER = 0.058  # inches, of a count
COLUMNS = ["source", "split", "series", "model", "experiment", "stride", *VARIANT, "limit", "seed", "wording", "metric", "value",
           "sd", "ci_low", "ci_high", "n", "groups", "sample"]


def of_captions(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows on single captions; of a corpus of which only windows of them were measured, those."""
    single = metrics["context"].isna()
    return metrics[single | ~metrics["source"].isin(metrics.loc[single, "source"])]


def with_few_controls(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows to draw: where controls were measured in several ways, such as size-matched, in each way the best over all strides."""
    rows = metrics[(metrics["method"] == "control") & (metrics["metric"] == "accuracy")]
    ways = [name for name in VARIANT if name != "method"]
    if len(rows.drop_duplicates(ways)) < 2:
        return metrics
    reached = rows.groupby([*ways, "series"], dropna=False, as_index=False)["value"].mean()
    best = reached.loc[reached.groupby(ways, dropna=False)["value"].idxmax(), "series"]
    return metrics[(metrics["method"] != "control") | metrics["series"].isin(best)]


def looks(metrics: pd.DataFrame) -> dict[str, dict]:
    """Per series its colour and marker (by model and method: a size-matched twin shares them) and its place in the dodge; controls grey."""
    trained = metrics[(metrics["model"] != "human") & (metrics["method"] != "control")].drop_duplicates("series")
    controls = metrics[metrics["method"] == "control"].drop_duplicates("series")
    shared = trained["series"].str.replace(", size-matched", "", regex=False)
    kinds = style.told_apart(zip(shared, trained["model"], trained["method"]))
    first = (len(trained) - 1) / 2
    plain = controls["series"].str.replace(", size-matched", "", regex=False)
    greys = {series: {"colour": style.CONTROL, "marker": style.CONTROL_MARKERS[list(dict.fromkeys(plain)).index(kind) % 6],
                      "matched": matched, "shift": 0.0}
             for series, kind, matched in zip(controls["series"], plain, controls["size_matched"].notna())}
    return greys | {
        series: {"colour": kinds[kind][0], "marker": kinds[kind][1],
                 "matched": matched, "shift": (place - first) * min(DODGE, 0.5 / len(trained))}
        for place, (series, kind, matched) in enumerate(
            zip(trained["series"], shared, trained["size_matched"].notna()))
    }


def draw_series(axes: Axes, points: pd.DataFrame, look: dict) -> None:
    """One model in one panel: peak (light), seeds (dots), and accuracy with its interval (bold); of a control a thin line."""
    line = (0, (4, 1.6)) if look["matched"] else "-"
    face = style.PAPER if look["matched"] else look["colour"]
    peak = points[(points["metric"] == "peak_accuracy") & points["seed"].isna()]
    axes.plot(peak["stride"] + look["shift"], peak["value"] * 100, linestyle=line, linewidth=0.9, alpha=0.45,
              color=look["colour"], marker="_", markersize=6, markeredgewidth=1.2, zorder=2)
    seeds = points[(points["metric"] == "accuracy") & points["seed"].notna()]
    if len(seeds.drop_duplicates(["seed", "wording"])) > 1:
        axes.scatter(seeds["stride"] + look["shift"] + 0.07, seeds["value"] * 100, s=4.5, color=look["colour"],
                     alpha=0.7, linewidths=0, zorder=5)
    mean = points[(points["metric"] == "accuracy") & points["seed"].isna()]
    if look["colour"] == style.CONTROL:
        axes.plot(mean["stride"], mean["value"] * 100, linestyle=line, linewidth=0.8, color=look["colour"], marker=look["marker"],
                  markersize=4, zorder=3)
        return
    axes.errorbar(mean["stride"] + look["shift"], mean["value"] * 100, yerr=style.error_bars(mean), linestyle=line,
                  color=look["colour"], marker=look["marker"], markersize=4.5, markerfacecolor=face,
                  markeredgewidth=1, elinewidth=0.9, capsize=2, zorder=4)


def short(count: int) -> str:
    """A count that fits under a tick: 2,882, and 1.98 M from a million on."""
    return f"{count:,}" if count < 1_000_000 else f"{count / 1e6:.3g} M"


def between(low: int, high: int) -> str:
    """A range of counts that fits under a tick: 296–838, and 1.6–2.9 k from a thousand on."""
    if high < 1000:
        return f"{low}–{high}"
    return f"{low / 1000:.1f}–{high / 1000:.1f} k" if high < 1_000_000 else f"{low / 1e6:.2f}–{high / 1e6:.2f} M"


def text_of(counts: pd.Series) -> str:
    """The counts behind the points of a stride."""
    low, high = counts.min(), counts.max()
    return short(low) if low == high else between(low, high)


def draw_counts(axes: Axes, points: pd.DataFrame, labelled: bool) -> None:
    """Under the ticks: the pairs and videos behind each point."""
    for drop, column, name in ((-20, "n", "pairs"), (-29, "groups", "videos")):
        for stride, counts in points.groupby("stride")[column]:
            axes.annotate(text_of(counts), (stride, 0), (0, drop), xycoords=("data", "axes fraction"), color=style.GREY,
                          textcoords="offset points", ha="center", va="center", fontsize=6.5, annotation_clip=False)
        if labelled:
            axes.annotate(name, (0, 0), (-6, drop), xycoords="axes fraction", textcoords="offset points",
                          color=style.GREY, ha="right", va="center", fontsize=6.5)


def legend_groups(metrics: pd.DataFrame, known: dict[str, dict]) -> list[tuple[str, list]]:
    """What stands under the panels: the series, the controls."""
    handles = [Line2D([], [], color=look["colour"], marker=look["marker"], markersize=4.5,
                      linestyle="--" if look["matched"] else "-",
                      markerfacecolor=style.PAPER if look["matched"] else look["colour"], label=series)
               for series, look in known.items()]
    controls = [handle for handle, look in zip(handles, known.values()) if look["colour"] == style.CONTROL]
    handles = [handle for handle in handles if handle not in controls]
    if "human" in set(metrics["model"]):
        handles.append(Line2D([], [], color=style.INK, marker="*", markersize=6, linestyle=":", label="human"))
    handles.append(Line2D([], [], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, label="chance, 50 %"))
    return [("", handles), (style.CONTROLS, controls)]


def legend_of_marks(figure: Figure, metrics: pd.DataFrame) -> None:
    """In the last line: what the kinds of mark mean."""
    learns = (metrics["metric"] == "peak_accuracy").any()
    marks = [Line2D([], [], color=style.GREY, marker="|", markersize=9, linewidth=1.4,
                    label="the epoch that is reported, 95 % interval" if learns else "95 % interval")]
    if learns:
        marks.append(Line2D([], [], color=style.GREY, alpha=0.6, marker="_", linewidth=0.9, label="best epoch on this split, as in the paper"))
    if len(metrics.dropna(subset="seed").drop_duplicates(["seed", "wording"])) > 1:
        marks.append(Line2D([], [], color=style.GREY, marker="o", markersize=2.5, linestyle="", label=replicate_name(metrics)))
    figure.legend(handles=marks, loc="lower center", ncols=len(marks), bbox_to_anchor=(0.5, 0.06 / figure.get_figheight()),
                  handlelength=1.8, columnspacing=1.6, borderaxespad=0, fontsize=7)


def panels_across(panels: list[tuple], strides: list[int]) -> int:
    """How many panels stand side by side: so few that the counts under their ticks do not touch."""
    wanted = len(panels) if len(panels) < 4 else 2 if len(panels) == 4 else 3
    counts = [text_of(of) for _, points in panels for column in ("n", "groups") for _, of in points[points["model"] != "human"].groupby("stride")[column]]
    tick = LETTER * max(map(len, counts), default=1) + 0.05
    return max([1, *(across for across in range(1, wanted + 1) if (style.WIDTH - 0.7) / across - 0.2 > tick * len(strides))])


def draw(metrics: pd.DataFrame, sources: dict) -> Figure:
    """The figure of a table made by strided_metrics()."""
    panels = list(metrics.groupby(["source", "split"], sort=False))
    known = looks(metrics)
    across = panels_across(panels, strides := sorted(set(metrics["stride"])))
    down = math.ceil(len(panels) / across)
    groups = legend_groups(metrics, known)
    foot, row = 0.9 + style.legends_height(groups), 2.55
    width = style.WIDTH
    figure, grid = plt.subplots(down, across, figsize=(width, row * down + foot - 0.1), sharey=True, squeeze=False)
    height = figure.get_figheight()
    figure.subplots_adjust(left=0.62 / width, right=1 - 0.08 / width, top=1 - 0.52 / height,
                           bottom=(foot + 0.12) / height, wspace=0.12, hspace=1.05 / (row - 1.0))
    for place, ((source, split), points) in enumerate(panels):
        axes = grid.flat[place]
        axes.axhline(50, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=1, zorder=1)
        for series, look in known.items():
            draw_series(axes, points[points["series"] == series], look)
        human = points[points["metric"] == "human_accuracy"]
        if len(human):
            axes.errorbar(human["stride"] - 0.3, human["value"] * 100, yerr=style.error_bars(human), color=style.INK,
                          linestyle=":", ecolor=style.CONTROL, marker="*", markersize=6, elinewidth=0.7, capsize=1.5,
                          linewidth=1, zorder=3)
        draw_counts(axes, points[points["model"] != "human"], labelled=place % across == 0)
        title = sources.get(source, {}).get("title", source)
        style.panel_title(axes, textwrap.wrap(title, 28 if across > 2 else 44), split_title(split))
        style.mark(axes, face_of(points))
        axes.set_xticks(strides)
        axes.set_xlim(strides[0] - 0.45, strides[-1] + 0.45)
        axes.set_xlabel("stride (sentences skipped)", labelpad=21)
        if place % across == 0:
            axes.set_ylabel("accuracy (%)")
    for axes in grid.flat[len(panels):]:
        axes.set_visible(False)
    shown = metrics[metrics["seed"].isna() & metrics["metric"].isin(["accuracy", "human_accuracy"])]
    drawn = metrics.loc[metrics["metric"].isin(["accuracy", "peak_accuracy", "human_accuracy"]), "value"]
    grid[0, 0].set_ylim(min(48, shown["ci_low"].min() * 100 - 1.5, drawn.min() * 100 - 1.5),
                        max(54, shown["ci_high"].max() * 100 + 1.5, drawn.max() * 100 + 1.5))
    style.legends(figure, groups, 0.3)
    legend_of_marks(figure, metrics)
    return figure


def main(given: argparse.Namespace) -> None:
    metrics = strided_metrics(given.metrics, load(given.models))
    shown, sources = with_few_controls(of_captions(metrics)), load(given.sources)
    style.save(lambda: draw(shown, sources), given)
    write_points(metrics.loc[metrics["metric"].isin(["accuracy", "peak_accuracy", "human_accuracy"]), COLUMNS], given.output)
    log.info("%s: %d points in %d panels", given.output, metrics["seed"].isna().sum(),
             len(metrics[["source", "split"]].drop_duplicates()))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
