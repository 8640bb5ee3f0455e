"""The plan of a configuration: its runs with their names and settings, its experiments and its
datasets.
"""

import hashlib
import itertools
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from scripts.plan.grid import Dataset
from scripts.data.plain_json import as_json
from scripts.plan.probe import ANSWER, LIKELIHOOD, WORDED, LeftOut

CONTROL = "control"  # the method of control models
RECORDED = "recorded"  # the name of a batch of runs from the record begins with this
# the training settings that may be lists: the settings to try
TRIED = ("epochs", "learning_rate", "batch_size")
# the training settings that also apply to a run without training
SCORING = {"max_length", "precision"}
ANSWERING = {"precision", "chat_template", "answer_tokens"}  # for methods that ask in words
# the keys of a model's entry that join these settings
OF_ENTRY = ("system", "chat_template_kwargs", "thought_end")


class Start(NamedTuple):
    """A run that other runs start from, and the experiment that has it."""

    run: "Run"
    experiment: str


@dataclass(frozen=True)
class Run:
    """One training run: results/train/<study>/<name>/. Equal settings give equal names."""

    name: str
    dataset: Dataset
    model: str
    method: str
    training: dict = field(compare=False)  # the training settings that have an effect on it
    seed: int
    wording: str | None = None  # for a method with prompts
    start: Start | None = field(default=None, compare=False)  # None: the model's own weights

    @property
    def begins_with(self) -> str | None:
        """The name of the run whose weights it starts from."""
        return self.start.run.name if self.start else None

    @property
    def study(self) -> str:
        return self.dataset.study

    @property
    def folder(self) -> str:
        return f"results/train/{self.study}/{self.name}"

    @cached_property
    def settings(self) -> dict:
        """All settings that decide the run's numbers, as its name and its run.json hold them."""
        return {
            "study": self.study,
            "source": self.dataset.source,
            "dataset": self.dataset.name,
            "data": self.dataset.data,
            "model": self.model,
            "method": self.method,
            "training": self.training,
            "seed": self.seed,
            **({"made_by": self.begins_with} if self.begins_with else {}),
            **({"wording": self.wording} if self.wording else {}),
        }


@dataclass(frozen=True)
class Plan:
    """experiments: the names of the runs of each experiment."""

    runs: dict[str, Run]
    experiments: dict[str, list[str]]
    datasets: dict[str, Dataset]  # by folder
    # the experiments whose runs others start from, by `initial` or as an MLM or CLM stage
    initials: set[str]
    # with `methods: fitting`: the methods that do not fit, and why
    left_out: list[LeftOut]


def weights_of(training: dict, how: dict) -> dict[str, float] | None:
    """Return the weight of each objective of a method's runs; None if it learns only its own
    objective.
    """
    weights, names = training.get("objectives"), how.get("objectives", [])
    if not weights or not names or not weights.get(names[1]):
        return None
    return {name: float(weights.get(name, 1)) for name in names}


def tried_settings(training: dict) -> list[dict]:
    """Return the training settings to try: each combination of the values in lists. The evaluation
    reports the settings with the lowest held-out loss (scripts/measure/reported.py).
    """
    lists = {key: training[key] for key in TRIED if isinstance(training.get(key), list)}
    return [training | dict(zip(lists, values)) for values in itertools.product(*lists.values())]


def has_seed(how: dict, training: dict) -> bool:
    """Return whether a method's runs differ by seed: they train, or their head or examples are
    drawn at random.
    """
    if how.get("paradigm") in WORDED:
        return training.get("shots", 0) > 0
    return (how["learns"] and how.get("paradigm") != CONTROL) or how.get("fresh_head", False)


def settings_of(training: dict, study: dict, how: dict) -> dict:
    """Return the settings that have an effect on a run. Settings without an effect must not create
    a new run.
    """
    paradigm, shots = how.get("paradigm"), training.get("shots", 0)
    if paradigm == CONTROL:
        return {}
    if paradigm in WORDED or not how["learns"]:
        keys = ANSWERING if paradigm == ANSWER else SCORING
        found = {key: value for key, value in training.items() if key in keys}
        has_shots = paradigm == LIKELIHOOD or (paradigm == ANSWER and shots)
        return found | {"shots": shots} if has_shots else found
    without = {"shots", "chat_template", "answer_tokens"}
    if "held_out" in study:
        without.add("held_out_fraction")  # the study has a held-out split
    elif training["held_out_fraction"] == 0:
        without.add("early_stopping_patience")  # nothing is held out
    if not training.get("adapter"):
        without |= {"adapter", "rank", "alpha", "target"}
    if not training.get("gradient_checkpointing"):
        without.add("gradient_checkpointing")
    weights = weights_of(training, how)
    if not weights:
        without.add("objectives")
    named = {
        key: ",".join(value) if key == "target" and isinstance(value, list) else value
        for key, value in training.items()
    }
    return {
        key: value for key, value in (named | {"objectives": weights}).items() if key not in without
    }


def settings_of_entry(how: dict, entry: dict) -> dict:
    """Return the settings of a method that asks in words which the model's entry decides."""
    if how.get("paradigm") != ANSWER:
        return {}
    return {key: entry[key] for key in OF_ENTRY if key in entry}


def run_of(
    how: dict,
    dataset: Dataset,
    model: str,
    method: str,
    training: dict,
    seed: int,
    wording: str | None = None,
    start: Start | None = None,
) -> Run:
    """Return one run, named by the settings that have an effect on it. how: the method's entry."""
    run = Run("", dataset, model, method, training, seed, wording, start)
    parts = [
        dataset.source,
        dataset.name,
        model,
        *([] if method == "train" else [method]),
        *([wording] if wording else []),
        *([f"seed-{seed}"] if has_seed(how, training) else []),
        hashlib.sha256(as_json(run.settings).encode()).hexdigest()[:8],
    ]
    return replace(run, name="-".join(parts))


def batches(
    runs: Iterable[Run], recorded: Container[str] = (), tiny: Container[str] = ()
) -> dict[str, list[str]]:
    """Return these runs in batches: {<study>/<model>-<hash>: runs}. A batch has the runs of one
    study that share a model, are controls, or are in the record. The runs of all tiny models share
    a batch for each corpus, so that several cores train them. The hash is over the runs. So a batch
    stays valid while a configuration asks for other runs of the model.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        model = "tiny" if run.model in tiny else run.model
        kind = "controls" if run.method == CONTROL else model
        kind = RECORDED if run.name in recorded else kind
        source = run.dataset.source if kind == "tiny" else ""
        found.setdefault((f"{run.study}/{kind}", source), []).append(run.name)
    return {
        f"{name}-{hashlib.sha256(as_json(sorted(of)).encode()).hexdigest()[:8]}": sorted(of)
        for (name, _), of in found.items()
    }
