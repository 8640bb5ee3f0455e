"""The grid of an experiment's data: its checked levels, and the dataset of each point."""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from scripts.data.options import DatasetOptions
from scripts.data.plain_json import as_json
from scripts.data.studies import options_of
from scripts.plan.schemas import check, shown
from scripts.plan.settings import ExperimentEntry
from scripts.running.program import UserError, closest

MOST_LEVELS = 1000  # of a factor: more is a mistake
SOURCE = {"type": "string", "description": "a source of resources/sources.yaml"}


class Experiment(NamedTuple):
    """An experiment of the configuration: its entry, its place for messages, and its study's
    study.yaml.
    """

    name: str
    where: str
    entry: ExperimentEntry
    study: dict

    @property
    def methods(self) -> dict[str, dict]:
        return self.study["methods"]

    @property
    def options(self) -> type[DatasetOptions]:
        return options_of(self.entry.study)

    def measures(self, systems: list[tuple[str, str]]) -> bool:
        """Return whether the experiment measures these (model, method), and makes no model."""
        return not any(self.methods[method].get("makes_model") for _, method in systems)


@dataclass(frozen=True)
class Dataset:
    """A study's dataset: results/build/<study>/<source>/<name>/<split>.parquet."""

    study: str
    source: str
    name: str  # says all options
    options: DatasetOptions = field(compare=False)

    @property
    def folder(self) -> str:
        return f"results/build/{self.study}/{self.source}/{self.name}"

    @cached_property
    def data(self) -> dict:
        """The options by name, as files and names of runs hold them."""
        return self.options.written()


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


def levels_of(experiment: Experiment, data: Mapping[str, Any]) -> dict[str, list]:
    """Return the levels of each key of an experiment's data. Raises UserError for an unknown or
    missing option.
    """
    where, names = experiment.where, experiment.study.get("source_names", {})
    options = experiment.options.schemas()
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


def points_of(levels: dict[str, list]) -> Iterator[dict]:
    """Yield the points of a grid: a value for each key."""
    return (dict(zip(levels, values)) for values in itertools.product(*levels.values()))


def _check_effects(experiment: Experiment, points: list[dict], kinds: dict[str, str]) -> None:
    """Raise UserError for an option that the experiment sets, but that has an effect at no point of
    the grid.
    """
    schemas = experiment.options.schemas()
    idle = [experiment.options.of(point).without_effect(kinds[point["source"]]) for point in points]
    for option, needs in idle[0].items():
        default = schemas[option]["default"]
        is_set = any(point.get(option, default) != default for point in points)
        if is_set and all(option in others for others in idle):
            raise UserError(
                f"{experiment.where}.data: {option} has no effect here "
                f"({schemas[option]['description']}; it needs {needs}); take it out"
            )


def _named(option: str, value) -> str:
    """Return an option's part of a dataset's name, such as `stride-0`. A text value is used without
    the option's name.
    """
    if isinstance(value, dict):
        return "-".join([option, *(f"{key}-{inner:g}" for key, inner in value.items())])
    return value if isinstance(value, str) else f"{option}-{value}"


def _dataset(study: str, source: str, options: DatasetOptions, kind: str) -> Dataset:
    """Return the dataset of one point of the grid; kind: the kind of its source. The name holds
    every option that is not the default. An option without an effect gets its default, so it makes
    no other dataset.
    """
    schemas, idle = options.schemas(), options.without_effect(kind)
    options = replace(options, **{option: schemas[option]["default"] for option in idle})
    options.check()
    parts = [
        _named(option, getattr(options, option))
        for option, schema in schemas.items()
        if "default" not in schema or getattr(options, option) != schema["default"]
    ]
    return Dataset(study, source, "-".join(parts) or "default", options)


def without(dataset: Dataset, option: str, kind: str) -> Dataset:
    """Return the same dataset without an option; kind: the kind of its source. Raises UserError if
    the study does not have the option.
    """
    schemas = dataset.options.schemas()
    if option not in schemas:
        raise UserError(
            f"{dataset.study} has no option {option}, so no control can learn without it; leave "
            "controls with `learns_without` out of this study"
        )
    options = replace(dataset.options, **{option: schemas[option]["default"]})
    return _dataset(dataset.study, dataset.source, options, kind)


def datasets(
    experiment: Experiment, levels: dict[str, list], kinds: dict[str, str]
) -> Iterator[Dataset]:
    """Yield the datasets of an experiment's grid. kinds: the kind of each source in the levels."""
    points = list(points_of(levels))
    _check_effects(experiment, points, kinds)
    for point in points:
        options, source = experiment.options.of(point), point["source"]
        # Each dataset learns from its own source by default, so a matrix of corpora is a product.
        if getattr(options, "learn_from", None) == source:
            options = replace(options, **{"learn_from": None})
        try:
            yield _dataset(experiment.entry.study, source, options, kinds[source])
        except UserError as error:
            raise UserError(f"{experiment.where}.data: {error}") from None
