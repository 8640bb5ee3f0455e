"""Define the arguments of the programs that make a figure or a table, as in rules/publish.smk."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from scripts.data.csv_rows import rows_of
from scripts.data.studies import read_figures, read_published, read_studies
from scripts.running.identity import ROOT
from scripts.running.program import execute, parser

HELP = """{doc}
The workflow puts the other files of resources/ beside sources.yaml. A figure is written as
<output>.svg, .dark.svg, .png and .pdf, its points as .csv. A table is written as .csv, .md and
.tex. Shares are from 0 to 1.

    python -m {module} --metrics results/evaluate/default/metrics.parquet \\
        --sources resources/sources.yaml --models resources/models.yaml \\
        {more}--output results/publish/default/NAME
"""


COPIES: list[tempfile.TemporaryDirectory] = []  # folders that last until the program ends


def write_texts(texts: dict[str, str], folder: Path) -> Path:
    """Write texts to files of a folder, by name. Return the folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def sources_file(text: str) -> Path:
    """Return the path of sources.yaml. The project's own sources.yaml (a call by hand) is copied to
    a folder with studies.yaml, figures.yaml and published.csv of all studies, as in the workflow.
    """
    file, committed = Path(text), ROOT / "resources/sources.yaml"
    if not file.exists() or file.resolve() != committed:
        return file
    studies = read_studies()
    files = {
        "sources.yaml": committed.read_text(encoding="utf-8"),
        "studies.yaml": json.dumps(studies),
        "figures.yaml": json.dumps(read_figures(studies)),
        "published.csv": rows_of(read_published(studies), "study", set(studies)),
    }
    COPIES.append(tempfile.TemporaryDirectory())
    return write_texts(files, Path(COPIES[-1].name)) / "sources.yaml"


# Each option: the `reads` (figures.yaml) that need it, its help, and its settings if not a path.
OPTIONS: dict[str, tuple[str, str, dict]] = {
    "--metrics": ("metrics", "results/evaluate/<name>/metrics.parquet", {}),
    "--sources": ("metrics", "resources/sources.yaml", {"type": sources_file}),
    "--models": ("metrics", "resources/models.yaml", {}),
    "--output": ("metrics", "the path of the files to write, without a suffix", {}),
    "--train": ("runs", "the folder of the study's runs", {}),
    "--runs": ("runs", "the names of the runs", {"type": str, "nargs": "+"}),
    "--build": ("datasets", "the folder of the study's datasets", {}),
    "--fetched": (
        "released",
        "results/fetch, if a corpus comes with released judgements",
        {"required": False},
    ),
    "--human": (
        "human",
        "CSV files of people's answers, if there are any",
        {"nargs": "*", "default": [], "required": False},
    ),
    "--headline": ("headline", "the study's headline metric", {"type": str}),
    "--cleaned": ("cleaned spans", "results/clean: a folder for each source", {}),
    "--spans": ("spans", "results/build/temporal_spans: a folder for each source", {}),
    "--challenges": ("spans", "challenges with masked spans", {"type": str, "nargs": "+"}),
}
READS = tuple(dict.fromkeys(" ".join(by for by, *_ in OPTIONS.values()).split()))


def publisher_arguments(doc: str, *reads: str, required: bool = True) -> argparse.ArgumentParser:
    """Return the parser of a program that also reads these inputs (resources/figures.yaml).
    required: False makes all options optional.
    """
    read = {name: of for name, of in OPTIONS.items() if {*of[0].split()} & {"metrics", *reads}}
    more = "".join(f"{name} … " for name, (by, *_) in read.items() if by != "metrics")
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    module = spec.name if spec else sys.argv[0]
    options = parser(HELP.format(doc=doc, module=module, more=more))
    options.set_defaults(program=module)
    for name, (_, help_text, of) in read.items():
        options.add_argument(name, help=help_text, **{"type": Path, "required": required} | of)
    return options


def run_program(main: Callable[[argparse.Namespace], None], doc: str, *reads: str) -> None:
    execute(main, publisher_arguments(doc, *reads).parse_args())
