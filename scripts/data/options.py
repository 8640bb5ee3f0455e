"""The options of a study's datasets: `data:` of an experiment, and --options of a builder.

A study declares each option once, as a field of the class Options in its options.py: the name, the
type, the bounds, the default, and one sentence below it. From there come the check of an
experiment, the help of the builder, the names of datasets, the column of the metrics with its
meaning, and the notes on series in figures. Standard library only.
"""

import ast
import inspect
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints

TYPES = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    dict: "object",
    NoneType: "null",
}
ARROW = {"integer": "int64", "number": "float64", "boolean": "bool"}  # other values are texts
PEOPLE = "people"  # stands for a method in DatasetOptions.refuses()


def option(
    *,
    default: Any = MISSING,
    later: bool = False,
    column: str | None = "",
    series: str = "",
    **bounds,
) -> Any:
    """Return a field of Options. bounds: keywords of JSON Schema (minimum, pattern, …).

    later: the option is not written at its default, so results from before it keep their names.
    column: the Arrow type of its column in the metrics; empty: that of the option; None: no column.
    series: a note on the series of figures that have a value; {} stands for the value. Series of
    different values are different.
    """
    facts = {"bounds": bounds, "later": later, "column": column, "series": series}
    return field(default=default, metadata=facts)


def _type(hint: Any) -> dict:
    """Return the type of an option as JSON Schema."""
    if get_origin(hint) is Literal:
        return {"enum": [*get_args(hint)]}
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else [hint]
    names = [TYPES[get_origin(part) or part] for part in parts]
    return {"type": names if len(names) > 1 else names[0]}


def _arrow(schema: dict) -> str:
    """Return the Arrow type of an option of one type (or null)."""
    types = schema.get("type", "string")
    [name] = {types} if isinstance(types, str) else {*types} - {"null"}
    return ARROW.get(name, "string")


@dataclass(frozen=True, kw_only=True)
class DatasetOptions:
    """The options of one dataset. Every study has `limit` and `train_limit`; a study may declare
    them again, at another place and in its own words.
    """

    limit: int | None = option(default=None, minimum=1, maximum=1_000_000_000)
    """the most items of each evaluation split to measure on, drawn by hash; every number is
    marked"""
    train_limit: int | None = option(
        default=None, later=True, column=None, minimum=2, maximum=1_000_000_000
    )
    """the most examples to learn from and to hold out, drawn by hash; every number is marked"""

    @classmethod
    @cache
    def sentences(cls) -> dict[str, str]:
        """Return the sentence below each option, in the order in which the study declares them."""
        found: dict[str, str] = {}
        for of in (one for one in cls.__mro__ if one is not object):
            body = ast.parse(inspect.getsource(of)).body[0].body  # type: ignore[attr-defined]
            found |= {
                one.target.id: " ".join(sentence.value.value.split())
                for one, sentence in zip(body, body[1:])
                if isinstance(one, ast.AnnAssign) and one.target.id not in found
            }
        return found

    @classmethod
    def of(cls, values: Mapping) -> Self:
        """Return the options with these values, and defaults for the others. An option without a
        default may be missing in a file that people made: it is None.
        """
        missing = {one.name: None for one in fields(cls) if one.default is MISSING}
        known = {one.name for one in fields(cls)}
        return cls(**missing | {name: values[name] for name in known & set(values)})

    @classmethod
    @cache
    def schemas(cls) -> dict[str, dict]:
        """Return each option as JSON Schema, with its `description`, and its `default` if it has
        one.
        """
        hints, options = get_type_hints(cls), {one.name: one for one in fields(cls)}
        return {
            name: _type(hints[name])
            | options[name].metadata["bounds"]
            | {"description": sentence}
            | ({} if options[name].default is MISSING else {"default": options[name].default})
            for name, sentence in cls.sentences().items()
        }

    @classmethod
    def columns(cls) -> dict[str, str]:
        """Return the options that are columns of the metrics, each with its Arrow type."""
        return {
            one.name: one.metadata["column"] or _arrow(cls.schemas()[one.name])
            for one in fields(cls)
            if one.metadata["column"] is not None
        }

    @classmethod
    def series(cls) -> dict[str, str]:
        """Return the options that part the series of figures, each with its note."""
        return {one.name: one.metadata["series"] for one in fields(cls) if one.metadata["series"]}

    def written(self) -> dict:
        """Return the options by name, as files and names of runs hold them."""
        values = {one: getattr(self, one.name) for one in fields(self)}
        return {
            one.name: value
            for one, value in values.items()
            if not one.metadata["later"] or value != one.default
        }

    def needs(self, kind: str) -> dict[str, tuple[bool, str]]:
        """Return what options need for an effect: whether they have it here, and it in words. kind:
        the kind of the source. An option without effect stays at its default.
        """
        return {}

    def without_effect(self, kind: str) -> dict[str, str]:
        """Return the options without effect, each with what it needs."""
        return {name: need for name, (is_met, need) in self.needs(kind).items() if not is_met}

    def refuses(self, method: str) -> str:
        """Return the option that a method does not work with; empty if there is none. PEOPLE:
        people are asked.
        """
        return ""

    def check(self) -> None:
        """Raise UserError for options that exclude each other."""

    def labels(self, labels: list[str]) -> list[str]:
        """Return the labels of a dataset, in the order of their numbers. labels: the study's."""
        return labels
