"""The training settings of a study's runs, and the runs of each system."""

from pathlib import Path

from scripts.data.tables import provenance_of
from scripts.measure.experiment import Run
from scripts.measure.reported import runs_by_dataset
from scripts.publish.names import differences_in_words, method_note, model_title


def training_of(run: Run) -> dict:
    """Return how a run's model was trained: its settings and the run that it begins with."""
    settings = provenance_of(run.folder / "history.parquet")["settings"]
    training = settings["training"] | {"begins with": settings.get("made_by")}
    return dict(sorted(training.items()))


def runs_of_datasets(trained: Path, names: list[str]) -> dict[tuple[str, str], list[Run]]:
    """Return the runs of these names by source and dataset, sorted."""
    systems = sorted(runs_by_dataset(trained, names).items())
    return {place: sum(of_place.values(), []) for place, of_place in systems}


def runs_by_title(runs: list[Run], models: dict) -> dict[str, list[Run]]:
    """Group the runs of a dataset that differ only in seed or wording. The key is a title: the
    model, its method unless it is plain, and the settings of training that differ.
    """
    trainings: dict[str, list[tuple[dict, Run]]] = {}
    for run in runs:
        how = method_note(run.facts["method"])
        title = model_title(run.facts["model"], models) + how
        trainings.setdefault(title, []).append((training_of(run), run))
    found: dict[str, list[Run]] = {}
    for title, of_title in trainings.items():
        every = [training for training, _ in of_title]
        for training, run in of_title:
            name = title + differences_in_words(training, every)
            found.setdefault(name, []).append(run)
    return found
