"""Make one figure or table, by the module that figures.yaml names as its `program`.

A figure is written as <output>.svg, .dark.svg, .png and .pdf, its points as .csv. A table is
written as .csv, .md and .tex. Shares are from 0 to 1. The workflow makes all items of a study in
one process (scripts/publish/items.py).

    python -m scripts.publish.item scripts.studies.mctaco.figures.table \\
        --metrics results/evaluate/default/metrics.parquet \\
        --output results/publish/default/tables/mctaco_table
"""

import argparse
import importlib
import json
import tempfile
from collections.abc import Collection
from functools import cached_property
from pathlib import Path

from scripts.data.csv_rows import rows_of
from scripts.data.runs import Facts, facts_of
from scripts.data.studies import numbers_of, read_figures, read_published, read_studies
from scripts.data.yaml_files import entries_of, read_yaml
from scripts.publish.names import with_released
from scripts.running.project_version import ROOT
from scripts.running.program import UserError, closest, cut, execute, parser


class Given(argparse.Namespace):
    """What an item is given. metrics, resources and output always; the others by its `reads`
    (resources/figures.yaml).
    """

    program: str
    metrics: Path
    resources: Path
    output: Path
    train: Path
    runs: list[str]
    build: Path
    fetched: Path | None
    human: list[Path]
    headline: str
    cleaned: Path
    spans: Path
    challenges: list[str]
    columns: int

    @cached_property
    def sources(self) -> dict[str, dict]:
        return entries_of(self.resources / "sources.yaml")

    @cached_property
    def models(self) -> dict[str, dict]:
        """The models, and the predictions that were released with a corpus."""
        return with_released(entries_of(self.resources / "models.yaml"), self.sources)

    @cached_property
    def studies(self) -> dict[str, dict]:
        return entries_of(self.resources / "studies.yaml")

    @cached_property
    def facts(self) -> list[Facts]:
        """The run.json of each run."""
        return [facts_of(self.train / name / "run.json") for name in self.runs]


# Each option: the `reads` that need it, its help, and its settings if it is not a path.
OPTIONS: dict[str, tuple[str, str, dict]] = {
    "metrics": ("", "results/evaluate/<name>/metrics.parquet", {"required": True}),
    "output": ("", "the path of the files to write, without a suffix", {"required": True}),
    "resources": ("", "a folder with sources.yaml, models.yaml, …; default: the project's", {}),
    "train": ("runs", "the folder of the study's runs", {}),
    "runs": ("runs", "the names of the runs", {"type": str, "nargs": "+"}),
    "build": ("datasets", "the folder of the study's datasets", {}),
    "fetched": ("", "results/fetch, if a corpus comes with released judgements", {}),
    "human": ("", "CSV files of people's answers, if any", {"nargs": "*", "default": []}),
    "headline": ("headline", "the study's headline metric", {"type": str}),
    "cleaned": ("cleaned spans", "results/clean: a folder for each source", {}),
    "spans": ("spans", "results/build/temporal_spans: a folder for each source", {}),
    "challenges": ("spans", "challenges with masked spans", {"type": str, "nargs": "+"}),
    "columns": ("", "1: also in the width of a paper's column", {"type": int, "default": 2}),
}


def write_texts(texts: dict[str, str], folder: Path) -> Path:
    """Write texts to files of a folder, by name. Return the folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def project_texts(studies: dict, items: list[dict], shown: Collection[str]) -> dict[str, str]:
    """Return the files of resources/ that an item about these studies (shown) reads, by name."""
    numbers = numbers_of(read_yaml(ROOT / "resources/sources.yaml"), studies)
    kept = [ROOT / "resources" / name for name in ("sources.yaml", "models.yaml")]
    return {
        **{file.name: file.read_text(encoding="utf-8") for file in kept},
        "studies.yaml": json.dumps({name: studies[name] for name in shown}),
        "figures.yaml": json.dumps(items),
        "published.csv": rows_of([*read_published(studies), *numbers], "study", set(shown)),
    }


def main(given: Given) -> None:
    importlib.import_module(given.program).main(given)


def by_hand(given: Given) -> None:
    """Make an item with the project's resources. Raises UserError for a module that makes no item,
    and for a missing option.
    """
    studies = read_studies()
    items = read_figures(studies)
    reads = {read for item in items if item["program"] == given.program for read in item["reads"]}
    if not reads:
        known = closest(given.program, {item["program"] for item in items})
        raise UserError(f"{cut(given.program)}: no item of figures.yaml has this program{known}")
    for name, (needed_by, *_) in OPTIONS.items():
        if not getattr(given, name) and reads & {*needed_by.split()}:
            raise UserError(f"--{name} is missing: {given.program} reads it (figures.yaml)")
    with tempfile.TemporaryDirectory() as folder:
        texts = project_texts(studies, items, studies)
        given.resources = given.resources or write_texts(texts, Path(folder))
        main(given)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("program", help="the module that makes the item")
    for name, (_, help_text, settings) in OPTIONS.items():
        options.add_argument(f"--{name}", help=help_text, **{"type": Path} | settings)
    options.set_defaults(reads=lambda given: [given.metrics])
    return options


if __name__ == "__main__":
    execute(by_hand, arguments().parse_args(namespace=Given()))
