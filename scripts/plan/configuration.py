"""The configuration: checked in full before anything runs, then resolved into runs and datasets."""

import itertools
import math
from collections.abc import Callable, Iterator

from scripts.data.declared import BLIND
from scripts.plan.entries import Entries
from scripts.plan.grid import Experiment, datasets, levels_of, points_of
from scripts.plan.initial import Initials, factors_of
from scripts.plan.models import STAGES, stage_of
from scripts.plan.objectives import check_objectives
from scripts.plan.plan import CONTROL, Plan, Run, has_seed, run_of, settings_of, settings_of_entry
from scripts.plan.probe import WORDED, LeftOut, does_fit, fitting, kind_in_words, needs_in_words
from scripts.running.program import UserError, closest
from scripts.plan.prompts import check_configured_prompts, prompts_of
from scripts.plan.schemas import shown

MOST_RUNS = 50_000  # of one experiment: more is a mistake
# words in place of lists: the models that `model:` names, and the methods that fit each model
PROBED, FITTING = ("probed", "fitting")


class _Resolver:
    """Turns the experiments of a checked configuration into a plan, and checks the entries of
    resources/ that they use.
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
        # the models of stages that are being resolved; each model needs the next one
        self.making: list[str] = []
        # the runs that other runs start from, by name, each with its experiment
        self.starts: dict[str, tuple[str, Run]] = {}
        self.initials = Initials(config["experiments"], models, studies, self.runs_of)

    def levels(
        self, experiment: Experiment, models: list[str]
    ) -> tuple[dict[str, list], dict[str, str]]:
        """Return the levels of an experiment's grid, and the kind of each of its sources. Raises
        UserError for an unknown option or source.
        """
        levels = levels_of(experiment, experiment.entry["data"])
        runs = math.prod(map(len, [*levels.values(), models, self.seeds(experiment)]))
        if runs > MOST_RUNS:
            raise UserError(
                f"{experiment.where}: asks for {runs:,} runs, and at most {MOST_RUNS:,} are "
                "allowed; name fewer levels, models or seeds"
            )
        for corpus in filter(None, levels.get("learn_from", [])):
            self.entries.source(corpus, experiment)
        kinds = {name: self.entries.source(name, experiment)["kind"] for name in levels["source"]}
        return levels, kinds

    def seeds(self, experiment: Experiment) -> list[int]:
        return experiment.entry.get("seeds", self.config["seeds"])

    def made_by(self, model: str, where: str) -> str | None:
        """Return the name of the run that makes a model, and prepare it to join the plan; None for
        a model that no run makes.
        """
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
        """Return the name of a run that others start from. The run joins the plan in join_starts()
        if a run of the plan starts from it.
        """
        self.starts[run.name] = experiment, run
        return run.name

    def join_starts(self) -> None:
        """Add to the plan the runs that its runs start from, and the runs that these start from."""
        plan = self.plan
        waiting = [run.begins_with for run in plan.runs.values() if run.begins_with]
        for name in waiting:  # this list grows
            experiment, run = self.starts[name]
            plan.initials.add(experiment)
            plan.runs[name] = run
            plan.datasets[run.dataset.folder] = run.dataset
            waiting += [run.begins_with] if run.begins_with else []

    def runs_of(self, name: str) -> Iterator[Run]:
        entry, where = self.config["experiments"][name], f"configuration: experiments.{name}"
        experiment = Experiment(name, where, entry, self.entries.study(entry["study"], where))
        models = self.probed if entry["models"] == PROBED else entry["models"]
        if entry["models"] == PROBED and not models:
            raise UserError(
                f"{where} probes a model, but names none; give `--config model=ORG/NAME` (of "
                "the hub), a folder or a name of resources/models.yaml, or `model: […]` in a preset"
            )
        levels, kinds = self.levels(experiment, models)
        systems = self.systems(experiment, models, levels)
        makers = {model: self.made_by(model, where) for model in dict(systems)}
        training = self.config["training"] | entry.get("training", {})
        begin = self.initials.beginning(experiment) if entry.get("initial") else None
        if training.get("objectives"):
            learners = [
                (experiment.methods[method], self.entries.known(model, where, needed=False), model)
                for model, method in systems
                if method != CONTROL
            ]
            check_objectives(entry, training, learners, where)
        narrow = {model: self.narrowed(experiment, model) for model in dict(systems)}
        if experiment.measures(systems) and self.config.get("limit") is not None:
            levels = levels_of(experiment, {"limit": self.config["limit"]} | entry["data"])
        for dataset in datasets(experiment, levels, kinds) if systems else ():
            for model, method in systems:
                if option := dataset.options.refuses(method):
                    raise UserError(
                        f"{where}.methods: {method} does not work with {option}; name another "
                        "method there"
                    )
                how = experiment.methods[method]
                settings = settings_of(training | narrow[model], experiment.study, how)
                settings |= settings_of_entry(how, self.entries.model(model, where))
                seeds = self.seeds(experiment) if has_seed(how, settings) else [0]
                is_worded = how.get("paradigm") in WORDED
                wordings = self.wordings(experiment, method) if is_worded else [None]
                for wording, seed in itertools.product(wordings, seeds):
                    start = makers[model]
                    if begin and method != CONTROL:
                        factors = factors_of(dataset, method, seed)
                        start = self.begun_with(begin.experiment, begin.start(model, factors))
                    yield run_of(how, dataset, model, method, settings, seed, wording, start)

    def narrowed(self, experiment: Experiment, model: str) -> dict[str, str]:
        """Return the precision in which a probe computes quantised weights; {} for others."""
        if experiment.entry.get("methods") != FITTING or CONTROL in self.entries.model(
            model, experiment.where
        ):
            return {}
        known = self.entries.known(model, experiment.where, needed=True)
        return {"precision": "bf16"} if known and known.quantised else {}

    def wordings(self, experiment: Experiment, method: str) -> list[str]:
        """Return the wordings by which an experiment asks: all wordings of a method, or the named
        ones. A method's control has some of the method's wordings. Raises UserError for an unknown
        wording.
        """
        known, all_known = (
            list(
                prompts_of(
                    experiment.entry["study"], experiment.study, name, self.config.get("prompts")
                )
            )
            for name in (method, method.removesuffix(BLIND))
        )
        named = experiment.entry.get("wordings", all_known)
        for wording in named:
            if wording not in all_known:
                raise UserError(
                    f"{experiment.where}.wordings: the method {method} has no wording "
                    f"{shown(wording)}{closest(wording, all_known)}"
                )
        if not (chosen := [wording for wording in named if wording in known]):
            raise UserError(
                f"{experiment.where}.wordings: the control {method} has no wording "
                f"{', '.join(named)}; name {known[0]} as well, or leave {method} out of methods"
            )
        return chosen

    def methods_of(self, experiment: Experiment, model: str, levels: dict[str, list]) -> list[str]:
        """Return the methods by which an experiment asks a model. With `methods: fitting`, methods
        that do not fit join plan.left_out.
        """
        entry, where = experiment.entry, experiment.where
        wanted = entry.get("methods", list(experiment.methods)[:1])
        if CONTROL in self.entries.model(model, where):
            return [CONTROL]
        known = self.entries.known(model, where, needed=wanted == FITTING)
        if wanted == FITTING:
            assert known  # known() raises UserError if needed facts are missing
            points = [experiment.options.of(point) for point in points_of(levels)]
            methods = {
                method: how
                for method, how in experiment.methods.items()
                if not any(options.refuses(method) for options in points)
            }
            chosen, left_out = fitting(methods, known, self.config.get("fine_tune", "auto"))
            self.plan.left_out += [
                LeftOut(experiment.name, entry["study"], model, method, why)
                for method, why in left_out.items()
            ]
            return chosen
        for method in wanted:
            how = experiment.methods[method]
            if known and not does_fit(how, known.abilities):
                raise UserError(
                    f"{where}.methods: {method} needs {needs_in_words(how['fits'])}, and {model} "
                    f"is {kind_in_words(known.abilities)}; name another method, or write "
                    f"`methods: {FITTING}`"
                )
        return wanted

    def systems(
        self, experiment: Experiment, models: list[str], levels: dict[str, list]
    ) -> list[tuple[str, str]]:
        """Return the (model, method) pairs of an experiment: its models by its methods, then the
        controls. If the experiment makes a model, or if no method fits, it measures nothing and has
        no controls.
        """
        entry, study, where = experiment.entry, experiment.study, experiment.where
        methods = entry.get("methods", [])
        askable = [method for method in experiment.methods if method != CONTROL]
        for method in methods if methods != FITTING else []:
            if method not in askable:
                raise UserError(
                    f"{where}.methods: {entry['study']} has no method {shown(method)}"
                    f"{closest(method, askable)}"
                )
        found = [
            (model, method)
            for model in models
            for method in self.methods_of(experiment, model, levels)
        ]
        wanted = entry.get("controls", True)
        controls = study.get("controls", []) if wanted is True else wanted or []
        for control in controls if found and experiment.measures(found) else []:
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
                    f"{entry['study']} does not have; name another one"
                )
        return list(dict.fromkeys(found))


def _check_model_is_used(config: dict) -> None:
    """Raise UserError if `model:` names a model to be probed, but no experiment that runs probes
    it.
    """
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
    probed: list[str],
    facts: Callable[[str, dict, bool], dict | None],
) -> Plan:
    """Return the runs, datasets and experiments that a configuration asks for. The configuration is
    as check() returned it.

    probed: the names of the models that `model:` asks for. facts: takes a model's name, its entry,
    and whether the facts are needed. It returns {kind, abilities, weights}, or None if they are
    unknown and not needed. A model of an MLM or CLM stage adds the run that makes it. `initial`
    adds the run that a run starts from. Raises UserError for an unknown name, and for a method that
    does not fit a model.
    """
    _check_model_is_used(config)
    check_configured_prompts(config.get("prompts") or {}, studies)
    resolver = _Resolver(config, sources, models, studies, probed, facts)
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
        if runs:  # no runs if no method fits; plan.left_out gives the reasons
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
