"""The results of a finished run, its run.json and its predictions.parquet, for all code that
measures or publishes it.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from scripts.running.program import UserError, cut
from scripts.data.tables import PREDICTIONS, provenance_of, read_table
from scripts.data.texts import json_of, text_of

REMEDY = "remove it and run again"


class Facts(dict):
    """An object of a run.json. A missing key is reported with the file's name."""

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
    """Return whether a value can name a source, a dataset, a model or a run: a text that cannot
    lead a path out of its folder.
    """
    return (
        isinstance(value, str)
        and re.fullmatch(r"[^/\0]{1,255}", value) is not None
        and value not in (".", "..")
    )


def facts_of(file: Path) -> Facts:
    """Return a run's run.json. Raises UserError for a broken file, and for a missing key when it is
    read.
    """
    return Facts(json_of(text_of(file, REMEDY, "run again"), str(file), REMEDY), file)


def read_predictions(folder: Path, columns: Iterable[str]) -> pa.Table:
    """Return columns of a run's predictions. Raises UserError if they belong to another run."""
    file = folder / "predictions.parquet"
    table, stated = read_table(file, columns, PREDICTIONS), provenance_of(file)
    if "run" in stated and (folder / "run.json").is_file():
        if stated["run"] != facts_of(folder / "run.json").get("run"):
            problem = f"holds the predictions of {cut(str(stated['run']))}"
            raise UserError(f"{file}: {problem}; {REMEDY}")
    return table
