"""Tabulate what it takes to reach each score of a study: for each test and model, the control of
each kind, its score, the difference and the verdict (scripts/measure/comparisons.py explains the
kinds).

A test that begins with `filtered` has the units that a filter keeps (scripts/measure/filtered.py).
It is called hard only if the family that the filter left out stays near 50 %.
"""

import pandas as pd

from scripts.data.items import HUMAN
from scripts.data.tables import read_metrics
from scripts.measure.filtered import EVEN, LEFT_OUT, verdict
from scripts.measure.comparisons import CONTROL_METHODS, KINDS, TITLES
from scripts.data.declared import method_of_blind
from scripts.publish.compared import SYSTEM, cell_of, read_comparisons, with_comparisons
from scripts.publish.item import Given
from scripts.publish.marks import note_of
from scripts.publish.names import method_title, model_title, source_title, split_title
from scripts.publish.selection import only, without_repeats
from scripts.publish.table import EXPERIMENT, interval, percent, publish_table

PLACE = [name for name in SYSTEM if name != "slice"]
OF_PEOPLE = ["source", "dataset", "split", "slice", "scoring"]
FILTERED = ["experiment", "source", "dataset", "split"]
WORDS_OF_TABLE = ["Corpus", "Test", "Model", EXPERIMENT]


def filter_title(row: dict, left_out: dict[tuple, dict]) -> str:
    """Return what a slice after a filter is called: `filtered: hard (left out: 51.0, 49.1–52.8)`.
    left_out: the rows of the family that the filter left out, by place and slice.
    """
    place, part = [row[of] for of in FILTERED], row["slice"].removeprefix(EVEN).removeprefix("; ")
    before, after = left_out[*place, part or "all"], left_out[*place, row["slice"]]
    reached = f"(left out: {percent(after['value'])}, {interval(after)})"
    return ": ".join(filter(None, ["filtered", part, f"{verdict(before, after)} {reached}"]))


def test_title(row: dict, left_out: dict[tuple, dict]) -> str:
    """Return the dataset, split, slice and scoring: `stride-0, validation 1`."""
    name = filter_title(row, left_out) if row["slice"].startswith(EVEN) else row["slice"]
    parts = [row["dataset"], split_title(row["split"]), name, row["scoring"]]
    return ", ".join(part for part in parts if pd.notna(part) and part != "all")


def place_of(row: dict) -> tuple[str, ...]:
    """Return where people and systems are compared. A study without scoring has none."""
    return tuple(str(row[of]) for of in OF_PEOPLE if pd.notna(row.get(of)))


def compared_rows(metrics: pd.DataFrame, comparisons: pd.DataFrame, headline: str) -> pd.DataFrame:
    """Return the means of the headline metric with their comparisons (a row for each test and model
    that has a control). A part that is the whole split is left out.
    """
    metrics = only(metrics.reindex(columns=list({*metrics, *SYSTEM})), seed=None, wording=None)
    metrics = metrics.astype(dict.fromkeys(SYSTEM, object))
    is_blind = metrics["method"].map(method_of_blind).notna()
    is_model = ~(metrics["method"].isin([*CONTROL_METHODS, HUMAN]) | is_blind)
    rows = metrics[is_model & (metrics["metric"] == headline)]
    whole = rows["slice"] == "all"
    sizes = rows[whole].set_index(PLACE)["n"]
    is_part = ~whole & (
        rows["n"] != rows.set_index(PLACE).index.map(sizes[~sizes.index.duplicated()])
    )
    rows = with_comparisons(without_repeats(rows[whole | is_part]), comparisons, SYSTEM)
    has_control = rows[[f"{kind}_difference" for kind in KINDS]].notna().any(axis=1)
    return rows[has_control].reset_index(drop=True)


def main(given: Given) -> None:
    models, sources = given.models, given.sources
    metrics = read_metrics(given.metrics, ensembles=True).to_pandas()
    rows = compared_rows(metrics, read_comparisons(given.metrics), given.headline)
    found = metrics[metrics["metric"] == LEFT_OUT].to_dict("records")
    left_out = {(*(row[of] for of in FILTERED), row["slice"]): row for row in found}
    people = metrics[metrics["metric"] == f"human_{given.headline}"]
    of_people = {place_of(row): row["value"] for row in people.to_dict("records")}
    table = [
        {
            "Corpus": source_title(row["source"], sources) + note_of(pd.Series(row)),
            "Test": test_title(row, left_out),
            "Model": f"{model_title(row['model'], models)}, {method_title(row['method'])}",
            "n": f"{row['n']:,}",
            "Score (%)": f"{percent(row['value'])} ({interval(row)})",
            **{TITLES[kind].capitalize(): cell_of(row, kind, models) for kind in KINDS},
            "People": percent(of_people.get(place_of(row))),
            EXPERIMENT: row["experiment"],
        }
        for row in rows.to_dict("records")
    ]
    publish_table(given, table or pd.DataFrame(columns=WORDS_OF_TABLE), WORDS_OF_TABLE)
