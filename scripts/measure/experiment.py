"""Code that the evaluation of every study shares: an experiment's runs, their predictions, and the
table of its metrics.
"""

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.manifest import describe_beside
from scripts.measure.comparisons import SCHEMA, Contest, comparisons_beside, comparisons_of
from scripts.measure.comparisons import with_kinds
from scripts.running.program import UserError, cut, log
from scripts.data.runs import Facts, read_predictions
from scripts.data.tables import read_complete, write_table
from scripts.measure.tally import Replicate
from scripts.train.asking.answer import SHARES

OF_PEOPLE = re.compile(
    r"^human_|_(?:beside|above)_people$"
)  # what people.py adds to the name of a metric
EXTERNAL = "external"  # the method of predictions made elsewhere


class Run(NamedTuple):
    """facts: the content of its run.json. only: the examples that are measured; None for all.
    members: of an ensemble, the runs whose scores are averaged; its facts are those of the first.
    tried: the number of settings that its system tried (scripts/measure/reported.py).
    """

    folder: Path
    facts: Facts
    only: pd.Series | None = None
    members: tuple["Run", ...] = ()
    tried: int = 1

    @property
    def runs(self) -> tuple["Run", ...]:
        """The runs that were trained: the members of an ensemble, else the run itself."""
        return self.members or (self,)

    def predictions(self, columns: list[str]) -> pa.Table:
        """Return the run's predictions (columns, of them example_id)."""
        if self.members:
            table = mean_predictions([run.predictions(columns) for run in self.members])
        else:
            table = read_predictions(self.folder, columns)
        if self.only is None:
            return table
        return table.filter(pc.is_in(table["example_id"], pa.array(self.only))).combine_chunks()


Systems = dict[tuple[str, str], list[Run]]  # the runs by model and method; a run is a replicate


def mean_predictions(tables: list[pa.Table]) -> pa.Table:
    """Return the predictions of an ensemble: those of its first run, with the mean of all scores.
    The scores of several labels are log-probabilities, so their probabilities are averaged. An
    ensemble has no peak: its runs report their own epochs.
    """
    keys = ["split", "example_id"]
    frames = [
        table.filter(pc.field("selection") != "peak").to_pandas().set_index(keys)
        for table in tables
    ]
    first = frames[0]
    scores = np.stack([np.stack(frame["score"].reindex(first.index)) for frame in frames])
    if scores.shape[2] > 1:
        mean = np.logaddexp.reduce(scores, axis=0) - np.log(len(frames))
    else:
        mean = scores.mean(axis=0)
    schema = tables[0].schema
    return pa.Table.from_pandas(first.assign(score=[*mean]).reset_index(), schema).combine_chunks()


def replicates_of(runs: list[Run]) -> list[Replicate]:
    """Return the seed and the wording of each run of a system. The list is empty for a control and
    for an ensemble. It is also empty for a single run that was neither trained nor asked in words.
    """
    facts = runs[0].facts
    varies = len(runs) > 1 or facts["train_examples"] or facts.get("wording") is not None
    if runs[0].members or facts["method"] == "control" or not varies:
        return []
    return [Replicate(run.facts["seed"], run.facts.get("wording")) for run in runs]


def read_examples(
    file: Path, schema: pa.Schema, labels: int, missing: Iterable[str] = (), empty: bool = False
) -> pd.DataFrame:
    """Return a split of a dataset, with the columns of `schema`; missing: the columns that may lack
    values; empty: the split may have no rows. Raises UserError for a split without rows, a repeated
    example, or a label that is not below `labels`.
    """
    rows = read_complete(file, schema, missing).to_pandas()
    if rows.empty and not empty:
        raise UserError(f"{file}: no examples; the log of its build says why")
    for example in rows["example_id"][rows["example_id"].duplicated()]:
        raise UserError(f"{file}: the example {cut(example)} occurs twice; build the dataset again")
    if not rows["label"].between(0, labels - 1).all():
        raise UserError(f"{file}: a label is not one of 0 to {labels - 1}; build the dataset again")
    return rows


def label_scores(run: Run, table: pa.Table) -> np.ndarray:
    """Return the (n, labels) scores in a table of a run's predictions."""
    scores = pc.list_flatten(table["score"]).to_numpy().reshape(len(table), -1)
    is_asked = "unread" in run.facts
    return without_unread(scores, table["label"].to_numpy()) if is_asked else scores


def without_unread(scores: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return (n, labels) scores in which an unreadable answer (NaN) is wrong. Its right label has
    -1, the lowest score; its other labels have 2, above every score that was read.
    """
    unread = np.isnan(scores[:, 0])
    if not unread.any():
        return scores
    columns = np.arange(scores.shape[1])
    return np.where(unread[:, None], np.where(columns == label[:, None], -1, 2), scores)


def read_scores(run: Run, split: str, example_ids: pd.Series, what: str) -> tuple[np.ndarray, str]:
    """Return a run's (n, labels) scores on a split, in the order of the examples, and how its epoch
    was selected. what: the name of the examples in messages.
    """
    table = run.predictions(["split", "selection", "example_id", "label", "score"])
    table = table.filter(
        (pc.field("split") == split) & (pc.field("selection") != "peak")
    ).combine_chunks()
    ids = pd.Index(table["example_id"].to_pandas())
    if len(ids) != len(example_ids) or not (ids.is_unique and ids.isin(example_ids).all()):
        raise UserError(
            f"{run.folder}: its predictions on {split} belong to other {what} than the dataset's; "
            "run it again"
        )
    return label_scores(run, table)[ids.get_indexer(example_ids)], table["selection"][0].as_py()


def write_metrics(
    rows: list[dict], schema: pa.Schema, given: argparse.Namespace, contest: Contest
) -> None:
    """Write the rows of an experiment, and the comparisons of its models with controls. given: the
    arguments of every evaluation.
    """
    known = {
        *given.contest["metrics"],
        "agreement",
        "left_out",
        *(f"{name}_answers" for name in SHARES),
    }
    if unknown := {OF_PEOPLE.sub("", row["metric"]) for row in rows} - known:
        raise UserError(
            f"scripts/studies/{rows[0]['study']}/study.yaml: `metrics` lacks "
            f"{', '.join(sorted(unknown))}, which evaluate.py measures; declare the title, and "
            "`better` where controls are to be held against the metric"
        )
    rows = with_kinds(rows, contest)
    found = comparisons_of(rows, contest)
    # The draws of single wordings are no longer needed: later comparisons use means.
    rows = [row | {"draws": None} if row["seed"] is not None else row for row in rows]
    stated = {"experiment": given.experiment, "bootstrap_resamples": given.resamples}
    files = (given.output, schema, rows), (comparisons_beside(given.output), SCHEMA, found)
    for file, columns, of_file in files:
        named = [row | {"experiment": given.experiment} for row in of_file]
        write_table(pa.Table.from_pylist(named, schema=columns), file, columns, stated)
    describe_beside(*(file for file, *_ in files))
    log.info(
        "%s: %d numbers of %d runs, %d comparisons",
        *(given.experiment, len(rows), len(given.runs), len(found)),
    )
