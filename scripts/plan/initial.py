"""Find the run whose weights a run starts from (`initial:`): same model, same seed, and the factors
that `initial` names. All other factors stay equal.

A factor is the source, an option of the data, the method, or the seed.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from scripts.plan.entries import Entries
from scripts.plan.grid import Dataset, Experiment
from scripts.plan.plan import Run
from scripts.running.program import UserError, closest
from scripts.plan.schemas import shown


def factors_of(dataset: Dataset, method: str, seed: int) -> dict:
    return dataset.data | {"source": dataset.source, "method": method, "seed": seed}


def _as_text(factors: dict, names: Iterable[str]) -> str:
    return ", ".join(f"{name} {json.dumps(factors.get(name))}" for name in names)


def _differing_factors(candidates: list[dict]) -> list[str]:
    names = dict.fromkeys(name for factors in candidates for name in factors)
    return [
        name for name in names if len({json.dumps(factors.get(name)) for factors in candidates}) > 1
    ]


def run_to_begin_with(
    experiment: str, chosen_factors: dict, candidates: list[dict], run_factors: dict, where: str
) -> int:
    """Return the place, among candidates (factors of an experiment's runs), of the run that a run
    starts from. Raises UserError for an unknown factor, and if no run, or more than one run, fits.
    """
    known = list(dict.fromkeys(name for factors in candidates for name in factors))
    for name in chosen_factors:
        if name not in known:
            raise UserError(
                f"{where}.initial: {experiment} has no factor {shown(name)}{closest(name, known)}"
            )
    wanted = {"seed": run_factors["seed"]} | chosen_factors
    left = [
        place
        for place, factors in enumerate(candidates)
        if all(factors.get(name) == value for name, value in wanted.items())
    ]
    if not left:
        there = "; ".join(dict.fromkeys(_as_text(factors, wanted) for factors in candidates))
        raise UserError(
            f"{where}.initial: {experiment} has no run of {_as_text(wanted, list(wanted))} (it has "
            f"{there}); add this run there, or name the run to start from: `initial: "
            f"{{experiment: {experiment}, seed: …}}`"
        )
    for name in _differing_factors([candidates[place] for place in left]):
        same = [
            place
            for place in left
            if name in run_factors and candidates[place].get(name) == run_factors[name]
        ]
        left = same or left
    if len(left) > 1:
        differing = _differing_factors([candidates[place] for place in left])
        example = f"{differing[0]}: {json.dumps(candidates[left[0]].get(differing[0]))}"
        raise UserError(
            f"{where}.initial: {len(left)} runs of {experiment} fit, and they differ in "
            f"{', '.join(differing)}; name one, such as `initial: {{experiment: {experiment}, "
            f"{example}}}`"
        )
    return left[0]


class Beginning(NamedTuple):
    """The runs of another experiment, by chosen factors, from which the runs of an experiment
    start.
    """

    where: str
    experiment: str
    factors: dict
    runs: list[Run]

    def start(self, model: str, run_factors: dict) -> Run:
        """Return the run that a run of a model starts from."""
        same = [run for run in self.runs if run.model == model]
        if not same:
            raise UserError(
                f"{self.where}.initial: {self.experiment} has no run of {model}; it has runs "
                f"of {', '.join(sorted({run.model for run in self.runs}))}: name one of these, "
                "or another experiment"
            )
        candidates = [factors_of(run.dataset, run.method, run.seed) for run in same]
        place = run_to_begin_with(
            self.experiment, self.factors, candidates, run_factors, self.where
        )
        return same[place]


def first_of(experiment: Experiment, experiments: dict, above: tuple[str, ...]) -> str:
    """Return the experiment that `initial` names. above: the experiments that start from this one.
    Raises UserError for one that does not exist, or that starts from this one.
    """
    initial, where = experiment.entry["initial"], experiment.where
    first = initial if isinstance(initial, str) else initial["experiment"]
    if first not in experiments:
        raise UserError(
            f"{where}.initial: no experiment {shown(first)}{closest(first, experiments)}"
        )
    circle = [*above, experiment.name, first]
    if first in circle[:-1]:
        raise UserError(
            f"{where}.initial: {' starts from '.join(circle[circle.index(first) :])}, so none "
            "can be first; take one `initial` out"
        )
    return first


def beginning_of(
    experiment: Experiment, first: str, runs: list[Run], entries: Entries
) -> Beginning:
    """Return the runs of the experiment `first` that train weights. Raises UserError if there are
    none.
    """
    initial, where = experiment.entry["initial"], experiment.where
    factors = {} if isinstance(initial, str) else initial
    trained = [run for run in runs if _trains_transformer(run, entries)]
    if not trained:
        raise UserError(
            f"{where}.initial: {first} trains no transformer, so it has no weights to start "
            "from; name another experiment"
        )
    named = {name: value for name, value in factors.items() if name != "experiment"}
    return Beginning(where, first, named, trained)


def _trains_transformer(run: Run, entries: Entries) -> bool:
    is_transformer = not {"control", "esim"} & set(entries.resources["models"][run.model])
    return (
        entries.resources["studies"][run.study]["methods"][run.method]["learns"] and is_transformer
    )
