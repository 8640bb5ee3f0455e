"""Draw the figures and tables of a study, or those about all studies, one after the other in one
process: the imports take longer than a figure.

Standard input is JSON, as scripts/plan/published.py writes it:
  texts    the files of resources/ that the items show, by name
  papers   the published numbers, claims and released answers that the items show
  items    of each: name, program, kind (figure or table), columns (1: also in a column's width),
           and reads (the options of the program that name what it reads besides the metrics)
A failed item is reported, and the others go on; the process then ends with exit 1.

Reads  METRICS, the comparisons beside it, and what an item names
Writes FOLDER/figures/<name>.{svg,dark.svg,png,pdf,csv}, FOLDER/tables/<name>.{csv,md,tex}, and
       MANIFEST, which lists these files

    python -m scripts.publish.items --metrics results/evaluate/default/mctaco.parquet \\
        --folder results/publish/default --output MANIFEST < items.json
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from scripts.data.manifest import check_made, write_manifest
from scripts.data.papers import texts_of
from scripts.data.runs import facts_of
from scripts.data.studies import suffixes_of
from scripts.measure.comparisons import comparisons_beside
from scripts.publish.item import Given, write_texts
from scripts.publish.item import arguments as arguments_of_item, main as make
from scripts.running.program import UserError, execute, json_object_with, log, parser, sentence_of

SHOWN = json_object_with("texts", "papers", "items")


def read_by(item: dict, sources: Iterable[str]) -> list[Path]:
    """Return the files and folders that an item about these sources reads besides the metrics."""
    reads, found = item["reads"], []
    for name in reads.get("runs", []):
        run = Path(reads["train"], name)
        found += [run / "predictions.parquet", run / "run.json"]
        if "build" in reads:
            facts = facts_of(run / "run.json")
            found.append(Path(reads["build"], facts["source"], facts["dataset"]))
    folders = [reads[key] for key in ("cleaned", "spans", "fetched") if key in reads]
    return found + [Path(folder, source) for folder in folders for source in sources]


def publish(item: dict, metrics: Path, resources: Path, page: Path) -> None:
    """Make an item from metrics, in the folder of the page."""
    output = page / f"{item['kind']}s" / item["name"]
    options = {"metrics": metrics, "resources": resources, "output": output}
    options |= {"columns": item.get("columns", 2)} | item["reads"]
    words = [item["program"]]
    for name, value in options.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{name}", *map(str, values)]
    make(arguments_of_item().parse_args(words, Given()))


def files_of(item: dict) -> list[str]:
    return [f"{item['kind']}s/{item['name']}.{suffix}" for suffix in suffixes_of(item)]


def main(given: argparse.Namespace) -> None:
    shown = SHOWN(sys.stdin.read())
    items, failed = shown["items"], []
    sources = json.loads(shown["texts"]["sources.yaml"])
    made = [given.metrics, comparisons_beside(given.metrics)]
    check_made([*made, *dict.fromkeys(file for item in items for file in read_by(item, sources))])
    with tempfile.TemporaryDirectory() as folder:
        resources = write_texts(shown["texts"] | texts_of(**shown["papers"]), Path(folder))
        for item in items:
            try:
                publish(item, given.metrics, resources, given.folder)
            except Exception as error:
                failed.append(sentence_of(error) or "an unexpected error, see the log")
                log.info("failed: %s: %s", item["name"], failed[-1])
    if failed:
        rest = "" if len(items) == 1 else f" ({len(failed)} of {len(items)} items failed)"
        raise UserError(failed[0] + rest)
    write_manifest(given.folder, [file for item in items for file in files_of(item)], given.output)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--metrics", type=Path, required=True, help="the metrics that they show")
    options.add_argument(
        "--folder", type=Path, required=True, help="the folder of the page: results/publish/<name>"
    )
    options.add_argument("--output", type=Path, required=True, help="the manifest to write")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
