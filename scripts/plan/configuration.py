"""The configuration: checked in full before anything runs, then resolved into runs and datasets."""

import itertools
import json
import math
from collections.abc import Callable, Iterator

from scripts.plan.entries import Entries
from scripts.plan.grid import Dataset, datasets, levels_of
from scripts.plan.initial import Initials
from scripts.plan.models import STAGES, stage_of
from scripts.plan.objectives import check_objectives
from scripts.plan.plan import CONTROL, Plan, Run, has_seed, run_of, settings_of
from scripts.plan.probe import (
    BLIND,
    WORDED,
    LeftOut,
    does_fit,
    fitting,
    kind_in_words,
    needs_in_words,
)
from scripts.running.program import UserError, closest
from scripts.plan.prompts import check_configured_prompts, prompts_of
from scripts.plan.schemas import VALIDATOR, shown

MOST_RUNS = 50_000  # of one experiment: more is a slip
# words in place of lists: the models that `model:` names, the methods that fit each of them
PROBED, FITTING = ("probed", "fitting")


def _nothing_known(name: str, entry: dict, needed: bool) -> dict | None:
    """The facts of a model where nobody reads them."""
    return None


class _Resolver:
    """Turns the experiments of a checked configuration into a plan, and checks what they use of
    resources/.
    """

    def __init__(
        self,
        config: dict,
        sources: dict,
        models: dict,
        studies: dict,
        probed: list[str],
        facts: Callable,
    ):
        self.config, self.probed = config, probed
        self.entries = Entries(sources, models, studies, facts)
        self.plan = Plan()
        # the models of stages that are being resolved, each for the next
        self.making: list[str] = []
        # by name the runs that others begin with, each with its experiment
        self.starts: dict[str, tuple[str, Run]] = {}
        self.initials = Initials(config["experiments"], models, studies, self.runs_of)

    def datasets(
        self, experiment: dict, models: list[str], measures: bool, where: str, study: dict
    ) -> Iterator[Dataset]:
        """The datasets of an experiment's grid. Raises UserError for an unknown option or
        source.
        """
        data, limit = experiment["data"], self.config.get("limit")
        if limit is not None and measures and "limit" not in data:
            data = data | {"limit": limit}
        levels = levels_of(data, study, where)
        self.check_size(levels, experiment, models, where)
        kinds = {
            name: self.entries.source(name, experiment["study"], study, where)["kind"]
            for name in levels["source"]
        }
        return datasets(experiment["study"], study, levels, kinds, where)

    def check_size(self, levels: dict, experiment: dict, models: list[str], where: str) -> None:
        """Refuse a grid that nobody means."""
        seeds = experiment.get("seeds", self.config["seeds"])
        runs = math.prod(map(len, [*levels.values(), models, seeds]))
        if runs > MOST_RUNS:
            raise UserError(
                f"{where}: asks for {runs:,} runs, and at most {MOST_RUNS:,} are allowed; name "
                "fewer levels, models or seeds"
            )

    def made_by(self, model: str, where: str) -> str | None:
        """The run that makes a model, which joins the plan; None for a model that is fetched."""
        if not (found := stage_of(self.entries.model(model, where))):
            return None
        stage, (base, name) = found[0], (found[1]["model"], found[1]["experiment"])
        if name not in self.config["experiments"]:
            raise UserError(
                f"{where}.models: {model} is made by the experiment {name}, which this "
                f"configuration does not have; add it under experiments, with `methods: [{stage}]` "
                f"and `models: [{base}]`"
            )
        if model in self.making:
            raise UserError(
                f"configuration: experiments.{name} makes {model}, so it cannot start from it; "
                f"write `models: [{base}]`"
            )
        self.making.append(model)
        runs = [run for run in self.runs_of(name) if run.model == base and run.method == stage]
        self.making.pop()
        if len(runs) != 1:
            raise UserError(
                f"configuration: experiments.{name} makes {model}, so it must be one run of {base} "
                f"by the method {stage}, not {len(runs)}; give it one source, one seed, `models: "
                f"[{base}]` and `methods: [{stage}]`"
            )
        self.plan.maker_of[model] = runs[0].name
        return self.begun_with(name, runs[0])

    def begun_with(self, experiment: str, run: Run) -> str:
        """The name of a run that others begin with; it joins the plan where one of these does."""
        self.starts[run.name] = experiment, run
        return run.name

    def join_starts(self) -> None:
        """Let the runs that those of the plan begin with join it, and those that these
        begin with.
        """
        plan = self.plan
        waiting = [run.begins_with for run in plan.runs.values() if run.begins_with]
        for name in waiting:  # which grows
            experiment, run = self.starts[name]
            plan.initials.add(experiment)
            plan.runs[name] = run
            plan.datasets[run.dataset.folder] = run.dataset
            waiting += [run.begins_with] if run.begins_with else []

    def runs_of(self, name: str) -> Iterator[Run]:
        experiment, where = self.config["experiments"][name], f"configuration: experiments.{name}"
        study = self.entries.study(experiment["study"], where)
        models = self.probed if experiment["models"] == PROBED else experiment["models"]
        if experiment["models"] == PROBED and not models:
            raise UserError(
                f"{where} probes a model, but names none; give `--config model=ORG/NAME` (of "
                "the hub), a folder or a name of resources/models.yaml, or `model: […]` in a preset"
            )
        systems = self.systems(name, models, study, where)
        makers = {model: self.made_by(model, where) for model in dict(systems)}
        training = self.config["training"] | experiment.get("training", {})
        begin = self.initials.runs(name, where) if experiment.get("initial") else None
        if training.get("objectives"):
            check_objectives(
                experiment,
                training,
                [
                    (
                        study["methods"][method],
                        self.entries.known(model, where, needed=False),
                        model,
                    )
                    for model, method in systems
                    if method != CONTROL
                ],
                where,
            )
        measures = not any(study["methods"][method].get("makes_model") for _, method in systems)
        for dataset in self.datasets(experiment, models, measures, where, study) if systems else ():
            if corpus := json.loads(dataset.options).get("learn_from"):
                self.entries.source(corpus, experiment["study"], study, where)  # refuses others
            for model, method in systems:
                how = study["methods"][method]
                check_method(method, how, json.loads(dataset.options), where)
                settings = settings_of(training, study, how)
                seeds = (
                    experiment.get("seeds", self.config["seeds"])
                    if has_seed(how, settings)
                    else [0]
                )
                wordings = (
                    self.wordings(experiment, study, method, where)
                    if how.get("paradigm") in WORDED
                    else [None]
                )
                for wording, seed in itertools.product(wordings, seeds):
                    what = method, wording, settings, seed
                    run = run_of(experiment["study"], how, dataset, model, makers[model], *what)
                    if begin and method != CONTROL:
                        start = self.begun_with(*self.initials.start(begin, run, where))
                        run = run_of(experiment["study"], how, dataset, model, start, *what)
                    yield run

    def wordings(self, experiment: dict, study: dict, method: str, where: str) -> list[str]:
        """The wordings by which an experiment asks: all of a method, or those that it names. A
        method's control has some of the method's. Raises UserError for an unknown one.
        """
        known, all_known = (
            list(
                prompts_of(experiment["study"], study, name, configured=self.config.get("prompts"))
            )
            for name in (method, method.removesuffix(BLIND))
        )
        named = experiment.get("wordings", all_known)
        for wording in named:
            if wording not in all_known:
                raise UserError(
                    f"{where}.wordings: the method {method} has no wording "
                    f"{shown(wording)}{closest(wording, all_known)}"
                )
        if not (chosen := [wording for wording in named if wording in known]):
            raise UserError(
                f"{where}.wordings: the control {method} has no wording {', '.join(named)}; name "
                f"{known[0]} as well, or leave {method} out of methods"
            )
        return chosen

    def methods_of(self, name: str, model: str, study: dict, where: str) -> list[str]:
        """The methods by which an experiment asks a model. Those that do not fit join
        plan.left_out.
        """
        experiment = self.config["experiments"][name]
        wanted = experiment.get("methods", list(study["methods"])[:1])
        if CONTROL in self.entries.model(model, where):
            return [CONTROL]
        known = self.entries.known(model, where, needed=wanted == FITTING)
        if wanted == FITTING:
            assert known  # it was needed
            methods = {
                method: how
                for method, how in study["methods"].items()
                if serves(how, experiment["data"])
            }
            chosen, left_out = fitting(methods, known, self.config.get("fine_tune", "auto"))
            self.plan.left_out += [
                LeftOut(name, experiment["study"], model, method, why)
                for method, why in left_out.items()
            ]
            return chosen
        for method in wanted:
            if known and not does_fit(study["methods"][method], known.abilities):
                raise UserError(
                    f"{where}.methods: {method} needs "
                    f"{needs_in_words(study['methods'][method]['fits'])}, and {model} is "
                    f"{kind_in_words(known.abilities)}; name another method, or write `methods: "
                    f"{FITTING}`"
                )
        return wanted

    def systems(
        self, name: str, models: list[str], study: dict, where: str
    ) -> list[tuple[str, str]]:
        """The (model, method) of an experiment: its models by its methods, then the controls. Where
        it makes a model, or no method fits, nothing is measured, so there are no controls.
        """
        experiment = self.config["experiments"][name]
        methods = experiment.get("methods", [])
        for method in methods if methods != FITTING else []:
            if method not in study["methods"] or method == CONTROL:
                raise UserError(
                    f"{where}.methods: {experiment['study']} has no method {shown(method)}"
                    f"{closest(method, [name for name in study['methods'] if name != CONTROL])}"
                )
        found = [
            (model, method)
            for model in models
            for method in self.methods_of(name, model, study, where)
        ]
        wanted = experiment.get("controls", True)
        controls = study.get("controls", []) if wanted is True else wanted or []
        measures = found and not any(
            study["methods"][method].get("makes_model") for _, method in found
        )
        for control in controls if measures else []:
            if CONTROL not in self.entries.model(control, where, "controls"):
                raise UserError(
                    f"{where}.controls: {control} is not a control; name it under models, or name "
                    "a control here"
                )
            found.append((control, CONTROL))
        for control in (model for model, method in found if method == CONTROL):
            if (
                "rank_by" in self.entries.model(control, where)[CONTROL]
                and "choice_id" not in study["columns"]
            ):
                raise UserError(
                    f"{where}: the control {control} ranks the candidates for one mask, which "
                    f"{experiment['study']} does not have; name another one"
                )
        return list(dict.fromkeys(found))


def serves(how: dict, data: dict) -> bool:
    """Whether a method serves all data that an experiment asks for; data: values, or lists of them,
    by option.
    """
    return all(
        VALIDATOR(condition).is_valid(value)
        for option, condition in how.get("only_where", {}).items()
        for value in (data[option] if isinstance(data.get(option), list) else [data.get(option)])
    )


def check_method(method: str, how: dict, options: dict, where: str) -> None:
    """Refuse a method on data whose options it does not serve."""
    for option, condition in how.get("only_where", {}).items():
        if not VALIDATOR(condition).is_valid(options.get(option)):
            raise UserError(
                f"{where}.methods: {method} does not work with {option}: "
                f"{shown(options.get(option))}; name another method there"
            )


def _check_model_is_used(config: dict) -> None:
    """Refuse a model to be probed where no experiment that runs probes it."""
    probing = [
        name
        for name in config["run"]
        if config["experiments"].get(name, {}).get("models") == PROBED
    ]
    if config.get("model") is not None and not probing:
        raise UserError(
            f"configuration: model names {shown(config['model'])}, but no experiment that runs "
            f"says `models: {PROBED}`; give `--configfile presets/probe.yaml`, or take it out"
        )


def resolve(
    config: dict,
    sources: dict,
    models: dict,
    studies: dict,
    probed: list[str] | None = None,
    facts: Callable[[str, dict, bool], dict | None] = _nothing_known,
) -> Plan:
    """The runs, datasets and experiments that a configuration asks for, as `check` returned it.

    probed: the names of the models that `model:` asks for. facts: by a model's name and entry
    {kind, abilities, weights}, or None where they are not known and the third argument, whether
    they are needed, is False. A model of an MLM or CLM stage brings the run that makes it,
    `initial` the run that is begun with. Raises UserError for an unknown name, and for a method
    that does not fit a model.
    """
    _check_model_is_used(config)
    check_configured_prompts(config.get("prompts") or {}, studies)
    resolver = _Resolver(config, sources, models, studies, probed or [], facts)
    plan = resolver.plan
    for name in config["run"]:
        if name not in config["experiments"]:
            raise UserError(
                f"configuration: run names {shown(name)}, which is no experiment"
                f"{closest(name, config['experiments'])}"
            )
        runs = list(resolver.runs_of(name))
        if any(run.method in STAGES for run in runs):
            raise UserError(
                f"configuration: run names {name}, which makes a model and measures nothing; take "
                "it out of run: it runs if an experiment names this model"
            )
        if runs:  # none where nothing fits, which plan.left_out says
            plan.experiments[name] = list(dict.fromkeys(run.name for run in runs))
        plan.runs |= {run.name: run for run in runs}
        plan.datasets |= {run.dataset.folder: run.dataset for run in runs}
    resolver.join_starts()
    if not plan.experiments:
        methods: dict[str, list[str]] = {}
        for one in plan.left_out:
            methods.setdefault(f"{one.model}: {one.reason}", []).append(one.method)
        reasons = [f"{', '.join(dict.fromkeys(of))} of {why}" for why, of in methods.items()]
        raise UserError(
            "configuration: nothing is left to run, since no method of the experiments fits; "
            + "; ".join(reasons)
        )
    return plan
