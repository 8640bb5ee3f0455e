"""The configuration: checked in full before anything runs, then resolved into runs and datasets."""

import hashlib
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from scripts.common.models import STAGES, stage_of
from scripts.common.program import UserError
from scripts.common.schemas import VALIDATOR, check, check_entry, closest, shown

MOST_LEVELS, MOST_RUNS = 1000, 50_000  # of a factor, of one experiment: more is a slip
CONTROL = "control"  # the method of models of this kind
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
    maker_of: dict[str, str] = field(default_factory=dict)  # by model of an MLM or CLM stage: the run that makes it


def as_json(value) -> str:
    """JSON that is the same for equal values, whatever the order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _has_effect(schema: dict, point: dict) -> bool:
    """Whether an option of a study's data has an effect at a point of the grid (the values of all options, and `kind`)."""
    return all(VALIDATOR(condition).is_valid(point.get(name)) for name, condition in schema.get("only_where", {}).items())


def _defaults(options: dict) -> dict:
    """The default of each option that has one, normalised."""
    return {option: check({option: schema["default"]}, {"properties": {option: schema}}, "resources/studies.yaml")[option]
            for option, schema in options.items() if "default" in schema}


def _dataset(study: str, options: dict, defaults: dict, point: dict, kind: str) -> Dataset:
    """The dataset of one point of the grid, of a source of a kind; its name holds every option that is not the default.

    A word stands for itself (`temp_order`), anything else with its option (`stride-0`). An option without an effect has
    its default, so that it makes no other dataset.
    """
    asked = defaults | point
    values, parts = {}, []
    for option, schema in options.items():
        value = values[option] = asked[option] if _has_effect(schema, asked | {"kind": kind}) else defaults[option]
        if option not in defaults or value != defaults[option]:
            parts.append(value if isinstance(value, str) else f"{option}-{value}")
    return Dataset(study, point["source"], "-".join(parts) or "default", as_json(values))


def has_seed(how: dict, method: str) -> bool:
    """Whether a method's runs differ by seed: they learn, and are no controls, or have a head that is drawn."""
    return how["learns"] and method != CONTROL or how.get("fresh_head", False)


def _settings(training: dict, study: dict, how: dict) -> dict:
    """The settings that have an effect on a run: others must not make another run of it."""
    if how.get("paradigm") == CONTROL:
        return {}
    if not how["learns"]:
        return {key: value for key, value in training.items() if key in SCORING}
    without = set()
    if "held_out" in study:
        without.add("held_out_fraction")  # a split is held out
    elif training["held_out_fraction"] == 0:
        without.add("early_stopping_patience")  # nothing is
    return {key: value for key, value in training.items() if key not in without}


def _run(study: str, how: dict, dataset: Dataset, model: str, made_by: str | None, method: str, training: dict,
         seed: int) -> Run:
    """One run, by the settings that have an effect on it; what neither learns nor has a fresh head has no seed."""
    settings = as_json({
        "study": study, "source": dataset.source, "dataset": dataset.name, "data": json.loads(dataset.options),
        "model": model, "method": method, "training": training, "seed": seed, **({"made_by": made_by} if made_by else {}),
    })
    parts = [dataset.source, dataset.name, model, *([] if method == "train" else [method]),
             *([f"seed-{seed}"] if has_seed(how, method) else []), hashlib.sha256(settings.encode()).hexdigest()[:8]]
    name = "-".join(parts)
    return Run(study, name, dataset, model, method, settings)


def _levels(value, schema: dict, key: str, where: str) -> list:
    """The levels of one key of an experiment's data, each checked and normalised; a value that is no list has one."""
    values = value if isinstance(value, list) else [value]
    if len(values) > MOST_LEVELS:
        raise UserError(f"{where}: {key} has {len(values):,} levels, and {MOST_LEVELS:,} is the most; name fewer")
    levels = [check({key: level}, {"properties": {key: schema}}, where)[key] for level in values]
    if not levels:
        raise UserError(f"{where}: {key} is an empty list; name one level or more, or take it out")
    written = [as_json(level) for level in levels]
    if twice := [level for level in written if written.count(level) > 1]:
        raise UserError(f"{where}: {key} names {shown(json.loads(twice[0]))} twice; name each level once")
    return levels


class _Resolver:
    """Turns the experiments of a checked configuration into a plan; what they use of resources/ is checked on the way."""

    def __init__(self, config: dict, sources: dict, models: dict, studies: dict):
        self.config = config
        self.resources = {"sources": sources, "models": models, "studies": studies}
        self.checked: dict[tuple[str, str], dict] = {}
        self.plan = Plan()
        self.making: list[str] = []  # the models of stages that are being resolved, each for the next

    def entry(self, kind: str, name: str, what: str, names: tuple[str, ...] = ()) -> dict:
        """An entry of resources/ by name, checked. `what` says for a message who asks."""
        if name not in self.resources[kind]:
            raise UserError(f"{what} {shown(name)}{closest(name, [*names, *self.resources[kind]])}")
        if (kind, name) not in self.checked:
            self.checked[kind, name] = check_entry(kind, name, self.resources[kind])
        return self.checked[kind, name]

    def source(self, name: str, study_name: str, study: dict, where: str) -> dict:
        """A source that the study can read; the source that it is measured on is checked as well."""
        source = self.entry("sources", name, f"{where}.data: no source", tuple(study.get("source_names", {})))
        if source["kind"] not in study["reads"]:
            raise UserError(f"{where}.data: source {name} holds {source['kind']}, "
                            f"but {study_name} reads {' or '.join(study['reads'])}; name another source")
        if "measured_on" in source:
            self.entry("sources", source["measured_on"], f"resources/sources.yaml: {name}.measured_on: no source")
        return source

    def model(self, name: str, where: str, key: str = "models") -> dict:
        """A model; the encoder that it stands on is checked as well. key: where the experiment names it."""
        model = self.entry("models", name, f"{where}.{key}: no model")
        if "encoder" in model:
            self.entry("models", model["encoder"], f"resources/models.yaml: {name}.encoder: no model")
        return model

    def datasets(self, experiment: dict, where: str, study: dict) -> Iterator[Dataset]:
        """The datasets of an experiment's grid. Raises UserError for an option or a source that the study does not have."""
        data, options, names = experiment["data"], study["data"], study.get("source_names", {})
        for key in data:
            if key != "source" and key not in options:
                raise UserError(f"{where}.data: unknown key {shown(key)}{closest(key, ['source', *options])}")
        for key, schema in options.items():
            if key not in data and "default" not in schema:
                raise UserError(f"{where}.data: {key} is missing ({schema['description']}); write `data: {{{key}: …}}`")
        text = {"type": "string", "description": "a source of resources/sources.yaml"}
        levels = {key: _levels(value, options.get(key, text), key, f"{where}.data") for key, value in data.items()}
        levels["source"] = _levels([names.get(name, name) for name in levels["source"]], text, "source", f"{where}.data")
        self.check_size(levels, experiment, where)
        kinds = {name: self.source(name, experiment["study"], study, where)["kind"] for name in levels["source"]}
        points = [dict(zip(levels, combination)) for combination in itertools.product(*levels.values())]
        defaults = _defaults(options)
        self.check_effects(points, kinds, options, defaults, where)
        for point in points:
            yield _dataset(experiment["study"], options, defaults, point, kinds[point["source"]])

    def check_size(self, levels: dict, experiment: dict, where: str) -> None:
        """Refuse a grid that nobody means."""
        seeds = experiment.get("seeds", self.config["seeds"])
        runs = math.prod(map(len, [*levels.values(), experiment["models"], seeds]))
        if runs > MOST_RUNS:
            raise UserError(f"{where}: asks for {runs:,} runs, and {MOST_RUNS:,} is the most; name fewer levels, "
                            "models or seeds")

    @staticmethod
    def check_effects(points: list[dict], kinds: dict[str, str], options: dict, defaults: dict, where: str) -> None:
        """Refuse an option that the experiment sets and that has an effect at no point of its grid."""
        for option, schema in options.items():
            effects = (_has_effect(schema, defaults | point | {"kind": kinds[point["source"]]}) for point in points)
            if any(option in point and point[option] != defaults.get(option) for point in points) and not any(effects):
                raise UserError(f"{where}.data: {option} has no effect here ({schema['description']}; only where "
                                f"{as_json(schema['only_where'])}); take it out")

    def made_by(self, model: str, where: str) -> str | None:
        """The run that makes a model, which joins the plan; None for a model that is fetched."""
        plan, made = self.plan, stage_of(self.model(model, where))
        if made is None:
            return None
        stage, (base, name) = made[0], (made[1]["model"], made[1]["experiment"])
        if name not in self.config["experiments"]:
            raise UserError(f"{where}.models: {model} is made by the experiment {name}, which this configuration does not "
                            f"have; add it under experiments, with `methods: [{stage}]` and `models: [{base}]`")
        if model in self.making:
            raise UserError(f"configuration: experiments.{name} makes {model}, so it cannot begin with it; "
                            f"write `models: [{base}]`")
        self.making.append(model)
        runs = [run for run in self.runs_of(name) if run.model == base and run.method == stage]
        self.making.pop()
        if len(runs) != 1:
            raise UserError(f"configuration: experiments.{name} makes {model}, so it must be one run of {base} by the "
                            f"method {stage}, not {len(runs)}; give it one source, one seed, `models: [{base}]` and `methods: [{stage}]`")
        plan.runs[runs[0].name] = runs[0]
        plan.datasets[runs[0].dataset.folder] = runs[0].dataset
        plan.maker_of[model] = runs[0].name
        return runs[0].name

    def runs_of(self, name: str) -> Iterator[Run]:
        """The runs of an experiment."""
        experiment, where = self.config["experiments"][name], f"configuration: experiments.{name}"
        study = self.entry("studies", experiment["study"], f"{where}.study: no study")
        methods = experiment.get("methods", list(study["methods"])[:1])
        for method in methods:
            if method not in study["methods"] or method == CONTROL:
                raise UserError(f"{where}.methods: {experiment['study']} has no method {shown(method)}"
                                f"{closest(method, [name for name in study['methods'] if name != CONTROL])}")
        makers = {model: self.made_by(model, where) for model in experiment["models"]}
        training = self.config["training"] | experiment.get("training", {})
        systems = self.systems(experiment, methods, study, where)
        for dataset in self.datasets(experiment, where, study):
            for model, method in systems:
                how = study["methods"][method]
                settings = _settings(training, study, how)
                seeds = experiment.get("seeds", self.config["seeds"]) if has_seed(how, method) else [0]
                for seed in seeds:
                    yield _run(experiment["study"], how, dataset, model, makers.get(model), method, settings, seed)

    def systems(self, experiment: dict, methods: list[str], study: dict, where: str) -> list[tuple[str, str]]:
        """The (model, method) of an experiment: its models by its methods, then the controls, which have a method of their own.

        Where an experiment makes a model, nothing is measured, so it has no controls.
        """
        asked = experiment.get("controls", True)
        controls = study.get("controls", []) if asked is True else asked or []
        measures = not any(study["methods"][method].get("makes_model") for method in methods)
        found = [(model, method) for model in experiment["models"]
                 for method in ([CONTROL] if CONTROL in self.model(model, where) else methods)]
        for control in controls if measures else []:
            if CONTROL not in self.model(control, where, "controls"):
                raise UserError(f"{where}.controls: {control} is no model of kind control; name it under models, or another one here")
            found.append((control, CONTROL))
        for control in (model for model, method in found if method == CONTROL):
            if "rank_by" in self.model(control, where)[CONTROL] and "choice_id" not in study["columns"]:
                raise UserError(f"{where}: the control {control} ranks the candidates for one mask, which {experiment['study']} does not "
                                "have; name another one")
        return list(dict.fromkeys(found))


def resolve(config: dict, sources: dict, models: dict, studies: dict) -> Plan:
    """The runs, datasets and experiments that a configuration asks for, as `check` returned it.

    A model of an MLM or CLM stage brings the run that makes it. Raises UserError for a name that does not exist, naming the
    experiment and the nearest known name, and for a broken entry of resources/ that an experiment uses.
    """
    resolver = _Resolver(config, sources, models, studies)
    plan = resolver.plan
    for name in config["run"]:
        if name not in config["experiments"]:
            raise UserError(f"configuration: run names {shown(name)}, which is no experiment"
                            f"{closest(name, config['experiments'])}")
        runs = list(resolver.runs_of(name))
        if any(run.method in STAGES for run in runs):
            raise UserError(f"configuration: run names {name}, which makes models and measures nothing; take it out of run: "
                            "it runs where a model that it makes is named")
        plan.experiments[name] = list(dict.fromkeys(run.name for run in runs))
        plan.runs |= {run.name: run for run in runs}
        plan.datasets |= {run.dataset.folder: run.dataset for run in runs}
    return plan
