"""The type of --options: the options of a study's dataset, as resources/studies.yaml declares them.

Not a program. The workflow checks options before anything runs. This check serves who calls a builder by hand.
"""

import argparse
from collections.abc import Callable

from scripts.data.yaml_files import read_yaml
from scripts.plan.schemas import check
from scripts.running.identity import ROOT
from scripts.running.program import UserError, json_object


def options_of(study: str) -> Callable[[str], dict]:
    """The type of the argument --options: a JSON object of the study's options. An option left out gets its default."""

    def read(text: str) -> dict:
        schemas = read_yaml(ROOT / "resources/studies.yaml")[study]["data"]
        defaults = {name: schema["default"] for name, schema in schemas.items() if "default" in schema}
        try:
            options = check(defaults | json_object(text), {"properties": schemas, "required": [*schemas], "additionalProperties": False}, study)
        except UserError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return {name: options[name] for name in schemas}

    return read
