"""The configuration: checked in full before anything runs, then resolved into runs and datasets."""

import difflib
import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import jsonschema

from scripts.common.program import UserError


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


@dataclass(frozen=True)
class Run:
    """One training run: results/train/<study>/<name>/. Equal settings give equal names."""

    study: str
    name: str
    dataset: Dataset
    model: str
    settings: str  # sorted JSON: study, source, data, model, training, seed


@dataclass
class Plan:
    """What a configuration asks for; `experiments` maps a name to the names of its runs."""

    runs: dict[str, Run] = field(default_factory=dict)
    experiments: dict[str, list[str]] = field(default_factory=dict)
    datasets: dict[str, Dataset] = field(default_factory=dict)  # by folder


def as_json(value) -> str:
    """JSON that is the same for equal values, whatever the order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def closest(name: str, known) -> str:
    """`; did you mean X?` where a known name is near, else the known names."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else f"; known: {', '.join(sorted(known))}"


def _yaml_place(path: list, value: str) -> str:
    """The YAML to write for a value at a path, in one line: `training: {epochs: 3}`."""
    written = value
    for key in reversed(path):
        written = f"[…, {written}]" if isinstance(key, int) else f"{{{key}: {written}}}"
    return written[1:-1] if written.startswith("{") else written


def _explain(error: jsonschema.ValidationError) -> str:
    """One sentence on a schema error: the key, what is wrong, the YAML to write."""
    path = list(error.absolute_path)
    place = ".".join(str(key) for key in path) or "the top level"
    description = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    about = f" ({description})" if description else ""
    if error.validator == "additionalProperties":
        unknown = sorted(set(error.instance) - set(error.schema.get("properties", {})))
        return f"unknown key {unknown[0]} at {place}{closest(unknown[0], error.schema['properties'])}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"key {missing} is missing at {place}; write `{_yaml_place(path + [missing], '…')}`"
    if error.validator == "type" and isinstance(error.instance, str):
        wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        if {"number", "integer"} & set(wanted) and re.fullmatch(r"[+-]?\d+\.?\d*(e[+-]?\d+)?", error.instance, re.I):
            number = error.instance
            if "e" in number.lower() and "." not in number:
                number = re.sub("[eE]", ".0e", number)
                why = f"YAML reads {error.instance} as text"
            else:
                why = "--config gives nested numbers as text, so use a file with --configfile"
            return f"{place} is the text '{error.instance}', not a number: {why}; " \
                   f"write `{_yaml_place(path, number)}`"
    return f"{place}: {error.message}{about}; write `{_yaml_place(path, '…')}`"


def check(config: dict, schema: dict, where: str = "configuration") -> None:
    """Refuse a configuration that the schema does not allow, in one sentence."""
    errors = sorted(
        jsonschema.Draft202012Validator(schema).iter_errors(config), key=lambda error: list(map(str, error.absolute_path))
    )
    if errors:
        more = f" ({len(errors) - 1} more after this one)" if len(errors) > 1 else ""
        raise UserError(f"{where}: {_explain(errors[0])}{more}")


def _grid(factors: dict) -> Iterator[dict]:
    """Every combination of the factors; a value that is not a list has one level."""
    levels = [value if isinstance(value, list) else [value] for value in factors.values()]
    for combination in itertools.product(*levels):
        yield dict(zip(factors, combination))


def _dataset(study_name: str, study: dict, point: dict) -> Dataset:
    """The dataset of one point of the grid; its name holds every option that is not the default."""
    options, parts = {}, []
    for option, schema in study["data"].items():
        options[option] = point.get(option, schema.get("default"))
        if options[option] != schema.get("default") or "default" not in schema:
            parts.append(f"{option}-{options[option]}")
    return Dataset(study_name, point["source"], "-".join(parts) or "default", as_json(options))


def resolve(config: dict, sources: dict, models: dict, studies: dict) -> Plan:
    """The runs, datasets and experiments that a checked configuration asks for.

    Raises UserError for a name that does not exist, naming the experiment and the nearest known name.
    """
    plan = Plan()
    for name in config["run"]:
        if name not in config["experiments"]:
            raise UserError(f"configuration: run names {name}, which is no experiment{closest(name, config['experiments'])}")
        experiment, where = config["experiments"][name], f"configuration: experiments.{name}"
        if experiment["study"] not in studies:
            raise UserError(f"{where}.study: no study {experiment['study']}{closest(experiment['study'], studies)}")
        study = studies[experiment["study"]]
        for option in experiment["data"]:
            if option != "source" and option not in study["data"]:
                raise UserError(f"{where}.data: unknown key {option}{closest(option, ['source', *study['data']])}")
        training = config["training"] | experiment.get("training", {})
        plan.experiments[name] = []
        for point in _grid(experiment["data"]):
            for option, schema in study["data"].items():
                if option not in point and "default" not in schema:
                    raise UserError(f"{where}.data: {option} is missing ({schema['description']}); "
                                    f"write `data: {{{option}: …}}`")
                if option in point:
                    check({option: point[option]}, {"properties": {option: schema}}, f"{where}.data")
            if point["source"] not in sources:
                raise UserError(f"{where}.data: no source {point['source']}{closest(point['source'], sources)}")
            if sources[point["source"]]["kind"] != study["reads"]:
                raise UserError(f"{where}.data: source {point['source']} holds {sources[point['source']]['kind']}, "
                                f"but {experiment['study']} reads {study['reads']}; name another source")
            dataset = _dataset(experiment["study"], study, point)
            plan.datasets[dataset.folder] = dataset
            for model, seed in itertools.product(experiment["models"], experiment.get("seeds", config["seeds"])):
                if model not in models:
                    raise UserError(f"{where}.models: no model {model}{closest(model, models)}")
                settings = as_json({
                    "study": experiment["study"], "source": dataset.source, "dataset": dataset.name,
                    "data": json.loads(dataset.options), "model": model, "training": training, "seed": seed,
                })
                digest = hashlib.sha256(settings.encode()).hexdigest()[:8]
                run = f"{dataset.source}-{dataset.name}-{model}-seed-{seed}-{digest}"
                plan.runs[run] = Run(experiment["study"], run, dataset, model, settings)
                if run not in plan.experiments[name]:
                    plan.experiments[name].append(run)
    return plan
