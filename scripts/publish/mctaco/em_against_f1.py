"""Draw exact match against F1 on MC-TACO, a panel for each corpus and split: models, baselines, and the best control.

Where more than LABELLED systems stand in a panel they are told by a legend instead of labels.

F1 rewards each right candidate, exact match only a question without any mistake: how far a system lies below the
diagonal tells how much of its F1 comes from single candidates rather than from whole questions. Means over the seeds
with 95 % intervals over questions and seeds; light open marks: table 2 of Zhou et al. 2019, on the corpus of the paper
only, joined to the same system here by a thin line. Grey: the control with the highest exact match; the others are in the CSV.

Reads  metrics.parquet (schema metrics), resources/sources.yaml and models.yaml for titles, published.csv beside them
Writes <output>.svg, .dark.svg, .png, .pdf, and .csv: the plotted points, values as shares from 0 to 1

    python -m scripts.publish.mctaco.em_against_f1 --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        --output results/publish/default/figures/mctaco_em_against_f1
"""

import argparse
import itertools
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from scripts.common.program import UserError, execute, log
from scripts.publish import style
from scripts.publish.arguments import publisher_arguments
from scripts.publish.marks import face_of
from scripts.publish.mctaco.looks import LABELLED, legend_of_systems, looks
from scripts.publish.mctaco.metrics import (
    BASELINES, POINTS, mctaco_metrics, over_seeds, published_beside, published_points, table_2, title_of,
    trained_most, with_best_control)
from scripts.publish.names import load, load_systems, people_points, split_title
from scripts.publish.table import write_points

BASELINE = {"colour": style.INK, "marker": "X", "face": style.INK}
RINGS = (7, 13, 21, 31, 43, 57)  # points from a mark to its label, nearest first
# Where a label may stand, from the right on: right and left first, corners, below and above, then between these.
TURNS = np.deg2rad([0, 180, 315, 45, 225, 135, 270, 90, 337, 22, 202, 157, 292, 67, 247, 112])
WRAP = 34  # letters of a label's line
MARK = 4  # points: half the width of a mark


def systems(metrics: pd.DataFrame) -> pd.DataFrame:
    """F1 and exact match over the whole test split, of every system."""
    rows = trained_most(over_seeds(metrics))
    rows = rows[(rows["slice"] == "all") & rows["metric"].isin(["f1", "exact_match"]) & (rows["model"] != "gold")]
    return rows.assign(origin="here")


def overlap(boxes: np.ndarray, box: np.ndarray) -> float:
    """The area that a box (left, bottom, right, top) shares with boxes, (n, 4)."""
    sides = np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2])
    return float(np.clip(sides, 0, None).prod(1).sum())


def readable(colour: str) -> str:
    """A colour that stands out enough for small text: mixed with ink."""
    return to_hex(0.6 * np.array(to_rgb(colour)) + 0.4 * np.array(to_rgb(style.INK)))


def nearest(box: np.ndarray, mark: np.ndarray) -> np.ndarray:
    """The point of a box that is nearest to a mark."""
    return np.clip(mark, box[:2], box[2:])


def leader(box: np.ndarray, mark: np.ndarray) -> np.ndarray:
    """Small boxes (n, 4) along the line from a label's box to its mark."""
    along = nearest(box, mark) + np.linspace(0, 0.85, 24)[:, None] * (mark - nearest(box, mark))
    return np.hstack([along - 2, along + 2])


def best_place(mark: np.ndarray, half: np.ndarray, frame: Bbox, point: float, taken: np.ndarray, written: np.ndarray,
               lines: np.ndarray) -> tuple[float, np.ndarray]:
    """The ring and the box (left, bottom, right, top) of the nearest place beside a mark that covers nothing.

    half: half the label's size; taken, written, lines: (n, 4) boxes of what stands there, of the other labels and of their lines;
    all in pixels, but for point, the pixels of one.
    """
    places = []
    for ring, turn in itertools.product(RINGS, TURNS):
        toward = np.array([np.cos(turn), np.sin(turn)])
        # The side or corner of the box that faces the mark lies on the ring.
        centre = mark + toward * ring * point + (2 * toward.round(1)).clip(-1, 1) * half
        box = np.concatenate([centre - half, centre + half])
        outside = np.clip([frame.x0 - box[0], frame.y0 - box[1], box[2] - frame.x1, box[3] - frame.y1], 0, None).sum()
        crossed = sum(overlap(written, piece) for piece in leader(box, mark))
        covered = overlap(np.vstack([taken, written]), box + (-2, -1, 2, 1))
        places.append((4 * covered + 50 * outside + 20 * (crossed + overlap(lines, box)) + ring, ring, box))
    return min(places, key=lambda place: place[0])[1:]


def place_labels(axes: Axes, labels: list[dict], taken: np.ndarray) -> None:
    """Write labels beside their marks: each at the nearest place that covers no mark, interval, line or other label.

    labels: x, y (data), text, colour; taken: (n, 4) boxes in pixels that must stay free. Most crowded marks first, then each
    once more, since those that came later may have left it a better place. A label that does not stand right beside its mark gets
    a thin line to it.
    """
    renderer = axes.figure.canvas.get_renderer()
    point = axes.figure.dpi / 72
    frame, marks = axes.get_window_extent(renderer), axes.transData.transform([(one["x"], one["y"]) for one in labels])
    distance = np.hypot(*(marks[:, None] - marks[None]).transpose(2, 0, 1))
    halves = []
    for label in labels:
        text = axes.text(0, 0, label["text"], fontsize=7)
        halves.append(np.array(text.get_window_extent(renderer).size) / 2)
        text.remove()
    found, order = {}, np.argsort(np.sort(distance, 1)[:, :3].sum(1), kind="stable")
    for number in [*order, *order]:
        others = [(box, leader(box, marks[other])) for other, (_, box) in found.items() if other != number]
        written = np.array([box for box, _ in others]).reshape(-1, 4)
        lines = np.vstack([np.empty((0, 4)), *(line for _, line in others)])
        found[number] = best_place(marks[number], halves[number], frame, point, taken, written, lines)
    for number, (ring, box) in found.items():
        label, mark, centre = labels[number], marks[number], (box[:2] + box[2:]) / 2
        line = {"arrowstyle": "-", "color": label["colour"], "linewidth": 0.5, "alpha": 0.8, "shrinkA": 0,
                "shrinkB": MARK}
        colour = readable(label["colour"])
        axes.annotate(label["text"], (label["x"], label["y"]), tuple((centre - mark) / point), xycoords="data",
                      textcoords="offset points", fontsize=7, color=colour, ha="center", va="center", zorder=6)
        if ring > RINGS[0]:
            axes.annotate("", (label["x"], label["y"]), tuple((nearest(box, mark) - mark) / point), xycoords="data",
                          textcoords="offset points", arrowprops=line, zorder=6)


def draw_panel(axes: Axes, points: pd.DataFrame, paper: pd.DataFrame, known: dict[str, dict], labelled: bool) -> list[dict]:
    """The marks of one corpus and split; returns their labels. labelled: models have theirs, not only baselines and the control."""
    labels, taken = [], []
    f1, exact = (points[points["metric"] == metric].set_index("system", drop=False) for metric in ("f1", "exact_match"))
    for system in f1.index:
        one, other, look = f1.loc[[system]], exact.loc[[system]], known.get(system, BASELINE)
        control = one["method"].iloc[0] == "control"
        x, y = one["value"].iloc[0] * 100, other["value"].iloc[0] * 100
        axes.errorbar(x, y, xerr=style.error_bars(one), yerr=style.error_bars(other), linestyle="", color=look["colour"],
                      marker="x" if control else look["marker"], markersize=5.5, markerfacecolor=look["face"], markeredgewidth=1.1,
                      elinewidth=0.8, alpha=0.95, zorder=4)
        name = f"{system} (best control)" if control else system if labelled or system not in known else ""
        labels.append({"x": x, "y": y, "text": "\n".join(textwrap.wrap(name, WRAP)), "colour": look["colour"]})
        taken += [[one["ci_low"].iloc[0] * 100, y, one["ci_high"].iloc[0] * 100, y],
                  [x, other["ci_low"].iloc[0] * 100, x, other["ci_high"].iloc[0] * 100]]
        same = paper[(paper["model"] == one["paper_model"].iloc[0])
                     & (paper["unit_normalization"] == one["unit_normalization"].iloc[0])]
        for _, row in same.iterrows():
            axes.plot([x, row["f1"] * 100], [y, row["exact_match"] * 100], color=look["colour"], linewidth=0.6,
                      alpha=0.6, zorder=2)
    here = set(zip(f1["paper_model"], f1["unit_normalization"]))
    for _, row in paper.iterrows():
        x, y = row["f1"] * 100, row["exact_match"] * 100
        axes.plot(x, y, marker="o", markersize=4.5, markerfacecolor="none", markeredgecolor=style.GREY,
                  markeredgewidth=0.9, zorder=5)
        labels.append({"x": x, "y": y, "colour": style.GREY,
                       "text": "" if (row["model"], row["unit_normalization"]) in here else f"{row['row']} (paper)"})
    for label in labels:
        label["interval"] = taken
    return labels


def draw_people(axes: Axes, people: pd.DataFrame) -> None:
    """What people reached, with its intervals; people: of people_points(), of one corpus and split, both metrics."""
    for _, rows in people.groupby("dataset"):
        f1, exact = (rows[rows["metric"] == f"human_{metric}"] for metric in ("f1", "exact_match"))
        x, y = f1["value"].iloc[0] * 100, exact["value"].iloc[0] * 100
        axes.errorbar(x, y, xerr=style.error_bars(f1), yerr=style.error_bars(exact), linestyle="", color=style.INK, marker="*",
                      markersize=8, elinewidth=0.8, zorder=5)
        axes.annotate(f"people, n = {exact['n'].iloc[0]}", (x, y), (6, -9), textcoords="offset points", fontsize=7, color=style.INK)


def handles_of(points: pd.DataFrame, in_paper: bool) -> list[Line2D]:
    """What the marks stand for; in_paper: whether there are published ones."""
    handles = [Line2D([], [], color=style.GREY, marker="o", markersize=5, linestyle="",
                      label="here, with 95 % intervals")]
    if in_paper:
        handles.append(Line2D([], [], color=style.GREY, marker="o", markersize=4.5, markerfacecolor="none", linestyle="",
                              label="in the paper, joined to the same system here"))
    handles.append(Line2D([], [], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=0.9, label="exact match = F1"))
    if (points["method"] == "control").any():
        handles.append(Line2D([], [], color=style.CONTROL, marker="x", markersize=5, linestyle="", label=style.BEST_CONTROL))
    return handles


def draw(points: pd.DataFrame, published: pd.DataFrame, sources: dict, people: pd.DataFrame) -> Figure:
    """The figure of a table made by systems(); people: of people_points(), both metrics."""
    points = style.with_ends(points)
    panels, known = list(points.groupby(["source", "split"], sort=False)), looks(points)
    paper = {source: table_2(published, source).dropna() for source in points["source"].unique()}
    labelled = points.groupby(["source", "split"])["system"].nunique().max() <= LABELLED
    groups = [("", [] if labelled else legend_of_systems(points, known)), ("", handles_of(points, any(len(rows) for rows in paper.values())))]
    top, panel, gap, foot = 0.5, 3.8, 1.0, 0.66 + style.legends_height(groups)
    width, height = style.WIDTH, top + panel * len(panels) + gap * (len(panels) - 1) + foot
    figure, grid = plt.subplots(len(panels), 1, figsize=(width, height), squeeze=False)
    figure.subplots_adjust(left=0.6 / width, right=1 - 0.15 / width, top=1 - top / height, bottom=foot / height,
                           hspace=gap / panel)
    for axes, ((source, split), of_split) in zip(grid.flat, panels):
        labels = draw_panel(axes, of_split, paper[source], known, labelled)
        answered = people[(people["source"] == source) & (people["split"] == split)]
        low = of_split[["value", "ci_low"]].min().min() * 100
        f1 = of_split[of_split["metric"] == "f1"]
        ends = [f1["ci_low"].min() * 100, f1["ci_high"].max() * 100, *(paper[source]["f1"] * 100), *(answered["value"] * 100)]
        room = 0.04 * (max(ends) - min(ends)) + 1
        exact = of_split[of_split["metric"] == "exact_match"]
        exact = [exact["ci_high"].max() * 100, *(paper[source]["exact_match"] * 100), *(answered["value"] * 100)]
        axes.set_xlim(max(min(ends) - room - 2, -2), min(max(ends) + room + 2, 102))
        axes.set_ylim(min(-1, low - 1), min(max(exact) * 1.12 + 2, 102))
        axes.grid(True, axis="both")
        axes.plot([0, 100], [0, 100], color=style.GREY, linestyle=(0, (1, 1.5)), linewidth=0.9, zorder=1)
        figure.canvas.draw()
        style.panel_title(axes, [title_of(source, sources)], f"{split_title(split)}, {of_split['n'].max():,} questions")
        transform, reach = axes.transData.transform, MARK * figure.dpi / 72
        marks = [transform((one["x"], one["y"])) for one in labels]
        boxes = [[*(mark - reach), *(mark + reach)] for mark in marks]
        boxes += [[*transform(ends[:2]), *transform(ends[2:])] for ends in labels[0]["interval"]]
        # A line counts with a pixel of width; the diagonal as many short pieces.
        steps = transform(np.repeat(np.linspace(0, 100, 401)[:, None], 2, axis=1))
        taken = np.vstack([boxes, np.hstack([steps[:-1], steps[1:]])]) + np.array([-1, -1, 1, 1])
        draw_people(axes, answered)
        place_labels(axes, [one for one in labels if one["text"]], taken)
        style.mark(axes, face_of(of_split))
        axes.set_xlabel("F1 (%)")
        axes.set_ylabel("exact match (%)")
    style.legends(figure, groups, 0.08)
    return figure


def main(given: argparse.Namespace) -> None:
    metrics = mctaco_metrics(given.metrics, load_systems(given.models, given.sources))
    points = systems(metrics)
    if points[~points["model"].isin(BASELINES)].empty:
        raise UserError(f"{given.metrics}: no f1 and exact_match of a model; run an experiment of mctaco with a model")
    published = published_beside(given.sources)
    shown, sources = with_best_control(points, metrics), load(given.sources)
    people = pd.concat([people_points(given.metrics, "mctaco", metric) for metric in ("f1", "exact_match")])
    style.save(lambda: draw(shown, published, sources, people), given)
    printed = published[published["table"].str.startswith("Table 2") & published["source"].isin(points["source"])]
    tables = [points[POINTS], *([published_points(printed)] if len(printed) else [])]
    write_points(pd.concat(tables), given.output)
    log.info("%s: %d systems", given.output, points["system"].nunique())


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
