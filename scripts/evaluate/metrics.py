"""Collect the metrics of all experiments into one table; a study's own columns are missing elsewhere.

    python -m scripts.evaluate.metrics results/evaluate/default/*/*.parquet --output results/evaluate/default/metrics.parquet
"""

import argparse
from pathlib import Path

import pyarrow as pa

from scripts.common.program import execute, log, parser
from scripts.common.tables import read_table, write_table


def main(given: argparse.Namespace) -> None:
    table = pa.concat_tables([read_table(file) for file in given.files], promote_options="default")
    schema = table.schema.remove_metadata()
    write_table(table, given.output, schema, {"files": [str(file) for file in given.files]})
    log.info("%s: %d numbers of %d experiments", given.output, len(table), len(table["experiment"].unique()))


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("files", nargs="+", type=Path, help="metrics of one experiment each")
    options.add_argument("--output", type=Path, required=True, help="the Parquet file to write")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
