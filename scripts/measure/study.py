"""What the evaluation of every study does: the runs of an experiment measured and written as a table, or predictions made elsewhere printed.

Not a program. A study says how its metrics come of scores; the rest is the same for all.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from scripts.measure.experiment import Run, read_sources, runs_by_dataset, write_metrics
from scripts.measure.external import Answered, Measure, external_systems, score_predictions
from scripts.measure.people_answers import answers_given

Systems = dict[tuple[str, str], list[Run]]  # by model and method its runs, one a replicate


class Part(NamedTuple):
    """A split of a dataset that is measured: its file, all systems on it, and the facts of a run that learnt from the dataset."""

    source: str
    dataset: str
    split: str
    file: Path
    systems: Systems
    facts: dict


def parts_of(
    datasets: dict[tuple[str, str], Systems],
    external: dict[tuple[str, str, str], Systems],
    build: Path,
    sources: dict,
) -> Iterator[Part]:
    """The parts to measure; datasets: of runs_by_dataset(), external: of external_systems(), sources: of read_sources()."""
    for (source, dataset), systems in datasets.items():
        facts = next(iter(systems.values()))[0].facts
        for split in sources[sources[source].get("measured_on", source)]["evaluate"]:
            every = systems | external.get((source, dataset, split), {})
            yield Part(
                source, dataset, split, build / source / dataset / f"{split}.parquet", every, facts
            )


def evaluate(
    given: argparse.Namespace,
    answered: Answered,
    schema: pa.Schema,
    measure: Callable[..., list[dict]],
    of_file: Measure,
    printed: Mapping[str, tuple[str, ...]],
) -> None:
    """Measure what a program was given (evaluation_given()). answered: what the study's examples are answered with; schema: of its
    metrics; measure: (datasets, external, build, sources, resamples, people) to rows of these, less the experiment; of_file, printed:
    see score_predictions()."""
    if given.predictions:
        score_predictions(given, answered, of_file, printed)
        return
    datasets = runs_by_dataset(given.trained, given.runs)
    sources = read_sources(given.sources, {source for source, _ in datasets})
    external = external_systems(given.external, given.build, answered)
    people = answers_given(given, answered.study, datasets, answered.labels[0])
    write_metrics(
        measure(datasets, external, given.build, sources, given.resamples, people), schema, given
    )
