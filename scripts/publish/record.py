"""Keep a finished study in the repository: its numbers, the facts of its runs, and what made them.

Of the figures and tables a record keeps those that README.md or docs/*.md link
(docs/record/<name>/figures/<item>.svg). The study draws all others again from the numbers. No text
of a corpus is taken along. A record that other code would decide is named (--check), not changed.

Reads  TOLD, JSON of the workflow: name, command, configuration, figures (by name: title, study,
       program, reads, runs, resources), tables (by name: title), drawn (the studies whose figures
       compare by draws), runs (by <study>/<run>: its paradigm, or control), programs (those that
       decide numbers beside the runs), and where the files are: metrics, publish, train; README.md
       and docs/*.md, two folders above OUTPUT
Writes OUTPUT/metrics.csv.gz, draws.parquet, runs.csv, history.csv (scripts/publish/recorded.py),
       record.json, README.md; of what is linked figures/<item>.svg and .csv, resources/<item>/
       (what the figure says beside numbers), tables/<item>.csv and .md; all or none; and README.md
       beside OUTPUT, the list of the records there

    snakemake record --cores 1 --configfile presets/small.yaml
    # exit 1 where other code decides numbers
    python -m scripts.publish.record --check docs/record
    # exit 1 where a figure has other points
    python -m scripts.publish.record --redraw docs/record/small
"""

import argparse
import json
import re
import shutil
from datetime import datetime, timezone
from pathlib import Path


from scripts.data.files import sha256_of, whole, whole_set
from scripts.running.program import UserError, execute, log, parser
from scripts.running.project_version import project_version
from scripts.data.tables import read_table
from scripts.publish.provenance import commit_told, counted, machine_kind, spent
from scripts.publish.record_check import check, code_of_program, redraw
from scripts.publish.record_page import index, page, records_in
from scripts.publish.recorded import FACTS, FIGURE, read_record, write_metrics, write_runs

TRANSFERS = "transfer.figure"  # the end of the program that compares by the draws of every study
FROM_METRICS = re.compile(r"drawn from metrics\.parquet of sha256 ([0-9a-f]{64})")
SUFFIXES = {"figures": ("svg", "csv"), "tables": ("csv", "md")}


def linked_items(folder: Path, kind: str) -> set[str]:
    """The figures or tables (kind) of a record that README.md or docs/*.md link.

    folder: docs/record/<name>.
    """
    docs, suffixes = folder.resolve().parents[1], "|".join(SUFFIXES[kind])
    link = re.compile(rf"record/{re.escape(folder.name)}/{kind}/([\w-]+)\.(?:{suffixes})\b")
    files = [file for file in (docs.parent / "README.md", *docs.glob("*.md")) if file.is_file()]
    return {name for file in files for name in link.findall(file.read_text(encoding="utf-8"))}


def finished(file: Path, command: str) -> Path:
    """A file of the study. Raises UserError where it is missing."""
    if not file.is_file():
        raise UserError(
            f"{file}: is not there, so the study is not finished; give `{command}`, then record it"
        )
    return file


def facts_of(told: dict) -> list[dict]:
    """run.json of each run. Raises UserError for a run that is not finished."""
    facts = []
    for run in told["runs"]:
        place = Path(told["train"], run)
        finished(place / "history.parquet", told["command"])
        facts.append(
            json.loads(finished(place / "run.json", told["command"]).read_text(encoding="utf-8"))
        )
    return facts


def copy_linked(told: dict, kind: str, folder: Path, output: Path) -> dict:
    """Copy the linked figures or tables (kind) into folder; returns what is told of them.

    Raises UserError for one that is missing, that the study does not make, or of other metrics.
    """
    names = sorted(linked_items(output, kind))
    if unknown := [name for name in names if name not in told[kind]]:
        raise UserError(
            f"README.md or docs/ link {output}/{kind}/{unknown[0]}, which this study does not "
            "make, or which has texts of a corpus; remove the link, then record it"
        )
    for name in names:
        for suffix in SUFFIXES[kind]:
            file = finished(Path(told["publish"], kind, f"{name}.{suffix}"), told["command"])
            of = FROM_METRICS.search(file.read_text(encoding="utf-8")) if suffix == "svg" else None
            if of and of[1] != sha256_of(Path(told["metrics"])):
                raise UserError(
                    f"{file}: was drawn from other metrics than {told['metrics']}; give "
                    f"`{told['command']}`, then record it"
                )
            (folder / kind).mkdir(exist_ok=True)
            shutil.copyfile(file, folder / kind / file.name)
    return {name: told[kind][name] for name in names}


def write_resources(figures: dict[str, dict], folder: Path) -> None:
    """Write what figures say beside numbers."""
    for name, figure in figures.items():
        place = folder / "resources" / name
        place.mkdir(parents=True)
        for file, text in figure["resources"].items():
            (place / file).write_text(text, encoding="utf-8")


def record_of(told: dict, facts: list[dict], parts: dict) -> dict:
    """record.json: what was asked, by what it was made, what it took.

    parts: its columns, figures and tables.
    """
    commits = counted(
        [
            commit_told(fact["timestride"])
            if "timestride" in fact
            else "an older version, which did not tell"
            for fact in facts
        ]
    )
    return parts | {
        "name": told["name"],
        "command": told["command"],
        "configuration": told["configuration"],
        "timestride": project_version(),
        "recorded": datetime.now(timezone.utc).date().isoformat(),
        "commits_of_runs": commits,
        "machines": counted([machine_kind(fact) for fact in facts]),
        "spent": dict(spent(facts)),
        "runs": told["runs"],
        "programs": {program: code_of_program(program) for program in told["programs"]},
    }


def write_record(told: dict, output: Path) -> None:
    """Write a record, and the list of the records beside it.

    Raises UserError for one beside it that is broken, before anything is written.
    """
    for place in records_in(output.parent):
        if place.name != output.name:
            read_record(place)
    facts = facts_of(told)
    metrics = read_table(Path(told["metrics"]))
    with whole_set(output.parent) as place:
        folder = place / output.name
        folder.mkdir()
        columns = write_metrics(
            metrics,
            folder,
            told["drawn"],
            any(figure["program"].endswith(TRANSFERS) for figure in told["figures"].values()),
        )
        write_runs(
            facts, [Path(told["train"], run, "history.parquet") for run in told["runs"]], folder
        )
        figures, tables = (copy_linked(told, kind, folder, output) for kind in SUFFIXES)
        write_resources(figures, folder)
        drawn = {name: {key: figure[key] for key in FIGURE} for name, figure in figures.items()}
        parts = {"columns": columns, "tables": tables, "figures": drawn}
        record = record_of(told, facts, parts)
        (folder / FACTS).write_text(
            json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8"
        )
        (folder / "README.md").write_text(page(record, len(metrics)), encoding="utf-8")
    with whole(output.parent / "README.md") as readme:
        readme.write_text(index(output.parent), encoding="utf-8")
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    log.info(
        "%s: %d runs, %d numbers, %d linked figures, %d linked tables, %.1f MB",
        output,
        len(facts),
        len(metrics),
        len(figures),
        len(tables),
        size / 1e6,
    )
    if record["timestride"]["modified"]:
        log.warning(
            "warning: %s was recorded from a working tree with changes that no commit has; commit "
            "them, and record again",
            output,
        )


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
    what.add_argument(
        "--study", type=Path, metavar="TOLD", help="record the study that this file tells of"
    )
    what.add_argument(
        "--check",
        type=Path,
        metavar="DIR",
        help="say which records in this folder other code would decide today",
    )
    what.add_argument(
        "--redraw",
        type=Path,
        metavar="DIR",
        help="draw the figures of this record from its numbers, and compare their points",
    )
    program.add_argument(
        "--output", type=Path, metavar="DIR", help="the folder of the record, docs/record/<name>"
    )
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
