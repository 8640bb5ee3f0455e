"""Data for other users: a card that loads every dataset unchanged and describes every column."""

import importlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from scripts.data.card import describe_datasets
from scripts.data.manifest import write_manifest
from scripts.data.tables import write_table
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.publish.cards import ABOUT
from tests.conftest import ROOT
from tests.registers import STUDIES
from scripts.data.options import DatasetOptions
from scripts.data.studies import options_of
from scripts.measure.comparisons import SCHEMA as COMPARISONS
from scripts.measure.tally import metrics_schema
from scripts.data.studies import beside
from scripts.data.yaml_files import read_yaml

COLUMNS = read_yaml(ROOT / "resources/columns.yaml")
OWN = {study: beside(study, "columns.yaml") for study in STUDIES}
STUDY = {
    "name": "strided_sop",
    "title": "Order",
    "paper": "Jain 2020",
    "labels": ["swapped", "in_order"],
}
ROWS = {"train": 5, "val_1": 3, "val_2": 2}
TERMS = {"licence": "MIT | <b>", "citation": "Me 2026", "sha256": {"a.json": "0"}}


def pairs(rows: int) -> pa.Table:
    values = {pa.string(): "a|b", pa.int32(): 1, pa.int8(): 1, pa.float64(): 0.5, pa.bool_(): True}
    return pa.table(
        {field.name: pa.array([values[field.type]] * rows, field.type) for field in STRIDED_PAIRS}
    )


@pytest.fixture
def built(tmp_path):
    """Write two datasets of a study, one of them with sample data, and their card."""
    for path, terms in {
        "corpus/stride-0": TERMS,
        "mine/stride-1-hard-True": TERMS | {"licence": "unstated", "sample": True},
    }.items():
        folder = tmp_path / path
        for split, rows in ROWS.items():
            write_table(pairs(rows), folder / f"{split}.parquet", STRIDED_PAIRS, terms)
        (folder / "leakage.csv").write_text("a\n")
        files = [*(f"{split}.parquet" for split in ROWS), "leakage.csv"]
        write_manifest(folder, files, folder / "manifest.json")
    describe_datasets(tmp_path, STUDY, ROOT / "scripts/studies/strided_sop/columns.yaml")
    return tmp_path


def test_every_split_is_itself_and_labels_have_names(built):
    front, text = (built / "README.md").read_text().split("---\n", 2)[1:]
    header = yaml.safe_load(front)
    assert [one["config_name"] for one in header["configs"]] == [
        "corpus-stride-0",
        "mine-stride-1-hard-True",
    ]
    for one in header["configs"]:
        found = {
            file["split"]: pq.read_metadata(built / file["path"]).num_rows
            for file in one["data_files"]
        }
        assert found == ROWS
    for one in header["dataset_info"]:
        features = {feature["name"]: feature["dtype"] for feature in one["features"]}
        assert list(features) == STRIDED_PAIRS.names
        assert features["label"] == {"class_label": {"names": {"0": "swapped", "1": "in_order"}}}
        assert {split["name"]: split["num_examples"] for split in one["splits"]} == ROWS
    assert header["license"] == "other", "one of the two states none"
    assert "SAMPLE DATA" in text
    assert "Me 2026" in text
    assert "unstated" in text
    assert "<b>" not in text
    assert r"MIT \| &lt;b>" in text
    assert "| val_1 | 3 |" in text
    assert f"| stride | int32 | {OWN['strided_sop']['dataset']['stride']} |" in text


def test_every_column_is_told():
    shared = set(metrics_schema(DatasetOptions).names)
    assert set(COLUMNS["metrics"]) == shared
    for name in STUDIES:
        tables, study = (
            importlib.import_module(f"scripts.studies.{name}.{module}")
            for module in ("tables", "evaluate")
        )
        [built] = [schema for schema in vars(tables).values() if isinstance(schema, pa.Schema)]
        assert list(OWN[name]["dataset"]) == built.names and study.ANSWERED.study == name
        own = {*OWN[name]["metrics"]} | {*options_of(name).columns()} - shared
        assert own == set(study.SCHEMA.names) - shared
        assert not {*OWN[name]["metrics"]} & {*options_of(name).schemas()}
    assert list(COLUMNS["cards"])[: len(ABOUT)] == ABOUT
    assert all(
        isinstance(text, str) and text
        for columns in [*COLUMNS.values(), *(one for both in OWN.values() for one in both.values())]
        for text in columns.values()
    )
    assert set(COMPARISONS.names) <= {*COLUMNS["metrics"], *COLUMNS["comparisons"], "scoring"}
