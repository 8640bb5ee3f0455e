"""The arguments of every study's builder. --options are the options of its dataset, as its
options.py declares them. The workflow checks the options before any job runs. The check here is for
people who call a builder by hand.
"""

import argparse
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from scripts.data.limit import learnt, limited
from scripts.data.options import DatasetOptions
from scripts.data.studies import folder_of
from scripts.data.tables import provenance_of, read_table, write_table
from scripts.data.yaml_files import read_yaml
from scripts.plan.schemas import check
from scripts.running.program import UserError, add_manifest, json_object, parser


class Beside(NamedTuple):
    """Another source from which a dataset is built: folders of its tables and of its temporal
    expressions, and its splits.
    """

    cleaned: Path
    spans: Path
    train: str | None
    evaluate: list[str]


def beside(text: str) -> dict[str, Beside]:
    try:
        sources = {
            name: Beside(Path(one["cleaned"]), Path(one["spans"]), one["train"], one["evaluate"])
            for name, one in json_object(text).items()
        }
    except (KeyError, TypeError) as error:
        raise argparse.ArgumentTypeError(
            f"{text[:80]!r} is not JSON of sources with {', '.join(Beside._fields)} ({error})"
        ) from None
    return sources


def source_beside(given: argparse.Namespace, name: str) -> Beside:
    """Return the source of this name. Raises UserError if --beside has no such source."""
    if name not in given.beside:
        raise UserError(f"--beside: the source {name} is missing; the dataset needs it, so add it")
    return given.beside[name]


def read_by(given: argparse.Namespace) -> list[Path]:
    """Return the folders that a builder reads."""
    sources = [(given.cleaned, given.spans), *(one[:2] for one in given.beside.values())]
    return [folder for folders in sources for folder in folders if folder]


def reads_options(kind: type[DatasetOptions]) -> Callable[[str], dict]:
    """Return the type of the argument --options: it reads a JSON object of the study's options."""
    schemas = kind.schemas()
    required = [name for name, schema in schemas.items() if "default" not in schema]
    against = {"properties": schemas, "required": required, "additionalProperties": False}

    def read(text: str) -> dict:
        try:
            options = check(json_object(text), against, "--options")
            kind.of(options).check()
        except UserError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return options

    return read


def help_of(kind: type[DatasetOptions]) -> str:
    """Return the options and what each does, for --help."""
    return "; ".join(f"{name}: {one['description']}" for name, one in kind.schemas().items())


def cut_by_limits(kind: type[DatasetOptions]) -> Callable[[argparse.Namespace], None]:
    """Return what follows every builder: the option `limit` cuts the evaluation splits, unless the
    builder has cut splits itself, and `train_limit` cuts the splits that are learnt from. An item
    is a value of the study's choice_id, of group_id if groups are scored as a whole, or else of
    example_id.
    """

    def cut(given: argparse.Namespace) -> None:
        options = kind.of(given.options)
        if options.limit is None and options.train_limit is None:
            return
        study = read_yaml(folder_of(kind.__module__.split(".")[-2]) / "study.yaml")
        columns, control = study["columns"], study["methods"].get("control") or {}
        whole = "group_id" if control.get("whole_groups") else "example_id"
        item = columns.get("choice_id", columns[whole])
        evaluated = {*given.splits[1:], *chain(*(one[3] for one in given.beside.values()))}
        evaluated -= {study.get("held_out")}
        facts = {file: provenance_of(file) for file in sorted(given.output.glob("*.parquet"))}
        limit = None if any("limited" in one for one in facts.values()) else options.limit
        for file, known in facts.items():
            rows = read_table(file)
            ids = rows.select([item]).to_pandas()
            if file.stem not in evaluated:
                places, marks = learnt(ids[item], options.train_limit, str(file))
            else:
                kept, marks = limited(ids, item, limit, "items", str(file))
                places = kept.index.to_numpy()
            if marks:
                write_table(rows.take(places), file, rows.schema, known | marks)

    return cut


def builder_arguments(
    doc: str,
    kind: type[DatasetOptions],
    splits: str = "its splits, the one to learn from first",
    count: int | str = "+",
) -> argparse.ArgumentParser:
    """Return the arguments that every builder takes. kind: the options of its datasets; splits: the
    help text of --splits; count: the number of splits.
    """
    options = parser(doc)
    options.add_argument(
        "--cleaned", type=Path, required=True, help="the folder of one cleaned source"
    )
    options.add_argument(
        "--spans",
        type=Path,
        help="the folder of the source's temporal expressions, if the study reads them",
    )
    options.add_argument("--splits", nargs=count, required=True, help=splits)
    options.add_argument(
        "--options",
        type=reads_options(kind),
        required=True,
        help=f"JSON; a missing option has its default. {help_of(kind)}".replace("%", "%%"),
    )
    options.add_argument(
        "--beside",
        type=beside,
        default={},
        help=(
            "JSON: further sources, by their names in `reads_beside` of study.yaml; each has "
            "cleaned (the folder of its tables), spans (the folder of its temporal expressions), "
            "train (its training split) and evaluate (its evaluation splits)"
        ),
    )
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    add_manifest(options)
    options.set_defaults(reads=read_by, follows=cut_by_limits(kind))
    return options
