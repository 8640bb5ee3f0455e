"""The objectives of a run (`training: objectives`): its own and a second one, masked language
modelling, each with its weight. A method names both, in this order, in study.yaml.
"""

from scripts.plan.probe import Known
from scripts.running.program import UserError, closest
from scripts.plan.schemas import shown


def weights_of(training: dict, how: dict) -> dict[str, float] | None:
    """Return the weight of each objective of a method's runs; None if it learns only its own
    objective.
    """
    weights, names = training.get("objectives"), how.get("objectives", [])
    if not weights or not names or not weights.get(names[1]):
        return None
    return {name: float(weights.get(name, 1)) for name in names}


def check_objectives(
    experiment: dict, training: dict, systems: list[tuple[dict, Known | None, str]], where: str
) -> None:
    """Raise UserError for unknown objectives, a weight of 0 on a method's own objective, a model
    that cannot fill masks, or an additional adapter. systems: (the method's entry, the known facts
    of the model, its name).
    """
    weights = training["objectives"]
    known = [how["objectives"] for how, _, _ in systems if "objectives" in how]
    if systems and not known and experiment.get("training", {}).get("objectives"):
        raise UserError(
            f"{where}.training: objectives: no method of this experiment learns a second one; take "
            "objectives out"
        )
    for names in known:
        for name in weights:
            if name not in names:
                raise UserError(
                    f"{where}.training: objectives: no objective "
                    f"{shown(name)}{closest(name, names)}"
                )
        if not weights.get(names[0], 1):
            raise UserError(
                f"{where}.training: objectives: {names[0]} has the weight 0, so the model would "
                "not learn the task; give it a weight above 0"
            )
    for model in (
        model
        for how, abilities, model in systems
        if weights_of(training, how) and abilities and "encoder" not in abilities.abilities
    ):
        raise UserError(
            f"{where}.training: objectives: {model} is not an encoder, so it cannot fill masks; "
            "take objectives out, or name an encoder"
        )
    if training.get("adapter") and any(weights_of(training, how) for how, _, _ in systems):
        raise UserError(
            f"{where}.training: an adapter learns no second objective; take out adapter or "
            "objectives"
        )
