"""What every program that makes a figure or a table is given, as rules/publish.smk gives it."""

import argparse
from pathlib import Path

from scripts.common.program import parser


def publisher_arguments(doc: str, *reads: str) -> argparse.ArgumentParser:
    """The arguments of a program that also reads these: runs, datasets, spans (resources/figures.yaml explains them)."""
    made = parser(doc)
    made.add_argument("--metrics", type=Path, required=True, help="results/evaluate/metrics.parquet")
    made.add_argument("--sources", type=Path, required=True, help="resources/sources.yaml, beside published.csv")
    made.add_argument("--models", type=Path, required=True, help="resources/models.yaml")
    if "runs" in reads:
        made.add_argument("--train", type=Path, required=True, help="the folder of the study's runs")
        made.add_argument("--runs", nargs="+", required=True, help="the runs' names")
    if "datasets" in reads:
        made.add_argument("--build", type=Path, required=True, help="the folder of the study's datasets")
    if "spans" in reads:
        made.add_argument("--cleaned", type=Path, required=True, help="results/clean: a folder for each source")
        made.add_argument("--spans", type=Path, required=True, help="results/build/temporal_spans: a folder for each source")
        made.add_argument("--dialogs", nargs="*", default=[], metavar="SOURCE", help="corpora of dialogs")
        made.add_argument("--challenges", nargs="*", default=[], metavar="SOURCE", help="challenges with masked spans")
    made.add_argument("--output", type=Path, required=True, help="where to write, without suffix")
    return made
