"""Call the builder and the evaluation of a study, as its rules do."""

import json
from pathlib import Path

import pandas as pd

from scripts.data.tables import read_table
from tests.forking import Ended

SOURCES = "resources/sources.yaml"


def build(
    program, study: str, cleaned, output, splits: str, options: dict, *more, ok=True
) -> Ended:
    return program(
        f"scripts.studies.{study}.build --cleaned {cleaned} --output {output} --splits {splits}",
        *("--options", json.dumps(options), *more),
    ).checked(ok)


def splits_in(folder: Path, splits: str) -> dict[str, pd.DataFrame]:
    """Return the splits of a dataset."""
    return {split: read_table(folder / f"{split}.parquet").to_pandas() for split in splits.split()}


def evaluate(
    program, study: str, folder: Path, runs: list[str], *more, built=None, sources=SOURCES
) -> Ended:
    """Evaluate runs of a folder into its metrics.parquet. built: the folder of the datasets, if it
    is not the folder's own.
    """
    return program(
        f"scripts.studies.{study}.evaluate --experiment e --trained {folder} --resamples 200 "
        f"--contest scripts/studies/{study}/study.yaml --sources {sources} "
        f"--build {built or folder / 'build'} --output {folder}/metrics.parquet",
        *("--runs", *runs, *more),
    )


def metrics_in(folder: Path) -> pd.DataFrame:
    return read_table(folder / "metrics.parquet").to_pandas()
