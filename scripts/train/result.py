"""The result of a run, in work/result/: predictions, or the model that it made, with history and
run.json.
"""

import shutil
from pathlib import Path

import pyarrow as pa

from scripts.plan.kinds import kind_of
from scripts.data.tables import HISTORY, PREDICTIONS, write_table
from scripts.train.quantised import quantised_fact
from scripts.train.batches import Examples
from scripts.train.epochs import State
from scripts.train.hardware import versions
from scripts.train.work import facts_of_job, predictions_on, write_json


def predictions_of(job: dict, reported: dict, tables: dict[str, pa.Table]) -> pa.Table:
    """The reported scores of every selection and split (schema predictions)."""
    return pa.concat_tables(
        predictions_on(
            split, tables[split], scored["scores"].numpy(), job["run"], selection, scored["epoch"]
        )
        for selection, splits in sorted(reported.items())
        for split, scored in sorted(splits.items())
    )


def selection_of(state: State) -> str:
    """What chose the epoch whose scores are reported: held_out or last; direct where nothing is
    learnt.
    """
    [selection] = [selection for selection in state.reported if selection != "peak"]
    return selection


def reported_epoch(state: State) -> int:
    """The epoch whose scores, or weights, are handed out; 0 where nothing is learnt."""
    return max(
        (scored["epoch"] for scored in state.reported[selection_of(state)].values()),
        default=state.epoch,
    )


def label_columns(job: dict, paradigm) -> list[int]:
    """Return the score column of each label of the dataset; empty if candidates are scored."""
    if job["head"]:
        return job["head"]["columns"]
    return list(range(len(job["labels"]))) if paradigm.score_names == job["labels"] else []


def train_examples(job: dict, tables: dict[str, pa.Table], examples: dict[str, Examples]) -> int:
    """Count the training examples that were trained on, set a threshold, or are in the prompt."""
    if "prompt" not in job:
        return len(examples.get("learned", []))
    if job["prompt"]["threshold"]:
        return len(tables["learned"])
    return job["settings"]["training"].get("shots", 0)


def write_result(job: dict, trained, work: Path, model: Path) -> dict:
    """Write work/result/; returns the facts of run.json. trained: from scripts/train/loop.py."""
    result = work / "result"
    provenance = {"run": job["run"], "digest": job["digest"], "settings": job["settings"]}
    if job["makes_model"]:
        trained.paradigm.network.save_pretrained(result / "model")
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copyfile(model / name, result / "model" / name)
    else:
        write_table(trained.predictions, result / "predictions.parquet", PREDICTIONS, provenance)
    write_table(
        pa.Table.from_pylist(trained.state.history, schema=HISTORY),
        result / "history.parquet",
        HISTORY,
        provenance,
    )
    facts = facts_of_result(job, trained) | quantised_fact(model)
    if trained.kept:
        facts |= trained.kept["run"] | {
            "scored_by": {
                "learnt": trained.kept["learnt"],
                "hardware": trained.hardware.facts(),
                "versions": versions(),
            }
        }
    write_json(facts, result / "run.json")
    return facts


def facts_of_result(job: dict, trained) -> dict:
    """Return the facts of a run for run.json. trained: from scripts/train/loop.py."""
    state, examples, paradigm = trained.state, trained.examples, trained.paradigm
    parameters, learnt = trained.sizes
    seconds = max(state.seconds, 1e-9)
    return {
        **facts_of_job(job),
        # The names of the score columns, and the column of each label of the dataset.
        "labels": paradigm.score_names,
        "label_columns": label_columns(job, paradigm),
        "kind": "esim"
        if job["paradigm"] == "esim"
        else kind_of(paradigm.network.config) or "encoder",
        "parameters": parameters,
        "trained_parameters": learnt if job["learns"] else 0,
        # Of a method that puts its examples into words: the number of examples before each, and the
        # reference of its scores.
        "shots": job["settings"]["training"].get("shots", 0),
        "threshold": getattr(paradigm, "threshold", None),
        "train_examples": train_examples(job, trained.tables, examples),
        "held_out_examples": len(examples.get("held_out", [])),
        # Examples longer than max_length: of the training examples, then of each split. For
        # candidates also the number of their instances.
        "truncated_examples": examples["learned"].truncated if job["learns"] else 0,
        "truncated": {split: examples[split].truncated for split in examples},
        "truncated_instances": {
            split: one.truncated_choices
            for split, one in examples.items()
            if one.truncated_choices is not None
        },
        "epochs": state.epoch,
        "best_epoch": reported_epoch(state),
        "seconds": round(seconds, 1),
        "tokens": state.tokens,
        "tokens_per_second": round(state.tokens / seconds, 1),
        "micro_batch_tokens": state.micro_batch_tokens,
        "hardware": trained.hardware.facts(),
        "versions": versions(),
    }
