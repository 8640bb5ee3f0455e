"""The options of a study's dataset, as resources/studies.yaml declares them: types, bounds and defaults.

Not a program. In the workflow they are checked before anything runs; here for who calls a builder by hand.
"""

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import yaml

from scripts.running.program import cut, json_object, shown

STUDIES = Path(__file__).parents[2] / "resources" / "studies.yaml"
TYPES = {"integer": int, "number": (int, float), "string": str, "boolean": bool, "null": type(None), "object": dict}


def _wrong_inside(value: dict, schema: dict) -> bool:
    """Whether an object has a key that its schema does not have, or a value that it does not allow."""
    return any(key not in schema["properties"] or _wrong(inner, schema["properties"][key]) for key, inner in value.items())


def _wrong(value: object, schema: dict) -> str | None:
    """What an option's value must be, if it is not."""
    if "enum" in schema:
        return None if value in schema["enum"] else f"one of {', '.join(map(str, schema['enum']))}"
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    low, high = schema.get("minimum", float("-inf")), schema.get("maximum", float("inf"))
    fits = any(isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in kinds)
    if fits and isinstance(value, dict):
        return None if len(value) == 1 and not _wrong_inside(value, schema) else f"{' or '.join(kinds)} of one of {', '.join(schema['properties'])}"
    if fits and isinstance(value, str) and not re.fullmatch(schema.get("pattern", ".*"), value):
        fits = False
    if fits and not (is_number and not low <= value <= high):
        return None
    bounds = [f"{word} {schema[key]}" for word, key in (("from", "minimum"), ("to", "maximum")) if key in schema]
    bounds += [f"(or text of the form {schema['pattern']})"] if "pattern" in schema else []
    return " ".join([" or ".join(kinds), *bounds])


def options_of(study: str) -> Callable[[str], dict]:
    """The type of the argument --options: a JSON object of the study's options; those left out get their defaults."""

    def read(text: str) -> dict:
        given = json_object(text)
        schemas = yaml.safe_load(STUDIES.read_text(encoding="utf-8"))[study]["data"]
        if unknown := [name for name in given if name not in schemas]:
            raise argparse.ArgumentTypeError(f"{study} has no option {cut(unknown[0])}; it has {', '.join(schemas)}")
        if missing := [name for name in schemas if name not in given and "default" not in schemas[name]]:
            raise argparse.ArgumentTypeError(f"the option {missing[0]} is missing ({schemas[missing[0]]['description']})")
        options = {name: given.get(name, schema.get("default")) for name, schema in schemas.items()}
        for name, value in options.items():
            if must_be := _wrong(value, schemas[name]):
                raise argparse.ArgumentTypeError(f"the option {name} is {shown(value)}, not {must_be}")
        return options

    return read
