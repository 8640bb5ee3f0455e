"""The record: scores keep every rank, other studies on record stay, stale runs are named, and an
unfinished study is refused.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from scripts.data.manifest import write_manifest
from scripts.data.record import (
    HISTORIES,
    SCORES,
    as_log_probabilities,
    kept_scores,
    ranks,
    read_kept,
    read_runs,
    shortened,
    write_hashes,
)
from scripts.data.tables import HISTORY, METRICS, PREDICTIONS, content_digest, write_table
from scripts.publish.record import index, studies_in
from scripts.train.work import code_of
from tests.compared import write_comparisons
from tests.conftest import ROOT
from tests.files import read_json, write_json, write_rows
from tests.rows import each_row

pytestmark = pytest.mark.slow  # many processes

RECORD = ROOT / "docs/record"
COLUMNS = {"example_id": "example_id", "group_id": "question_id"}
METHOD = {"columns": COLUMNS, "inputs": ["question", "answer"]}
COMMAND = "snakemake --cores all --configfile presets/tried.yaml"

finite = st.floats(-30, 30, width=32)
near_zero = st.floats(-(2**-20), 2**-20, width=32)


@given(st.lists(st.tuples(finite, finite, st.integers(0, 3)), min_size=1, max_size=40))
def test_shorter_scores_keep_every_rank(rows):
    scores = np.array([row[:2] for row in rows], np.float32)
    choices = np.array([row[2] for row in rows])
    found = shortened(scores, choices)
    assert np.array_equal(ranks(found, choices), ranks(scores, choices))
    assert np.allclose(found, scores, rtol=2**-9, atol=1e-30)


@given(
    st.integers(2, 4).flatmap(
        lambda labels: st.lists(
            st.lists(finite | near_zero, min_size=labels, max_size=labels), min_size=1
        )
    )
)
def test_log_probabilities_are_kept_as_log_odds(rows):
    scores = np.array(rows, np.float32)
    scores = (scores - logsumexp(scores, 1, keepdims=True)).astype(np.float32)
    choices = np.arange(len(scores))
    kept = kept_scores(scores, choices, whole_scores=False)
    odds = kept["score"].reshape(len(scores), -1)
    found = as_log_probabilities(odds) if kept["log_odds"] else odds
    assert np.array_equal(ranks(found, choices), ranks(scores, choices))
    wanted = scores[:, 1:] - scores[:, :1]
    assert np.allclose(found[:, 1:] - found[:, :1], wanted, rtol=2**-8, atol=1e-5)
    assert kept["log_odds"] == (odds.shape[1] == scores.shape[1] - 1)
    assert not kept_scores(scores - 1, choices, whole_scores=False)["log_odds"]


class Made:
    """A made-up study with two runs in its own folder."""

    def __init__(self, folder: Path, preset: str = "tried", runs=("a", "b"), value: float = 0.5):
        self.folder, self.names = folder, runs
        self.data, self.train = folder / "build", folder / "train"
        examples = pa.table(
            {
                "example_id": [f"e{number}" for number in range(6)],
                "question_id": [f"q{number // 2}" for number in range(6)],
                "question": [f"A question that nobody may keep, {number}?" for number in range(6)],
                "answer": ["yes", "no"] * 3,
                "label": pa.array([1, 0] * 3, pa.int64()),
            }
        )
        for split in ("train", "test"):
            write_table(examples, self.data / f"{split}.parquet", examples.schema, {})
        self.runs = [self.run(name, examples) for name in runs]
        row = dict.fromkeys(METRICS.names) | {
            "experiment": f"of_{preset}",
            "study": "mctaco",
            "value": value,
        }
        schema = METRICS.append(pa.field("draws", pa.list_(pa.list_(pa.float32()))))
        write_rows([row | {"draws": [[0.5]]}], folder / "metrics.parquet", schema)
        write_comparisons([], folder / "metrics.parquet")
        self.file = folder / "study.json"
        write_json(
            self.file,
            {
                "name": preset,
                "command": COMMAND,
                "metrics": str(folder / "metrics.parquet"),
                "publish": str(folder / "publish"),
                "published": [],
                "train": str(self.train),
                "figures": {"curve": "A curve"},
                "tables": {},
                "runs": self.runs,
            },
        )

    def run(self, name: str, examples: pa.Table) -> dict:
        """Write a run's files; return the run's entry in STUDY."""
        place = self.train / "mctaco" / name
        rows = [
            {
                "run": name,
                "split": "test",
                "selection": selection,
                "epoch": epoch,
                "example_id": example["example_id"],
                "group_id": example["question_id"],
                "label": example["label"],
                "score": [-0.1 * (number + epoch), -2.0],
            }
            for selection, epoch in (("last", 3), ("peak", 2), ("held_out", 2))
            for number, example in enumerate(examples.to_pylist())
        ]
        write_rows(rows, place / "predictions.parquet", PREDICTIONS)
        line = {"run": name, "epoch": 1, "split": "train", "loss": 0.5, "accuracy": 0.5, "n": 6}
        write_rows([line], place / "history.parquet", HISTORY)
        columns = ["example_id", "question_id", "question", "answer", "label"]
        facts = {"run": name, "study": "mctaco", "digest": "0123", "code": code_of("classify")}
        facts["timestride"] = {"version": "0.2.0"}
        no_gpu = {"at_least": False, "gpu_seconds": 0.0, "gpu_watts": None}
        facts["cost"] = no_gpu | {"cpu_seconds": 60.0}
        facts["data"] = {
            split: content_digest(self.data / f"{split}.parquet", columns)
            for split in ("train", "test")
        }
        write_json(place / "run.json", facts)
        return {
            "run": name,
            "study": "mctaco",
            "paradigm": "classify",
            "made_from": {},
            "programs": ["build/mctaco", "clean/mctaco"],
            "sums_scores": name == "a",
            "settings": json.dumps({"seed": 1, "run": name}),
            "method": METHOD,
            "splits": ["train", "test"],
            "data": str(self.data),
        }


@pytest.fixture
def made(tmp_path) -> Made:
    return Made(tmp_path / "made")


@pytest.fixture
def join(program, tmp_path):
    """Return a function that adds a study to the record."""
    place = tmp_path / "project/docs/record"
    return lambda made: program(f"scripts.publish.record --study {made.file} --output {place}")


@pytest.fixture(scope="module")
def recorded(program, tmp_path_factory) -> Path:
    """Return the record of the made-up study, which each test gets as a copy."""
    folder = tmp_path_factory.mktemp("recorded")
    file = Made(folder / "made").file
    program(f"scripts.publish.record --study {file} --output {folder}/docs/record").checked()
    return folder / "docs"


@pytest.fixture
def record(recorded, tmp_path) -> Path:
    return shutil.copytree(recorded, tmp_path / "project/docs") / "record"


SCORED = "tried_classify.parquet"
ASKED = ("run", "settings", "method", "splits", "data")


def take(program, made: Made, record: Path, folder: Path, **changed):
    """Take runs from the record."""
    asked = [{key: run[key] for key in ASKED} | changed for run in made.runs]
    options = f"--record {record}/mctaco --folder {folder} --output {folder}/job.manifest.json"
    lines = "\n".join(json.dumps(run) for run in asked)
    return program(f"scripts.train.runs {options}", "<<<", lines)


def test_a_run_comes_back_as_it_was(made, record, program, tmp_path):
    take(program, made, record, tmp_path / "again").checked()
    for name in made.names:
        before, after = made.train / "mctaco" / name, tmp_path / "again" / name
        tables = [
            pd.read_parquet(place / "predictions.parquet").sort_values(["selection", "example_id"])
            for place in (before, after)
        ]
        score = [np.stack(table.pop("score")) for table in tables]
        pd.testing.assert_frame_equal(*(table.reset_index(drop=True) for table in tables))
        assert np.allclose(*score, rtol=0 if name == "a" else 2**-9, atol=0)
        assert read_json(before / "run.json") == read_json(after / "run.json")
        assert pq.read_table(before / "history.parquet").equals(
            pq.read_table(after / "history.parquet")
        )
        assert read_json(after / "work/finished.json")["digest"] == "0123"
    rows = pq.read_table(record / "mctaco/scores").to_pylist()
    selections = [row["selections"] for row in rows if row["run"] == "a"]
    assert sorted(selections) == [["held_out", "peak"], ["last"]], "equal scores once"


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"method": METHOD | {"peak": True}}, "its method has changed since it was recorded"),
        ({"settings": "{}"}, "its method has changed since it was recorded"),
        ({"run": "gone"}, "has no run gone"),
    ],
)
def test_a_run_that_is_asked_otherwise_is_refused(made, record, program, tmp_path, changed, said):
    take(program, made, record, tmp_path / "again", **changed).refused(said)
    assert not list((tmp_path / "again").rglob("predictions.parquet"))


def test_a_job_takes_the_other_runs_where_one_is_refused(made, record, program, tmp_path):
    first, *others = ({key: run[key] for key in ASKED} for run in made.runs)
    write_manifest(
        made.data, [file.name for file in made.data.iterdir()], made.data / "manifest.json"
    )
    manifest = tmp_path / "manifest.json"
    options = {"folder": tmp_path, "record": record / "mctaco", "output": manifest}
    given = "\n".join(json.dumps(run) for run in [first | {"settings": "{}"}, *others])
    named = [f"--{name}={value}" for name, value in options.items()]
    job = program("scripts.train.runs", *named, "<<<", given)
    assert job.returncode == 1 and f"(1 of {len(made.runs)} failed)" in job.stderr
    taken = {file.parent.name for file in tmp_path.glob("*/predictions.parquet")}
    assert taken == {run["run"] for run in others}
    assert not manifest.exists()


def test_a_dataset_of_other_content_is_refused(made, record, program, tmp_path):
    file = made.data / "test.parquet"
    table = pq.read_table(file)
    label = pa.array([0] * len(table), pa.int64())
    pq.write_table(table.set_column(4, "label", label), file)
    take(program, made, record, tmp_path / "again").refused("has another content than when it")


def test_a_study_joins_what_is_there(record, join, tmp_path):
    """An experiment of the same preset is replaced. A run on record keeps its preset and file."""
    other = Made(tmp_path / "other", "other", ("b", "c"), 0.7)
    again = Made(tmp_path / "again", "tried", ("a",), 0.6)
    scores = (record / "mctaco/scores/tried_classify.parquet").read_bytes()
    for made in (other, again):
        join(made).checked()
    lines = read_runs(record / "mctaco")
    assert {name: line["preset"] for name, line in lines.items()} == {
        "a": "tried",
        "b": "tried",
        "c": "other",
    }
    files = {file.stem: file for file in (record / "mctaco/scores").iterdir()}
    assert set(files) == {"tried_classify", "other_classify"}
    assert files["tried_classify"].read_bytes() == scores
    metrics = pd.read_parquet(record / "mctaco/metrics.parquet")
    found = dict(zip(metrics["preset"], metrics["value"]))
    assert found == pytest.approx({"other": 0.7, "tried": 0.6}, abs=2**-20)
    assert "draws" not in metrics
    for name in (SCORES, HISTORIES):
        counts = read_kept(record / "mctaco", name).to_pandas()["run"].value_counts()
        assert set(counts.index) == {"a", "b", "c"} and counts.nunique() == 1
    assert (record / "README.md").read_text() == index(studies_in(record))
    kept = b"".join(file.read_bytes() for file in record.rglob("*") if file.is_file())
    assert b"nobody may keep" not in kept and str(tmp_path).encode() not in kept


def test_of_figures_those_are_kept_that_are_linked(made, record, join):
    for suffix in ("svg", "csv"):
        file = made.folder / f"publish/figures/curve.{suffix}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("drawn")
    page = record.parent / "findings/page.md"
    page.parent.mkdir()
    page.write_text("![a curve](record/figures/tried/curve.svg)")
    join(made).checked()
    assert sorted(file.name for file in record.glob("figures/tried/*")) == [
        "curve.csv",
        "curve.svg",
    ]
    (made.folder / "publish/figures/curve.svg").write_text(
        f"drawn from metrics.parquet of sha256 {'0' * 64}"
    )
    join(made).refused("was drawn from other metrics")
    page.write_text("[gone](record/figures/tried/gone.svg)")
    join(made).refused("figures/tried/gone, which this study does not make")
    page.write_text("nothing")
    join(made).checked()
    assert not list(record.glob("figures/tried/*"))


@pytest.mark.parametrize("name", ["run.json", "predictions.parquet", "history.parquet"])
def test_a_study_that_is_not_finished_is_refused_and_the_record_stays(made, record, join, name):
    before = {file: file.read_bytes() for file in record.rglob("*") if file.is_file()}
    (made.train / "mctaco/b" / name).unlink()
    join(made).refused("is not there, so the study is not finished")
    assert before == {file: file.read_bytes() for file in record.rglob("*") if file.is_file()}


def test_stale_runs_are_named_with_the_reason(record, program):
    call = f"scripts.publish.record --check {record}"
    assert "2 runs are not stale" in program(call).checked().stderr
    file = record / "mctaco/runs.jsonl"
    text = file.read_text()
    for old, new, said in (
        ('"version": "', '"version": "9', "2 runs: the training code of classify has changed"),
        ('"build/mctaco": "', '"build/mctaco": "9', "2 runs: the code of build/mctaco has changed"),
    ):
        assert old in text
        file.write_text(text.replace(old, new))
        write_hashes(file.parent)
        done = program(call)
        assert done.returncode == 1 and said in done.stderr and COMMAND in done.stderr
        assert "2 of 2 runs are stale" in done.stderr.splitlines()[-1]


def with_scores(change) -> Callable:
    """Return a function that lets `change` work on the list of scores of the first row."""

    def edit(rows: pd.DataFrame) -> pd.DataFrame:
        rows.at[0, "score"] = change(rows.at[0, "score"].copy())
        return rows

    return edit


def exchanged(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(run=rows["run"].map({"a": "b", "b": "a"}))


EDITS = {
    "exchanged runs": exchanged,
    "reversed": with_scores(lambda scores: scores[::-1]),
    "negated": with_scores(lambda scores: -scores),
    "one score": with_scores(lambda scores: np.append(scores[:-1], np.float32(3))),
    "NaN": with_scores(lambda scores: np.append(scores[:-1], np.float32(np.nan))),
    "shorter": with_scores(lambda scores: scores[:-1]),
    "log odds": lambda rows: rows.assign(log_odds=~rows["log_odds"]),
    "epoch": lambda rows: rows.assign(epoch=np.int32(99)),
    "doubled": lambda rows: pd.concat([rows, rows]),
    "a row less": lambda rows: rows[1:],
    "a column less": lambda rows: rows.drop(columns="log_odds"),
    "other selections": lambda rows: rows.assign(selections=[["last"]] * len(rows)),
}


@each_row("name", EDITS)
def test_scores_that_others_changed_are_refused(made, record, program, tmp_path, name):
    """Each edit is valid Parquet, and some have the right form; their numbers were published."""
    file = next((record / "mctaco/scores").iterdir())
    before, again = file.read_bytes(), tmp_path / "again"
    EDITS[name](pd.read_parquet(file)).to_parquet(file)
    try:
        take(program, made, record, again).refused(
            f"{SCORED}: is not as it was recorded", "; restore it with git"
        )
    finally:
        file.write_bytes(before)
    assert not list(again.rglob("predictions.parquet"))


def damaged(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])


def conflicting(file: Path) -> None:
    file.write_text("<<<<<<< HEAD\n" + file.read_text())


@each_row(
    "name, change",
    [
        ("history.parquet", damaged),
        ("history.parquet", Path.unlink),
        ("runs.jsonl", conflicting),
        ("runs.jsonl", lambda file: file.write_text(file.read_text().replace("e", "E"))),
        ("runs.jsonl", Path.unlink),
        ("manifest.json", damaged),
        ("manifest.json", Path.unlink),
        ("scores/tried_classify.parquet", Path.unlink),
        ("scores/other.parquet", lambda file: shutil.copy(file.parent / SCORED, file)),
    ],
)
def test_a_record_whose_files_others_changed_is_named(
    made, record, program, tmp_path, name, change
):
    copied = shutil.copytree(record, tmp_path / "copied")
    change(copied / "mctaco" / name)
    done = take(program, made, copied, tmp_path / "again")
    shutil.rmtree(copied)
    done.refused(f"mctaco/{name}: is ", "; restore it with git")
    assert not list((tmp_path / "again").rglob("predictions.parquet"))


def test_the_committed_list_names_the_committed_record():
    assert (RECORD / "README.md").read_text() == index(studies_in(RECORD))
