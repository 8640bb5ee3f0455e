"""The record: what stays of a study, that its figures have the points of its numbers, that other
code is named, that an unfinished study is refused.
"""

import gzip
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from scripts.running.program import UserError
from scripts.studies.mctaco.evaluate import SCHEMA
from scripts.publish.record import SUFFIXES, linked_items, write_record
from scripts.publish.record_page import index
from scripts.publish.recorded import (
    facts_of_runs,
    read_metrics,
    read_runs,
    runs_table,
    write_metrics,
)
from scripts.train.work import code_of
from tests.conftest import ROOT
from tests.files import read_json, write_json
from tests.publish.publish_inputs import HOSTILE, Study, metric_rows
from tests.studies.mctaco.publish_inputs_mctaco import metric_rows as mctaco_rows
from tests.rows import rows_of

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

RECORDS = ROOT / "docs/record"
LINKED = ["accuracy_by_stride", "strided_sop_training_curves"]
DRAWN = [*LINKED, "strided_sop_slices"]
TABLES = {"strided_sop_table": "Every number", "strided_sop_verdicts": "What is claimed"}


def tell(study: Study, folder: Path) -> Path:
    """The file that tells of a made-up study, as rules/publish.smk writes it."""
    resources = {
        name: (study.folder / "resources" / name).read_text()
        for name in ("sources.yaml", "models.yaml", "published.csv")
    }
    figures = {
        item["name"]: {key: item[key] for key in ("title", "study", "program", "reads")}
        | {"runs": study.runs, "resources": resources}
        for item in study.items()
        if item["name"] in DRAWN
    }
    told = {
        "name": "tried",
        "command": "snakemake --cores all --configfile presets/tried.yaml",
        "configuration": {"run": ["tried"]},
        "metrics": str(study.metrics),
        "publish": str(study.publish),
        "train": str(study.results / "train"),
        "figures": figures,
        "tables": TABLES,
        "drawn": ["mctaco"],
        "runs": {f"strided_sop/{run}": "classify" for run in study.runs},
        "programs": ["evaluate/strided_sop"],
    }
    file = folder / "told.json"
    write_json(file, told)
    return file


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> Study:
    """A made-up study, its figures and its table."""
    study = Study(tmp_path_factory.mktemp("study"), program)
    code = code_of("classify")
    for run in study.runs:
        file = study.results / "train/strided_sop" / run / "run.json"
        write_json(
            file,
            read_json(file)
            | {"code": code, "hostile": HOSTILE, "digest": "0123", "nothing": {}, "known": None},
        )
    for item in study.items():
        if item["name"] in DRAWN or item["name"] in TABLES:
            assert study.call(item).returncode == 0, item["name"]
    return study


@pytest.fixture(scope="module")
def record(study, program, tmp_path_factory) -> Path:
    """Its record."""
    place = tmp_path_factory.mktemp("project") / "docs/record/tried"
    place.mkdir(parents=True)
    (place.parents[2] / "README.md").write_text(
        "![by stride](docs/record/tried/figures/accuracy_by_stride.svg)"
    )
    (place.parents[1] / "page.md").write_text(
        "![curves](record/tried/figures/strided_sop_training_curves.svg) "
        "[all](record/tried/tables/strided_sop_table.md) "
        "[of another](record/other/figures/strided_sop_slices.svg)"
    )
    program(
        f"scripts.publish.record --output {place}", "--study", tell(study, study.folder)
    ).checked()
    return place


@pytest.fixture
def copied(record, tmp_path) -> Path:
    """A record to break."""
    shutil.copytree(record.parents[2], tmp_path / "project")
    return tmp_path / "project/docs/record/tried"


def test_every_number_and_every_fact_is_kept(study, record):
    told = read_json(record / "record.json")
    before, after = pq.read_table(study.metrics), read_metrics(record, told["columns"])
    assert before.drop_columns("draws").equals(after.drop_columns("draws"))
    facts = {fact["run"]: fact for fact in read_runs(record)}
    assert facts == {
        run: read_json(study.results / "train/strided_sop" / run / "run.json") for run in study.runs
    }
    assert "presets/tried.yaml" in (record / "README.md").read_text()


def test_of_figures_and_tables_stay_those_that_are_linked(record, copied, study, program):
    told = read_json(record / "record.json")
    assert list(told["figures"]) == names_in(record / "resources") == LINKED
    assert list(told["tables"]) == ["strided_sop_table"]
    files = [f"{name}.{suffix}" for name in LINKED for suffix in ("csv", "svg")]
    assert names_in(record / "figures") == files
    assert names_in(record / "tables") == ["strided_sop_table.csv", "strided_sop_table.md"]
    (copied.parents[1] / "page.md").write_text("[gone](record/tried/figures/gone.svg)")
    program(f"scripts.publish.record --study {study.folder}/told.json --output {copied}").refused(
        "figures/gone, which this study does not make"
    )


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_texts_that_read_like_numbers_or_formulas_come_back():
    facts = yaml.safe_load("""
        - run: a
          digest: '0123'
          seed: 1
          versions: {torch: '2.1'}
          none: null
          empty: {}
          list: [1, '2']
        - run: =b
          digest: '12'
          text: ''
          versions: {torch: 'true', a.b: c}
    """)
    assert facts_of_runs(runs_table(facts)) == facts


@pytest.mark.parametrize(
    "name, transfers", [("mctaco", False), ("hellaswag", False), ("hellaswag", True)]
)
def test_draws_are_kept_where_figures_compare_by_them(name, transfers, tmp_path):
    """Those of MC-TACO, and for the figure of transfers those of whole splits of every study."""
    table = pa.Table.from_pylist([row | {"study": name} for row in mctaco_rows()], schema=SCHEMA)
    rows, kept = (
        table.to_pylist(),
        read_metrics(tmp_path, write_metrics(table, tmp_path, ["mctaco"], transfers)),
    )
    wanted = [
        row["draws"]
        if name == "mctaco" or transfers and row["slice"] == "all" and row["seed"] is None
        else None
        for row in rows
    ]
    assert kept["draws"].to_pylist() == wanted and any(wanted) == (name == "mctaco" or transfers)
    assert kept.drop_columns("draws").equals(table.drop_columns("draws"))


def records() -> list:
    """The records of the repository, and where there is none the made-up one alone."""
    return [None, *sorted(file.parent for file in RECORDS.glob("*/record.json"))]


@pytest.mark.parametrize("place", records(), ids=lambda place: place.name if place else "made-up")
def test_each_figure_of_a_record_has_the_points_of_its_numbers(place, record, program):
    program("scripts.publish.record", "--redraw", place or record).checked()
    for kind, suffixes in SUFFIXES.items():
        files = {file.name for file in ((place or record) / kind).glob("*")}
        names = linked_items(place or record, kind)
        assert files == {f"{name}.{suffix}" for name in names for suffix in suffixes}, (
            "those that are linked"
        )


@pytest.mark.parametrize(
    "file, old, new, rc, said",
    rows_of("""
        metrics.csv.gz | 0.56, | 0.57, | 1 | 'other points than its numbers have: accuracy_by_stride'
        history.csv | 0.65, | 0.66, | 1 | 'other points than its numbers have: strided_sop_training_curves'
        figures/accuracy_by_stride.svg | '#0072b2' | '#0072b3' | 0 | 'warning: {}/figures/accuracy_by_stride.svg: today''s code'
    """),
    ids=["number", "curve", "shape"],
)
def test_other_points_are_an_error_and_other_shapes_a_warning(
    copied, program, file, old, new, rc, said
):
    change(copied / file, old, new)
    done = program(f"scripts.publish.record --redraw {copied}")
    assert done.returncode == rc and said.format(copied) in done.stderr


def change(file: Path, old: str, new: str) -> None:
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt") as reader:
        text = reader.read()
    assert old in text
    with opened(file, "wt") as writer:
        writer.write(text.replace(old, new))


def without(key: str, value=None):
    """A change of record.json."""
    return lambda content: json.dumps(json.loads(content) | {key: value}).encode()


@pytest.mark.parametrize(
    "name, damage, said",
    [
        ("metrics.csv.gz", lambda content: content[:-40], "metrics.csv.gz: cannot be read"),
        ("record.json", lambda content: b"<<<<<<< HEAD\n" + content, "record.json: "),
        ("record.json", without("runs"), "record.json: has no runs as records have"),
        ("record.json", without("columns", [["value", "odd"]]), "a column is of the type 'odd'"),
        (
            "runs.csv",
            lambda content: content[: content.rindex(b"\n", 0, -1) + 1],
            "runs.csv: has no run",
        ),
        ("runs.csv", lambda content: content + b"a,b\n", "runs.csv: line"),
        (
            "runs.csv",
            lambda content: content.replace(b",strided_sop,", b",../../evil,", 1),
            "row 2: study is '../../evil', which is no name",
        ),
        (
            "history.csv",
            lambda content: content.replace(b"accuracy", b"acuracy", 1),
            "history.csv: cannot be read",
        ),
        (
            "history.csv",
            lambda content: b"run,epoch,split,loss,accuracy,n\nx,one,train,0.5,0.5,3\n",
            "history.csv: cannot be read",
        ),
    ],
)
def test_a_damaged_record_is_named(copied, program, name, damage, said):
    file = copied / name
    file.write_bytes(damage(file.read_bytes()))
    both = [
        program(f"scripts.publish.record --check {copied.parent}"),
        program(f"scripts.publish.record --redraw {copied}"),
    ]
    errors = [done.stderr for done in both if done.returncode]
    assert errors and not any("Traceback" in text for text in errors), errors
    assert any(said in text.splitlines()[-1] for text in errors), errors


def test_a_damaged_record_beside_is_named_before_anything_is_written(
    copied, study, program, tmp_path
):
    (copied / "record.json").write_text("<<<<<<< HEAD\n")
    with pytest.raises(UserError, match="record.json: "):
        write_record(read_json(tell(study, tmp_path)), copied.parent / "other")
    assert not (copied.parent / "other").exists()


def test_other_code_is_named(copied, program):
    assert program(f"scripts.publish.record --check {copied.parent}").returncode == 0
    told = read_json(copied / "record.json")
    told["programs"]["evaluate/strided_sop"] += "0"
    told["programs"]["evaluate/gone"] = "0123"
    write_json(copied / "record.json", told)
    change(copied / "runs.csv", code_of("classify"), "0123")
    done = program(f"scripts.publish.record --check {copied.parent}")
    assert done.returncode == 1
    assert "1 of 1 records are stale (tried)" in done.stderr.splitlines()[-1]
    for name in (
        "evaluate/strided_sop",
        "evaluate/gone",
        f"training by classify ({len(told['runs'])} of",
    ):
        assert name in done.stderr


@pytest.mark.parametrize(
    "lose, said",
    [
        (
            lambda study: study.results / "train/strided_sop" / study.runs[0] / "run.json",
            "is not there, so the study is not finished",
        ),
        (
            lambda study: study.publish / "tables/strided_sop_table.md",
            "strided_sop_table.md: is not there",
        ),
        (lambda study: study.metrics, "was drawn from other metrics"),
    ],
    ids=["run", "table", "metrics"],
)
def test_a_study_that_is_not_finished_is_refused_and_an_older_record_stays(
    study, copied, program, lose, said
):
    file, before = lose(study), contents(copied.parent)
    content = file.read_bytes()
    file.unlink()
    if file == study.metrics:
        study.write_metrics(metric_rows())
    try:
        done = program(f"scripts.publish.record --study {study.folder}/told.json --output {copied}")
    finally:
        file.write_bytes(content)
    done.refused(said)
    assert contents(copied.parent) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_committed_list_names_the_committed_records():
    assert (RECORDS / "README.md").read_text() == index(RECORDS)
