"""Tabulate how items were split, and which were dropped because they are also measured."""

import pandas as pd

from scripts.data.csv_files import read_csv
from scripts.publish.item import Given
from scripts.publish.names import source_title, study_metrics
from scripts.publish.table import publish_table
from scripts.studies.choices.evaluate import SCHEMA

COLUMNS = {
    "corpus": "Corpus",
    "split": "Split",
    "category": "Category",
    "reason": "Why",
    "items": "Items",
    "groups": "Groups",
}


def main(given: Given) -> None:
    metrics, sources = study_metrics(given.metrics, "choices", SCHEMA), given.sources
    parts = []
    for source, rows in metrics.sort_values(["source", "dataset"]).groupby("source"):
        leakage = read_csv(given.build / source / rows["dataset"].iloc[0] / "leakage.csv")
        parts.append(leakage.assign(corpus=source_title(source, sources)))
    table = pd.concat(parts)[list(COLUMNS)].astype(str).rename(columns=COLUMNS)
    publish_table(given, table, list(COLUMNS.values())[:4])
