"""The record: what is kept of a study, that its figures are those of its numbers, that other code is named, that an unfinished study is refused."""

import gzip
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from scripts.common.fingerprint import fingerprint
from scripts.common.program import UserError
from scripts.common.reporting import REPORTING
from scripts.evaluate.mctaco import SCHEMA
from scripts.publish.record import has_handed_in, write_record
from scripts.publish.record_check import code_of_program
from scripts.publish.record_page import index
from scripts.publish.recorded import facts_of_runs, read_metrics, read_runs, runs_table, write_metrics
from tests.conftest import ROOT
from tests.unit.publish_inputs import HOSTILE, Study, metric_rows
from tests.unit.publish_inputs_mctaco import metric_rows as mctaco_rows

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

RECORDS = ROOT / "docs/record"
DRAWN = ["accuracy_by_stride", "strided_sop_slices", "strided_sop_training_curves"]
RUN_CODE = ["scripts.train.loop", "scripts.train.classify"]


def tell(study: Study, folder: Path) -> Path:
    """The file that tells of a made-up study, as rules/publish.smk writes it."""
    resources = {name: (study.folder / "resources" / name).read_text() for name in ("sources.yaml", "models.yaml", "published.csv")}
    figures = {item["name"]: {key: item[key] for key in ("title", "study", "program", "reads")} | {"runs": study.runs, "resources": resources}
               for item in study.items() if item["name"] in DRAWN}
    told = {"name": "tried", "command": "snakemake --cores all --configfile presets/tried.yaml", "configuration": {"run": ["tried"]},
            "metrics": str(study.metrics), "publish": str(study.publish), "train": str(study.results / "train"), "figures": figures, "tables": {"strided_sop_table": "Every number"},
            "runs": {f"strided_sop/{run}": RUN_CODE for run in study.runs}, "programs": ["scripts.evaluate.strided_sop"]}
    file = folder / "told.json"
    file.write_text(json.dumps(told))
    return file


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> Study:
    """A made-up study, its figures and its table."""
    study = Study(tmp_path_factory.mktemp("study"), program)
    code = fingerprint(*RUN_CODE, leave_out=REPORTING)
    for run in study.runs:
        file = study.results / "train/strided_sop" / run / "run.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"code": code, "hostile": HOSTILE, "digest": "0123", "nothing": {}, "known": None}))
    for item in study.items():
        if item["name"] in DRAWN or item["name"] == "strided_sop_table":
            assert study.call(item).returncode == 0, item["name"]
    return study


@pytest.fixture(scope="module")
def record(study, program, tmp_path_factory) -> Path:
    """Its record."""
    place = tmp_path_factory.mktemp("docs") / "record/tried"
    done = program("scripts.publish.record", "--study", tell(study, study.folder), "--output", place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def copied(record, tmp_path) -> Path:
    """A record to break."""
    shutil.copytree(record.parent, tmp_path / "record")
    return tmp_path / "record/tried"


def test_every_number_and_every_fact_is_kept(study, record):
    told = json.loads((record / "record.json").read_text())
    before, after = pq.read_table(study.metrics), read_metrics(record, told["columns"])
    assert before.drop_columns("draws").equals(after.drop_columns("draws"))
    facts = {fact["run"]: fact for fact in read_runs(record)}
    assert facts == {run: json.loads((study.results / "train/strided_sop" / run / "run.json").read_text()) for run in study.runs}
    assert {file.name for file in (record / "figures").iterdir()} >= {"accuracy_by_stride.svg", "accuracy_by_stride.csv"}
    assert (record / "tables/strided_sop_table.md").exists() and len(list((record / "resources").iterdir())) == 1
    for file in (record / "README.md", record.parent / "README.md"):
        assert "tried" in file.read_text() and "<script>" not in file.read_text()
    assert "presets/tried.yaml" in (record / "README.md").read_text()


def test_texts_that_read_like_numbers_or_formulas_come_back():
    facts = [{"run": "a", "digest": "0123", "seed": 1, "versions": {"torch": "2.1"}, "none": None, "empty": {}, "list": [1, "2"]},
             {"run": "=b", "digest": "12", "text": "", "versions": {"torch": "true", "a.b": "c"}}]
    assert facts_of_runs(runs_table(facts)) == facts


def test_draws_are_kept_where_figures_compare_by_them(tmp_path):
    table = pa.Table.from_pylist(mctaco_rows(), schema=SCHEMA)
    columns = write_metrics(table, tmp_path)
    assert table["draws"].null_count < len(table) and read_metrics(tmp_path, columns).equals(table)


def test_a_transfer_keeps_the_draws_of_whole_splits_of_every_study(tmp_path):
    """Its figure compares headlines of any study; other figures do not, and draws are large."""
    table = pa.Table.from_pylist([row | {"study": "hellaswag"} for row in mctaco_rows()], schema=SCHEMA)
    whole = [row["draws"] is not None and row["slice"] == "all" and row["seed"] is None for row in table.select(["draws", "slice", "seed"]).to_pylist()]
    kept = [read_metrics(tmp_path, write_metrics(table, tmp_path, transfers))["draws"] for transfers in (False, True)]
    assert kept[0].null_count == len(table) and [draws.is_valid for draws in kept[1]] == whole and 0 < sum(whole)


def records() -> list:
    """The records of the repository, and where there is none the made-up one alone."""
    return [None, *sorted(file.parent for file in RECORDS.glob("*/record.json"))]


@pytest.mark.parametrize("place", records(), ids=lambda place: place.name if place else "made-up")
def test_each_figure_of_a_record_is_that_of_its_numbers(place, record, program):
    done = program("scripts.publish.record", "--redraw", place or record)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("break_it, said", [
    (lambda place: change(place / "metrics.csv.gz", "0.56,", "0.57,"), "accuracy_by_stride has other points"),
    (lambda place: change(place / "figures/accuracy_by_stride.svg", "#0072b2", "#0072b3"), "accuracy_by_stride is drawn otherwise"),
    (lambda place: change(place / "history.csv", "0.65,", "0.66,"), "strided_sop_training_curves has other points"),
], ids=["number", "shape", "curve"])
def test_a_figure_of_other_numbers_is_named(copied, program, break_it, said):
    break_it(copied)
    done = program("scripts.publish.record", "--redraw", copied)
    assert done.returncode == 1 and said in done.stderr.splitlines()[-1]


def change(file: Path, old: str, new: str) -> None:
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt") as reader:
        text = reader.read()
    assert old in text
    with opened(file, "wt") as writer:
        writer.write(text.replace(old, new))


def test_a_broken_file_of_numbers_is_named(copied, program):
    file = copied / "metrics.csv.gz"
    file.write_bytes(file.read_bytes()[:-40])
    done = program("scripts.publish.record", "--redraw", copied)
    assert done.returncode == 1 and "metrics.csv.gz: cannot be read" in done.stderr.splitlines()[-1] and "take it from git again" in done.stderr


def without(key: str, value=None):
    """A change of record.json."""
    return lambda text: json.dumps({name: other for name, other in json.loads(text).items() if name != key} | ({key: value} if value is not None else {}))


@pytest.mark.parametrize("name, damage, said", [
    ("record.json", lambda text: "[]", "record.json: has no name as records have"),
    ("record.json", lambda text: "<<<<<<< HEAD\n" + text, "record.json: "), ("record.json", lambda text: "[" * 100_000, "record.json: "),
    ("record.json", without("runs"), "record.json: has no runs as records have"),
    ("record.json", without("columns", [["value", "odd"]]), "a column is of the type 'odd'"),
    ("runs.csv", lambda text: "", "runs.csv: "), ("runs.csv", lambda text: text[:text.rindex("\n", 0, -1) + 1], "runs.csv: has no run"),
    ("runs.csv", lambda text: text + "a,b\n", "runs.csv: line"), ("runs.csv", lambda text: text.replace("study", "studdy", 1), "column study is missing"),
    ("runs.csv", lambda text: text.replace(",strided_sop,", ",../../evil,", 1), "row 2: study is '../../evil', which is no name"),
    ("history.csv", lambda text: "", "history.csv: "), ("history.csv", lambda text: text.replace("accuracy", "acuracy", 1), "column accuracy is missing"),
    ("history.csv", lambda text: "run,epoch,split,loss,accuracy,n\nx,one,train,0.5,0.5,3\n", "history.csv: epoch has a cell that is no number"),
])
def test_a_damaged_record_is_named(copied, program, name, damage, said):
    file = copied / name
    file.write_text(damage(file.read_text()))
    both = [program("scripts.publish.record", "--check", copied.parent), program("scripts.publish.record", "--redraw", copied)]
    told = [done.stderr for done in both if done.returncode]
    assert told and all("Traceback" not in text for text in told) and any(said in text.splitlines()[-1] for text in told), told


def test_a_damaged_record_beside_is_named_before_anything_is_written(copied, study, program, tmp_path):
    (copied / "record.json").write_text("<<<<<<< HEAD\n")
    with pytest.raises(UserError, match="record.json: "):
        write_record(json.loads(tell(study, tmp_path).read_text()), copied.parent / "other")
    assert not (copied.parent / "other").exists()


def test_what_reads_answers_counts_where_answers_were(study, tmp_path):
    """What nobody handed in is read by no code; else mending the reader would make every record stale."""
    told = json.loads(tell(study, tmp_path).read_text())
    metrics = pq.read_table(told["metrics"])
    alone = metrics.filter(pc.invert(pc.starts_with(metrics["metric"], "human_")))
    assert 0 < len(alone) < len(metrics) and has_handed_in(metrics) and not has_handed_in(alone)
    assert has_handed_in(alone.set_column(alone.schema.get_field_index("method"), "method", pa.array(["external"] * len(alone))))
    program = "scripts.evaluate.strided_sop"
    assert code_of_program(program, False) != code_of_program(program, True) == fingerprint(program)


def test_other_code_is_named(copied, program):
    assert program("scripts.publish.record", "--check", copied.parent).returncode == 0
    told = json.loads((copied / "record.json").read_text())
    told["programs"]["scripts.evaluate.strided_sop"] += "0"
    told["programs"]["scripts.evaluate.gone"] = "scripts.evaluate.gone 0123"
    (copied / "record.json").write_text(json.dumps(told))
    change(copied / "runs.csv", "scripts.train.loop ", "scripts.train.loop 0")
    done = program("scripts.publish.record", "--check", copied.parent)
    assert done.returncode == 1 and "1 of 1 records are stale (tried)" in done.stderr.splitlines()[-1]
    for name in ("scripts.evaluate.strided_sop", "scripts.evaluate.gone", f"scripts.train.loop with scripts.train.classify ({len(told['runs'])} of"):
        assert name in done.stderr


@pytest.mark.parametrize("lose, said", [
    (lambda study: study.results / "train/strided_sop" / study.runs[0] / "run.json", "is not there, so the study is not finished"),
    (lambda study: study.publish / "tables/strided_sop_table.md", "is not there, so the study is not finished"),
    (lambda study: study.metrics, "was drawn from other metrics"),
], ids=["run", "table", "metrics"])
def test_a_study_that_is_not_finished_is_refused_and_an_older_record_stays(study, copied, program, lose, said):
    file, before = lose(study), contents(copied.parent)
    content = file.read_bytes()
    file.unlink()
    if file == study.metrics:
        study.write_metrics(metric_rows())
    try:
        done = program("scripts.publish.record", "--study", study.folder / "told.json", "--output", copied)
    finally:
        file.write_bytes(content)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
    assert contents(copied.parent) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_committed_list_names_the_committed_records():
    assert (RECORDS / "README.md").read_text() == index(RECORDS)


def test_a_record_that_is_too_large_says_what_is_large(study, monkeypatch, caplog, tmp_path):
    monkeypatch.setattr("scripts.publish.record.MOST", 1000)
    write_record(json.loads((study.folder / "told.json").read_text()), tmp_path / "record/tried")
    assert "more than the" in caplog.text and "figures/strided_sop_training_curves.svg 0.1 MB" in caplog.text
