"""Take runs from the record: their predictions are made from the recorded scores and the datasets,
and no model is loaded.

The result is in the place of a trained result and marked as finished, so the run is not trained
later either. The run's settings and the content of its dataset must be the recorded ones. The
scores of a control on whole splits are also used for the same control on splits that `limit` cuts.

Reads  <record>/runs.jsonl, scores/, history.parquet, manifest.json (scripts/data/record.py), and
       <data>/<split>.parquet of each run, whole and cut
Writes <folder>/<run>/predictions.parquet, history.parquet and run.json; for a run that makes a
       model only the last two

    python -m scripts.train.recorded \\
        --runs '{"run": "NAME", "data": "results/build/mctaco/mctaco/default", "method": {…}, …}' \\
        --record docs/record/mctaco --folder results/train/mctaco
"""

import argparse
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
from scripts.data.plain_json import as_json
from scripts.data.tables import HISTORY, PREDICTIONS, content_digest, read_table, write_table
from scripts.running.program import UserError, execute, json_object_with, log, parser
from scripts.train.work import columns_of, finished, forget, hand_out, mark_finished, write_json

ASKED = ("run", "settings", "method", "splits", "data")
LEAVE_OUT = "set `recorded: false` to train it"


@cache
def digest_of(file: Path, columns: tuple[str, ...]) -> str:
    return content_digest(file, list(columns))


def check(asked: dict, line: dict) -> None:
    """Raise UserError if a run's settings differ from those on record, or its dataset has
    another content.
    """
    name, method, splits = asked["run"], asked["method"], asked["splits"]
    if digest_of_given(asked["settings"], method, splits) != line.get("given"):
        raise UserError(f"{name}: its method has changed since it was recorded; {LEAVE_OUT}")
    for split, digest in line["run"]["data"].items():
        learns = split == splits[0]
        columns = (*columns_of(method), *(method.get("teaches", []) if learns else []))
        folder = asked.get("learns_from", asked["data"]) if learns else asked["data"]
        if digest_of(Path(folder, f"{split}.parquet"), columns) != digest:
            raise UserError(
                f"{name}: {folder}/{split}.parquet has another content than when it was "
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


def take(asked: dict, line: dict, scores: list[dict], history: pa.Table, folder: Path) -> None:
    """Write the result of a run."""
    facts, method, cut, splits = line["run"], asked["method"], asked.get("cut"), asked["splits"][1:]
    if cut:
        facts = cut_facts(facts, cut, method, splits)
    output = folder / facts["run"]
    job = {"digest": facts["digest"], "makes_model": method.get("makes_model", False)}
    work = output / "work"
    if not job["makes_model"] and finished(work, job):
        return hand_out(work, job, output)
    provenance = {"run": facts["run"], "digest": facts["digest"]}
    provenance |= {"settings": (cut or asked)["settings"]}
    result = output if job["makes_model"] else work / "result"
    if not job["makes_model"]:
        forget(work)
        predictions = predictions_of(scores, Path(asked["data"]), method["columns"])
        if cut:
            column = method["columns"]["example_id"]
            predictions = cut_predictions(predictions, cut, splits, column)
        write_table(predictions, result / "predictions.parquet", PREDICTIONS, provenance)
    write_table(history, result / "history.parquet", HISTORY, provenance)
    write_json(facts, result / "run.json")
    if not job["makes_model"]:
        mark_finished(work, job)
        hand_out(work, job, output)


@cache
def read_record(record: Path) -> tuple[dict[str, dict], pa.Table, pa.Table]:
    """Return the runs on record by name, their scores and their histories."""
    return read_runs(record), read_kept(record, SCORES), read_kept(record, HISTORIES)


def main(given: argparse.Namespace) -> None:
    lines, scores, history = read_record(given.record)
    for asked in given.runs:
        name = asked["run"]
        if name not in lines:
            raise UserError(f"{given.record}: has no run {name}; {AGAIN}")
        check(asked, lines[name])
        take(
            asked,
            lines[name],
            scores.filter(pc.equal(scores["run"], name)).to_pylist(),
            history.filter(pc.equal(history["run"], name)),
            given.folder,
        )
        log.info("%s: taken from the record", name)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "--runs",
        nargs="+",
        type=json_object_with(*ASKED),
        required=True,
        help="JSON for each run: name, settings, method, splits, data (the folder); learns_from, "
        "the folder with its training split, where this is another one; and cut: run, settings "
        "and data of the same control on cut splits",
    )
    options.add_argument(
        "--record", type=Path, required=True, help="the record, docs/record/<study>"
    )
    options.add_argument(
        "--folder", type=Path, required=True, help="the folder of the study's runs"
    )
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
