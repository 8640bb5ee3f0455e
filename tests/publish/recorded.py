"""Numbers on record (docs/record), as the programs of figures and tables read them: real runs,
in today's schema. `snakemake record` makes the record; `scripts.publish.record --check` holds it
against today's programs.
"""

import importlib
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.data.record import COMPARISONS, read_runs
from scripts.data.studies import read_studies
from tests.conftest import ROOT
from tests.files import read_texts, write_json
from tests.registers import FIGURES

RECORD = ROOT / "docs/record"


def numbers(study: str, preset: str) -> pa.Table:
    """Return the rows of a preset."""
    kept = pq.read_table(RECORD / study / "metrics.parquet", filters=[("preset", "==", preset)])
    schema = importlib.import_module(f"scripts.studies.{study}.evaluate").SCHEMA
    for field in schema:
        if field.name not in kept.column_names:  # draws, and what is newer than the record
            kept = kept.append_column(field, pa.nulls(len(kept), field.type))
    return kept.select(schema.names).cast(schema)


class Recorded:
    """The numbers of a preset in a folder; `call` runs the program of an item of figures.yaml.
    change: a function of the rows.
    """

    def __init__(self, folder: Path, program, study: str, preset: str, change=None):
        self.folder, self.program, self.study = folder, program, study
        self.metrics, table = folder / "metrics.parquet", numbers(study, preset)
        if change:
            frame = change(table.to_pandas())
            table = pa.Table.from_pandas(frame, schema=table.schema, preserve_index=False)
        pq.write_table(table, self.metrics)
        kept = [("preset", "==", preset)]
        compared = pq.read_table(RECORD / study / COMPARISONS, filters=kept)
        pq.write_table(compared.drop_columns(["preset"]), folder / COMPARISONS)
        self.datasets = set(table["dataset"].to_pylist())

    def write_runs(self) -> list[str]:
        """Write run.json of the runs on these datasets; return their names."""
        kept = [one["run"] for one in read_runs(RECORD / self.study).values()]
        kept = [run for run in kept if run["dataset"] in self.datasets]
        for run in kept:
            place = self.folder / "train" / run["run"]
            place.mkdir(parents=True, exist_ok=True)
            write_json(place / "run.json", run)
        return [run["run"] for run in kept]

    def options(self, item: dict) -> list[str]:
        reads, output = item["reads"], self.folder / f"{item['kind']}s" / item["name"]
        given = f"--metrics {self.metrics} --output {output} --columns {item.get('columns', 2)}"
        if "runs" in reads:
            given += f" --train {self.folder}/train --runs {' '.join(self.write_runs())}"
        if "headline" in reads:
            given += f" --headline {read_studies()[self.study]['headline']}"
        return given.split()

    def call(self, name: str):
        [item] = [item for item in FIGURES if item["name"] == name]
        return self.program("scripts.publish.item", item["program"], *self.options(item))

    def points(self, name: str) -> pd.DataFrame:
        return pd.read_csv(self.folder / f"figures/{name}.csv")

    def table(self, name: str) -> pd.DataFrame:
        return read_texts(self.folder / f"tables/{name}.csv")
