"""The configuration, resolved: experiments → levels → systems → runs → plan. Each step returns what
it found; scripts/plan/schemas.py has checked the configuration before.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from scripts.plan.entries import Entries
from scripts.plan.grid import Dataset, Experiment, datasets, levels_of
from scripts.plan.initial import Beginning, beginning_of, first_of, factors_of
from scripts.plan.models import STAGES, stage_of
from scripts.plan.objectives import check_objectives
from scripts.plan.plan import (
    CONTROL,
    Plan,
    Run,
    Start,
    has_seed,
    run_of,
    settings_of,
    settings_of_entry,
    tried_settings,
)
from scripts.plan.probe import WORDED, LeftOut
from scripts.running.program import UserError, closest
from scripts.plan.prompts import check_configured_prompts
from scripts.plan.schemas import shown
from scripts.plan.settings import Configuration
from scripts.plan.systems import (
    FITTING,
    PROBED,
    Asked,
    Levels,
    System,
    is_test_alone,
    models_of,
    systems_of,
    wordings_of,
)

MOST_RUNS = 50_000  # of one experiment: more is a mistake
QUICK = {"limit": 100, "train_limit": 256}  # of `quick: true`, with one epoch


@dataclass(frozen=True)
class Resolved:
    """The runs of an experiment, and the methods that do not fit a model."""

    runs: list[Run]
    left_out: list[LeftOut]


# ---- Experiments


def experiment_of(asked: Asked, name: str) -> Experiment:
    entry, where = asked.config.experiments[name], f"configuration: experiments.{name}"
    return Experiment(name, where, entry, asked.entries.study(entry.study, where))


def levels_and_kinds(asked: Asked, experiment: Experiment) -> tuple[Levels, dict[str, str]]:
    """Return the levels of an experiment's grid, and the kind of each of its sources. Raises
    UserError for an unknown option or source.
    """
    levels = levels_of(experiment, experiment.entry.data)
    factors = [*levels.values(), models_of(asked, experiment), asked.seeds(experiment)]
    if (runs := math.prod(map(len, factors))) > MOST_RUNS:
        raise UserError(
            f"{experiment.where}: asks for {runs:,} runs, and at most {MOST_RUNS:,} are allowed; "
            "name fewer levels, models or seeds"
        )
    for corpus in filter(None, levels.get("learn_from", [])):
        asked.entries.source(corpus, experiment)
    kinds = {name: asked.entries.source(name, experiment)["kind"] for name in levels["source"]}
    return levels, kinds


# ---- Starts: the run whose weights a run starts from


def maker_of(asked: Asked, model: str, where: str) -> Start | None:
    """Return the run that makes a model of a stage; None for a model that no run makes."""
    if not (made := stage_of(asked.entries.model(model, where))):
        return None
    stage, base, name = made[0], made[1]["model"], made[1]["experiment"]
    if name not in asked.config.experiments:
        raise UserError(
            f"{where}.models: {model} is made by the experiment {name}, which this "
            f"configuration does not have; add it under experiments, with `methods: [{stage}]` "
            f"and `models: [{base}]`"
        )
    if model in asked.making:
        raise UserError(
            f"configuration: experiments.{name} makes {model}, so it cannot start from it; "
            f"write `models: [{base}]`"
        )
    resolved = resolved_experiment(replace(asked, making=(*asked.making, model)), name)
    runs = [run for run in resolved.runs if (run.model, run.method) == (base, stage)]
    if len(runs) != 1:
        raise UserError(
            f"configuration: experiments.{name} makes {model}, so it must be one run of {base} "
            f"by the method {stage}, not {len(runs)}; give it one source, one seed, `models: "
            f"[{base}]` and `methods: [{stage}]`"
        )
    return Start(runs[0], name)


def initial_of(asked: Asked, experiment: Experiment) -> Beginning | None:
    """Return the runs of `initial`, from which an experiment's runs start; None without it."""
    if not experiment.entry.initial:
        return None
    first = first_of(experiment, asked.config.experiments, asked.starting)
    within = replace(asked, starting=(*asked.starting, experiment.name))
    return beginning_of(experiment, first, resolved_experiment(within, first).runs, asked.entries)


# ---- Runs


def settings_of_system(asked: Asked, experiment: Experiment, system: System) -> list[dict]:
    """Return the training settings that have an effect on the runs of a system: one, or several
    settings to try. Raises UserError where nothing is held out to choose among them.
    """
    model, method = system
    entry, how = asked.entries.model(model, experiment.where), experiment.methods[method]
    training = asked.training(experiment)
    if experiment.entry.methods == FITTING and CONTROL not in entry:
        known = asked.entries.known(model, experiment.where, needed=True)
        if known and known.quantised:  # a probe computes quantised weights in bf16
            training |= {"precision": "bf16"}
    tried = [settings_of(one, experiment.study, how) for one in tried_settings(training)]
    distinct = [one for number, one in enumerate(tried) if one not in tried[:number]]
    holds_out = "held_out" in experiment.study or training["held_out_fraction"]
    if len(distinct) > 1 and not holds_out:
        raise UserError(
            f"{experiment.where}.training: tries {len(distinct)} settings, but holds nothing out "
            "to choose among them; set held_out_fraction above 0, or name one value of each"
        )
    return [one | settings_of_entry(how, entry) for one in distinct]


def runs_of_system(
    asked: Asked,
    experiment: Experiment,
    system: System,
    dataset: Dataset,
    maker: Start | None,
    initial: Beginning | None,
) -> Iterator[Run]:
    """Yield the runs of a system on a dataset, one for each setting, wording and seed. They
    start from a run of `initial`, else from the run that makes the model.
    """
    model, method = system
    if option := dataset.options.refuses(method):
        raise UserError(
            f"{experiment.where}.methods: {method} does not work with {option}; name another "
            "method there"
        )
    how = experiment.methods[method]
    point = {"source": dataset.source, **dataset.data}
    if how["learns"] and method != CONTROL and is_test_alone(asked, experiment, point):
        raise UserError(
            f"{experiment.where}.methods: {method} trains a model, but {dataset.source} is a test "
            "alone; write `fold: [0, 1, 2, 3, 4]` under data, to measure each fifth by a model "
            "that learnt from the others, or name methods that only ask"
        )
    tried = settings_of_system(asked, experiment, system)
    seeds = asked.seeds(experiment) if has_seed(how, tried[0]) else [0]
    is_worded = how.get("paradigm") in WORDED
    wordings = wordings_of(asked, experiment, method) if is_worded else [None]
    for settings, wording, seed in itertools.product(tried, wordings, seeds):
        start = maker
        if initial and method != CONTROL:
            start = initial.start(model, factors_of(dataset, method, seed))
        yield run_of(how, dataset, model, method, settings, seed, wording, start)


def limits_of(asked: Asked, measures: bool) -> dict[str, int]:
    """Return the options that cut the datasets of an experiment. measures: whether it measures."""
    config = asked.config
    limit = config.limit or (QUICK["limit"] if config.quick else None)
    found = {"limit": limit} if limit and measures else {}
    return found | ({"train_limit": QUICK["train_limit"]} if config.quick else {})


def resolved_experiment(asked: Asked, name: str) -> Resolved:
    """Return the runs of an experiment: levels → systems → starts → datasets → runs."""
    experiment = experiment_of(asked, name)
    levels, kinds = levels_and_kinds(asked, experiment)
    systems, left_out = systems_of(asked, experiment, levels)
    makers = {model: maker_of(asked, model, experiment.where) for model in dict(systems)}
    initial = initial_of(asked, experiment)
    check_objectives(asked, experiment, systems)
    if limits := limits_of(asked, experiment.measures(systems)):
        levels = levels_of(experiment, limits | experiment.entry.data)
    runs = [
        run
        for dataset in (datasets(experiment, levels, kinds) if systems else ())
        for system in systems
        for run in runs_of_system(asked, experiment, system, dataset, makers[system[0]], initial)
    ]
    return Resolved(runs, left_out)


# ---- The plan


def started_from(runs: list[Run]) -> list[Start]:
    """Return the runs that runs start from, and the runs that these start from."""
    waiting = [run.start for run in runs if run.start]
    for start in waiting:  # this list grows
        waiting += filter(None, [start.run.start])
    return list({start.run.name: start for start in waiting}.values())


def _check_model_is_used(config: Configuration) -> None:
    """Raise UserError if `model:` names a model to be probed, but no experiment that runs probes
    it.
    """
    probing = [
        name
        for name in config.run
        if name in config.experiments and config.experiments[name].models == PROBED
    ]
    if config.model is not None and not probing:
        raise UserError(
            f"configuration: model names {shown(config.model)}, but no experiment that runs "
            f"says `models: {PROBED}`; give `--configfile presets/probe.yaml`, or take it out"
        )


def resolve(
    config: Configuration,
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
    check_configured_prompts(config.prompts, studies)
    asked = Asked(config, Entries(sources, models, studies, facts), probed)
    resolved: dict[str, Resolved] = {}
    for name in config.run:
        if name not in config.experiments:
            raise UserError(
                f"configuration: run names {shown(name)}, which is no experiment"
                f"{closest(name, config.experiments)}"
            )
        resolved[name] = resolved_experiment(asked, name)
        if any(run.method in STAGES for run in resolved[name].runs):
            raise UserError(
                f"configuration: run names {name}, which makes a model and measures nothing; take "
                "it out of run: it runs if an experiment names this model"
            )
    runs = [run for experiment in resolved.values() for run in experiment.runs]
    left_out = [method for experiment in resolved.values() for method in experiment.left_out]
    if not runs:
        raise UserError(
            "configuration: nothing is left to run, since no method of the experiments fits; "
            + _reasons(left_out)
        )
    starts = started_from(runs)
    runs += [start.run for start in starts]
    return Plan(
        runs={run.name: run for run in runs},
        experiments={
            name: list(dict.fromkeys(run.name for run in experiment.runs))
            for name, experiment in resolved.items()
            if experiment.runs  # none if no method fits; left_out gives the reasons
        },
        datasets={run.dataset.folder: run.dataset for run in runs},
        initials={start.experiment for start in starts},
        left_out=left_out,
    )


def _reasons(left_out: list[LeftOut]) -> str:
    methods: dict[str, list[str]] = {}
    for each in left_out:
        methods.setdefault(f"{each.model}: {each.reason}", []).append(each.method)
    return "; ".join(f"{', '.join(dict.fromkeys(of))} of {why}" for why, of in methods.items())
