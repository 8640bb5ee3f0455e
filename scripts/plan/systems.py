"""The systems of an experiment: which model is trained or asked by which method, in which words."""

from dataclasses import dataclass

from scripts.data.declared import BLIND, method_of_blind
from scripts.plan.entries import Entries
from scripts.plan.grid import Experiment, points_of
from scripts.plan.plan import CONTROL
from scripts.plan.probe import LeftOut, does_fit, fitting, kind_in_words, needs_in_words
from scripts.plan.prompts import prompts_of
from scripts.plan.schemas import shown
from scripts.plan.settings import Configuration
from scripts.running.program import UserError, closest

# words in place of lists: the models that `model:` names, and the methods that fit each model
PROBED, FITTING = ("probed", "fitting")

Levels = dict[str, list]  # of an experiment's grid: the values of each key of its data
System = tuple[str, str]  # a model, and the method by which it is trained or asked


@dataclass(frozen=True)
class Asked:
    """What a user asks for: a checked configuration, the entries that it may name, and the models
    of `model:`.
    """

    config: Configuration
    entries: Entries
    probed: list[str]
    # while the start of a run is resolved: the models that are made, the experiments that start
    # from others; each needs the next one
    making: tuple[str, ...] = ()
    starting: tuple[str, ...] = ()

    def seeds(self, experiment: Experiment) -> list[int]:
        return experiment.entry.seeds or self.config.seeds

    def training(self, experiment: Experiment) -> dict:
        asked = self.config.training.model_dump() | experiment.entry.settings
        return asked | ({"epochs": 1} if self.config.quick else {})


def models_of(asked: Asked, experiment: Experiment) -> list[str]:
    if isinstance(experiment.entry.models, list):
        return experiment.entry.models
    if not asked.probed:
        raise UserError(
            f"{experiment.where} probes a model, but names none; give `--config model=ORG/NAME` "
            "(of the hub), a folder or a name of resources/models.yaml, or `model: […]` in a preset"
        )
    return asked.probed


def is_test_alone(asked: Asked, experiment: Experiment, point: dict) -> bool:
    """Return whether a point of the grid has no training split: its source is a test alone, and
    no fold of it is measured.
    """
    source = asked.entries.source(point["source"], experiment)
    return "train" not in source and point.get("fold") is None


def methods_of(
    asked: Asked, experiment: Experiment, model: str, levels: Levels
) -> tuple[list[str], list[LeftOut]]:
    """Return the methods by which an experiment asks a model; with `methods: fitting`, also the
    methods that do not fit.
    """
    entry, where = experiment.entry, experiment.where
    wanted = entry.methods or list(experiment.methods)[:1]
    if CONTROL in asked.entries.model(model, where):
        return [CONTROL], []
    known = asked.entries.known(model, where, needed=wanted == FITTING)
    if isinstance(wanted, str):
        assert known  # known() raises UserError if needed facts are missing
        points = [experiment.options.of(point) for point in points_of(levels)]
        methods = {
            method: how
            for method, how in experiment.methods.items()
            if not any(options.refuses(method) for options in points)
        }
        chosen, reasons = fitting(methods, known, asked.config.fine_tune)
        if any(is_test_alone(asked, experiment, point) for point in points_of(levels)):
            learns = [method for method in chosen if methods[method]["learns"]]
            why = "it trains the model, and the source is a test alone"
            reasons |= {method: why for method in learns if not method_of_blind(method)}
            chosen = [method for method in chosen if method not in learns]
        return chosen, [
            LeftOut(experiment.name, entry.study, model, method, why)
            for method, why in reasons.items()
        ]
    for method in wanted:
        how = experiment.methods[method]
        if known and not does_fit(how, known.abilities):
            raise UserError(
                f"{where}.methods: {method} needs {needs_in_words(how['fits'])}, and {model} "
                f"is {kind_in_words(known.abilities)}; name another method, or write "
                f"`methods: {FITTING}`"
            )
    return wanted, []


def _check_methods(experiment: Experiment) -> None:
    methods = experiment.entry.methods or []
    askable = [method for method in experiment.methods if method != CONTROL]
    for method in methods if methods != FITTING else []:
        if method not in askable:
            raise UserError(
                f"{experiment.where}.methods: {experiment.entry.study} has no method "
                f"{shown(method)}{closest(method, askable)}"
            )


def controls_of(asked: Asked, experiment: Experiment) -> list[str]:
    """Return the controls beside an experiment's models: those that it names, or its study's."""
    wanted = experiment.entry.controls
    of_study = experiment.study.get("controls", {})
    joining = [name for name, how in of_study.items() if how.get("joins", True)]
    controls = joining if wanted is True else wanted or []
    for control in controls:
        if CONTROL not in asked.entries.model(control, experiment.where, "controls"):
            raise UserError(
                f"{experiment.where}.controls: {control} is not a control; name it under models, "
                "or name a control here"
            )
    return controls


def systems_of(
    asked: Asked, experiment: Experiment, levels: Levels
) -> tuple[list[System], list[LeftOut]]:
    """Return the systems of an experiment: its models by its methods, then the controls; and the
    methods that do not fit. If the experiment makes a model, or if no method fits, it measures
    nothing and has no controls.
    """
    _check_methods(experiment)
    systems: list[System] = []
    left_out: list[LeftOut] = []
    for model in models_of(asked, experiment):
        methods, unfit = methods_of(asked, experiment, model, levels)
        systems += [(model, method) for method in methods]
        left_out += unfit
    if systems and experiment.measures(systems):
        systems += [(control, CONTROL) for control in controls_of(asked, experiment)]
    for control in (model for model, method in systems if method == CONTROL):
        if (
            "rank_by" in asked.entries.model(control, experiment.where)[CONTROL]
            and "choice_id" not in experiment.study["columns"]
        ):
            raise UserError(
                f"{experiment.where}: the control {control} ranks the candidates for one mask, "
                f"which {experiment.entry.study} does not have; name another one"
            )
    return list(dict.fromkeys(systems)), left_out


def wordings_of(asked: Asked, experiment: Experiment, method: str) -> list[str]:
    """Return the wordings by which an experiment asks: all wordings of a method, or the named ones.
    A method's control has some of the method's wordings. Raises UserError for an unknown wording.
    """
    study, configured = experiment.entry.study, asked.config.prompts
    known, all_known = (
        list(prompts_of(study, experiment.study, name, configured))
        for name in (method, method.removesuffix(BLIND))
    )
    named = experiment.entry.wordings or all_known
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
