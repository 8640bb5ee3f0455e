"""One check for the configuration and the files of resources/, with one sentence for each error.

A typed model (scripts/plan/typed.py) checks the configuration. Its schema explains what it refuses.
resources/schemas/<name>.schema.yaml checks the other files. Editors also use the schemas to
complete and check the files.
"""

import difflib
import json
import math
import re
from collections.abc import Iterator
from functools import cache
from typing import TypeVar

import jsonschema
from pydantic import ValidationError

from scripts.running.project_version import ROOT
from scripts.running.program import UserError, closest
from scripts.data.studies import ALL, options_of, read_studies
from scripts.data.yaml_files import read_yaml
from scripts.plan.typed import Model

Checked = TypeVar("Checked", bound=Model)

LONGEST_VALUE = 80  # characters of a value that a message repeats
DEEPEST = 40
JUDGEMENTS = "judgements"  # the kind of a source that is not cleaned
# control characters, unpaired surrogates
NO_TEXT = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\ud800-\\udfff]")
NUMBER = re.compile(r"[+-]?\d+\.?\d*(e[+-]?\d+)?", re.I)


def shown(value) -> str:
    """Return a value for a message: on one line, as Python writes it; a plain name has no quotes. A
    long value is cut.
    """
    if isinstance(value, str) and re.fullmatch(r"[\w./-]{1,80}", value):
        return value
    text = repr(
        value[: 2 * LONGEST_VALUE] if isinstance(value, (str, bytes, list, tuple)) else value
    )
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


@cache
def schema(name: str) -> dict:
    """Return a schema of resources/schemas/, by name."""
    return read_yaml(ROOT / f"resources/schemas/{name}.schema.yaml")


def _is_integer(checker, value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(checker, value) -> bool:
    return _is_integer(checker, value) or (isinstance(value, float) and math.isfinite(value))


KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}

# In JSON Schema 32.0 is an integer, in Python True is one. Here neither is an integer.
TYPES = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
    {"integer": _is_integer, "number": _is_number}
)


def _check_pattern(validator, pattern: str, value, part: dict) -> Iterator:
    """Check the keyword `pattern`. `$` means the end of the text, as in JSON Schema; in Python it
    also matches before a final line break.
    """
    if isinstance(value, str) and not re.search(re.sub(r"\$\Z", r"\\Z", pattern), value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


VALIDATOR = jsonschema.validators.extend(
    jsonschema.Draft202012Validator, {"pattern": _check_pattern}, type_checker=TYPES
)


def _place(path: list) -> str:
    """Return a path as messages write it, such as `training.epochs`."""
    return ".".join(shown(key) for key in path) or "the top level"


def _check_plain(value, where: str, path: list, above: tuple[int, ...] = ()) -> None:
    """Raise UserError for YAML values that JSON does not have: keys that are not text, nan, dates,
    circular references.
    """
    place = f"{where}: {_place(path)}"
    if id(value) in above or len(above) > DEEPEST:
        raise UserError(f"{place} refers to itself or is nested too deep; write it out")
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise UserError(
                    f"{place} has the key {shown(key)}, which YAML does not read as text; write it "
                    "in quotes, or take it out"
                )
            _check_plain(inner, where, [*path, key], (*above, id(value)))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_plain(inner, where, [*path, number], (*above, id(value)))
    elif isinstance(value, float) and not math.isfinite(value):
        raise UserError(
            f"{place} is {value}, not a finite number; write `{_yaml_place(path, '…')}`"
        )
    elif isinstance(value, int) and value.bit_length() > 128:  # Python may refuse to print it
        raise UserError(f"{place} is a number of {value.bit_length()} bits; write a smaller one")
    elif isinstance(value, str) and (found := NO_TEXT.search(value)):
        raise UserError(f"{place} holds the invalid character {found[0]!r}; take it out")
    elif not isinstance(value, (str, int, float, type(None))):
        raise UserError(
            f"{place} is a {type(value).__name__} to YAML ({shown(str(value))}); write it in "
            "quotes, or take it out"
        )


def _yaml_place(path: list, value: str) -> str:
    """Return the YAML of a value at a path, on one line, such as `training: {epochs: 3}`."""
    written = value
    for key in reversed(path):
        written = f"[…, {written}]" if isinstance(key, int) else f"{{{shown(key)}: {written}}}"
    return written[1:-1] if written.startswith("{") else written


def _explain_type(error: jsonschema.ValidationError, path: list) -> str | None:
    """Return one sentence about a number, true or false, or a list that is written as something
    else; None for other errors.
    """
    # for a pattern: the other types that the schema allows
    wanted = error.validator_value if error.validator == "type" else error.schema.get("type", [])
    wanted = wanted if isinstance(wanted, list) else [wanted]
    value, place = error.instance, _place(path)
    if (
        "integer" in wanted
        and isinstance(value, float)
        and value.is_integer()
        and abs(value) < 2**53
    ):
        return f"{place} is {value}, not an integer; write `{_yaml_place(path, str(int(value)))}`"
    if not isinstance(value, str):
        return None
    why = "--config gives nested values as text, so use a file with --configfile"
    if "boolean" in wanted and value.lower() in ("true", "false"):
        return (
            f"{place} is the text '{value}', not true or false: {why}; write "
            f"`{_yaml_place(path, value.lower())}`"
        )
    is_number = {"number", "integer"} & set(wanted) and NUMBER.fullmatch(value[:100])
    if "array" in wanted and not value.startswith("[") and not is_number:
        entry = value[:100] if value.isprintable() else json.dumps(value[:100])
        listed = _yaml_place(path, f"[{entry}]")
        word = re.fullmatch(r"\^(\w+)\$", error.schema.get("pattern", ""))
        or_word = f", and not the word {word[1]}" if word else ""
        return f"{place} is the text {shown(value)}, not a list{or_word}; write `{listed}`"
    if not is_number:
        return None
    number = value[:100]
    if "e" in number.lower() and "." not in number:
        number = re.sub("[eE]", ".0e", number)
        why = f"YAML reads {value[:100]} as text"
    return (
        f"{place} is the text '{value[:100]}', not a number: {why}; write "
        f"`{_yaml_place(path, number)}`"
    )


def _explain(error: jsonschema.ValidationError) -> str:
    """Return one sentence about a schema error: the key, the error, the YAML to write."""
    path = list(error.absolute_path)
    place = _place(path)
    description = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    about = f" ({description})" if description else ""
    if error.validator == "additionalProperties":
        properties = error.schema.get("properties", {})
        unknown = sorted(set(error.instance) - set(properties))
        name, study = unknown[0], str(error.instance.get("study"))
        options = (
            options_of(study).schemas()
            if path[:1] == ["experiments"] and study in read_studies()
            else {}
        )
        near = difflib.get_close_matches(name, options, 1)
        remedy = f"; did you mean `data: {{{near[0]}: …}}`?" if near else closest(name, properties)
        return f"unknown key {shown(name)} at {place}{remedy}"
    if error.validator == "required":
        missing = error.message.removesuffix(" is a required property").strip("'")
        return f"key {missing} is missing at {place}; write `{_yaml_place(path + [missing], '…')}`"
    if error.validator in ("oneOf", "anyOf") and description:
        return f"{place}: {description}"
    if error.validator in ("type", "pattern") and (said := _explain_type(error, path)):
        return said
    if error.validator == "type":
        wanted = error.validator_value
        names = wanted if isinstance(wanted, list) else [wanted]
        words = [KINDS[name] for name in names]
        is_single = "array" in names and VALIDATOR(error.schema).is_valid([error.instance])
        example = f"[{json.dumps(error.instance)}]" if is_single else "…"
        return (
            f"{place} must be {' or '.join(words)}, not {shown(error.instance)}{about}; write "
            f"`{_yaml_place(path, example)}`"
        )
    written, message = repr(error.instance), error.message
    if len(written) > LONGEST_VALUE:
        message = message.replace(written, shown(error.instance), 1)
    if "propertyNames" in error.absolute_schema_path:
        return (
            f"{place} has the key {shown(error.instance)}, which is refused: "
            f"{description or message}"
        )
    is_bound = error.validator in ("minimum", "maximum")
    allowed = str(error.validator_value) if is_bound else "…"
    return f"{place}: {message[:300]}{about}; write `{_yaml_place(path, allowed)}`"


def _resolved(part, whole: dict):
    """Return a part of a schema; if it is a reference, the part that it refers to."""
    while isinstance(part, dict) and str(part.get("$ref", "")).startswith("#/"):
        target = whole
        for key in part["$ref"][2:].split("/"):
            target = target[key]
        part = target
    return part if isinstance(part, dict) else {}


def _normal(value, part, whole: dict):
    """Return a value with floats wherever the schema says number, so that 0 and 0.0 are equal
    settings.
    """
    part = _resolved(part, whole)
    types = part.get("type", [])
    if "number" in ([types] if isinstance(types, str) else types) and _is_number(None, value):
        return float(value) + 0.0  # no -0.0
    if isinstance(value, dict):
        others = part.get("additionalProperties")
        return {
            key: _normal(inner, part.get("properties", {}).get(key, others), whole)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_normal(inner, part.get("items"), whole) for inner in value]
    return value


def _first(error: jsonschema.ValidationError) -> tuple:
    """Return the sort key of an error. The outer errors come first; at one place, first the type of
    an entry, then its names, then its missing keys.
    """
    order = {"oneOf": 0, "anyOf": 0, "pattern": 1, "required": 3}
    return list(map(str, error.absolute_path)), order.get(error.validator, 2), error.message[:200]


def check(value, against: dict, where: str = "configuration"):
    """Return the value, normalised (_normal), if the schema allows it. Else raise UserError in one
    sentence.
    """
    _check_plain(value, where, [])
    errors = sorted(VALIDATOR(against).iter_errors(value), key=_first)
    if errors:
        others = "".join(f"; also: {_explain(error)}" for error in errors[1:4])
        left = f"; {len(errors) - 4} more after these" if len(errors) > 4 else ""
        raise UserError(f"{where}: {_explain(errors[0])}{others}{left}")
    return _normal(value, against, against)


def checked(model: type[Checked], value, where: str = "configuration") -> Checked:
    """Return the value as a typed model. Else raise UserError in one sentence."""
    _check_plain(value, where, [])
    try:
        return model.model_validate(value)
    except ValidationError as error:
        check(value, model.schema_of(), where)
        raise UserError(f"{where}: {error.errors()[0]['msg']}") from None


def _check_programs(modules: list[str], name: str, where: str) -> None:
    for module in modules:
        if not (ROOT / f"{module.replace('.', '/')}.py").is_file():
            raise UserError(
                f"{where}: {name} needs {module.replace('.', '/')}.py, which is missing; write it "
                "(docs/add_study.md), or correct the entry"
            )


def check_entries(kind: str, entries: dict, where: str) -> dict:
    """Check sources or models (kind) as entries of resources/, and return them. where: the name of
    the place in messages. Raises UserError for a broken entry.
    """
    entries = check(entries, schema(kind), where)
    if kind == "models":
        return entries
    studies = [study for study in read_studies().values() if isinstance(study, dict)]
    cleaners = dict(pair for study in studies for pair in study.get("kinds", {}).items())
    return {name: check_source(name, entry, cleaners, where) for name, entry in entries.items()}


def check_source(name: str, entry: dict, cleaners: dict[str, str], where: str) -> dict:
    """Return a source with its cleaner and its splits. cleaners: those of the kinds that studies
    declare. Raises UserError for another kind, and for a cleaner that is missing.
    """
    if entry["kind"] == JUDGEMENTS:
        return entry
    if entry["kind"] not in cleaners:
        raise UserError(
            f"{where}: {name}.kind: no study declares the kind {shown(entry['kind'])}"
            f"{closest(entry['kind'], [*cleaners, JUDGEMENTS])}"
        )
    own = (ROOT / f"scripts/clean/{name}.py").is_file()
    cleaner = entry.get("cleaner", name if own else cleaners[entry["kind"]])
    _check_programs([f"scripts.clean.{cleaner}"], name, where)
    splits: dict = {}
    if "answers_are" in entry:
        files = entry.get("files", {"test": ""})
        splits = {"evaluate": [split for split in files if split != "train"]}
        splits |= {"train": "train"} if "train" in files else {}
    return splits | entry | {"cleaner": cleaner}


def check_study(name: str, entry: dict) -> dict:
    """Check the content of a study.yaml and return it. Raises UserError if it is broken."""
    where, programs = f"scripts/studies/{name}/study.yaml", f"scripts.studies.{name}"
    entry = check(entry, schema("study"), where)
    if headline := entry.get("headline"):
        metric = entry["metrics"].get(headline, {})
        if metric.get("better") != "higher" or metric.get("unit", "share") != "share":
            raise UserError(
                f"{where}: the headline {headline} is no share of which more is better; declare "
                "it under `metrics` as {title: …, better: higher}, or take another metric"
            )
    modules = [f"{programs}.{module}" for module in ("options", "build", "evaluate")]
    _check_programs(modules, name, where)
    return entry


def check_figures(items: list[dict]) -> list[dict]:
    """Check the items of read_figures() and return them."""
    for item in items:
        file = "resources" if item["study"] == ALL else f"scripts/studies/{item['study']}"
        where = f"{file}/figures.yaml"
        check([item], schema("figures"), f"{where} ({shown(item.get('name'))})")
        _check_programs([item["program"]], item["name"], where)
    return items
