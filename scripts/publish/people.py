"""Tabulate the scores of people, their agreement, and the scores of every system on the same items.

Each split, measure and kind of item has a row for all people together, each person and each system.
Further rows give the difference to people, paired over groups, and Krippendorff's alpha of single
answers (nominal).
"""

import pandas as pd

from scripts.data.items import HUMAN
from scripts.running.program import UserError
from scripts.data.tables import read_metrics
from scripts.measure.intervals import Estimate
from scripts.publish.item import Given
from scripts.publish.marks import note_of
from scripts.publish.names import OF_PEOPLE, method_note, model_title, source_title, split_title
from scripts.publish.selection import with_interval
from scripts.publish.table import filled, percent, publish_table, signed

PLACE = ["study", "source", "dataset", "split", "scoring"]
WORDS = ["Items of", "Split", "Measure", "Kind", "Who"]
ABOVE = "_above_people"


def people_metrics(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of people and of systems on the items people answered, with `scoring` and
    `measure`. A row that two experiments share is returned once.
    """
    of_people = (metrics["model"] == HUMAN) | metrics["metric"].str.endswith(OF_PEOPLE)
    rows = metrics[metrics["seed"].isna() & of_people]
    measure = rows["metric"].str.replace(r"^human_|_(?:beside|above)_people$", "", regex=True)
    scoring = rows["scoring"] if "scoring" in rows else pd.Series(None, rows.index, object)
    rows = rows.assign(measure=measure, scoring=scoring.fillna(""))
    return rows.drop_duplicates([*PLACE, "model", "method", "slice", "metric"])


def who(row: pd.Series, models: dict) -> str:
    if row["slice"].startswith("person="):
        return row["slice"].removeprefix("person=")
    if row["model"] == HUMAN:
        return f"{row['seeds']:.0f} people" if row["seeds"] > 1 else "one person"
    return model_title(row["model"], models) + method_note(row["method"])


def cells_of(row: pd.Series, models: dict, sources: dict) -> dict[str, str]:
    show, measure = percent, f"{row['measure']} (%)"
    if row["metric"] == "human_agreement":
        show, measure = "{:.2f}".format, "agreement (alpha)"
    elif row["metric"].endswith(ABOVE):
        show, measure = signed, f"{row['measure']}, points above people"
    found = Estimate.of(row)
    is_kind = row["slice"].startswith("type=")
    return {
        "Items of": f"{source_title(row['source'], sources)}, {row['dataset']}{note_of(row)}",
        "Split": split_title(row["split"]),
        "Measure": ", ".join(filter(None, [measure, row["scoring"]])).replace("_", " "),
        "Kind": row["slice"].removeprefix("type=").replace("_", " ") if is_kind else "all",
        "Who": who(row, models),
        "Items": f"{row['n']:,}",
        "Value, 95 % interval": with_interval(found, show),
        "SD": percent(row["sd"]),
    }


def tabulate(metrics: pd.DataFrame, sources: dict, models: dict) -> pd.DataFrame:
    """Return the table: all people together come first, then each person, then the systems."""
    of = metrics["slice"]
    last = (metrics["model"] != HUMAN) + of.str.startswith("person=") * 0.5
    kind = of.where(of.str.startswith("type="), "all")
    rows = metrics.assign(last=last, kind=kind, above=metrics["metric"].str.endswith(ABOVE))
    rows = rows.sort_values([*PLACE, "measure", "above", "kind", "last"], kind="stable")
    cells = [cells_of(row, models, sources) for _, row in rows.iterrows()]
    return filled(pd.DataFrame(cells), WORDS)


def main(given: Given) -> None:
    metrics = people_metrics(read_metrics(given.metrics).to_pandas())
    if metrics.empty:
        raise UserError(
            f"{given.metrics}: has no answers of people; name their files under `people` of an "
            "experiment (docs/people.md)"
        )
    publish_table(given, tabulate(metrics, given.sources, given.models), WORDS)
