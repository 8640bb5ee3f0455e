"""What a finished run leaves, its run.json and its predictions.parquet,
for all that measures or publishes it.
"""

import math
import re
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from scripts.running.program import UserError, cut, shown
from scripts.data.tables import PREDICTIONS, provenance_of, read_table
from scripts.data.texts import json_of, text_of

REMEDY = "remove it and run again"
NAMES = ("run", "study", "source", "dataset", "model", "method")  # some are parts of paths
COUNTS = ("seed", "train_examples", "held_out_examples", "epochs", "best_epoch")
OBJECTS = ("data_options", "training", "hardware", "versions", "data", "truncated_instances")
SELECTIONS = ("held_out", "last", "peak", "direct")


class Facts(dict):
    """An object of a run.json: a key that it lacks is told with the file's name."""

    def __init__(self, values: dict, file: Path):
        super().__init__(
            {
                key: Facts(value, file) if isinstance(value, dict) else value
                for key, value in values.items()
            }
        )
        self.file = file

    def __missing__(self, key: str) -> object:
        raise UserError(f"{self.file}: has no {key}; {REMEDY}")


def is_name(value: object) -> bool:
    """Whether a value names a source, a dataset, a model or a run: a text that leads a path nowhere
    else.
    """
    return (
        isinstance(value, str)
        and re.fullmatch(r"[^/\0]{1,255}", value) is not None
        and value not in (".", "..")
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_plain(value: object) -> bool:
    """Whether a value is one that an option or a setting may have."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str) or isinstance(value, int) and abs(value) < 2**63


def _are_labels(value: object) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(name, str) for name in value)
        and len(set(value)) == len(value) > 0
    )


def facts_of(file: Path) -> Facts:
    """A run's run.json. Raises UserError for one that is broken or holds what training never
    writes.
    """
    facts = json_of(text_of(file, REMEDY, "run again"), str(file), REMEDY)
    if not isinstance(facts, dict):
        raise UserError(f"{file}: holds no object; {REMEDY}")

    def refuse(keys: tuple[str, ...], fits, wanted: str) -> None:
        for key in keys:
            if key in facts and not fits(facts[key]):
                raise UserError(f"{file}: {key} is {shown(facts[key])}, not {wanted}; {REMEDY}")

    refuse(NAMES, is_name, "a name")
    refuse(COUNTS, _is_count, "a whole number from 0")
    refuse(("wording",), lambda value: value is None or is_name(value), "a name")
    refuse(("labels",), _are_labels, "a list of names")
    refuse(OBJECTS, lambda value: isinstance(value, dict), "an object")
    for split, count in facts.get("truncated_instances", {}).items():
        if not _is_count(count):
            raise UserError(
                f"{file}: truncated_instances: {cut(split)} is {shown(count)}, not a whole number "
                f"from 0; {REMEDY}"
            )
    for name in ("data_options", "training"):
        for key, value in facts.get(name, {}).items():
            if not _is_plain(value) and not (
                key in ("objectives", "context")
                and isinstance(value, dict)
                and all(map(_is_plain, value.values()))
            ):
                raise UserError(
                    f"{file}: {name}: {cut(key)} is {shown(value)}, not a text or a number; "
                    f"{REMEDY}"
                )
    return Facts(facts, file)


def read_predictions(folder: Path, columns: Iterable[str]) -> pa.Table:
    """The named columns of a run's predictions. Raises UserError where they are none, incomplete,
    of differing width, or of another run.
    """
    file, columns = folder / "predictions.parquet", list(columns)
    table = read_table(file, columns, PREDICTIONS)
    problem = "" if len(table) else "holds no prediction"
    if "run" in (stated := provenance_of(file)) and (folder / "run.json").is_file():
        if stated["run"] != facts_of(folder / "run.json").get("run"):
            problem = f"holds the predictions of {cut(str(stated['run']))}"
    for name in columns:
        if table[name].null_count:
            problem = f"column {name} has {table[name].null_count} missing values"
    if "score" in columns and not problem:
        widths = pc.min_max(pc.list_value_length(table["score"])).as_py()
        if not 0 < widths["min"] == widths["max"] or pc.list_flatten(table["score"]).null_count:
            problem = "its rows do not all have the same number of scores"
    if "selection" in columns and not problem:
        if odd := set(pc.unique(table["selection"]).to_pylist()) - set(SELECTIONS):
            problem = f"selection {shown(min(odd))} is none of {', '.join(SELECTIONS)}"
    if problem:
        raise UserError(f"{file}: {problem}; {REMEDY}")
    return table
