"""The objectives of a run (`training: objectives`): its own and a second one, masked language
modelling, each with its weight. A method names both, in this order, in study.yaml.
"""

from scripts.plan.grid import Experiment
from scripts.plan.plan import CONTROL, weights_of
from scripts.plan.schemas import shown
from scripts.plan.systems import Asked, System
from scripts.running.program import UserError, closest


def check_objectives(asked: Asked, experiment: Experiment, systems: list[System]) -> None:
    """Raise UserError for unknown objectives, a weight of 0 on a method's own objective, a model
    that cannot fill masks, or an additional adapter.
    """
    training = asked.training(experiment)
    if not (weights := training.get("objectives")):
        return
    where = f"{experiment.where}.training: objectives"
    learners = [
        (model, experiment.methods[method]) for model, method in systems if method != CONTROL
    ]
    known = [how["objectives"] for _, how in learners if "objectives" in how]
    if learners and not known and experiment.entry.settings.get("objectives"):
        raise UserError(
            f"{where}: no method of this experiment learns a second one; take objectives out"
        )
    for names in known:
        for name in weights:
            if name not in names:
                raise UserError(f"{where}: no objective {shown(name)}{closest(name, names)}")
        if not weights.get(names[0], 1):
            raise UserError(
                f"{where}: {names[0]} has the weight 0, so the model would not learn the task; "
                "give it a weight above 0"
            )
    both = [model for model, how in learners if weights_of(training, how)]
    for model in both:
        facts = asked.entries.known(model, experiment.where, needed=False)
        if facts and "encoder" not in facts.abilities:
            raise UserError(
                f"{where}: {model} is not an encoder, so it cannot fill masks; take objectives "
                "out, or name an encoder"
            )
    if both and training.get("adapter"):
        raise UserError(
            f"{experiment.where}.training: an adapter learns no second objective; take out "
            "adapter or objectives"
        )
