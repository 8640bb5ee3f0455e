"""Draw loss and accuracy per epoch: a column for each stride, two rows for each corpus and model, a line a seed.

A dot marks the epoch that is reported: the one that each seed's held-out training videos chose, the last where none are held out.

Reads  metrics.parquet (for which corpora are samples), <train>/<run>/history.parquet of each run (schema history; its
       provenance tells the run's settings), resources/sources.yaml and models.yaml for titles
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points

    python -m scripts.publish.training_curves --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml --train results/train/strided_sop \\
        --runs RUN RUN … --output results/publish/default/figures/strided_sop_training_curves
"""

import argparse
import json
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from scripts.common.program import execute, log
from scripts.common.tables import read_table
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.names import differences_told, load, model_title, split_title
from scripts.publish.systems import settings_of
from scripts.publish.table import write_points
from scripts.train.choice import chosen_epoch

FLAT = 0.06  # nats: what changes less is drawn flat


def read_history(file: Path) -> pd.DataFrame:
    """One run's history, with its source, dataset, stride, model, seed and other settings (JSON) as columns; summed: whether its training
    loss is that of two objectives."""
    settings = settings_of(file)
    return read_table(file).to_pandas().assign(
        **{name: settings[name] for name in ("source", "dataset", "model", "seed")},
        stride=settings["data"]["stride"], limit=settings["data"].get("limit"), summed=bool(settings["training"].get("objectives")),
        variant=json.dumps({name: value for name, value in ({"method": settings["method"]} | settings["data"] | settings["training"] | {
            "begins with": settings.get("made_by")}).items()
                            if name != "stride"}, sort_keys=True),
    )


def look(split: str, splits: list[str]) -> dict:
    """Colour and line of a split: grey for what is learnt from, colours for what is measured."""
    if split == "train":
        return {"color": style.GREY, "linestyle": "-"}
    if split == "held_out":
        return {"color": style.COLOURS[4], "linestyle": (0, (4, 1.5))}
    place = [name for name in splits if name not in ("train", "held_out")].index(split)
    return {"color": style.COLOURS[place % 3], "linestyle": ["-", (0, (1.2, 1)), (0, (5, 1, 1, 1))][place % 3]}


def chosen(lines: pd.DataFrame) -> int:
    """The epoch that is reported: the rule of training; the last where nothing is held out."""
    held_out = lines[lines["split"] == "held_out"].sort_values("epoch")
    return chosen_epoch(list(held_out["loss"])) if len(held_out) else int(lines["epoch"].max())


def draw_panel(axes: Axes, lines: pd.DataFrame, measure: str, splits: list[str]) -> None:
    """Every seed and split of one dataset; dots at the chosen epochs."""
    factor = 100 if measure == "accuracy" else 1
    for _, seed in lines.groupby(["seed", "run"]):
        epoch = chosen(seed)
        for split, line in seed.groupby("split"):
            if measure == "loss" and split == "train" and line["summed"].any():
                continue  # not of the labels alone
            line, style_of = line.sort_values("epoch"), look(split, splits)
            axes.plot(line["epoch"], line[measure] * factor, linewidth=1, alpha=0.85, **style_of)
            if split != "train":
                at = line[line["epoch"] == epoch]
                axes.plot(at["epoch"], at[measure] * factor, "o", markersize=2.6, color=style_of["color"])
    if measure == "accuracy":
        axes.axhline(50, color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=0.8, zorder=1)


def row_titles(history: pd.DataFrame, sources: dict, models: dict) -> dict[tuple, str]:
    """Corpus and model of each row; with the settings that differ, where two rows would be named alike."""
    keys = list(history.groupby(["source", "model", "variant"], sort=False).groups)
    titles = {}
    for source, model, variant in keys:
        twins = [json.loads(key[2]) for key in keys if key[:2] == (source, model)]
        title = sources.get(source, {}).get("title", source)
        titles[source, model, variant] = f"{title} · {model_title(model, models)}{differences_told(json.loads(variant), twins)}"
    return titles


def draw(history: pd.DataFrame, sources: dict, models: dict) -> Figure:
    """The figure of concatenated histories (read_history), with the column sample."""
    strides = sorted(set(history["stride"]), key=lambda stride: (isinstance(stride, str), stride))
    splits = sorted(set(history["split"]), key=lambda name: (name != "train", name != "held_out", name))
    titles = row_titles(history, sources, models)
    handles = [Line2D([], [], label=split_title(split), **look(split, splits)) for split in splits]
    marks = [Line2D([], [], color=style.GREY, marker="o", markersize=2.6, linestyle="", label="the epoch that is reported"),
             Line2D([], [], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=0.8, label="chance")]
    groups = [("", handles), ("", marks)]
    width, panel, gap, top, foot = style.WIDTH, 0.92, 0.76, 0.5, 0.5 + style.legends_height(groups)
    height = top + foot + len(titles) * (2 * panel + 0.1) + (len(titles) - 1) * gap
    figure = plt.figure(figsize=(width, height))
    for number, (key, title) in enumerate(titles.items()):
        rows = history[(history[["source", "model", "variant"]] == list(key)).all(axis=1)]
        high = height - top - number * (2 * panel + 0.1 + gap)
        grid = figure.add_gridspec(2, len(strides), left=0.55 / width, right=1 - 0.08 / width, top=high / height,
                                   bottom=(high - 2 * panel - 0.1) / height, wspace=0.1, hspace=0.14)
        figure.text(0.55 / width, (high + 0.27) / height, title, fontweight="bold", va="bottom")
        for line, (measure, unit) in enumerate((("loss", "loss (nats)"), ("accuracy", "accuracy (%)"))):
            shared = None
            for column, stride in enumerate(strides):
                axes = figure.add_subplot(grid[line, column], sharey=shared)
                shared = shared or axes
                lines = rows[rows["stride"] == stride]
                if lines.empty:
                    axes.set_axis_off()
                    continue
                draw_panel(axes, lines, measure, splits)
                style.mark(axes, face_of(lines), 10)
                axes.set_xlim(0.7, history["epoch"].max() + 0.3)
                axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
                axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
                axes.tick_params(labelleft=column == 0, labelbottom=line == 1)
                if column == 0:
                    axes.set_ylabel(unit)
                if line == 0:
                    axes.set_title(f"stride {stride}".replace("_", " "), loc="left", fontsize=7.5, color=style.GREY, pad=3)
                if line == 1 and number == len(titles) - 1:
                    axes.set_xlabel("epoch")
            low, high_loss = shared.get_ylim()  # of all strides: limits that are set hold for those drawn later, and cut them
            if measure == "loss" and high_loss - low < FLAT:
                shared.set_ylim((low + high_loss - FLAT) / 2, (low + high_loss + FLAT) / 2)
    style.legends(figure, groups, 0.08)
    return figure


def main(given: argparse.Namespace) -> None:
    metrics = read_table(given.metrics, ["source", "sample"]).to_pandas()
    history = pd.concat([read_history(given.train / name / "history.parquet") for name in given.runs])
    history = history.sort_values(["source", "model", "variant", "stride", "seed", "split", "epoch"], ignore_index=True,
                                  key=lambda column: column.astype(str) if column.name == "stride" else column)
    history["sample"] = history["source"].isin(metrics.loc[metrics["sample"], "source"])
    history = history[history.groupby("run")["epoch"].transform("max") > 0]  # what is only asked has no curve
    sources, models, none = load(given.sources), load(given.models), "no model was trained in this run"
    style.save(lambda: style.nothing(none) if history.empty else draw(history, sources, models), given)
    write_points(history.drop(columns="variant"), given.output)
    log.info("%s: %d runs", given.output, history["run"].nunique())


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "runs").parse_args())
