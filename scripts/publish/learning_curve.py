"""Draw accuracy against the number of training pairs, for models and for the control like for like
on the same pairs. Each title names the size from which the verdicts say that a model is above it.

The figure has a panel for each corpus, test set and evaluation split whose data were built with
several `train_pairs`. If a dataset holds out more than whole templates, the panel shows its unseen
part. A title names sizes that were run, since nothing is known between them.
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
from scripts.publish.compared import SYSTEM, read_comparisons, with_comparisons
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
    ends_of,
    figure_of,
    in_lines,
    looks,
    publish,
)

PLACE = ["source", "test_set", "split"]
COLUMNS = [*PLACE, *"series model method dataset train_pairs slice value sd ci_low ci_high".split()]
COLUMNS += ["n", "groups", "sample", "limit"]
VERDICT = f"{LIKE}_verdict"
COLUMNS += [f"{LIKE}_{name}" for name in ("difference", "ci_low", "ci_high")] + [VERDICT]
SIZE = r"-?train_pairs-\d+"
CONTROL = Look(style.GREY, "x", (0, (6, 2, 1, 2)), size=4, width=1)
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


def passes(panel: pd.DataFrame) -> list[str]:
    """Return a sentence for each model: from which size on every verdict is `above`, and with how
    many seeds.
    """
    found = []
    models = panel[panel["series"] != style.BEST_CONTROL].dropna(subset=VERDICT)
    for series, rows in models.groupby("series", sort=False):
        if len(rows) < 2:
            continue
        sizes = [f"{size:,.0f}" for size in rows["train_pairs"]]
        others = rows[VERDICT].ne("above")[::-1].to_numpy()
        count = len(sizes) - others.argmax() if others.any() else 0  # up to the last other verdict
        if count == 0:
            says = "is above the control at every size"
        elif count == len(sizes):
            says = f"is not above the control at {sizes[-1]} pairs"
        else:
            says = f"is above the control at {sizes[count]} pairs, not at {sizes[count - 1]}"
        seeds = rows["seeds"].min()
        model = re.split(r" \(|, ", series)[0]
        found.append(f"{model} {says} ({seeds:.0f} {'seed' if seeds == 1 else 'seeds'})")
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
        test = re.sub("[-_]", " ", test_set)
        names = [source_title(source, given.sources), test, split_title(split), held_out]
        detail = ", ".join(filter(None, [*names, f"{panel['n'].max():,} pairs"]))
        ends = ends_of(panel, known, "train_pairs")
        shown = Panel(panel, draw_panel, "", detail, ends=ends)
        panels.append(titled(shown, ". ".join(passes(panel))))
    return figure_of(in_lines(panels, 2))


def main(given: Given) -> None:
    metrics = read_metrics(given.metrics).to_pandas()
    points = with_comparisons(sized(metrics, given), read_comparisons(given.metrics), SYSTEM)
    publish(given, points[COLUMNS], lambda: draw(points, given), ONE_SIZE)
