"""Tabulate what people reached, how far they agree, and what every system reaches on the very same
items.

A group of rows for each split, measure and kind of item: all who answered together, each alone, and
the systems, with the difference to people, paired over groups. Agreement: Krippendorff's alpha of
single answers (nominal).
"""

import argparse

import numpy as np
import pandas as pd

from scripts.data.items import HUMAN
from scripts.running.program import UserError
from scripts.data.tables import read_metrics
from scripts.publish.arguments import run_program
from scripts.publish.marks import note_of
from scripts.publish.names import (
    OF_PEOPLE,
    load,
    method_note,
    model_title,
    source_title,
    split_title,
)
from scripts.publish.table import filled, interval, percent, publish_table, signed

HEADS = ["Items of", "Split", "Measure", "Kind"]
WORDS = [*HEADS, "Who"]
BESIDE = ["Above people (points)", "From … to", "Agreement (alpha)", "Its 95 % interval"]
# methods that need not be told beside the model
PLAIN = ["train", "control", "baseline", HUMAN, "majority"]


def people_metrics(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows of people or on what they answered, with `measure` and `what` (right, above,
    agreement); what two experiments share stands once.
    """
    rows = metrics[
        metrics["seed"].isna()
        & ((metrics["model"] == HUMAN) | metrics["metric"].str.endswith(OF_PEOPLE))
    ]
    metric = rows["metric"]
    above, agreement = metric.str.endswith("_above_people"), metric == "human_agreement"
    what = np.select([agreement, above], ["agreement", "above"], "right")
    measure = metric.str.replace(r"^human_|_(?:beside|above)_people$", "", regex=True)
    scoring = rows["scoring"] if "scoring" in rows else pd.Series(None, rows.index, object)
    rows = rows.assign(what=what, measure=measure, scoring=scoring.fillna(""))
    return rows.drop_duplicates(
        ["study", "source", "dataset", "split", "scoring", "model", "method", "slice", "metric"]
    )


def titled(text: str) -> str:
    return text.replace("_", " ")


def who(row: pd.Series, models: dict) -> str:
    if row["slice"].startswith("person="):
        return row["slice"].removeprefix("person=")
    if row["model"] == HUMAN:
        return f"{row['seeds']:.0f} people" if row["seeds"] > 1 else "one person"
    return model_title(row["model"], models) + method_note(row["method"], PLAIN)


def cells_of(row: pd.Series, about: pd.DataFrame, models: dict, sources: dict) -> dict[str, str]:
    """about: the rows of the same split and scoring that are not `right`."""
    is_kind = row["slice"].startswith("type=")
    corpus = source_title(row["source"], sources)
    cells = {
        "Items of": f"{corpus}, {row['dataset']}{note_of(row)}",
        "Split": split_title(row["split"]),
        "Measure": titled(row["measure"]) + (f", {row['scoring']}" if row["scoring"] else ""),
        "Kind": titled(row["slice"].removeprefix("type=")) if is_kind else "all",
        "Who": who(row, models),
        "Items": f"{row['n']:,}",
        "Right (%)": percent(row["value"]),
        "SD": percent(row["sd"]),
        "95 % interval": interval(row),
    } | dict.fromkeys(BESIDE, "")
    if row["slice"] != "all":
        return cells
    is_own = (about["model"] == row["model"]) & (about["method"] == row["method"])
    for _, other in about[is_own].iterrows():
        numbers, none = other[["value", "ci_low", "ci_high"]], pd.isna(other["ci_low"])
        if other["what"] == "agreement":
            value, *ends = (f"{number:.2f}".replace("-", "−") for number in numbers)
            shown = value, "" if none else f"from {ends[0]} to {ends[1]}"
            cells |= dict(zip(BESIDE[2:], shown))
        elif other["measure"] == row["measure"]:
            value, *ends = map(signed, numbers)
            shown = value, "one group" if none else f"from {ends[0]} to {ends[1]}"
            cells |= dict(zip(BESIDE, shown))
    return cells


def tabulate(metrics: pd.DataFrame, sources: dict, models: dict) -> pd.DataFrame:
    table = []
    place = ["study", "source", "dataset", "split", "scoring"]
    for _, of_split in metrics.groupby(place, sort=False):
        is_right = of_split["what"] == "right"
        about, right = of_split[~is_right], of_split[is_right]
        of = right["slice"]
        people_last = (right["model"] != HUMAN) + of.str.startswith("person=") * 0.5
        kind = of.where(of.str.startswith("type="), "all")
        right = right.assign(kind=kind, place=people_last)
        right = right.sort_values(["measure", "kind", "place"], kind="stable")
        table += [cells_of(row, about, models, sources) for _, row in right.iterrows()]
    return filled(pd.DataFrame(table), WORDS)


def main(given: argparse.Namespace) -> None:
    metrics = people_metrics(read_metrics(given.metrics).to_pandas())
    if metrics.empty:
        raise UserError(
            f"{given.metrics}: nobody's answers are in it; name their files as `people` of an "
            "experiment (docs/people.md)"
        )
    publish_table(given, tabulate(metrics, load(given.sources), load(given.models)), WORDS)


if __name__ == "__main__":
    run_program(main, __doc__)
