"""Tabulate the ladder of a study: for each test and model, what reaches how far, rung by rung
(scripts/measure/ladder.py explains the rungs).

A test that begins with `filtered` has the units that a filter keeps (scripts/measure/filtered.py).
It is called hard only if the family that the filter left out stays near 50 %.

A cell of a rung has the rung's best control, its score, and how far the model is above it, with the
95 % interval. `stands` has the highest rung that the model clearly leaves behind, together with all
rungs below it. The tests of the scorecard keep its verdicts; all other rows are a second family of
comparisons (with_clear() of scripts/publish/rungs.py).
"""

import pandas as pd

from scripts.data.items import HUMAN
from scripts.data.tables import read_metrics
from scripts.measure.filtered import EVEN, LEFT_OUT, verdict
from scripts.measure.ladder import CONTROL_METHODS, RUNGS
from scripts.data.declared import method_of_blind
from scripts.publish.item import Given
from scripts.publish.marks import note_of
from scripts.publish.names import method_title, model_title, source_title, split_title
from scripts.publish.verdicts import distance_in
from scripts.publish.rungs import TITLES, with_clear, with_distances, with_stands
from scripts.publish.scorecard.cells import cells_of, networks_of, probe_rows, read_scores
from scripts.publish.selection import only, with_interval, without_repeats
from scripts.publish.table import EXPERIMENT, interval, percent, publish_table, signed

SYSTEM = ["experiment", "source", "dataset", "split", "slice", "scoring", "model", "method"]
PLACE = [name for name in SYSTEM if name != "slice"]
FILTERED = ["experiment", "source", "dataset", "split"]
WORDS_OF_TABLE = ["Corpus", "Test", "Model", "Stands", EXPERIMENT]


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


def control_name(name: str, models: dict) -> str:
    """Return the title of a rung's control; empty for a blind model, which the heading names."""
    return "" if method_of_blind(name) else f"{model_title(name, models)}: "


def rung_cell(row: dict, rung: str, models: dict) -> str:
    """Return `search, words: 31.8; +6.5 (3.8 to 9.1)`, empty where the rung was not measured."""
    name = f"above_{rung}"
    if pd.isna(row[name]):
        return ""
    above = with_interval(distance_in(row, name), signed)
    reached = percent(row["value"] - row[name])
    return f"{control_name(row[f'{name}_control'], models)}{reached}; {above}"


def compared_rows(metrics: pd.DataFrame, headline: str) -> pd.DataFrame:
    """Return the means of the headline metric with their distances (a row for each test and model
    that has a control). A part that is the whole split is left out.
    """
    metrics = only(metrics.reindex(columns=list({*metrics, *SYSTEM})), seed=None, wording=None)
    metrics = metrics.astype(dict.fromkeys(SYSTEM, object))
    is_blind = metrics["method"].map(method_of_blind).notna()
    is_model = ~(metrics["method"].isin([*CONTROL_METHODS, HUMAN]) | is_blind)
    rows = metrics[is_model & (metrics["metric"] == headline)].drop(columns=["rung", "control"])
    whole = rows["slice"] == "all"
    sizes = rows[whole].set_index(PLACE)["n"]
    is_part = ~whole & (
        rows["n"] != rows.set_index(PLACE).index.map(sizes[~sizes.index.duplicated()])
    )
    rows = with_distances(without_repeats(rows[whole | is_part]), metrics, SYSTEM)
    has_control = rows[[f"above_{rung}" for rung in RUNGS]].notna().any(axis=1)
    return rows[has_control].reset_index(drop=True)


def stands_of(rows: pd.DataFrame, cells: pd.DataFrame, studies: dict) -> pd.Series:
    """Return where each row stands: a cell of the scorecard (cells_of()) as there, the others by
    Holm's test over their own differences.
    """
    of_cells = cells.set_index(PLACE)["stands"]
    is_cell = (rows["slice"] == "all") & rows.set_index(PLACE).index.isin(of_cells.index)
    others = with_stands(with_clear(rows[~is_cell]), studies)["stands"]
    shown = rows[is_cell].set_index(PLACE).index.map(of_cells)
    return pd.concat([others, pd.Series(shown, rows.index[is_cell], object)]).reindex(rows.index)


def main(given: Given) -> None:
    models, sources = given.models, given.sources
    studies, metrics = given.studies, read_scores(given.metrics)
    studies = {
        name: study
        for name, study in studies.items()
        if name in set(metrics["study"]) and study["headline"] == given.headline
    }
    networks = networks_of(given.facts)
    cells = cells_of(probe_rows(metrics, studies, sources), metrics, studies, networks)
    metrics = read_metrics(given.metrics).to_pandas()
    rows = compared_rows(metrics, given.headline)
    rows = rows.assign(stands=stands_of(rows, cells, studies))
    found = metrics[metrics["metric"] == LEFT_OUT].to_dict("records")
    left_out = {(*(row[of] for of in FILTERED), row["slice"]): row for row in found}
    people = metrics[(metrics["metric"] == f"human_{given.headline}") & (metrics["slice"] == "all")]
    of_people = people.drop_duplicates(["source", "split"]).set_index(["source", "split"])["value"]
    table = [
        {
            "Corpus": source_title(row["source"], sources) + note_of(pd.Series(row)),
            "Test": test_title(row, left_out),
            "Model": f"{model_title(row['model'], models)}, {method_title(row['method'])}",
            "n": f"{row['n']:,}",
            "Score (%)": f"{percent(row['value'])} ({interval(row)})",
            "Stands": row["stands"],
            **{TITLES[rung].capitalize(): rung_cell(row, rung, models) for rung in RUNGS},
            "People": percent(of_people.get((row["source"], row["split"]))),
            EXPERIMENT: row["experiment"],
        }
        for row in rows.to_dict("records")
    ]
    publish_table(given, table or pd.DataFrame(columns=WORDS_OF_TABLE), WORDS_OF_TABLE)
