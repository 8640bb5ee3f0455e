"""Whether a record is still what the code makes: which code decides its numbers otherwise today, and whether its figures are those
of its numbers. Not a program (scripts/publish/record.py).
"""

import importlib
import re
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.common.fingerprint import file_of, fingerprint
from scripts.common.program import UserError, log
from scripts.common.reporting import REPORTING
from scripts.publish.arguments import publisher_arguments
from scripts.publish.provenance import commit_told
from scripts.publish.record_page import records_in
from scripts.publish.recorded import FACTS, RUNS, read_record, read_runs, write_results

METADATA = re.compile(r"<metadata>.*?</metadata>", re.S)
HANDED_IN = frozenset({"scripts.evaluate.external", "scripts.evaluate.people_answers"})  # read what people and others handed to a study
OF_NUMBERS = {"metrics", "runs", "controls"}  # what figures read that a record has


# ---- other code

def code_of(modules: list[str]) -> str | None:
    """The fingerprint of these modules today, as a run of them tells it (scripts/train/work.py); None where one is gone."""
    if not all(map(file_of, modules)):
        return None
    return fingerprint(*modules, leave_out=frozenset() if modules[0] == "scripts.train.control" else REPORTING)


def changed_code(folder: Path) -> list[str]:
    """The code that decided numbers of a record and is another today, in words."""
    record, today = read_record(folder), {}
    others: Counter = Counter()
    told = {f"{fact['study']}/{fact['run']}": fact.get("code") for fact in read_runs(folder)}
    for run, modules in record["runs"].items():
        key = tuple(modules)
        if key not in today:
            today[key] = code_of(modules)
        if run not in told:
            raise UserError(f"{folder / RUNS}: has no run {run}, which {FACTS} names; take both from git again")
        others[" with ".join(modules)] += today[key] != told[run]
    programs = [program for program, code in record["programs"].items() if code_of_program(program, record["handed_in"]) != code]
    return [f"{name} ({count} of {len(record['runs'])} runs)" for name, count in others.items() if count] + programs


def code_of_program(program: str, handed_in: bool) -> str | None:
    """The fingerprint of a program today, None where it is gone; handed_in: whether it measured what people or others handed in."""
    return fingerprint(program, leave_out=frozenset() if handed_in else HANDED_IN) if file_of(program) else None


def check(folder: Path) -> None:
    """Say of each record in a folder whether other code decides its numbers today. Raises UserError where it is so of any."""
    places = records_in(folder)
    if not places:
        raise UserError(f"{folder}: has no record; name the folder that holds them, docs/record")
    stale = []
    for place in places:
        record, others = read_record(place), changed_code(place)
        stale += [place] if others else []
        log.info("%s: %s, of %s", place, f"stale, for other code decides numbers today: {', '.join(others)}; `{record['command']}`, then "
                 "`snakemake record` in its place" if others else "the code that decided its numbers is today's", commit_told(record["timestride"]))
    if stale:
        raise UserError(f"{len(stale)} of {len(places)} records are stale ({', '.join(place.name for place in stale)}); make them again with the "
                        "command that each names")


# ---- the figures

def drawn_alike(folder: Path, again: Path, name: str, same_libraries: bool) -> str | None:
    """How a figure of a record differs from the one that was drawn again; None where it does not.

    Drawn by other libraries the shapes may differ, but not the points.
    """
    here, there = (pd.read_csv(place / f"{name}.csv", float_precision="round_trip") for place in (folder / "figures", again))
    if list(here) != list(there) or len(here) != len(there):
        return "has other points, or other columns"
    for column in here:
        left, right = here[column], there[column]
        if pd.api.types.is_numeric_dtype(left) and pd.api.types.is_numeric_dtype(right):
            same = np.allclose(left.astype(float), right.astype(float), rtol=1e-9, atol=1e-12, equal_nan=True)
        else:
            same = left.fillna("").astype(str).equals(right.fillna("").astype(str))
        if not same:
            return f"has other points ({column})"
    shapes = [METADATA.sub("", (place / f"{name}.svg").read_text(encoding="utf-8")) for place in (folder / "figures", again)]
    return "is drawn otherwise from the same points" if same_libraries and shapes[0] != shapes[1] else None


def draw(figure: dict, folder: Path, place: Path, output: Path) -> None:
    """Draw a figure of a record by its own program; place: of write_results()."""
    resources = folder / figure["resources"]
    train = place / "train" if figure["study"] == "all" else place / "train" / figure["study"]
    runs = ["--train", train, "--runs", *figure["runs"]] if "runs" in figure["reads"] else []
    parts = ["--metrics", place / "metrics.parquet", "--sources", resources / "sources.yaml", "--models", resources / "models.yaml", *runs,
             "--only-svg", "--output", output]
    given = publisher_arguments("", *figure["reads"]).parse_args(list(map(str, parts)))
    importlib.import_module(f"scripts.publish.{figure['program']}").main(given)


def redraw(folder: Path) -> None:
    """Draw each figure of a record from its numbers and compare. Raises UserError for those that are others."""
    record, wrong = read_record(folder), []
    same_libraries = all(version(name) == number for name, number in record["libraries"].items())
    if not same_libraries:
        log.warning("warning: %s was drawn with other libraries (%s); the points are compared, not the shapes", folder,
                    ", ".join(f"{name} {number}" for name, number in record["libraries"].items()))
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        write_results(folder, record["columns"], place)
        for item, figure in record["figures"].items():
            if beyond := set(figure["reads"]) - OF_NUMBERS:
                log.info("%s: reads %s, which a record does not hold; not drawn", item, ", ".join(sorted(beyond)))
                continue
            draw(figure, folder, place, place / "figures" / item)
            if difference := drawn_alike(folder, place / "figures", item, same_libraries):
                wrong.append(f"{item} {difference}")
    if wrong:
        raise UserError(f"{folder}: {'; '.join(wrong)}; where the drawing was changed, record the study again, else take the files from git")
    log.info("%s: each of %d figures is that of its numbers", folder, len(record["figures"]))
