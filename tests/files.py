"""Files that tests write and read whole."""

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
    """With libyaml, a tenth of the time: the files of resources/ are written hundreds of times."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    file.write_text(yaml.dump(value, Dumper=dumper, sort_keys=False))


def write_rows(rows: list[dict], file: Path, schema: pa.Schema) -> None:
    """A table of this project with these rows."""
    write_table(pa.Table.from_pylist(rows, schema=schema), file, schema, {})


def read_texts(file: Path) -> pd.DataFrame:
    """A CSV whose cells are texts as they stand."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)
