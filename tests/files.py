"""Functions that write and read whole files in tests."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import yaml

from scripts.data.tables import write_table


def read_json(file: Path):
    return json.loads(file.read_text())


def write_json(file: Path, value) -> None:
    file.write_text(json.dumps(value))


def write_yaml(file: Path, value) -> None:
    """Write YAML with libyaml, ten times as fast: tests write the files of resources/ often."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    file.write_text(yaml.dump(value, Dumper=dumper, sort_keys=False))


def write_rows(rows: list[dict], file: Path, schema: pa.Schema) -> None:
    """Write a table of this project with these rows."""
    write_table(pa.Table.from_pylist(rows, schema=schema), file, schema, {})


def read_texts(file: Path) -> pd.DataFrame:
    """Read a CSV and keep all cells as texts."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)
