"""What the programs that measure a study share: an experiment's runs, their predictions, and the table of its metrics."""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.common.program import UserError, log
from scripts.common.tables import read_table, write_table


class Run(NamedTuple):
    """A finished run: its folder, and what its run.json tells."""

    folder: Path
    facts: dict


def seeds_of(runs: list[Run]) -> list[int]:
    """The seeds of a system's runs; none where it has no seed: a control, or a model that does not learn."""
    return [] if runs[0].facts["method"] == "control" or not runs[0].facts["train_examples"] else [run.facts["seed"] for run in runs]


def runs_by_dataset(trained: Path, names: list[str]) -> dict[tuple[str, str], dict[tuple[str, str], list[Run]]]:
    """By source and dataset, then by model and method: the runs of the folder `trained`, one a seed, in the order given."""
    systems_of: dict[tuple[str, str], dict[tuple[str, str], list[Run]]] = {}
    for name in names:
        facts = json.loads((trained / name / "run.json").read_text(encoding="utf-8"))
        systems = systems_of.setdefault((facts["source"], facts["dataset"]), {})
        systems.setdefault((facts["model"], facts["method"]), []).append(Run(trained / name, facts))
    return systems_of


def read_scores(run: Run, split: str, example_ids: pd.Series, what: str) -> tuple[np.ndarray, str]:
    """A run's (n, labels) scores of a split, in the order of the examples, and how its epoch was selected.

    what: what the examples are called where the predictions are not of them.
    """
    table = read_table(run.folder / "predictions.parquet", ["split", "selection", "example_id", "score"])
    table = table.filter((pc.field("split") == split) & (pc.field("selection") != "peak")).combine_chunks()
    ids = pd.Index(table["example_id"].to_pandas())
    if len(ids) != len(example_ids) or set(ids) != set(example_ids):
        raise UserError(f"{run.folder}: its predictions on {split} are not of the {what} that were built; run it again")
    scores = pc.list_flatten(table["score"]).to_numpy().reshape(len(table), -1)
    return scores[ids.get_indexer(example_ids)], table["selection"][0].as_py()


def write_metrics(rows: list[dict], schema: pa.Schema, given: argparse.Namespace) -> None:
    """Write the rows of an experiment; given: the arguments that every evaluation has."""
    table = pa.Table.from_pylist([{"experiment": given.experiment} | row for row in rows], schema=schema)
    write_table(table, given.output, schema, {"experiment": given.experiment, "bootstrap_resamples": given.resamples})
    log.info("%s: %d numbers of %d runs", given.experiment, len(table), len(given.runs))
