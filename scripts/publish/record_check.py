"""Whether a record is still what the code makes: which code decides its numbers otherwise today,
and whether its figures are those of its numbers. Not a program (scripts/publish/record.py).
"""

import argparse
import importlib
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from scripts.running.identity import identity
from scripts.running.program import UserError, log
from scripts.publish.provenance import commit_told
from scripts.publish.record_page import records_in
from scripts.publish.recorded import FACTS, RUNS, read_record, read_runs, write_results
from scripts.train.work import code_of

METADATA = re.compile(r"<metadata>.*?</metadata>", re.S)
OF_NUMBERS = {"metrics", "runs", "controls"}  # what figures read that a record has


# ---- other code


def today(code: Callable[[str], str], name: str) -> str | None:
    """The identity that code has today; None where it is gone."""
    try:
        return code(name)
    except UserError:
        return None


def code_of_program(program: str) -> str:
    """The identity of a program, named as <stage>/<study or source>; of an evaluation of what it
    measures of runs, since what reads the answers of people and of other systems decides no number
    of a run.
    """
    stage, name = program.split("/")
    return identity(
        f"scripts.clean.{name}"
        if stage == "clean"
        else f"scripts.studies.{name}.{stage}{'.STUDY' * (stage == 'evaluate')}"
    )


def changed_code(folder: Path) -> list[str]:
    """The code that decided numbers of a record and is another today, in words."""
    record = read_record(folder)
    codes = {paradigm: today(code_of, paradigm) for paradigm in set(record["runs"].values())}
    recorded = {f"{fact['study']}/{fact['run']}": fact.get("code") for fact in read_runs(folder)}
    if missing := [run for run in record["runs"] if run not in recorded]:
        raise UserError(
            f"{folder / RUNS}: has no run {missing[0]}, which {FACTS} names; take both from git "
            "again"
        )
    others = Counter(
        paradigm for run, paradigm in record["runs"].items() if codes[paradigm] != recorded[run]
    )
    programs = [
        program
        for program, code in record["programs"].items()
        if today(code_of_program, program) != code
    ]
    return [
        f"training by {name} ({count} of {len(record['runs'])} runs)"
        for name, count in others.items()
    ] + programs


def check(folder: Path) -> None:
    """Say of each record in a folder whether other code decides its numbers today.

    Raises UserError where it is so of any.
    """
    places = records_in(folder)
    if not places:
        raise UserError(f"{folder}: has no record; name the folder that holds them, docs/record")
    stale = []
    for place in places:
        record, others = read_record(place), changed_code(place)
        stale += [place] if others else []
        log.info(
            "%s: %s, of %s",
            place,
            (
                f"stale, for other code decides numbers today: {', '.join(others)}; "
                f"`{record['command']}`, then `snakemake record` in its place"
            )
            if others
            else "the code that decided its numbers is today's",
            commit_told(record["timestride"]),
        )
    if stale:
        raise UserError(
            f"{len(stale)} of {len(places)} records are stale "
            f"({', '.join(place.name for place in stale)}); make them again with the command that "
            "each names"
        )


# ---- the figures


def has_other_points(folder: Path, again: Path, name: str) -> bool:
    """Whether the points of a figure differ between two folders of figures."""
    tables = [
        pd.read_csv(place / f"{name}.csv", float_precision="round_trip")
        for place in (folder, again)
    ]
    try:
        pd.testing.assert_frame_equal(*tables, check_dtype=False, rtol=1e-9, atol=1e-12)
    except AssertionError:
        return True
    return False


def draw(name: str, figure: dict, folder: Path, place: Path) -> None:
    """Draw a figure of a record by its program into <place>/figures; place: of write_results()."""
    resources = folder / "resources" / name
    given = argparse.Namespace(
        metrics=place / "metrics.parquet",
        sources=resources / "sources.yaml",
        models=resources / "models.yaml",
        train=place / "train" / ("" if figure["study"] == "all" else figure["study"]),
        runs=figure["runs"],
        only_svg=True,
        output=place / "figures" / name,
    )
    importlib.import_module(figure["program"]).main(given)


def redraw(folder: Path) -> None:
    """Draw each figure of a record from its numbers and compare; other shapes are a warning.

    Raises UserError for other points.
    """
    record, wrong = read_record(folder), []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        write_results(folder, record["columns"], place)
        for item, figure in record["figures"].items():
            if beyond := set(figure["reads"]) - OF_NUMBERS:
                log.info(
                    "%s: reads %s, which a record does not hold; not drawn",
                    item,
                    ", ".join(sorted(beyond)),
                )
                continue
            draw(item, figure, folder, place)
            files = [one / f"figures/{item}.svg" for one in (folder, place)]
            shapes = [METADATA.sub("", file.read_text(encoding="utf-8")) for file in files]
            if has_other_points(folder / "figures", place / "figures", item):
                wrong.append(item)
            elif shapes[0] != shapes[1]:
                log.warning(
                    "warning: %s: today's code or libraries draw the same points otherwise; record "
                    "the study again where that matters",
                    files[0],
                )
    if wrong:
        raise UserError(
            f"{folder}: other points than its numbers have: {', '.join(wrong)}; where the code of "
            "the figure was changed, record the study again, else take the files from git"
        )
    log.info("%s: its figures (%d) have the points of its numbers", folder, len(record["figures"]))
