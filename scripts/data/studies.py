"""The files in which each study describes itself.

A study is a folder of scripts/studies/ that holds a study.yaml. Shared code names no study.

study.yaml     the corpora that it reads, its labels, methods, controls, metrics and headline
               (resources/schemas/study.schema.yaml)
options.py     the options of its datasets (scripts/data/options.py)
figures.yaml   its figures and tables, besides those of resources/figures.yaml that every study has
columns.yaml   the meaning of the columns of its datasets and of its metrics
claims.yaml    the claims of its paper in words (resources/schemas/claims.schema.yaml)
published.csv  the numbers of its paper (scripts/publish/comparison.py)
released.csv   answers of language models to its items, as others released them
               (scripts/studies/mctaco/released.py)
labelling.yaml how people are asked (scripts/people/sheet.py)
prompts.yaml   how a language model is asked (scripts/plan/prompts.py)
study.yaml and options.py are required.
"""

import importlib
import re
from collections.abc import Iterable
from pathlib import Path

from scripts.data.options import DatasetOptions
from scripts.data.yaml_files import read_yaml
from scripts.running.project_version import ROOT
from scripts.data.csv_rows import csv_rows
from scripts.running.program import UserError

# The columns of published.csv.
PUBLISHED = ["table", "row", "model", "setting", "metric", "value", "unit", "note"]
# The columns of released.csv.
RELEASED = ["source", "corpus", "name", "model", "shots"]
RELEASED += ["asked", "wording", "file", "form", "joined"]
# The files of a figure and of a table, by their ends.
SUFFIXES = {"figure": ["svg", "dark.svg", "png", "pdf", "csv"], "table": ["csv", "md", "tex"]}
NARROW = "column.pdf"  # of a figure with `columns: 1`
EACH, ALL = "each", "all"  # an item that every study has, and an item about all studies


def suffixes_of(item: dict) -> list[str]:
    """Return the ends of an item's files. item: an entry of figures.yaml."""
    return SUFFIXES[item["kind"]] + ([NARROW] if item.get("columns") == 1 else [])


def folder_of(study: str, root: Path = ROOT) -> Path:
    return root / "scripts/studies" / study


def read_studies(root: Path = ROOT) -> dict[str, dict]:
    """Return the study.yaml of each study, in the order of the page: by `place`, then by name."""
    files = sorted((root / "scripts/studies").glob("*/study.yaml"))
    entries = {file.parent.name: read_yaml(file) for file in files}

    def place(study: str) -> float:
        entry = entries[study]
        number = entry.get("place") if isinstance(entry, dict) else None
        return number if isinstance(number, int) else float("inf")

    return {study: entries[study] for study in sorted(entries, key=place)}


def options_of(study: str) -> type[DatasetOptions]:
    """Return the class of the options of a study's datasets."""
    return importlib.import_module(f"scripts.studies.{study}.options").Options


def beside(study: str, name: str, root: Path = ROOT):
    """Return the content of a YAML file in a study's folder; None if the study has no such file."""
    file = folder_of(study, root) / name
    return read_yaml(file) if file.exists() else None


def read_figures(
    studies: dict[str, dict], root: Path = ROOT, running: Iterable[str] | None = None
) -> list[dict]:
    """Return the items of resources/figures.yaml and of each study's figures.yaml, with `study` in
    each. running: the studies whose probes the captions explain; None: all.

    Items for every study (study: each) come before the study's first table. A study has such an
    item if it has the file that the item needs.
    """
    shared = items_in(root / "resources/figures.yaml", ALL)
    shown = [studies[name] for name in studies if running is None or name in running]
    probes = (entry.get("probe", {}) for entry in shown if isinstance(entry, dict))
    says = " ".join(probe["says"].strip() for probe in probes if "says" in probe)
    items = [
        with_text(item, "caption", "{probes}", says) for item in shared if item["study"] != EACH
    ]
    for study, entry in studies.items():
        file = folder_of(study, root) / "figures.yaml"
        found = items_in(file, study) if file.exists() else []
        tables = (place for place, item in enumerate(found) if item.get("kind") == "table")
        first = next(tables, len(found))
        of_study = [item_of(item, study, entry) for item in shared if is_made(item, study, root)]
        items += found[:first] + of_study + found[first:]
    return items


def items_in(file: Path, study: str) -> list[dict]:
    """Return the items of a file, each with `study`. Raises UserError if the file is not a list of
    mappings.
    """
    items = read_yaml(file)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise UserError(
            f"{file}: must be a list of items, each with keys and values; see the head of "
            "resources/figures.yaml"
        )
    return [{"study": study} | item for item in items]


def is_made(item: dict, study: str, root: Path) -> bool:
    """Return whether a study has this item for every study: it must have the file that the item
    needs.
    """
    file = folder_of(study, root) / str(item.get("needs_file"))
    return item["study"] == EACH and file.exists()


def item_of(item: dict, study: str, entry: dict) -> dict:
    """Return an item for every study, for this study. `title` names the authors of its paper, or
    `others` where each source has a paper of its own.
    """
    authors = re.sub(r" \d{4}$", "", entry.get("paper", "others"))
    named = {key: value for key, value in item.items() if key != "needs_file"}
    named |= {"name": f"{study}_{item.get('name')}", "study": study}
    return with_text(named, "title", "{authors}", authors)


def with_text(item: dict, key: str, mark: str, text: str) -> dict:
    """Return an item with a text in place of a mark in its title or caption."""
    return item | {key: str(item.get(key, "")).replace(mark, text)}


def read_published(studies: dict[str, dict], root: Path = ROOT) -> list[list[str]]:
    """Return the rows of every published.csv under one header, with the study as first column."""
    rows = [["study", *PUBLISHED]]
    for study in studies:
        file = folder_of(study, root) / "published.csv"
        if file.exists():
            text = file.read_text(encoding="utf-8")
            rows += [[study, *row] for row in csv_rows(text, PUBLISHED, str(file))[1:]]
    return rows


def numbers_of(sources: dict[str, dict], studies: dict[str, dict]) -> list[list[str]]:
    """Return the numbers that others print of sources (`published` of an entry), as rows of
    read_published() without a header.
    """
    return [
        [
            *(study, one.get("table", entry["citation"]), one["row"], one.get("model", "")),
            "; ".join([f"source={name}", *settings_of(one)]),
            *(
                one.get("metric", of.get("headline", "")),
                f"{one['value']:g}",
                "%",
                one.get("note", ""),
            ),
        ]
        for name, entry in sources.items()
        for study, of in studies.items()
        for one in (entry.get("published", []) if entry["kind"] in of["reads"] else [])
    ]


def settings_of(number: dict) -> list[str]:
    """Return the parts of the setting of a number that a source declares. A system without a model
    is in no run.
    """
    model, setting = number.get("model"), number.get("setting", "")
    whole = [] if "slice=" in setting else ["slice=all"]
    none = [f"model={model or 'none'}"] if model in (None, "human") else []
    return [*whole, *none, *filter(None, [setting])]


def read_released(study: str, root: Path = ROOT) -> list[list[str]]:
    """Return the rows of a study's released.csv under their header; only the header if the file is
    missing.
    """
    file = folder_of(study, root) / "released.csv"
    if not file.exists():
        return [RELEASED]
    return csv_rows(file.read_text(encoding="utf-8"), RELEASED, str(file))


def read_claims(study: str, root: Path = ROOT) -> dict:
    """Return the claims of a study's paper, and the classes of models that may represent one
    another.
    """
    return {
        "classes": read_yaml(root / "resources/classes.yaml"),
        "claims": beside(study, "claims.yaml", root),
    }
