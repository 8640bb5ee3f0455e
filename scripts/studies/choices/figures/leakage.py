"""Tabulate how items were split, and which were dropped because they are also measured. Datasets of
one source differ only by their fold.
"""

import pandas as pd

from scripts.data.csv_files import read_csv
from scripts.publish.item import Given
from scripts.publish.names import details_of, source_title, study_metrics
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
    datasets = metrics[["source", "dataset"]].drop_duplicates().sort_values(["source", "dataset"])
    for source, dataset in datasets.itertuples(index=False):
        leakage = read_csv(given.build / source / dataset / "leakage.csv")
        title = source_title(source, sources) + details_of(dataset, ["category", "train_items"])
        parts.append(leakage.assign(corpus=title))
    table = pd.concat(parts)[list(COLUMNS)].drop_duplicates().astype(str).rename(columns=COLUMNS)
    publish_table(given, table, list(COLUMNS.values())[:4])
