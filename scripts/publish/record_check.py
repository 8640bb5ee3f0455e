"""Whether a record is still what the code makes: which code decides its numbers otherwise today, and whether its figures are those
of its numbers. Not a program (scripts/publish/record.py).
"""

import importlib
import re
import tempfile
from collections import Counter
from pathlib import Path

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

def has_other_points(folder: Path, again: Path, name: str) -> bool:
    """Whether the points of a figure differ between two folders of figures."""
    tables = [pd.read_csv(place / f"{name}.csv", float_precision="round_trip") for place in (folder, again)]
    try:
        pd.testing.assert_frame_equal(*tables, check_dtype=False, rtol=1e-9, atol=1e-12)
    except AssertionError:
        return True
    return False


def draw(name: str, figure: dict, folder: Path, place: Path) -> None:
    """Draw a figure of a record by its program into <place>/figures; place: of write_results()."""
    resources = folder / "resources" / name
    train = place / "train" if figure["study"] == "all" else place / "train" / figure["study"]
    runs = ["--train", train, "--runs", *figure["runs"]] if "runs" in figure["reads"] else []
    parts = ["--metrics", place / "metrics.parquet", "--sources", resources / "sources.yaml", "--models", resources / "models.yaml", *runs,
             "--only-svg", "--output", place / "figures" / name]
    given = publisher_arguments("", *figure["reads"]).parse_args(list(map(str, parts)))
    importlib.import_module(f"scripts.publish.{figure['program']}").main(given)


def redraw(folder: Path) -> None:
    """Draw each figure of a record from its numbers and compare: other shapes are a warning. Raises UserError for other points."""
    record, wrong = read_record(folder), []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        write_results(folder, record["columns"], place)
        for item, figure in record["figures"].items():
            if beyond := set(figure["reads"]) - OF_NUMBERS:
                log.info("%s: reads %s, which a record does not hold; not drawn", item, ", ".join(sorted(beyond)))
                continue
            draw(item, figure, folder, place)
            shapes = [METADATA.sub("", (of / f"figures/{item}.svg").read_text(encoding="utf-8")) for of in (folder, place)]
            if has_other_points(folder / "figures", place / "figures", item):
                wrong.append(item)
            elif shapes[0] != shapes[1]:
                log.warning("warning: %s/figures/%s.svg: today's code or libraries draw the same points otherwise; record the study again "
                            "where that matters", folder, item)
    if wrong:
        raise UserError(f"{folder}: other points than its numbers have: {', '.join(wrong)}; where the code of the figure was changed, record the "
                        "study again, else take the files from git")
    log.info("%s: its figures (%d) have the points of its numbers", folder, len(record["figures"]))
