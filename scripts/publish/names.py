"""The names of corpora, models and series in figures, tables and the page."""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa

from scripts.data.declared import method_titles
from scripts.data.items import ENSEMBLE, HUMAN
from scripts.publish.selection import only, rank
from scripts.running.program import UserError
from scripts.data.tables import read_metrics


# Methods that no study declares. Any method without a title keeps its name, without underscores.
METHODS = {
    "external": "from elsewhere",
    "released": "released predictions",
    "majority": "majority baseline",
}
PLAIN = ["train", "control", "baseline", HUMAN, "majority"]  # not named beside the model
ENDS = {
    "_zero_shot": ", zero-shot",
    "_blind": ", blind",
    ENSEMBLE: ", ensemble of seeds",
}  # the last part of a method's name
SPLITS = {"train": "training", "val": "validation", "held_out": "held out"}


OF_PEOPLE = ("_beside_people", "_above_people")  # metrics of systems on the items people answered


def without_people(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of metrics that are neither of people nor on the items people answered."""
    return metrics[(metrics["model"] != HUMAN) & ~metrics["metric"].str.endswith(OF_PEOPLE)]


def people_points(path: Path, study: str, metric: str) -> pd.DataFrame:
    """Return the scores of people in a study, over all people and all items they answered."""
    rows = read_metrics(path).to_pandas()
    return only(rows, study=study, model=HUMAN, metric=f"human_{metric}", slice="all")


def method_title(name: str) -> str:
    end = next((end for end in ENDS if name.endswith(end)), "")
    plain = name.removesuffix(end)
    title = (METHODS | method_titles()).get(plain, plain.replace("_", " "))
    return title + ENDS.get(end, "")


def method_note(method: str, plain: Collection[str] = PLAIN) -> str:
    """Return the method in words, as `, mask filling`; empty for a method in `plain`."""
    return "" if method in plain else f", {method_title(method)}"


def split_title(name: str) -> str:
    """Return `validation 1` for val_1."""
    kind, _, number = name.rpartition("_") if name[-1:].isdigit() else (name, "", "")
    return " ".join(filter(None, [SPLITS.get(kind, kind.replace("_", " ")), number]))


def with_released(models: dict, sources: dict) -> dict[str, dict]:
    """Return the entries of models.yaml, then those of the predictions released with a corpus."""
    return models | {
        name: entry
        for source in sources.values()
        for name, entry in (source.get("predictions") or {}).items()
    }


def model_title(name: str, models: dict) -> str:
    entry = models.get(name, {})
    scratch = ", from scratch" if "init" in entry else ""
    return f"{entry.get('title', name.replace('_', '-'))}{scratch}"


def titles_of(metrics: pd.DataFrame, models: dict, others: Mapping[str, str] = {}) -> pd.Series:
    """Return the title of each row's model. others: the titles of systems that are no model."""
    return metrics["model"].map(lambda name: others.get(name) or model_title(name, models))


def source_title(name: str, sources: dict) -> str:
    return sources.get(name, {}).get("title", name)


def joined(words: list[str], link: str = " and ") -> str:
    """Return the words as `a, b and c`."""
    return link.join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def details_of(dataset: str, columns: Collection[str] = ()) -> str:
    """Return `, train templates 6`: the options in a dataset's name that are not in `columns`. A
    limit is shown as a mark.
    """
    options = re.findall(r"([a-z_]+)-([\d.]+)(?=-|$)", dataset)
    return "".join(
        f", {name.replace('_', ' ')} {value}"
        for name, value in options
        if name not in {"limit", "train_limit", *columns}
    )


def study_metrics(path: Path, study: str, schema: pa.Schema, draws: bool = False) -> pd.DataFrame:
    """Return a study's rows of a metrics table; a row that two experiments share only once. Raises
    UserError if there are no rows.
    """
    metrics = read_metrics(path, schema, draws).to_pandas()
    metrics = metrics[metrics["study"] == study]
    if metrics.empty:
        raise UserError(
            f"{path}: no rows of study {study}; run an experiment of it before drawing its figures"
        )
    # Intervals come from draws in 32 bits, and may differ in their last digits.
    of_draws = ["ci_low", "ci_high", "draws"]
    same = metrics.drop(columns=["experiment", *of_draws], errors="ignore").round(9)
    return metrics[~same.duplicated()].copy()


def of_most_pairs(metrics: pd.DataFrame, place: list[str]) -> pd.DataFrame:
    """Return at each place (columns) the rows trained on the most pairs. A missing `train_pairs`
    means all. Fewer pairs have their own figure (scripts/publish/learning_curve.py).
    """
    pairs = metrics["train_pairs"].astype(float).fillna(float("inf"))
    keys = [metrics[column] for column in place]
    return metrics[pairs == pairs.groupby(keys, dropna=False).transform("max")]


def experiment_if_needed(metrics: pd.DataFrame, point: list[str]) -> pd.Series:
    """Return ` (experiment)` for models that experiments measured differently at the same point."""
    means = metrics[metrics["seed"].isna()]
    twice = means.groupby(point, dropna=False)["experiment"].transform("size") > 1
    ambiguous = metrics["model"].isin(means.loc[twice, "model"])
    return (" (" + metrics["experiment"] + ")").where(ambiguous, "")


def in_order(rows: pd.DataFrame, by: Collection[str], **orders: Iterable) -> pd.DataFrame:
    """Return the rows sorted by these columns. orders: for a column, the values that come first."""

    def place(column: pd.Series) -> pd.Series:
        order = orders.get(str(column.name))
        return column if order is None else pd.Series(rank(column.tolist(), order), column.index)

    return rows.sort_values([*by], kind="stable", key=place, ignore_index=True)
