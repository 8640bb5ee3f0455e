"""Collect the metrics of all experiments into one table, and their comparisons with controls into
one beside it. A study's own columns are empty in the rows of other studies.

    python -m scripts.measure.collect results/evaluate/default/*/*.parquet \\
        --output results/evaluate/default/metrics.parquet
"""

import argparse
from pathlib import Path

import pyarrow as pa

from scripts.data.manifest import describe_beside, manifest_beside
from scripts.measure.comparisons import SCHEMA, comparisons_beside
from scripts.running.program import execute, log, parser
from scripts.data.tables import read_metrics, read_table, write_table


def main(given: argparse.Namespace) -> None:
    tables = [read_metrics(file, draws=True, others=True, ensembles=True) for file in given.files]
    schema = pa.unify_schemas([table.schema.remove_metadata() for table in tables])
    table = pa.concat_tables(tables, promote_options="default")
    compared = [read_table(comparisons_beside(file)) for file in given.files]
    comparisons, beside = pa.concat_tables(compared), comparisons_beside(given.output)
    stated = {"files": [str(file) for file in given.files]}
    write_table(table, given.output, schema, stated)
    write_table(comparisons, beside, SCHEMA, stated)
    if manifest_beside(beside) == manifest_beside(given.output):
        describe_beside(given.output, beside)
    else:
        describe_beside(given.output)
        describe_beside(beside)
    log.info(
        "%s: %d numbers of %d experiments",
        given.output,
        len(table),
        len(table["experiment"].unique()),
    )


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "files", nargs="+", type=Path, help="files of metrics, one for each experiment"
    )
    options.add_argument("--output", type=Path, required=True, help="the Parquet file to write")
    options.set_defaults(reads=lambda given: [*given.files, *map(comparisons_beside, given.files)])
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
