"""Whether two folders of results say the same: byte by byte where bytes are promised, else their content.

Bytes are promised for all that is fetched, cleaned, built, evaluated and drawn. A run's files tell how it went: they are compared
without the fields below. Logs, timings and the working folders of runs are not results.
"""

import json
import re
from pathlib import Path

import pandas as pd

NOT_RESULTS = re.compile(r"(^logs/)|(^benchmarks/)|(^train/[^/]+/[^/]+/work/)|(\.lock$)")
LEFT_OVER = re.compile(r"^\.\d+\.|\.partial$|\.tmp$")
NOT_PROMISED = {"run.json": {"seconds", "resumed", "started", "sessions", "hardware"}, "history.parquet": {"seconds"}}


def left_over_files(folder: Path) -> list[str]:
    """Files that a killed program left half-written, their process number as N."""
    return [re.sub(r"\.\d+\.", ".N.", str(file.relative_to(folder))) for file in (folder / "results").rglob("*")
            if LEFT_OVER.search(file.name)]


def results(folder: Path) -> dict[str, Path]:
    """The files of results/ that are promised, by their place there."""
    files = {str(file.relative_to(folder / "results")): file for file in (folder / "results").rglob("*") if file.is_file()}
    return {name: file for name, file in files.items() if not NOT_RESULTS.search(name) and not LEFT_OVER.search(file.name)}


def same(one: Path, other: Path) -> bool:
    """Whether two results of one name say the same."""
    if one.read_bytes() == other.read_bytes():
        return True
    left_out = NOT_PROMISED.get(one.name, set())
    if not left_out:
        return False
    if one.suffix == ".json":
        first, second = ({key: value for key, value in json.loads(file.read_text()).items() if key not in left_out}
                         for file in (one, other))
        return first == second
    first, second = (pd.read_parquet(file) for file in (one, other))
    return first.drop(columns=left_out, errors="ignore").equals(second.drop(columns=left_out, errors="ignore"))


def differences(undisturbed: Path, killed: Path) -> list[str]:
    """What differs between the results of two folders, one sentence a file."""
    one, other = results(undisturbed), results(killed)
    return [*(f"is missing: {name}" for name in sorted(one.keys() - other.keys())),
            *(f"is too many: {name}" for name in sorted(other.keys() - one.keys())),
            *(f"differs: {name}" for name in sorted(one.keys() & other.keys()) if not same(one[name], other[name]))]
