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

SCORING = {"max_length", "precision"}  # the training settings that a run without learning has as well


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
    method: str
    settings: str  # sorted JSON: study, source, dataset, data, model, method, training, seed


@dataclass
class Plan:
    """What a configuration asks for; `experiments` maps a name to the names of its runs."""

    runs: dict[str, Run] = field(default_factory=dict)
    experiments: dict[str, list[str]] = field(default_factory=dict)
    datasets: dict[str, Dataset] = field(default_factory=dict)  # by folder
    made: dict[str, str] = field(default_factory=dict)  # by model of an MLM stage: the run that makes it


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
    """The dataset of one point of the grid; its name holds every option that is not the default.

    A word stands for itself (`temp_order`), anything else with its option (`stride-0`).
    """
    options, parts = {}, []
    for option, schema in study["data"].items():
        value = options[option] = point.get(option, schema.get("default"))
        if value != schema.get("default") or "default" not in schema:
            parts.append(value if isinstance(value, str) else f"{option}-{value}")
    return Dataset(study_name, point["source"], "-".join(parts) or "default", as_json(options))


def _run(study: str, how: dict, dataset: Dataset, model: str, made_by: str | None, method: str, training: dict,
         seed: int) -> Run:
    """One run. What does not learn is one run, whatever the seed and the settings of learning."""
    if not how["learns"]:
        training = {key: value for key, value in training.items() if key in SCORING}
    settings = as_json({
        "study": study, "source": dataset.source, "dataset": dataset.name, "data": json.loads(dataset.options),
        "model": model, "method": method, "training": training, "seed": seed, **({"made_by": made_by} if made_by else {}),
    })
    parts = [dataset.source, dataset.name, model, *([] if method == "train" else [method]),
             *([f"seed-{seed}"] if how["learns"] else []), hashlib.sha256(settings.encode()).hexdigest()[:8]]
    name = "-".join(parts)
    return Run(study, name, dataset, model, method, settings)


def _datasets(experiment: dict, where: str, study: dict, sources: dict) -> Iterator[Dataset]:
    """The datasets of an experiment's grid. Raises UserError for an option or a source that the study does not have."""
    for option in experiment["data"]:
        if option != "source" and option not in study["data"]:
            raise UserError(f"{where}.data: unknown key {option}{closest(option, ['source', *study['data']])}")
    for point in _grid(experiment["data"]):
        point["source"] = study.get("source_names", {}).get(point["source"], point["source"])
        for option, schema in study["data"].items():
            if option not in point and "default" not in schema:
                raise UserError(f"{where}.data: {option} is missing ({schema['description']}); "
                                f"write `data: {{{option}: …}}`")
            if option in point:
                check({option: point[option]}, {"properties": {option: schema}}, f"{where}.data")
        if point["source"] not in sources:
            known = [*study.get("source_names", {}), *sources]
            raise UserError(f"{where}.data: no source {point['source']}{closest(point['source'], known)}")
        if sources[point["source"]]["kind"] not in study["reads"]:
            raise UserError(f"{where}.data: source {point['source']} holds {sources[point['source']]['kind']}, "
                            f"but {experiment['study']} reads {' or '.join(study['reads'])}; name another source")
        yield _dataset(experiment["study"], study, point)


def resolve(config: dict, sources: dict, models: dict, studies: dict) -> Plan:
    """The runs, datasets and experiments that a checked configuration asks for.

    A model of an MLM stage brings the run that makes it. Raises UserError for a name that does not exist, naming the
    experiment and the nearest known name.
    """
    plan = Plan()

    def made_by(model: str, where: str) -> str | None:
        """The run that makes a model, which joins the plan; None for a model that is fetched."""
        if "mlm" not in models[model]:
            return None
        base, name = models[model]["mlm"]["model"], models[model]["mlm"]["experiment"]
        if name not in config["experiments"]:
            raise UserError(f"{where}.models: {model} is made by the experiment {name}, which this configuration does not have; "
                            f"add it under experiments, with `methods: [mlm]` and `models: [{base}]`")
        runs = [run for run in runs_of(name) if run.model == base and run.method == "mlm"]
        if len(runs) != 1:
            raise UserError(f"configuration: experiments.{name} makes {model}, so it must be one run of {base} by the method mlm, "
                            f"not {len(runs)}; give it one source, one seed, `models: [{base}]` and `methods: [mlm]`")
        plan.runs[runs[0].name] = runs[0]
        plan.datasets[runs[0].dataset.folder] = runs[0].dataset
        plan.made[model] = runs[0].name
        return runs[0].name

    def runs_of(name: str) -> Iterator[Run]:
        """The runs of an experiment."""
        experiment, where = config["experiments"][name], f"configuration: experiments.{name}"
        if experiment["study"] not in studies:
            raise UserError(f"{where}.study: no study {experiment['study']}{closest(experiment['study'], studies)}")
        study = studies[experiment["study"]]
        methods = experiment.get("methods", list(study["methods"])[:1])
        for method in methods:
            if method not in study["methods"]:
                raise UserError(f"{where}.methods: {experiment['study']} has no method {method}"
                                f"{closest(method, study['methods'])}")
        for model in experiment["models"]:
            if model not in models:
                raise UserError(f"{where}.models: no model {model}{closest(model, models)}")
        training = config["training"] | experiment.get("training", {})
        for dataset in _datasets(experiment, where, study, sources):
            for model, method in itertools.product(experiment["models"], methods):
                for seed in experiment.get("seeds", config["seeds"]) if study["methods"][method]["learns"] else [0]:
                    yield _run(experiment["study"], study["methods"][method], dataset, model, made_by(model, where), method,
                               training, seed)

    for name in config["run"]:
        if name not in config["experiments"]:
            raise UserError(f"configuration: run names {name}, which is no experiment{closest(name, config['experiments'])}")
        runs = list(runs_of(name))
        if any(run.method == "mlm" for run in runs):
            raise UserError(f"configuration: run names {name}, which makes models and measures nothing; take it out of run: it "
                            "runs where a model that it makes is named")
        plan.experiments[name] = list(dict.fromkeys(run.name for run in runs))
        plan.runs |= {run.name: run for run in runs}
        plan.datasets |= {run.dataset.folder: run.dataset for run in runs}
    return plan
