"""Take runs from the record: their predictions are made from the recorded scores and the datasets,
and no model is loaded.

The result is in the place of a trained result and marked as finished, so the run is not trained
later either. The run's settings and the content of its dataset must be the recorded ones. The
scores of a control on whole splits are also used for the same control on splits that `limit` cuts.

Reads  <record>/runs.jsonl, scores/, history.parquet, manifest.json (scripts/data/record.py), and
       <data>/<split>.parquet of each run, whole and cut
Writes <folder>/<run>/predictions.parquet, history.parquet and run.json; for a run that makes a
       model only the last two
"""

import hashlib
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.record import (
    AGAIN,
    HISTORIES,
    SCORES,
    digest_of_given,
    predictions_of,
    read_kept,
    read_runs,
)
from scripts.data.manifest import check_made
from scripts.data.plain_json import as_json
from scripts.data.tables import HISTORY, PREDICTIONS, content_digest, read_table, write_table
from scripts.running.program import UserError, log
from scripts.train.given_run import GivenRun
from scripts.train.work import columns_of, finished, forget, hand_out, mark_finished, write_json

LEAVE_OUT = "set `recorded: false` to train it"


@cache
def digest_of(file: Path, columns: tuple[str, ...]) -> str:
    return content_digest(file, list(columns))


def check(run: GivenRun, line: dict) -> None:
    """Raise UserError if a run's settings differ from those on record, or its dataset has
    another content.
    """
    method, splits = run.method, run.splits
    if digest_of_given(run.settings, method, splits) != line["given"]:
        raise UserError(f"{run.name}: its method has changed since it was recorded; {LEAVE_OUT}")
    for split, digest in line["run"]["data"].items():
        learns = split == splits[0]
        columns = (*columns_of(method), *(method.get("teaches", []) if learns else []))
        folder = (run.learns_from or run.data) if learns else run.data
        if digest_of(Path(folder, f"{split}.parquet"), columns) != digest:
            raise UserError(
                f"{run.name}: {folder}/{split}.parquet has another content than when it was "
                f"recorded; leave its experiment out of `run`, or {LEAVE_OUT}"
            )


def cut_predictions(predictions: pa.Table, cut: dict, splits: list[str], column: str) -> pa.Table:
    """The predictions on the examples that are left in the cut splits; column: of their ids."""
    parts = []
    for split in splits:
        left = read_table(Path(cut["data"], f"{split}.parquet"), [column])[column]
        chosen = pc.equal(predictions["split"], split)
        chosen = pc.and_(chosen, pc.is_in(predictions["example_id"], left.combine_chunks()))
        parts.append(predictions.filter(chosen))
    found = pa.concat_tables(parts)
    return found.set_column(0, "run", pa.array([cut["run"]] * len(found)))


def cut_facts(facts: dict, cut: dict, method: dict, splits: list[str]) -> dict:
    """The facts of a control, changed to those of the same control on the cut splits."""
    settings, columns = cut["settings"], tuple(columns_of(method))
    data = {split: digest_of(Path(cut["data"], f"{split}.parquet"), columns) for split in splits}
    data = facts["data"] | data
    digest = hashlib.sha256(as_json([facts["digest"], data]).encode()).hexdigest()
    named = {"run": cut["run"], "dataset": settings["dataset"], "data_options": settings["data"]}
    return facts | named | {"data": data, "digest": digest}


@cache
def read_record(record: Path) -> tuple[dict[str, dict], pa.Table, pa.Table]:
    """Return the runs on record by name, their scores and their histories."""
    return read_runs(record), read_kept(record, SCORES), read_kept(record, HISTORIES)


def write_recorded(
    run: GivenRun, facts: dict, scores: list[dict], history: pa.Table, result: Path
) -> None:
    """Write a recorded result. facts: of run.json."""
    provenance = {"run": facts["run"], "digest": facts["digest"]}
    provenance |= {"settings": run.cut["settings"] if run.cut else run.settings}
    if not run.method.get("makes_model"):
        columns = run.method["columns"]
        predictions = predictions_of(scores, run.data, columns)
        if run.cut:
            predictions = cut_predictions(
                predictions, run.cut, run.splits[1:], columns["example_id"]
            )
        write_table(predictions, result / "predictions.parquet", PREDICTIONS, provenance)
    write_table(history, result / "history.parquet", HISTORY, provenance)
    write_json(facts, result / "run.json")


def take(run: GivenRun, record: Path) -> None:
    """Write the recorded result of a run. Raises UserError if it is not the recorded run."""
    check_made([run.data, Path(run.cut["data"]) if run.cut else run.data])
    lines, scores, history = read_record(record)
    if run.name not in lines:
        raise UserError(f"{record}: has no run {run.name}; {AGAIN}")
    line = lines[run.name]
    check(run, line)
    facts = line["run"]
    if run.cut:
        facts = cut_facts(facts, run.cut, run.method, run.splits[1:])
    kept = (
        scores.filter(pc.equal(scores["run"], run.name)).to_pylist(),
        history.filter(pc.equal(history["run"], run.name)),
    )
    job = {"digest": facts["digest"], "makes_model": run.method.get("makes_model", False)}
    work = run.folder / "work"
    if job["makes_model"]:
        write_recorded(run, facts, *kept, run.folder)
    elif finished(work, job):
        hand_out(work, job, run.folder)
    else:
        forget(work)
        write_recorded(run, facts, *kept, work / "result")
        mark_finished(work, job)
        hand_out(work, job, run.folder)
    log.info("%s: taken from the record", run.name)
