"""Draw the rows that accuracy_by_stride.py leaves out, in the same way: chosen pairs, windows,
models that learnt from another stride or corpus, predicted strides, and spans by their length.

The name of --output selects one of these. The figure shows the control like for like of each way of
measuring.
"""

from functools import partial
from pathlib import Path

import pandas as pd

from scripts.publish.compared import SYSTEM as COMPARED, read_comparisons, with_comparisons
from scripts.publish.item import Given
from scripts.publish.panels import publish
from scripts.publish.selection import only
from scripts.studies.strided_sop.figures.accuracy_by_stride import (
    COLUMNS,
    Axis,
    best_controls,
    draw,
    drawn,
    is_plain,
)
from scripts.studies.strided_sop.figures.metrics import sop_metrics, strided_metrics, system_titles

SHOWN = ["accuracy", "peak_accuracy"]
IN_ORDER = {"concordance": "accuracy"}
SPANS = ["exact_order", "pair_accuracy", *IN_ORDER]
MORE = ["seconds_apart", "span", "slice"]  # columns of the CSV


def of_strides(path: Path, models: dict, item: str) -> pd.DataFrame:
    """Return the rows of one item: chosen pairs; windows, and the captions of the same split; or
    models that learnt from another stride or corpus, or from a mixture.
    """
    rows = strided_metrics(path, models, crossed=item == "stride_matrix")
    rows = rows[rows["metric"].isin(SHOWN)]
    if item == "chosen_pairs":
        return rows[~is_plain(rows)]
    if item == "stride_matrix":
        return rows[rows[["train_stride", "learn_from"]].notna().any(axis=1)]
    rows = rows[is_plain(rows)]
    has_windows = rows["context"].notna().groupby([rows["source"], rows["split"]])
    return rows[has_windows.transform("any")]


def of_which_stride(path: Path, models: dict) -> pd.DataFrame:
    """Return the share of pairs of each stride whose stride is predicted right."""
    rows = only(sop_metrics(path), metric="confusion", seed=None)
    ends = rows["slice"].str.extract(r"^stride=(\d+); predicted=(\d+)$").astype(int)
    rows = rows.assign(stride=ends[0])[ends[0] == ends[1]]
    # the training strides are the strides of the measured pairs, so titles leave them out
    titles = pd.Series(system_titles(rows, models, train_stride=None), rows.index, object)
    both = rows["predict"].map({"order_and_stride": ", with the order"}).fillna("")
    return rows.assign(series=titles + both, metric="accuracy")


def of_spans(path: Path, models: dict) -> pd.DataFrame:
    rows = only(sop_metrics(path), seed=None, metric=SPANS).dropna(subset="span")
    skipped = rows["stride"].map(lambda stride: f", {stride:.0f} skipped" if stride else "")
    is_whole = rows["order_by"].eq("permutations") & rows["method"].eq("control")
    whole = is_whole.map({True: ", whole orders", False: ""})
    titles = pd.Series(system_titles(rows, models), rows.index, object)
    return rows.assign(series=titles + whole + skipped, span=rows["span"].astype(int))


def main(given: Given) -> None:
    item, axis = given.output.name.removeprefix("strided_sop_"), Axis()
    models, sources = given.models, given.sources
    compared = partial(with_comparisons, comparisons=read_comparisons(given.metrics), on=COMPARED)
    if item == "spans":
        rows = compared(of_spans(given.metrics, models))
        shown = rows[rows["slice"] == "all"].replace({"metric": IN_ORDER})
        axis = Axis("span", "units (k)", "pairs of units in order (%)")
    elif item == "which_stride":
        shown = rows = compared(of_which_stride(given.metrics, models))
        axis = Axis(ylabel="right stride (%)", chance=100 / max(1, rows["stride"].nunique()))
    else:
        shown = rows = compared(of_strides(given.metrics, models, item))
    shown = drawn(shown) if item == "chosen_pairs" else best_controls(shown, axis.along)
    rows = rows[[*COLUMNS, *MORE]].drop_duplicates()
    publish(given, rows, lambda: draw(shown, sources, axis))
