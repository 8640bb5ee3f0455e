"""What every program that makes a figure or a table is given, as rules/publish.smk gives it."""

import argparse
import json
from pathlib import Path

from scripts.data.studies import read_published, read_studies
from scripts.running.identity import ROOT
from scripts.running.job_files import hand_over, rows_of
from scripts.running.program import parser


def sources_file(text: str) -> Path:
    """The type of the argument --sources. Beside the project's own file a program that is run by
    hand finds what the workflow would hand over: studies.yaml and published.csv of all studies.
    """
    file, own = Path(text), ROOT / "resources/sources.yaml"
    if not file.exists() or file.resolve() != own:
        return file
    studies = read_studies()
    files = {
        "sources.yaml": own.read_text(encoding="utf-8"),
        "studies.yaml": json.dumps(studies),
        "published.csv": rows_of(read_published(studies), "study", set(studies)),
    }
    return Path(hand_over(files, at_once=True), "sources.yaml")


READS = ("runs", "datasets", "released", "human", "cleaned", "spans")


def publisher_arguments(doc: str, *reads: str, required: bool = True) -> argparse.ArgumentParser:
    """The arguments of a program that also reads these (resources/figures.yaml explains them).

    required: False for a parser of any such program, which reads some of them.
    """
    options = parser(doc)
    options.add_argument(
        "--metrics", type=Path, required=True, help="results/evaluate/<name>/metrics.parquet"
    )
    options.add_argument(
        "--sources", type=sources_file, required=True, help="resources/sources.yaml"
    )
    options.add_argument("--models", type=Path, required=True, help="resources/models.yaml")
    if "runs" in reads:
        options.add_argument(
            "--train", type=Path, required=required, help="the folder of the study's runs"
        )
        options.add_argument("--runs", nargs="+", required=required, help="the runs' names")
    if "datasets" in reads:
        options.add_argument(
            "--build", type=Path, required=required, help="the folder of the study's datasets"
        )
    if "released" in reads:
        options.add_argument(
            "--fetched",
            type=Path,
            help="results/fetch, where a corpus comes with released judgements",
        )
    if "human" in reads:
        options.add_argument(
            "--human",
            type=Path,
            nargs="*",
            default=[],
            help="CSV files of human answers, where there are any",
        )
    if {"cleaned", "spans"} & set(reads):
        options.add_argument(
            "--cleaned",
            type=Path,
            required=required,
            help="results/clean: a folder for each source",
        )
    if "spans" in reads:
        options.add_argument(
            "--spans",
            type=Path,
            required=required,
            help="results/build/temporal_spans: a folder for each source",
        )
        options.add_argument(
            "--dialogs", nargs="*", default=[], metavar="SOURCE", help="corpora of dialogs"
        )
        options.add_argument(
            "--challenges",
            nargs="*",
            default=[],
            metavar="SOURCE",
            help="challenges with masked spans",
        )
    options.add_argument(
        "--output", type=Path, required=True, help="where to write, without suffix"
    )
    options.add_argument(
        "--only-svg",
        action="store_true",
        help="of a figure write the SVG on light paper and its points alone, to compare",
    )
    return options
