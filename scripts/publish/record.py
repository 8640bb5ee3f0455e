"""Keep a finished study in the repository: its numbers, its runs' facts, its figures and tables, and what made them.

From the numbers alone each figure can be drawn again (--redraw). No text of a corpus is taken along: items to read and
the expressions found in dialogs stay where they are. A record that other code would decide is named (--check), not changed.

Reads  TOLD, JSON of the workflow: name, command, configuration, figures (by name: title, study, program, reads, runs, resources),
       tables (by name: title), runs (by <study>/<run>: the modules that decide it), programs (those that decide numbers beside the
       runs), and where the files are: metrics, publish, train
Writes OUTPUT/metrics.csv.gz, draws.parquet, runs.csv, history.csv (scripts/publish/recorded.py), figures/<item>.svg and .csv,
       tables/<item>.csv and .md, resources/<digest>/ (what figures say beside numbers), record.json, README.md, all or none;
       and README.md beside OUTPUT, the list of the records there

    snakemake record --cores 1 --configfile presets/small.yaml
    python -m scripts.publish.record --check docs/record               # exit 1 where other code decides numbers today
    python -m scripts.publish.record --redraw docs/record/small        # exit 1 where a figure is not that of its numbers
"""

import argparse
import hashlib
import json
import re
import shutil
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from scripts.common.files import sha256_of, whole, whole_set
from scripts.common.fingerprint import fingerprint
from scripts.common.program import UserError, execute, log, parser
from scripts.common.project_version import project_version
from scripts.common.tables import read_table
from scripts.evaluate.experiment import EXTERNAL
from scripts.publish.provenance import DRAWN_WITH, commit_told, counted, machine_kind, spent
from scripts.publish.record_check import check, code_of_program, redraw
from scripts.publish.record_page import index, page, records_in
from scripts.publish.recorded import FACTS, read_record, write_metrics, write_runs

TRANSFERS = "transfer.figure"  # the program of the figure that compares by the draws of every study
MOST = 5_000_000  # bytes: what a repository should not be asked to hold more of
FROM_METRICS = re.compile(r"drawn from metrics\.parquet of sha256 ([0-9a-f]{64})")


def facts_of(told: dict) -> list[dict]:
    """run.json of each run. Raises UserError for a run that is not finished."""
    places = [Path(told["train"], run) for run in told["runs"]]
    for place in places:
        if missing := [name for name in ("run.json", "history.parquet") if not (place / name).is_file()]:
            raise UserError(f"{place / missing[0]}: is not there, so the study is not finished; give `{told['command']}`, then record it")
    return [json.loads((place / "run.json").read_text(encoding="utf-8")) for place in places]


def copy_published(told: dict, folder: Path) -> None:
    """Copy figures and tables. Raises UserError for one that is missing, and for a figure of other metrics."""
    wanted = [("figures", name, ("svg", "csv")) for name in told["figures"]] + [("tables", name, ("csv", "md")) for name in told["tables"]]
    digest = sha256_of(Path(told["metrics"]))
    for kind, name, suffixes in wanted:
        for suffix in suffixes:
            file = Path(told["publish"], kind, f"{name}.{suffix}")
            if not file.is_file():
                raise UserError(f"{file}: is not there, so the study is not finished; give `{told['command']}`, then record it")
            of = FROM_METRICS.search(file.read_text(encoding="utf-8")) if suffix == "svg" else None
            if of and of[1] != digest:
                raise UserError(f"{file}: was drawn from other metrics than {told['metrics']}; give `{told['command']}`, then record it")
            (folder / kind).mkdir(exist_ok=True)
            shutil.copyfile(file, folder / kind / file.name)


def write_resources(figures: dict[str, dict], folder: Path) -> dict[str, dict]:
    """Write what the figures say beside numbers, each once; returns the figures with the folder of theirs and their code."""
    told = {}
    for name, figure in figures.items():
        place = f"resources/{hashlib.sha256(json.dumps(figure['resources'], sort_keys=True).encode()).hexdigest()[:8]}"
        (folder / place).mkdir(parents=True, exist_ok=True)
        for file, text in figure["resources"].items():
            (folder / place / file).write_text(text, encoding="utf-8")
        told[name] = figure | {"resources": place, "code": fingerprint(f"scripts.publish.{figure['program']}")}
    return told


def has_handed_in(metrics: pa.Table) -> bool:
    """Whether a number is of predictions made elsewhere, or of answers of people."""
    elsewhere, people = pc.equal(metrics["method"], EXTERNAL), pc.starts_with(metrics["metric"], "human_")
    return bool(pc.any(pc.or_(pc.fill_null(elsewhere, False), people)).as_py())


def record_of(told: dict, facts: list[dict], columns: list[list[str]], figures: dict[str, dict], handed_in: bool) -> dict:
    """record.json: what was asked, by what it was made, what it took; handed_in: of has_handed_in()."""
    commits = counted([commit_told(fact["timestride"]) if "timestride" in fact else "an older version, which did not tell" for fact in facts])
    return {
        "name": told["name"], "command": told["command"], "configuration": told["configuration"],
        "timestride": project_version(), "recorded": datetime.now(timezone.utc).date().isoformat(),
        "commits_of_runs": commits, "machines": counted([machine_kind(fact) for fact in facts]), "spent": dict(spent(facts)),
        "libraries": {name: version(name) for name in DRAWN_WITH}, "columns": columns, "figures": figures, "tables": told["tables"],
        "runs": told["runs"], "handed_in": handed_in,
        "programs": {program: code_of_program(program, handed_in) for program in told["programs"]}}


def size_of(folder: Path) -> tuple[int, str]:
    """The bytes of a folder, and its three largest files in words."""
    sizes = {str(file.relative_to(folder)): file.stat().st_size for file in folder.rglob("*") if file.is_file()}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:3]
    return sum(sizes.values()), ", ".join(f"{name} {sizes[name] / 1e6:.1f} MB" for name in largest)


def write_record(told: dict, output: Path) -> None:
    """Write a record, and the list of the records beside it. Raises UserError for one beside it that is broken, before anything is written."""
    for place in records_in(output.parent):
        if place.name != output.name:
            read_record(place)
    facts = facts_of(told)
    metrics = read_table(Path(told["metrics"]))
    with whole_set(output.parent) as place:
        folder = place / output.name
        folder.mkdir()
        columns = write_metrics(metrics, folder, any(figure["program"] == TRANSFERS for figure in told["figures"].values()))
        write_runs(facts, [Path(told["train"], run, "history.parquet") for run in told["runs"]], folder)
        copy_published(told, folder)
        record = record_of(told, facts, columns, write_resources(told["figures"], folder), has_handed_in(metrics))
        (folder / FACTS).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        (folder / "README.md").write_text(page(record, len(metrics)), encoding="utf-8")
    with whole(output.parent / "README.md") as readme:
        readme.write_text(index(output.parent), encoding="utf-8")
    size, largest = size_of(output)
    log.info("%s: %d runs, %d numbers, %d figures, %d tables, %.1f MB", output, len(facts), len(metrics), len(told["figures"]),
             len(told["tables"]), size / 1e6)
    if size > MOST:
        log.warning("warning: %s has %.1f MB, more than the %.0f MB that a repository should hold of it: %s", output, size / 1e6, MOST / 1e6, largest)
    if record["timestride"]["modified"]:
        log.warning("warning: %s was recorded from a working tree with changes that no commit has; commit them, and record again", output)


def main(given: argparse.Namespace) -> None:
    if given.check:
        check(given.check)
    elif given.redraw:
        redraw(given.redraw)
    elif not given.output:
        raise UserError("--study needs --output, the folder of the record")
    else:
        write_record(json.loads(given.study.read_text(encoding="utf-8")), given.output)


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    what = program.add_mutually_exclusive_group(required=True)
    what.add_argument("--study", type=Path, metavar="TOLD", help="record the study that this file tells of")
    what.add_argument("--check", type=Path, metavar="DIR", help="say which records in this folder other code would decide today")
    what.add_argument("--redraw", type=Path, metavar="DIR", help="draw the figures of this record from its numbers, and compare")
    program.add_argument("--output", type=Path, metavar="DIR", help="the folder of the record, docs/record/<name>")
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
