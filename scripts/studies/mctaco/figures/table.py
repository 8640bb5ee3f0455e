"""Tabulate MC-TACO: F1 and exact match of every system beside table 2 of Zhou et al. 2019. Systems
that only the paper measured follow below, on the paper's corpus only.
"""

import pandas as pd

from scripts.publish.compared import cells_of
from scripts.publish.item import Given
from scripts.publish.marks import note_of, replicate_counts
from scripts.publish.names import source_title, split_title
from scripts.publish.selection import only
from scripts.publish.table import EXPERIMENT, by_metric, number_cells, percent, publish_table
from scripts.studies.mctaco.figures.metrics import (
    KEY,
    PLACE,
    beside_controls,
    mctaco_metrics,
    published_beside,
    table_2,
    trained_most,
)

WORDS = ["Corpus", "Split", "System", EXPERIMENT]
METRICS = {"F1": "f1", "EM": "exact_match"}


def rows_of(
    rows: pd.DataFrame, paper: pd.DataFrame, place: dict[str, str], models: dict
) -> list[dict]:
    """Return a row for each system of one place, then for each system of table 2 that was not run
    here. place: the first cells.
    """

    def in_paper(name: str, row: pd.Series) -> dict[str, str]:
        return {f"{name} in the paper": percent(row[METRICS[name]])}

    table = []
    for system, of_system in rows.groupby("system", sort=False):
        by = by_metric(of_system[of_system["seed"].isna()])
        first = by["f1"]
        pairs = first["train_pairs"]
        cells = place | {
            "Corpus": place["Corpus"] + note_of(first),
            "Questions": f"{first['n']:,}",
            "System": system,
            "Training pairs": "" if pd.isna(pairs) else f"{pairs:,.0f}",
            **replicate_counts(of_system),
        }
        same = paper[~paper.index.duplicated()].reindex([tuple(first[KEY])]).iloc[0]
        for name, metric in METRICS.items():
            cells |= number_cells(name, by[metric]) | in_paper(name, same)
        beside = cells_of(by["exact_match"], models)
        table.append(cells | beside | {EXPERIMENT: first["experiment"]})
    for _, row in paper[~paper.index.isin(pd.MultiIndex.from_frame(rows[KEY]))].iterrows():
        only = {"Corpus": table[0]["Corpus"], "System": f"{row['row']} (in the paper only)"}
        table.append(place | only | in_paper("F1", row) | in_paper("EM", row))
    return table


def main(given: Given) -> None:
    models, sources = given.models, given.sources
    metrics, published = mctaco_metrics(given.metrics, models), published_beside(given.resources)
    rows, table = trained_most(metrics), []
    rows = rows[(rows["slice"] == "all") & (rows["model"] != "gold")]
    rows = only(rows, metric=METRICS.values())
    rows = beside_controls(rows, metrics, given.metrics)
    for (source, split), of_split in rows.groupby(PLACE, sort=False):
        place = {"Corpus": source_title(source, sources), "Split": split_title(split)}
        table += rows_of(of_split, table_2(published, source), place, models)
    publish_table(given, table, WORDS)
