"""Draw loss and accuracy per epoch: a column for each stride, two rows for each corpus and model, a
line a seed. A dot marks the epoch that is reported: the one that each seed's held-out training
videos chose, the last where none are held out.
"""

import argparse
import itertools
import json
import textwrap
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scripts.data.tables import read_table
from scripts.publish import style
from scripts.publish.arguments import run_program
from scripts.publish.names import differences_told, load, model_title, source_title, split_title
from scripts.publish.panels import (
    CHANCE,
    Look,
    Panel,
    draw_line,
    figure_of,
    highest,
    in_lines,
    publish,
)
from scripts.publish.systems import settings_of
from scripts.train.epochs import chosen_epoch

FLAT = 0.06  # nats: what changes less is drawn flat
MEASURES = {"loss": "loss (nats)", "accuracy": "accuracy (%)"}
ROW = ["source", "model", "variant"]  # what has a row of panels
WRAP = 90  # letters of a row's title
CHOSEN = Look(marker="o", line="", size=2.6)
LEARNT = {"train": Look(width=1), "held_out": Look(style.COLOURS[4], line=(0, (4, 1.5)), width=1)}
LINES = ["-", (0, (1.2, 1)), (0, (5, 1, 1, 1))]


def read_history(file: Path) -> pd.DataFrame:
    """One run's history with its settings. summed: its training loss is that of two objectives."""
    settings = settings_of(file)
    data, training = settings["data"], settings["training"]
    variant = {"method": settings["method"]} | data | training
    variant["begins with"] = settings.get("made_by")
    stride = variant.pop("stride")
    history = read_table(file).to_pandas()
    return history.assign(
        **{name: settings[name] for name in ("source", "dataset", "model", "seed")},
        stride=stride,
        limit=data.get("limit"),
        summed=bool(training.get("objectives")),
        variant=json.dumps(variant, sort_keys=True),
    )


def split_looks(splits: list[str]) -> dict[str, Look]:
    """Grey for what is learnt from, colours for what is measured."""
    measured = [name for name in splits if name not in LEARNT]
    colours = zip(measured, itertools.cycle(zip(style.COLOURS, LINES)))
    known = LEARNT | {name: Look(of[0], line=of[1], width=1) for name, of in colours}
    return {name: known[name] for name in splits}


def chosen(lines: pd.DataFrame) -> int:
    """The epoch that is reported: the rule of training; the last where nothing is held out."""
    held_out = lines[lines["split"] == "held_out"].sort_values("epoch")
    return chosen_epoch(list(held_out["loss"])) if len(held_out) else int(lines["epoch"].max())


def draw_panel(axes: Axes, lines: pd.DataFrame, measure: str, known: dict[str, Look]) -> None:
    if lines.empty:
        axes.set_axis_off()
        return
    lines = lines.assign(value=lines[measure] * (100 if measure == "accuracy" else 1))
    if measure == "loss":
        lines = lines[(lines["split"] != "train") | ~lines["summed"]]  # not of the labels alone
    for _, seed in lines.groupby(["seed", "run"]):
        epoch = chosen(seed)
        for split, line in seed.sort_values("epoch").groupby("split"):
            axes.plot(line["epoch"], line["value"], alpha=0.85, **known[split].settings())
            if split != "train":
                at, dot = line[line["epoch"] == epoch], CHOSEN._replace(colour=known[split].colour)
                axes.plot(at["epoch"], at["value"], **dot.settings())
    if measure == "accuracy":
        draw_line(axes)
        axes.set_xlabel("epoch")
    else:
        middle = (lines["value"].min() + lines["value"].max()) / 2
        axes.update_datalim([(1, middle - FLAT / 2), (1, middle + FLAT / 2)])
        axes.tick_params(labelbottom=False)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.set_ylabel(MEASURES[measure])


def row_titles(history: pd.DataFrame, sources: dict, models: dict) -> dict[tuple, str]:
    """Corpus and model of each row, with the settings that differ between rows of one name."""
    keys = list(history.groupby(ROW, sort=False).groups)
    titles = {}
    for source, model, variant in keys:
        twins = [json.loads(key[2]) for key in keys if key[:2] == (source, model)]
        difference = differences_told(json.loads(variant), twins)
        title = f"{source_title(source, sources)} · {model_title(model, models)}"
        titles[source, model, variant] = title + difference
    return titles


def draw(history: pd.DataFrame, sources: dict, models: dict) -> Figure:
    values = history.assign(value=history["accuracy"], method="train")
    history, note = highest(values, values["split"] != "train")
    strides = sorted(set(history["stride"]), key=lambda stride: (isinstance(stride, str), stride))
    splits = sorted(
        set(history["split"]), key=lambda name: (name != "train", name != "held_out", name)
    )
    known, lines = split_looks(splits), []
    for key, title in row_titles(history, sources, models).items():
        rows = history[(history[ROW] == list(key)).all(axis=1)]
        panels = []
        for measure in MEASURES:
            draw_measure = partial(draw_panel, measure=measure, known=known)
            for stride in strides:
                of_stride = rows[rows["stride"] == stride]
                has_detail = measure == "loss" and len(of_stride) > 0
                detail = f"stride {stride}".replace("_", " ") * has_detail
                panels.append(Panel(of_stride, draw_measure, detail=detail, height=0.92))
        lines += in_lines(panels, len(strides), textwrap.fill(title, WRAP))
    handles = [look.handle(split_title(split)) for split, look in known.items()]
    marks = [CHOSEN.handle("the epoch that is reported"), CHANCE.handle("chance")]
    return figure_of(
        lines, [("", handles), ("", marks)], share_x="figure", share_y="line", size=7.5, note=note
    )


def main(given: argparse.Namespace) -> None:
    metrics = read_table(given.metrics, ["source", "sample"]).to_pandas()
    files = [given.train / name / "history.parquet" for name in given.runs]
    history = pd.concat(map(read_history, files))
    order = history.assign(stride=history["stride"].astype(str)).reset_index(drop=True)
    order = order.sort_values([*ROW, "stride", "seed", "split", "epoch"]).index
    history = history.iloc[order].reset_index(drop=True)
    history["sample"] = history["source"].isin(metrics.loc[metrics["sample"], "source"])
    # what is only asked has no curve
    history = history[history.groupby("run")["epoch"].transform("max") > 0]
    sources, models = load(given.sources), load(given.models)
    shown, none = history.drop(columns="variant"), "No model was trained. Name one that learns."
    publish(given, shown, lambda: draw(history, sources, models), none)


if __name__ == "__main__":
    run_program(main, __doc__, "runs")
