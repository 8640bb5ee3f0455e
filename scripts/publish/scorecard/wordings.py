"""Draw how far the wordings of a prompt spread: each wording a mark, their mean with its interval, by probe, model and method.

A block for each study, a column for each of its probes, a row for each model and method that was asked in wordings.

Reads  metrics.parquet, <train>/<study>/<run>/run.json (kind, parameters), resources/sources.yaml and models.yaml, and beside
       them studies.yaml and published.csv
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the points, values as shares from 0 to 1

    python -m scripts.publish.scorecard.wordings --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --train results/train \\
        --runs STUDY/RUN STUDY/RUN … --output results/publish/default/figures/wordings
"""

import argparse

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from scripts.common.program import execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.names import load, method_title, model_title
from scripts.publish.scorecard.cells import PROBE, asked_rows, best_controls, networks_of, read_scores
from scripts.publish.scorecard.layout import at, probe_names
from scripts.publish.table import write_points

COLUMNS = [*PROBE, "model", "method", "split", "wording", "value", "sd", "seeds", "ci_low", "ci_high", "n", "sample"]
ROW, HEAD, MODEL, TITLE, FOOT, LEFT, GAP = 0.17, 0.36, 0.2, 0.115, 0.44, 1.95, 0.2  # inches


def worded(rows: pd.DataFrame) -> pd.DataFrame:
    """Of asked_rows() those of systems that were asked in several wordings: each wording (its mean over few-shot seeds), and their
    means (without a wording). What is scored by three labels and by two (NLI) is shown by three."""
    scorings = rows.groupby([*PROBE, "model", "method"], dropna=False)["scoring"].transform("nunique")
    rows = rows[(rows["scoring"] != "binary") | (scorings < 2)]
    several = rows.groupby("key")["wording"].transform("nunique") > 1
    rows = rows[several & (rows["wording"].notna() | rows["seed"].isna())]
    place = [*PROBE, "key", "wording"]
    rows = rows.assign(value=rows.groupby(place, dropna=False)["value"].transform("mean"))
    return rows.groupby(place, dropna=False, sort=False, as_index=False).first()


def draw_axes(axes: Axes, rows: pd.DataFrame, places: dict[tuple, float], marks: dict[str, str], control: pd.Series) -> None:
    """One probe: rows of worded(); places: of each model and method from the top."""
    for (model, method), system in rows.groupby(["model", "method"], sort=False):
        y = places[model, method]
        mean = system[system["wording"].isna()]
        axes.errorbar(mean["value"] * 100, [y] * len(mean), xerr=style.error_bars(mean), linestyle="", color=style.INK, marker="|",
                      markersize=7, markeredgewidth=1.4, elinewidth=0.9, capsize=1.8, zorder=3)
        for wording, one in system.dropna(subset="wording").groupby("wording", sort=False):
            axes.plot(one["value"] * 100, [y] * len(one), linestyle="", marker=marks[wording], markersize=4, markerfacecolor=style.PAPER,
                      markeredgecolor=style.COLOURS[list(marks).index(wording) % len(style.COLOURS)], markeredgewidth=1, zorder=4, clip_on=False)
    for y in places.values():
        axes.axhline(y, color=style.GRID, linewidth=0.6, zorder=0.5)
    for value in control[:1]:
        axes.axvline(value * 100, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=0.9, zorder=1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    axes.tick_params(labelsize=6.8)
    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))


def places_of(rows: pd.DataFrame) -> tuple[dict[tuple, float], dict[str, float], float]:
    """In inches from the top: each model and method, each model's name, the end."""
    places, names, y, last = {}, {}, 0.0, None
    for model, method in rows[["model", "method"]].drop_duplicates().itertuples(index=False):
        if model != last:
            names[model], y, last = y + MODEL / 2, y + MODEL, model
        places[model, method] = y + ROW / 2
        y += ROW
    return places, names, y + 0.06


def title_of(probe: dict) -> str:
    """What stands over a column: the corpus, where it is not named like its study, and what is probed."""
    corpus = "" if probe["corpus_title"] == probe["study_title"] else f"{probe['corpus_title']}\n"
    return f"{corpus}{probe['title']}"


def draw(rows: pd.DataFrame, probes: list[dict], controls: pd.DataFrame, models: dict) -> Figure:
    """The figure of worded(); probes: of probe_names()."""
    studies = list(dict.fromkeys(probe["study"] for probe in probes))
    blocks = {name: rows[rows["study"] == name] for name in studies}
    heads = {name: HEAD + TITLE * max(title_of(probe).count("\n") + 1 for probe in probes if probe["study"] == name) + 0.06 for name in studies}
    height = 0.3 + sum(heads[name] + places_of(block)[2] + FOOT for name, block in blocks.items())
    figure, top = plt.figure(figsize=(style.WIDTH, height)), height - 0.06
    for study, block in blocks.items():
        own = [probe for probe in probes if probe["study"] == study]
        marks = {name: style.MARKERS[number % 6] for number, name in enumerate(block["wording"].dropna().unique())}
        places, names, end = places_of(block)
        figure.text(0.06 / style.WIDTH, (top - 0.1) / height, own[0]["study_title"], fontweight="bold", fontsize=8.5, va="center")
        handles = [Line2D([], [], linestyle="", marker=mark, markersize=4, markerfacecolor=style.PAPER, label=name.replace("_", " "),
                          markeredgecolor=style.COLOURS[number % len(style.COLOURS)]) for number, (name, mark) in enumerate(marks.items())]
        figure.legend(handles=handles, loc="upper left", ncols=min(len(handles), 8), bbox_to_anchor=(0.06 / style.WIDTH, (top - 0.17) / height),
                      borderpad=0, borderaxespad=0, handletextpad=0.2, columnspacing=1.2, fontsize=7)
        wide = (style.WIDTH - LEFT - 0.12 - GAP * (len(own) - 1)) / len(own)
        for number, probe in enumerate(own):
            left, bottom = LEFT + number * (wide + GAP), top - heads[study] - end
            axes = figure.add_axes([left / style.WIDTH, bottom / height, wide / style.WIDTH, end / height])
            draw_axes(axes, at(block, probe), places, marks, at(controls, probe)["value"])
            axes.set_ylim(end, 0)
            axes.set_title(title_of(probe), loc="left", fontsize=7, pad=4)
            axes.set_xlabel("%", labelpad=0, fontsize=7)
            style.mark(axes, probe["face"], min(13, 9 * wide, 14 * end))
            if number == 0:
                label(axes, places, names, models)
        top -= heads[study] + end + FOOT
    lines = [Line2D([], [], color=style.INK, marker="|", markersize=7, linewidth=0.9, label="mean over the wordings, 95 % interval"),
             Line2D([], [], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=0.9, label=style.BEST_CONTROL)]
    style.legends(figure, [("", lines)], 0.06)
    return figure


def label(axes: Axes, places: dict[tuple, float], names: dict[str, float], models: dict) -> None:
    """Left of the first column: models, and under each its methods."""
    same = {"xycoords": ("figure fraction", "data"), "textcoords": "offset points", "va": "center", "annotation_clip": False}
    for model, y in names.items():
        axes.annotate(model_title(model, models), (0, y), (4, 0), fontsize=7, fontweight="bold", **same)
    for (_, method), y in places.items():
        axes.annotate(method_title(method), (0, y), (11, 0), fontsize=6.8, **same)


def main(given: argparse.Namespace) -> None:
    sources, models, studies = load(given.sources), load(given.models), load(given.sources.parent / "studies.yaml")
    metrics, networks = read_scores(given.metrics), networks_of([given.train / name / "run.json" for name in given.runs])
    studies = {name: study for name, study in studies.items() if name in set(metrics["study"])}
    rows = worded(asked_rows(metrics, studies, sources, networks))
    probes, controls = probe_names(rows, studies, sources).to_dict("records"), best_controls(metrics, rows, studies, sources)
    none = "no model was asked in several wordings in this run"
    style.save(lambda: style.nothing(none) if rows.empty else draw(rows, probes, controls, models), given)
    write_points(rows[COLUMNS], given.output)
    log.info("%s: %d points", given.output, len(rows))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "runs").parse_args())
