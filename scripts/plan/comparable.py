"""What of a plan can be compared: runs whose settings are equal but for one. Standard
library only.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.plan.plan import Plan

ROW = ("study", "source", "dataset", "model", "method")


def _without(settings: dict, key: str) -> str:
    """Settings as a text, but for one key, of their own or of the training."""
    training = {name: value for name, value in settings["training"].items() if name != key}
    return json.dumps(
        {name: value for name, value in settings.items() if name != key} | {"training": training},
        sort_keys=True,
    )


def _systems(plan: "Plan") -> Iterator[tuple[str, tuple, list]]:
    """The systems of each experiment: the experiment, what names the system in metrics (ROW), its
    runs.
    """
    for experiment, names in plan.experiments.items():
        systems: dict[tuple, list] = {}
        for run in (plan.runs[name] for name in names):
            systems.setdefault(
                (run.study, run.dataset.source, run.dataset.name, run.model, run.method), []
            ).append(run)
        for system, runs in systems.items():
            yield experiment, system, runs


def transfers(plan: "Plan") -> list[dict]:
    """The systems that begin with another run's weights beside the same without: ROW, experiment,
    without (its experiment), and begun_with (study, source, data and method). Each replicate of the
    one has its twin in the other.
    """
    alone = [
        (experiment, {_without(json.loads(run.settings), "made_by") for run in runs})
        for experiment, _, runs in _systems(plan)
        if not any(run.begins_with for run in runs)
    ]
    found = []
    for experiment, system, runs in _systems(plan):
        keys = {_without(json.loads(run.settings), "made_by") for run in runs if run.begins_with}
        twin = next((other for other, there in alone if keys == there), None)
        if keys and twin:
            start = json.loads(plan.runs[runs[0].begins_with].settings)
            found.append(
                dict(zip(ROW, system))
                | {
                    "experiment": experiment,
                    "without": twin,
                    "begun_with": {
                        name: start[name] for name in ("study", "source", "data", "method")
                    },
                }
            )
    return found


def altered(plan: "Plan", experiments: dict) -> dict[str, list[str]]:
    """By study the experiments whose models are not as they came: they begin with other weights
    (`initial`), or learn a second objective.
    """
    found: dict[str, list[str]] = {}
    for name, runs in plan.experiments.items():
        if experiments[name].get("initial") or any(
            json.loads(plan.runs[run].settings)["training"].get("objectives") for run in runs
        ):
            found.setdefault(experiments[name]["study"], []).append(name)
    return found
