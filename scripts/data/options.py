"""The arguments of every study's builder. --options are the options of its dataset, as resources/studies.yaml declares them.

Not a program. The workflow checks options before anything runs. This check serves who calls a builder by hand.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from scripts.data.yaml_files import read_yaml
from scripts.plan.schemas import check
from scripts.running.identity import ROOT
from scripts.running.program import UserError, json_object, parser


def options_of(study: str) -> Callable[[str], dict]:
    """The type of the argument --options: a JSON object of the study's options. An option left out gets its default."""

    def read(text: str) -> dict:
        schemas = read_yaml(ROOT / "resources/studies.yaml")[study]["data"]
        defaults = {
            name: schema["default"] for name, schema in schemas.items() if "default" in schema
        }
        try:
            options = check(
                defaults | json_object(text),
                {"properties": schemas, "required": [*schemas], "additionalProperties": False},
                study,
            )
        except UserError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return {name: options[name] for name in schemas}

    return read


def builder_arguments(
    doc: str,
    study: str,
    splits: str = "its splits, the one to learn from first",
    count: int | str = "+",
) -> argparse.ArgumentParser:
    """The arguments that every builder takes; splits: what --splits names, in words; count: how many."""
    options = parser(doc)
    options.add_argument(
        "--cleaned", type=Path, required=True, help="the folder of one cleaned source"
    )
    options.add_argument("--splits", nargs=count, required=True, help=splits)
    options.add_argument(
        "--options",
        type=options_of(study),
        required=True,
        help="JSON: the options of the study in resources/studies.yaml; what is left out gets its default",
    )
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return options
