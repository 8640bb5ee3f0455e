"""Find the run whose weights a run starts from (`initial:`): same model, same seed, and the factors
that `initial` names. All other factors stay equal.

A factor is the source, an option of the data, the method, or the seed.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from scripts.plan.entries import Entries
from scripts.plan.grid import Dataset, Experiment
from scripts.plan.plan import Run, Start
from scripts.running.program import UserError, closest
from scripts.plan.schemas import shown


def factors_of(dataset: Dataset, method: str, seed: int) -> dict:
    return dataset.data | {"source": dataset.source, "method": method, "seed": seed}


def _as_text(factors: dict, names: Iterable[str]) -> str:
    return ", ".join(f"{name} {json.dumps(factors.get(name))}" for name in names)


def _differing_factors(candidates: list[tuple[Run, dict]]) -> list[str]:
    found = [factors for _, factors in candidates]
    names = dict.fromkeys(name for factors in found for name in factors)
    return [name for name in names if len({json.dumps(each.get(name)) for each in found}) > 1]


class Beginning(NamedTuple):
    """The runs of another experiment, by chosen factors, from which the runs of an experiment
    start. where: the key `initial`, for messages.
    """

    where: str
    experiment: str
    factors: dict
    runs: list[Run]

    def start(self, model: str, run_factors: dict) -> Start:
        """Return the start of a run of a model. Raises UserError for an unknown factor, and if no
        run, or more than one run, fits.
        """
        candidates = [
            (run, factors_of(run.dataset, run.method, run.seed))
            for run in self.runs
            if run.model == model
        ]
        if not candidates:
            raise UserError(
                f"{self.where}: {self.experiment} has no run of {model}; it has runs of "
                f"{', '.join(sorted({run.model for run in self.runs}))}: name one of these, or "
                "another experiment"
            )
        known = list(dict.fromkeys(name for _, factors in candidates for name in factors))
        for name in self.factors:
            if name not in known:
                raise UserError(
                    f"{self.where}: {self.experiment} has no factor "
                    f"{shown(name)}{closest(name, known)}"
                )
        wanted = {"seed": run_factors["seed"]} | self.factors
        left = [
            one
            for one in candidates
            if all(one[1].get(name) == value for name, value in wanted.items())
        ]
        if not left:
            there = "; ".join(dict.fromkeys(_as_text(factors, wanted) for _, factors in candidates))
            raise UserError(
                f"{self.where}: {self.experiment} has no run of {_as_text(wanted, wanted)} (it has "
                f"{there}); add this run there, or name the run to start from: `initial: "
                f"{{experiment: {self.experiment}, seed: …}}`"
            )
        for name in _differing_factors(left):
            same = [
                one for one in left if name in run_factors and one[1].get(name) == run_factors[name]
            ]
            left = same or left
        differing = _differing_factors(left)
        if len(left) > 1 and not differing:
            raise UserError(
                f"{self.where}: {self.experiment} tries {len(left)} settings, so it is not known "
                "before it runs which of its runs is the best; name one value of each setting there"
            )
        if len(left) > 1:
            example = f"{differing[0]}: {json.dumps(left[0][1].get(differing[0]))}"
            raise UserError(
                f"{self.where}: {len(left)} runs of {self.experiment} fit, and they differ in "
                f"{', '.join(differing)}; name one, such as `initial: {{experiment: "
                f"{self.experiment}, {example}}}`"
            )
        return Start(left[0][0], self.experiment)


def first_of(experiment: Experiment, experiments: dict, above: tuple[str, ...]) -> str:
    """Return the experiment that `initial` names. above: the experiments that start from this one.
    Raises UserError for one that does not exist, or that starts from this one.
    """
    initial, where = experiment.entry.initial, experiment.where
    first = initial if isinstance(initial, str) else initial.experiment
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
    initial, where = experiment.entry.initial, f"{experiment.where}.initial"
    factors = {} if isinstance(initial, str) else initial.model_extra or {}
    trained = [run for run in runs if _trains_transformer(run, entries)]
    if not trained:
        raise UserError(
            f"{where}: {first} trains no transformer, so it has no weights to start from; name "
            "another experiment"
        )
    return Beginning(where, first, factors, trained)


def _trains_transformer(run: Run, entries: Entries) -> bool:
    resources = entries.resources
    learns = resources["studies"][run.study]["methods"][run.method]["learns"]
    return learns and not {"control", "esim"} & set(resources["models"][run.model])
