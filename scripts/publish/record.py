"""Add a finished study to the record, so that its runs need never be repeated.

docs/record/<study>/ keeps the scores of runs and all numbers (scripts/data/record.py). A run that
is on record already is replaced, and so are the numbers of an experiment of the same preset.
Figures and tables are kept only if README.md or docs/**/*.md link them
(docs/record/figures/<preset>/<item>.svg). `--config recorded=true` makes the others again from the
scores. No text of a corpus is kept.

Reads  STUDY, JSON of the workflow: name (of the preset), command; figures and tables that may be
       kept (name: title); the places of files: metrics, publish, published (the manifests of its
       figures and tables), train; runs, a list: run, study,
       paradigm, programs (that clean and build its data), made_from, sums_scores, settings, method,
       splits, data; README.md and docs/**/*.md
Writes OUTPUT/<study>/runs.jsonl, scores/<preset>_<paradigm>.parquet, history.parquet,
       metrics.parquet, comparisons.parquet, manifest.json; the linked items:
       OUTPUT/figures/<preset>/<item>.svg and .csv, OUTPUT/tables/<preset>/<item>.csv and .md;
       OUTPUT/README.md, the list of the record; all or none

    snakemake record --cores 1 --configfile presets/small.yaml
    # lists the runs whose training code or data have changed; exit 1 if any
    python -m scripts.publish.record --check docs/record
"""

import argparse
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.files import sha256_of, whole_set
from scripts.data.manifest import check_made
from scripts.data.record import (
    COMPARISONS,
    HISTORIES,
    METRICS,
    RUNS,
    SCORE_SCHEMA,
    SCORES,
    digest_of_given,
    read_kept,
    read_runs,
    scored_rows,
    to_a_millionth,
    write_compact,
    write_hashes,
    write_runs,
    write_scores,
)
from scripts.data.tables import HISTORY, read_table
from scripts.measure.comparisons import comparisons_beside
from scripts.plan.plan import CONTROL
from scripts.publish.provenance import commit_text, spent
from scripts.publish.table import markdown_table
from scripts.running.code_lock import identity, is_todays, version_in
from scripts.running.program import UserError, execute, log, parser

FROM_METRICS = re.compile(r"drawn from metrics\.parquet of sha256 ([0-9a-f]{64})")
SUFFIXES = {"figures": ("svg", "csv"), "tables": ("csv", "md")}
ABOUT = """# The record

What timestride has measured on real data, kept with the project. No text of a corpus is in it.
`snakemake record --configfile presets/<preset>.yaml` writes it, nobody by hand.

* `snakemake --cores all --configfile presets/<preset>.yaml --config recorded=true` makes every
  number, figure and table of a preset again from the scores on record. It needs the corpora, and
  neither weights nor training. A run that is not on record is trained; controls that are not
  searched never are, since each takes a second.
* `python -m scripts.publish.record --check docs/record` names the runs whose training code or data
  are others today.

| file of a study | what it holds |
| --- | --- |
| `runs.jsonl` | a line a run: its `run.json`, the command, the versions of the code that made it |
| `scores/` | by preset and paradigm: scores in the order of the dataset, or log-odds (`log_odds`) |
| `history.parquet` | loss and accuracy by epoch |
| `metrics.parquet` | every number with its interval ([the columns](../data.md)), by `preset` |
| `comparisons.parquet` | each model beside its controls: differences and verdicts, by `preset` |
| `manifest.json` | the bytes and the sha256 of these files, which every reader checks |

`figures/` and `tables/` hold what README.md and docs/ link.

"""


# ---- Runs, scores and numbers


def finished(file: Path, command: str) -> Path:
    """Return a file of the study. Raises UserError if it is missing."""
    if not file.is_file():
        raise UserError(
            f"{file}: is not there, so the study is not finished; give `{command}`, then record it"
        )
    return file


def line_of(run: dict, study: dict) -> dict:
    file = finished(Path(study["train"], run["study"], run["run"], "run.json"), study["command"])
    facts = json.loads(file.read_text(encoding="utf-8"))
    return {
        "run": facts,
        "preset": study["name"],
        "command": study["command"],
        "recorded": datetime.now(timezone.utc).date().isoformat(),
        "paradigm": run["paradigm"],
        "version": version_in(facts["code"], f"train/{run['paradigm']}"),
        "versions": {program: identity(program).partition("@")[2] for program in run["programs"]},
        **({"made_from": run["made_from"]} if run["made_from"] else {}),
        "given": digest_of_given(run["settings"], run["method"], run["splits"]),
    }


def as_first(line: dict, known: dict | None) -> dict:
    """Return a line of runs.jsonl. A run that was taken from the record keeps its preset, command,
    date and version.
    """
    same = known and known["run"] == line["run"]
    kept = ("preset", "command", "recorded", "version")
    return line | ({key: known[key] for key in kept} if same else {})


def file_of_scores(line: dict) -> str:
    """Return the file of a run's scores, so that a new search of one preset rewrites no others."""
    return f"{line['preset']}_{line['paradigm'].partition('/')[0]}.parquet"


def makes_model(run: dict) -> bool:
    """Return whether a run makes a model instead of predictions."""
    return bool(run["method"].get("makes_model"))


def scores_of(runs: list[dict], study: dict) -> pa.Table:
    """Return the rows of scores of finished runs, for the splits to measure on."""
    rows = []
    for run in runs:
        method = run["method"]
        if not makes_model(run):
            file = Path(study["train"], run["study"], run["run"], "predictions.parquet")
            predictions = read_table(file).filter(pc.field("split").isin(run["splits"][1:]))
            columns, sums = method["columns"], run["sums_scores"]
            rows += scored_rows(predictions, Path(run["data"]), columns, sums)
    return pa.Table.from_pylist(rows, schema=SCORE_SCHEMA)


def without(table: pa.Table, of: pc.Expression, new: pa.Table) -> pa.Table:
    """Return a table of the record with the rows `of` replaced. A column that one of both tables
    lacks is empty.
    """
    return pa.concat_tables([table.filter(~of), new], promote_options="default")


def join_study(
    name: str, study: dict, metrics: pa.Table, comparisons: pa.Table, before: Path, folder: Path
) -> None:
    runs = [run for run in study["runs"] if run["study"] == name and run["paradigm"] != CONTROL]
    lines = {run["run"]: line_of(run, study) for run in runs}
    for run in runs:
        made = ["history.parquet", *(["predictions.parquet"] if not makes_model(run) else [])]
        for file in made:
            finished(Path(study["train"], name, run["run"], file), study["command"])
    known = read_runs(before) if (before / RUNS).exists() else {}
    # A run that was taken from the record keeps its rows: scores read again differ by rounding.
    runs = [run for run in runs if known.get(run["run"], {}).get("run") != lines[run["run"]]["run"]]
    names = [run["run"] for run in runs]
    folders = [Path(study["train"], name, run) for run in names]
    check_made(file for folder in folders for file in sorted(folder.glob("*.*")))
    histories = [
        read_table(folder / "history.parquet", HISTORY.names, HISTORY) for folder in folders
    ]
    scores, history = scores_of(runs, study), pa.concat_tables([HISTORY.empty_table(), *histories])
    metrics = metrics.filter(pc.equal(metrics["study"], name)).drop_columns("draws")
    # A number of a single seed is kept only over all examples; slices keep the mean over seeds.
    metrics = metrics.filter((pc.field("slice") == "all") | pc.field("seed").is_null())
    comparisons = comparisons.filter(pc.equal(comparisons["study"], name))
    metrics, comparisons = (
        table.append_column("preset", pa.array([study["name"]] * len(table), pa.string()))
        for table in (metrics, comparisons)
    )
    if known:
        is_new = pc.field("run").isin(pa.array(names, pa.string()))
        experiments = pc.unique(metrics["experiment"])
        is_again = (pc.field("preset") == study["name"]) & pc.field("experiment").isin(experiments)
        lines = known | {name: as_first(line, known.get(name)) for name, line in lines.items()}
        scores = without(read_kept(before, SCORES), is_new, scores)
        history = without(read_kept(before, HISTORIES), is_new, history)
        metrics = without(read_kept(before, METRICS), is_again, metrics)
        comparisons = without(read_kept(before, COMPARISONS), is_again, comparisons)
    folder.mkdir()
    write_runs(lines, folder)
    files = {run: file_of_scores(line) for run, line in lines.items()}
    write_scores(scores, files, folder / SCORES)
    write_compact(history.sort_by("run"), folder / HISTORIES)
    write_compact(to_a_millionth(metrics), folder / METRICS)
    write_compact(to_a_millionth(comparisons), folder / COMPARISONS)
    write_hashes(folder)


# ---- Figures and tables


def linked_items(record: Path, kind: str, preset: str) -> set[str]:
    """Return the figures or tables (kind) of a preset that README.md or docs/**/*.md link."""
    docs, suffixes = record.resolve().parent, "|".join(SUFFIXES[kind])
    link = rf"record/{kind}/{re.escape(preset)}/([\w-]+)\.(?:{suffixes})\b"
    files = [file for file in (docs.parent / "README.md", *docs.rglob("*.md")) if file.is_file()]
    return {name for file in files for name in re.findall(link, file.read_text(encoding="utf-8"))}


def copy_linked(study: dict, kind: str, record: Path, place: Path) -> None:
    """Copy the linked figures or tables (kind) of a preset. Raises UserError for an item that is
    missing, that the study does not make, or that was drawn from other metrics.
    """
    names = sorted(linked_items(record, kind, study["name"]))
    folder = place / kind
    if (record / kind).exists():
        shutil.copytree(record / kind, folder)
    shutil.rmtree(folder / study["name"], ignore_errors=True)
    if unknown := [name for name in names if name not in study[kind]]:
        raise UserError(
            f"README.md or docs/ link {record}/{kind}/{study['name']}/{unknown[0]}, which this "
            "study does not make, or which has texts of a corpus; remove the link, then record it"
        )
    for name in names:
        for suffix in SUFFIXES[kind]:
            file = finished(Path(study["publish"], kind, f"{name}.{suffix}"), study["command"])
            of = FROM_METRICS.search(file.read_text(encoding="utf-8")) if suffix == "svg" else None
            # drawn from these metrics, or from those of one study in the same folder
            others = Path(study["metrics"]).parent.glob("*.parquet")
            if of and of[1] not in map(sha256_of, others):
                raise UserError(
                    f"{file}: was drawn from other metrics than {study['metrics']}; give "
                    f"`{study['command']}`, then record it"
                )
            (folder / study["name"]).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / study["name"] / file.name)


# ---- The list


def commits(lines: list[dict]) -> str:
    counts = Counter(commit_text(line["run"]["timestride"])[:24] for line in lines)
    (first, _), *others = counts.most_common()
    return f"{first} and {len(others)} more" if others else first


def index(studies: Iterable[Path]) -> str:
    """Return README.md of the record: its introduction, and a row for each preset and study."""
    rows = []
    for folder in studies:
        of_study = list(read_runs(folder).values())
        for preset in {line["preset"] for line in of_study}:
            lines = [line for line in of_study if line["preset"] == preset]
            rows.append(
                {
                    "preset": preset,
                    "study": folder.name,
                    "runs": f"{len(lines)}",
                    "with scores": f"{sum('given' in line for line in lines)}",
                    "recorded": max(line["recorded"] for line in lines),
                    "timestride": commits(lines),
                    "CPU time": spent([line["run"] for line in lines])[0][1],
                    "command": lines[0]["command"],
                }
            )
    return ABOUT + markdown_table(pd.DataFrame(rows).sort_values(["preset", "study"]))


def studies_in(record: Path) -> list[Path]:
    return sorted(file.parent for file in record.glob(f"*/{RUNS}"))


def join(study: dict, record: Path) -> None:
    file = Path(study["metrics"])
    beside = comparisons_beside(file)
    metrics = read_table(finished(file, study["command"]))
    comparisons = read_table(finished(beside, study["command"]))
    check_made([file, beside, *map(Path, study["published"])])
    names = sorted({run["study"] for run in study["runs"]})
    with whole_set(record) as place:
        for name in names:
            join_study(name, study, metrics, comparisons, record / name, place / name)
        for kind in SUFFIXES:
            copy_linked(study, kind, record, place)
        folders = {folder.name: folder for folder in [*studies_in(record), *studies_in(place)]}
        text = index(folders[name] for name in sorted(folders))
        (place / "README.md").write_text(text, encoding="utf-8")
    size = sum(file.stat().st_size for file in record.rglob("*") if file.is_file()) / 1e6
    count = len(study["runs"])
    log.info("%s: %d runs of %s joined it; %.1f MB", record, count, study["name"], size)


# ---- Stale runs


def why_stale(line: dict) -> str:
    """Return why a run is stale: the code that changed since; empty if it is today's."""
    if not is_todays(f"train/{line['paradigm']}", line["version"]):
        return f"the training code of {line['paradigm']} has changed"
    others = [name for name, version in line["versions"].items() if not is_todays(name, version)]
    return f"the code of {', '.join(others)} has changed" if others else ""


def check(record: Path) -> None:
    """Log which runs of a record are stale. Raises UserError if any is, or without a record."""
    folders = studies_in(record)
    if not folders:
        raise UserError(f"{record}: has no record; name the folder that holds it, docs/record")
    stale = count = 0
    for folder in folders:
        names_by_reason: dict[tuple[str, str], list[str]] = {}
        for name, line in read_runs(folder).items():
            names_by_reason.setdefault((why_stale(line), line["command"]), []).append(name)
        for (why, command), names in sorted(names_by_reason.items()):
            count += len(names)
            if why:
                stale += len(names)
                log.info("%s: %d runs: %s; `%s`", folder, len(names), why, command)
            else:
                log.info("%s: %d runs are not stale", folder, len(names))
    if stale:
        raise UserError(
            f"{stale} of {count} runs are stale; make them again with the commands above, then "
            "give `snakemake record` in their place"
        )


def main(given: argparse.Namespace) -> None:
    if given.check:
        check(given.check)
    elif not given.output:
        raise UserError("--study needs --output, the folder of the record")
    else:
        join(json.loads(given.study.read_text(encoding="utf-8")), given.output)


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    what = program.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--study", type=Path, metavar="STUDY", help="the file that describes the study to record"
    )
    what.add_argument(
        "--check",
        type=Path,
        metavar="DIR",
        help="list the runs of this record whose training code or data have changed since",
    )
    program.add_argument(
        "--output", type=Path, metavar="DIR", help="the folder of the record, docs/record"
    )
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
