"""What the programs that measure a study are given."""

import argparse
from pathlib import Path

from scripts.common.program import parser, whole_number

OF_RUNS = ["experiment", "runs", "trained", "build", "sources", "output"]


def evaluation_arguments(doc: str, build: bool = True, required: bool = True) -> argparse.ArgumentParser:
    """The arguments for the runs of an experiment, as rules/evaluate.smk gives them; build: whether datasets are read.

    required: False for a program that may be used on files instead (file_or_runs).
    """
    options = parser(doc)
    runs = options.add_argument_group("the runs of an experiment")
    runs.add_argument("--experiment", required=required, help="its name, for the table")
    runs.add_argument("--runs", nargs="+", required=required, help="the runs' names")
    runs.add_argument("--trained", type=Path, required=required, help="the folder of the study's runs")
    if build:
        runs.add_argument("--build", type=Path, required=required, help="the folder of the study's datasets")
    runs.add_argument("--sources", type=Path, required=required, help="resources/sources.yaml")
    runs.add_argument("--output", type=Path, required=required, help="the Parquet file to write")
    options.add_argument("--resamples", type=whole_number(1, 1_000_000), default=2000, help="draws behind an interval; default: %(default)s")
    return options


def file_or_runs(options: argparse.ArgumentParser, of_file: list[str]) -> argparse.Namespace:
    """The parsed arguments, which must be all those of a file (of_file) or all those of runs; else exits, naming the missing."""
    given = options.parse_args()
    wanted = of_file if any(getattr(given, name) for name in of_file) else OF_RUNS
    if missing := [f"--{name}" for name in wanted if not getattr(given, name)]:
        options.error(f"{', '.join(missing)} is missing")
    return given
