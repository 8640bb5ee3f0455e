"""Draw the weights that an additive model learns from set I of temporal NLI: each time's weight
against its place in the list.

The model is the control that sees both texts (VIEWS of scripts/studies/temporal_nli/controls.py): a
logistic regression for entailment, of words without order, crossed with the two prepositions. It is
fitted here on the training pairs. Each panel shows a list of times. Its pairs have a premise at a
fixed time and `before` in the hypothesis: In May, … / Before July, …

Each time has two marks. One is its weight in the hypothesis. The other is its weight in the
premise, with its sign reversed and the model's constant. The model predicts entailment if the
hypothesis's mark is higher; the distance is the log-odds. In the CSV, in_order is the share of
pairs of different times of the list that the model puts in the right order.
"""

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from scripts.data.tables import read_metrics, read_table
from scripts.publish import style
from scripts.publish.item import Given
from scripts.publish.panels import DASHED, Look, Panel, figure_of, in_lines, publish
from scripts.studies.temporal_nli.controls import VIEWS
from scripts.studies.temporal_nli.figures.metrics import VALUES, data_title
from scripts.studies.temporal_nli.times import LISTS
from scripts.controls.search import ITERATIONS, STACKED, reader

SHOWN = ["weekday", "month_full", "hour_12", "year"]
HELD_OUT = {
    "template": "",
    "list": ", weekdays held out of training",
    "range": ", last third of each list held out of training",
}
BLANK = "0x"  # replaces a time; no training pair contains it, so it has no weight
HYPOTHESIS = Look(style.COLOURS[0], "o", size=3)
PREMISE = Look(style.COLOURS[1], "s", DASHED, style.PAPER, size=3)
TICKS = {
    "weekday": lambda time: time[:2],
    "month_full": lambda time: time[0],
    "hour_12": lambda time: time if time in ("12 AM", "8 AM", "4 PM") else None,
    "year": lambda time: time if time in ("1900", "1950", "2000") else None,
}
HEIGHT = 1.15  # inches
COLUMNS = (
    "source dataset held_out list place time sentence weight in_training in_order sample limit"
).split()


def additive(train: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
    """Fit the model to pairs (first, second, label). Return a function from pairs to (n,) log-odds
    of entailment.
    """
    read = reader(VIEWS["both_texts"], train, exchangeable=False)
    model = LogisticRegression(C=STACKED, max_iter=ITERATIONS, tol=1e-3)
    with threadpool_limits(1):
        model.fit(read(train).sparse, train["label"] == 0)
    return lambda pairs: model.decision_function(read(pairs).sparse)


def weights_of(odds: Callable[[pd.DataFrame], np.ndarray], name: str) -> pd.DataFrame:
    """Return the weights of a list of times. The log-odds of a pair are the hypothesis weight of
    its second time less the premise weight of its first time.
    """
    _, size, (times, _), preposition = LISTS[name]
    first, second = [BLANK, *times, *[BLANK] * size], [BLANK, *[BLANK] * size, *times]
    texts = {
        "first": [f"It ended {preposition} {time}." for time in first],
        "second": [f"It ended before {time}." for time in second],
    }
    constant, of_premise, of_hypothesis = np.split(odds(pd.DataFrame(texts)), [1, size + 1])
    middle = of_hypothesis.mean()
    weights = {"hypothesis": of_hypothesis - middle, "premise": constant - of_premise - middle}
    return pd.DataFrame({"place": range(size), "time": times} | weights)


def in_order(weights: pd.DataFrame) -> float:
    place = weights["place"].to_numpy()
    entailed = weights["hypothesis"].to_numpy() > weights["premise"].to_numpy()[:, None]
    right = entailed == (place > place[:, None])
    return float(right[place != place[:, None]].mean())


def points_of(train: pd.DataFrame) -> pd.DataFrame:
    odds, text = additive(train), "\n".join([*train["first"], *train["second"]])
    parts = []
    for name in SHOWN:
        weights = weights_of(odds, name)
        known = [re.search(rf"\b{time}\b", text) is not None for time in weights["time"]]
        weights = weights.assign(list=name, in_training=known, in_order=in_order(weights))
        same = ["list", "place", "time", "in_training", "in_order"]
        parts.append(weights.melt(same, var_name="sentence", value_name="weight"))
    return pd.concat(parts)


def draw_panel(axes: Axes, points: pd.DataFrame, most: float, is_first: bool) -> None:
    """Draw a list of times. most: the end of the y axis."""
    name = points["list"].iloc[0]
    times = points.drop_duplicates("place")
    for place in times.loc[~times["in_training"], "place"]:
        axes.axvspan(place - 0.5, place + 0.5, color=style.PALE, linewidth=0, zorder=0.5)
    for sentence, look in {"premise": PREMISE, "hypothesis": HYPOTHESIS}.items():
        line = points[points["sentence"] == sentence]
        few = look if len(line) < 30 else look._replace(marker="")
        axes.plot(line["place"], line["weight"], **few.settings())
    labels = {place: TICKS[name](time) for place, time in zip(times["place"], times["time"])}
    axes.set_xticks(
        [place for place, label in labels.items() if label], [*filter(None, labels.values())]
    )
    axes.set_xlim(-0.5, len(times) - 0.5)
    axes.set_ylim(-most, most)
    axes.set_ylabel("weight (log-odds)" if is_first else "")


def draw(points: pd.DataFrame, sources: dict) -> Figure:
    lines = []
    most = 1.05 * points["weight"].abs().groupby(points["list"]).max().clip(lower=1)
    for (source, dataset), block in points.groupby(["source", "dataset"], sort=False):
        low, high = (f"{share * 100:.0f}" for share in block["in_order"].agg(["min", "max"]))
        says = f"An additive model puts {low} to {high} % of the pairs of times in order"
        data = data_title(source, dataset, sources) + HELD_OUT[block["held_out"].iloc[0]]
        heading = f"{says}\n{data}"
        panels = []
        for name, panel in block.groupby("list", sort=False):
            draw_list = partial(draw_panel, most=most[name], is_first=name == SHOWN[0])
            detail = f"{100 * panel['in_order'].iloc[0]:.0f} % in order"
            title = VALUES["choice"][name]
            panels.append(Panel(panel, draw_list, title, detail, height=HEIGHT))
        lines += in_lines(panels, len(SHOWN), heading)
    marks = [
        HYPOTHESIS.handle("in the hypothesis (before July)"),
        PREMISE.handle("in the premise (in May), sign reversed"),
        Patch(color=style.PALE, label="time not in training"),
    ]
    return figure_of(lines, [("", marks)])


def trained_on(given: Given) -> dict[tuple[str, str, str], pd.DataFrame]:
    """Return the training pairs of set I by source, dataset and what the dataset holds out. Of
    datasets with equal training pairs only the first is kept.
    """
    found: dict[tuple[str, str, str], pd.DataFrame] = {}
    places = set()
    for facts in given.facts:
        options = facts["data_options"]
        if options["challenge_set"] == "temp_order" and options["held_out"] in HELD_OUT:
            place = facts["source"], facts["dataset"], options["held_out"]
            places.add((*place, facts["splits"][0]))
    for *key, split in sorted(places):
        file = given.build.joinpath(*key[:2], f"{split}.parquet")
        table = read_table(file, ["text_a", "text_b", "label"]).to_pandas()
        table = table.set_axis(["first", "second", "label"], axis=1)
        if not any(table.equals(other) for other in found.values()):
            found[tuple(key)] = table
    return found


def main(given: Given) -> None:
    metrics, sources = read_metrics(given.metrics).to_pandas(), given.sources
    sampled = metrics.groupby(["source", "dataset"])["sample"].any()
    parts = [pd.DataFrame(columns=COLUMNS)]
    for (source, dataset, held_out), train in trained_on(given).items():
        sample = bool(sampled.get((source, dataset), False))
        constant = {"source": source, "dataset": dataset, "held_out": held_out, "sample": sample}
        parts.append(points_of(train).assign(**constant, limit=None))
    points = pd.concat(parts[1:] or parts, ignore_index=True)[COLUMNS]
    publish(given, points, lambda: draw(points, sources))
