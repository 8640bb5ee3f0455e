"""Tabulate by what HellaSwag's items were parted, so that no video of what is measured was learnt
from, and what was dropped.

Reads  metrics.parquet (for which corpora are samples), <build>/<source>/<dataset>/leakage.csv,
       resources/sources.yaml for titles
Writes <output>.csv, .md, .tex

    python -m scripts.studies.hellaswag.figures.leakage \\
        --metrics results/evaluate/transfer/metrics.parquet --sources resources/sources.yaml \\
        --models resources/models.yaml --build results/build/hellaswag \\
        --output results/publish/transfer/tables/hellaswag_leakage
"""

import argparse

import pandas as pd

from scripts.data.csv_files import read_csv
from scripts.running.program import execute
from scripts.publish.arguments import publisher_arguments
from scripts.studies.hellaswag.figures.metrics import hellaswag_metrics
from scripts.publish.names import load, source_title
from scripts.publish.table import publish_table

CAPTION = (
    "What HellaSwag's items were parted by. Items of videos whose captions are learnt from in "
    "sentence order are learnt from here, too, and never measured; items of videos whose captions "
    "are measured there are never learnt from."
)
COLUMNS = {
    "corpus": "Corpus",
    "split": "Split",
    "domain": "From",
    "reason": "Why",
    "items": "Items",
    "groups": "Videos or articles",
}


def main(given: argparse.Namespace) -> None:
    metrics, sources = hellaswag_metrics(given.metrics, load(given.models)), load(given.sources)
    parts = []
    for source, rows in metrics.groupby("source", sort=False):
        leakage = read_csv(given.build / source / rows["dataset"].iloc[0] / "leakage.csv")
        parts.append(leakage.assign(corpus=source_title(source, sources)))
    table = pd.concat(parts)[list(COLUMNS)].astype(str).rename(columns=COLUMNS)
    publish_table(given, table, CAPTION, list(COLUMNS.values())[:4])


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "datasets").parse_args())
