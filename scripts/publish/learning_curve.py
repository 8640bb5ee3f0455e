"""Draw accuracy against the number of training pairs, for models and for the control like for like
on the same pairs. Each title gives the number of pairs from which a model is above this control.

The figure has a panel for each corpus, test set and evaluation split whose data were built with
several `train_pairs`. If a dataset holds out more than whole templates, the panel shows its unseen
part. From the crossing point on, the paired difference of model and control stays above zero.
Between two sizes, the difference is a straight line on a logarithmic axis. The crossing point's
95 % interval comes from the draws.
"""

import re

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from scripts.data.tables import read_metrics
from scripts.data.declared import ceilings
from scripts.measure.comparisons import CONTROL_METHODS, LIKE
from scripts.publish import style
from scripts.publish.item import Given
from scripts.publish.message import titled
from scripts.publish.scorecard.cells import scorings_of
from scripts.publish.names import source_title, split_title, titles_of
from scripts.publish.selection import only
from scripts.publish.panels import (
    Look,
    Panel,
    among,
    dodges,
    draw_marks,
    figure_of,
    in_lines,
    looks,
    publish,
)

PLACE = ["source", "test_set", "split"]
COLUMNS = [*PLACE, *"series model method dataset train_pairs slice value sd ci_low ci_high".split()]
COLUMNS += ["n", "groups", "sample", "limit"]
SIZE = r"-?train_pairs-\d+"
CONTROL = Look(style.CONTROL, "x", (0, (6, 2, 1, 2)), size=4, width=1)
ONE_SIZE = "Every model learnt from one number of pairs. presets/curves.yaml compares several."


def sized(metrics: pd.DataFrame, given: Given) -> pd.DataFrame:
    """Return the headlines of models at several sizes, and of the control like for like at each of
    these sizes (chosen on the training split), with `train_pairs`, `test_set` (the dataset's name
    without the size) and `series`.
    """
    rows = only(metrics, metric=given.headline, seed=None).dropna(subset="train_pairs")
    studies = [given.studies[name] for name in metrics["study"].unique()]
    test_set = rows["dataset"].str.replace(SIZE, "", regex=True).str.strip("-")
    rows = rows.assign(test_set=test_set)
    finest = [next(iter(scorings)) for scorings in map(scorings_of, studies) if scorings]
    if finest:  # a fine-tuned model distinguishes all labels
        rows = only(rows, scoring=finest)
    rows = rows[~rows["model"].isin([*ceilings(), "human"])]
    most = rows.groupby(PLACE)["n"].transform("max")
    is_unseen = rows["slice"].isin([study.get("probe", {}).get("unseen") for study in studies])
    rows = rows.assign(part=is_unseen & (rows["n"] < most))
    has_part = rows.groupby(PLACE)["part"].transform("any")
    rows = rows[is_unseen.where(has_part, rows["slice"] == "all")]
    is_control, place = rows["method"].isin(CONTROL_METHODS), [*PLACE, "train_pairs"]
    sizes = rows.groupby([*PLACE, "model", "method"])["train_pairs"].transform("nunique")
    trained = rows[~is_control & (sizes > 1)]
    trained = trained.assign(series=titles_of(trained, given.models))
    chosen = is_control & rows["chosen"].eq(True) & rows["kind_of_control"].eq(LIKE)
    best = rows[chosen & among(rows, trained, place)].assign(series=style.BEST_CONTROL)
    best = best.sort_values("value", ascending=False).drop_duplicates(place)
    order = [*PLACE, "series", "train_pairs"]
    return pd.concat([trained, best]).sort_values(order, ignore_index=True)


def crossing(sizes: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Return (draws,): the size from which each difference stays above zero; 0 if it is above zero
    at every size, infinite if it is not above zero at the last. sizes: (sizes,) ascending. above:
    (draws, sizes).
    """
    below = above <= 0
    last = len(sizes) - 1 - below[:, ::-1].argmax(1)  # the last size that is not above
    first, found = np.minimum(last, len(sizes) - 2), np.arange(len(above))
    low, high = above[found, first], above[found, first + 1]
    share = np.divide(low, low - high, out=np.zeros(len(above)), where=(low <= 0) & (high > 0))
    place = sizes[first] * (sizes[first + 1] / sizes[first]) ** share
    place = np.where(last == len(sizes) - 1, np.inf, place)
    return np.where(below.any(1), place, 0.0)


def crosses(panel: pd.DataFrame) -> list[str]:
    """Return a sentence for each model, for example `MPNet passes the control at 410 pairs
    (300 to 700)`. Slices have no draws. For them, the interval comes from the ends of both
    intervals and is wider.
    """
    is_control, found = panel["series"] == style.BEST_CONTROL, []
    control = panel[is_control].set_index("train_pairs")
    for series, rows in panel[~is_control].groupby("series", sort=False):
        rows = rows[rows["train_pairs"].isin(control.index)]
        if len(rows) < 2:
            continue
        beside, sizes = control.loc[rows["train_pairs"]], rows["train_pairs"].to_numpy()
        above = {
            one: rows[one].to_numpy() - beside[other].to_numpy()
            for one, other in (("value", "value"), ("ci_high", "ci_low"), ("ci_low", "ci_high"))
        }
        crossed, *ends = crossing(sizes, np.array(list(above.values())))
        if pd.concat([rows["draws"], beside["draws"]]).notna().all():
            draws = (np.stack(rows["draws"]) - np.stack(beside["draws"])).T
            ends = np.quantile(crossing(sizes, draws), [0.025, 0.975], method="nearest")
        named = {0: f"fewer than {sizes[0]:,.0f}", np.inf: f"more than {sizes[-1]:,.0f}"}
        at, low, high = (named.get(place, f"{place:,.0f}") for place in (crossed, *ends))
        says = f"passes the control at {at} pairs ({low} to {high})"
        if np.isinf(crossed):
            says = "does not pass the control"
        elif crossed == ends[1] == 0:
            says = "is above the control at every size"
        model = re.split(r" \(|, ", series)[0]
        found.append(f"{model} {says}")
    return found


def draw(points: pd.DataFrame, given: Given) -> Figure:
    models = points[points["series"] != style.BEST_CONTROL]
    known = looks(models) | {style.BEST_CONTROL: CONTROL}

    def draw_panel(axes: Axes, panel: pd.DataFrame) -> None:
        for series, shift in dodges(known).items():
            rows = panel[panel["series"] == series]
            rows = rows.assign(train_pairs=rows["train_pairs"] * np.exp(shift / 2))
            draw_marks(axes, rows, known[series], "train_pairs")
        sizes = sorted(panel["train_pairs"].unique())
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("training pairs")
        axes.set_ylabel(f"{given.headline.replace('_', ' ')} (%)")

    panels = []
    for (source, test_set, split), panel in points.groupby(PLACE, sort=False):
        held_out = "unseen in training" if (panel["slice"] != "all").any() else ""
        names = [
            source_title(source, given.sources),
            re.sub("[-_]", " ", test_set),
            split_title(split),
        ]
        names += [held_out, f"{panel['n'].max():,} pairs"]
        detail = ", ".join(filter(None, names))
        panels.append(titled(Panel(panel, draw_panel, "", detail), ". ".join(crosses(panel))))
    handles = [look.handle(series) for series, look in known.items()]
    return figure_of(in_lines(panels, 2), [("", handles)])


def main(given: Given) -> None:
    metrics = read_metrics(given.metrics, draws=True).to_pandas()
    points = sized(metrics, given)
    publish(given, points[COLUMNS], lambda: draw(points, given), ONE_SIZE)
