"""Tabulate the answers of language models to MC-TACO's test questions, as others released them:
exact match and F1 of each file, and its comparisons with controls.
"""

import pandas as pd

from scripts.data.tables import read_metrics, read_table
from scripts.measure.comparisons import comparisons_beside
from scripts.publish.item import Given
from scripts.publish.marks import note_of
from scripts.publish.names import source_title, split_title
from scripts.publish.selection import only
from scripts.publish.compared import SYSTEM, cells_of as beside_of, with_comparisons
from scripts.publish.table import by_metric, number_cells, publish_table
from scripts.running.program import UserError
from scripts.studies.mctaco.evaluate import SCHEMA
from scripts.studies.mctaco.figures.metrics import PLACE, metrics_to_draw, system_means
from scripts.studies.mctaco.released import Released, read_released

WORDS = ["Corpus", "Split", "System", "Shots", "Asked", "Wording"]
METRICS = {"EM": "exact_match", "F1": "f1"}
NOT_RELEASED = Released("", "", "", "", "", "", "", "", "", None)


def cells_of(rows: pd.DataFrame, one: Released, sources: dict, models: dict) -> dict:
    by = by_metric(rows)
    first = by["exact_match"]
    cells = {
        "Corpus": source_title(first["source"], sources) + note_of(first),
        "Split": split_title(first["split"]),
        "Questions": f"{first['n']:,}",
        "System": f"{first['system']}, joined" if one.joined else first["system"],
        "Shots": one.shots,
        "Asked": one.asked,
        "Wording": one.wording,
    }
    for name, metric in METRICS.items():
        cells |= number_cells(name, by[metric])
        del cells[f"{name} sd"]  # one run has no standard deviation
    return cells | beside_of(first, models)


def tabulate(rows: pd.DataFrame, by_name: dict, sources: dict, models: dict) -> list[dict]:
    table = []
    for _, of_split in rows.groupby(PLACE, sort=False):
        exact = of_split[of_split["metric"] == "exact_match"]
        for key in exact.sort_values("value", ascending=False, kind="stable")["key"]:
            of_system = of_split[of_split["key"] == key]
            one = by_name.get(of_system["model"].iloc[0], NOT_RELEASED)
            table.append(cells_of(of_system, one, sources, models))
    return table


def read_rows(given: Given) -> tuple[pd.DataFrame, dict[str, Released]]:
    """Return the means of each system measured here (of controls only the best) and of each file
    that others released, with `key`; and the rows of released.csv by name.
    """
    by_name = {one.name: one for one in read_released(given.resources / "released.csv")}
    here = system_means(metrics_to_draw(given))
    here = here[here["drawn"] & (here["slice"] == "all") & (here["model"] != "gold")]
    others = read_metrics(given.metrics, SCHEMA, others=True).to_pandas()
    others = only(others, model=by_name, slice="all")
    if others.empty:
        raise UserError(
            f"{given.metrics}: no rows of what others released; name it in an experiment of mctaco "
            "(released: [temporal_llms])"
        )
    # keep one copy of rows that two experiments share
    others = others.sort_values("value", kind="stable").drop_duplicates([*PLACE, "model", "metric"])
    others = others.assign(system=[by_name[name].model for name in others["model"]])
    rows = [here.assign(key=here["system"]), others.assign(key=others["model"])]
    both = pd.concat(rows, ignore_index=True)
    # a file whose wording is named has no mean over wordings
    every = read_table(comparisons_beside(given.metrics)).to_pandas()
    return with_comparisons(both, every, SYSTEM), by_name


def main(given: Given) -> None:
    models, sources = given.models, given.sources
    rows, by_name = read_rows(given)
    table = tabulate(rows, by_name, sources, models)
    publish_table(given, table, WORDS)
