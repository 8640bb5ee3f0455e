"""The settings of a study's runs, and which runs are one system, for what is made from runs."""

import json
from collections.abc import Collection
from pathlib import Path

from scripts.data.tables import provenance_of
from scripts.measure.experiment import Run, runs_by_dataset
from scripts.publish.names import differences_in_words, method_title, model_title


def training_of(run: Run) -> str:
    """How a run's model was trained: its settings, and the run that it begins with."""
    settings = provenance_of(run.folder / "history.parquet")["settings"]
    return json.dumps(
        settings["training"] | {"begins with": settings.get("made_by")}, sort_keys=True
    )


def runs_of_datasets(trained: Path, names: list[str]) -> dict[tuple[str, str], list[Run]]:
    """By source and dataset, sorted, its runs among those of these names."""
    return {
        place: [run for runs in systems.values() for run in runs]
        for place, systems in sorted(runs_by_dataset(trained, names).items())
    }


def runs_by_title(runs: list[Run], plain: Collection[str], models: dict) -> dict[str, list[Run]]:
    """The runs of a dataset that differ by seed or wording alone, by title: the model, its method
    unless `plain`, and what differs in training.
    """
    titled: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        method = run.facts["method"]
        title = model_title(run.facts["model"], models) + (
            "" if method in plain else f", {method_title(method)}"
        )
        titled.setdefault(title, {}).setdefault(training_of(run), []).append(run)
    return {
        title + differences_in_words(json.loads(training), list(map(json.loads, ways))): of
        for title, ways in titled.items()
        for training, of in ways.items()
    }
