"""The grid of an experiment's data: its checked levels, and the dataset of each point."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from scripts.running.program import UserError, closest
from scripts.data.plain_json import as_json
from scripts.plan.schemas import VALIDATOR, check, shown

MOST_LEVELS = 1000  # of a factor: more is a mistake
SOURCE = {"type": "string", "description": "a source of resources/sources.yaml"}


class Experiment(NamedTuple):
    """An experiment of the configuration: its entry, its place for messages, and its study's
    study.yaml.
    """

    name: str
    where: str
    entry: dict
    study: dict

    @property
    def methods(self) -> dict[str, dict]:
        return self.study["methods"]

    def measures(self, systems: list[tuple[str, str]]) -> bool:
        """Return whether the experiment measures these (model, method), and makes no model."""
        return not any(self.methods[method].get("makes_model") for _, method in systems)


@dataclass(frozen=True)
class Dataset:
    """A study's dataset: results/build/<study>/<source>/<name>/<split>.parquet."""

    study: str
    source: str
    name: str
    options: str  # sorted JSON

    @property
    def folder(self) -> str:
        return f"results/build/{self.study}/{self.source}/{self.name}"


def unmet(entry: dict, data: dict) -> Iterator[tuple[str, object]]:
    """Yield each option and value that the `only_where` of an option or a method excludes. data:
    the values, or lists of values, by option. For the `only_where` of an option, data also has the
    `kind` of the source.
    """
    for name, condition in entry.get("only_where", {}).items():
        value = data.get(name)
        for level in value if isinstance(value, list) else [value]:
            if not VALIDATOR(condition).is_valid(level):
                yield name, level


def defaults_of(options: dict) -> dict:
    """Return the default of each option that has one, normalised."""
    defaults = {
        option: schema["default"] for option, schema in options.items() if "default" in schema
    }
    return check(defaults, {"properties": options}, "study.yaml")


def _levels(value, schema: dict, key: str, where: str) -> list:
    """Return the levels of one key of an experiment's data, checked and normalised. A single value
    is one level.
    """
    values = value if isinstance(value, list) else [value]
    if len(values) > MOST_LEVELS:
        raise UserError(
            f"{where}: {key} has {len(values):,} levels, and at most {MOST_LEVELS:,} are allowed; "
            "name fewer"
        )
    levels = [check({key: level}, {"properties": {key: schema}}, where)[key] for level in values]
    if not levels:
        raise UserError(f"{where}: {key} is an empty list; name one level or more, or take it out")
    written = [as_json(level) for level in levels]
    if twice := [level for level in written if written.count(level) > 1]:
        raise UserError(
            f"{where}: {key} names {shown(json.loads(twice[0]))} twice; name each level once"
        )
    return levels


def levels_of(data: dict, study: dict, where: str) -> dict[str, list]:
    """Return the levels of each key of an experiment's data. Raises UserError for an unknown or
    missing option.
    """
    options, names = study["data"], study.get("source_names", {})
    for key in data:
        if key != "source" and key not in options:
            raise UserError(
                f"{where}.data: unknown key {shown(key)}{closest(key, ['source', *options])}"
            )
    for key, schema in options.items():
        if key not in data and "default" not in schema:
            raise UserError(
                f"{where}.data: {key} is missing ({schema['description']}); write `data: "
                f"{{{key}: …}}`"
            )
    levels = {
        key: _levels(value, options.get(key, SOURCE), key, f"{where}.data")
        for key, value in data.items()
    }
    levels["source"] = _levels(
        [names.get(name, name) for name in levels["source"]], SOURCE, "source", f"{where}.data"
    )
    return levels


def _check_effects(
    points: list[dict], kinds: dict[str, str], options: dict, defaults: dict, where: str
) -> None:
    """Raise UserError for an option that the experiment sets, but that has an effect at no point of
    the grid.
    """
    for option, schema in options.items():
        is_set = any(
            point.get(option, defaults.get(option)) != defaults.get(option) for point in points
        )
        if is_set and all(
            any(unmet(schema, defaults | point | {"kind": kinds[point["source"]]}))
            for point in points
        ):
            raise UserError(
                f"{where}.data: {option} has no effect here ({schema['description']}; only where "
                f"{as_json(schema['only_where'])}); take it out"
            )


def _named(option: str, value) -> str:
    """Return an option's part of a dataset's name, such as `stride-0`. A text value is used without
    the option's name.
    """
    if isinstance(value, dict):
        return "-".join([option, *(f"{key}-{inner:g}" for key, inner in value.items())])
    return value if isinstance(value, str) else f"{option}-{value}"


def _dataset(study: str, options: dict, defaults: dict, point: dict, kind: str) -> Dataset:
    """Return the dataset of one point of the grid; kind: the kind of its source. The name holds
    every option that is not the default. An option without an effect gets its default, so it makes
    no other dataset. An option with `later: true` is left out at its default, so older digests stay
    the same.
    """
    wanted = defaults | point
    # Every dataset learns from its own source by default. A matrix of corpora is then a product.
    if wanted.get("learn_from") == wanted["source"]:
        wanted["learn_from"] = None
    values, parts = {}, []
    for option, schema in options.items():
        is_idle = any(unmet(schema, wanted | {"kind": kind}))
        value = values[option] = (defaults if is_idle else wanted)[option]
        if option not in defaults or value != defaults[option]:
            parts.append(_named(option, value))
        elif schema.get("later"):
            del values[option]
    return Dataset(study, point["source"], "-".join(parts) or "default", as_json(values))


def without_limit(dataset: Dataset, study: dict, kind: str) -> Dataset:
    """Return the same dataset without the option `limit`; study: its study.yaml; kind: the kind of
    its source.
    """
    point = json.loads(dataset.options) | {"source": dataset.source, "limit": None}
    return _dataset(dataset.study, study["data"], defaults_of(study["data"]), point, kind)


def datasets(
    experiment: Experiment, levels: dict[str, list], kinds: dict[str, str]
) -> Iterator[Dataset]:
    """Yield the datasets of an experiment's grid. kinds: the kind of each source in the levels."""
    options = experiment.study["data"]
    points = [dict(zip(levels, combination)) for combination in itertools.product(*levels.values())]
    defaults = defaults_of(options)
    _check_effects(points, kinds, options, defaults, experiment.where)
    for point in points:
        yield _dataset(experiment.entry["study"], options, defaults, point, kinds[point["source"]])
