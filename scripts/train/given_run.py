"""A run of a training job, read from its line of JSON. scripts/plan/training.py writes the line,
scripts/train/runs.py explains its keys.
"""

from dataclasses import dataclass, field, fields
from pathlib import Path

from scripts.running.program import UserError, json_lines, json_object_with

PATHS = ("data", "model")
ALWAYS = json_object_with("run", "settings", "method", "splits", "data")


@dataclass(frozen=True)
class GivenRun:
    """A run, and the folder that it writes."""

    name: str
    folder: Path
    settings: dict
    method: dict
    splits: list[str]
    data: Path
    model: Path | None = None
    model_files: list[str] | None = None
    hands_on: bool = False
    api: dict = field(default_factory=dict)
    control: dict | None = None
    rung: str | None = None
    vectors: str | None = None
    corpus: str | None = None
    learns_from: str | None = None
    cut: dict | None = None


def given_run(line: dict, folder: Path) -> GivenRun:
    """Return the run of a line. folder: that of the study's runs."""
    known = {one.name: line[one.name] for one in fields(GivenRun) if one.name in line}
    known |= {name: Path(line[name]) for name in PATHS if name in line}
    written = folder / line.get("cut", line)["run"]
    return GivenRun(**known | {"name": line["run"], "folder": written})


def read_runs(lines: list[str], folder: Path) -> list[GivenRun]:
    """Return the runs of a job. Raises UserError, with the line, for one that is not a run."""
    runs = [given_run(line, folder) for line in json_lines(lines, ALWAYS)]
    if not runs:
        raise UserError("standard input: has no run; give a line of JSON for each run")
    return runs
