"""Fit the controls of a dataset: rules, and models without pretraining, that show what a score
takes. A control stands on a rung (chance, rules, words or texts) by what it brings along.

A control (resources/models.yaml, kind `control`) is one of
  features: a logistic regression on features of scripts/text/text_features.py, learnt from the
            training split
  rank_by:  no learning: candidates for one mask are ranked by the first feature, and ties by the
            next one; `-` before a name ranks the lowest first. `frequency` counts the training
            split's right candidates, `trigram` its sequences of words
  predicts: most_frequent (the training split's label shares), or random (a hash of the example's
            id; candidates for a mask tie)
  left_out: network; a small network that learns from scratch (scripts/controls/generic.py). No
            search has it, so it shows whether a filter cleaned for others
            (scripts/measure/filtered.py)
  search:   the best learner for a view of the study (scripts/studies/<study>/controls.py), chosen
            inside the training split (scripts/controls/search.py)

run.json says of each control its rung, `sees_all` (it compares the candidates of a choice) and its
`training_value`: the share of examples, of choices or of whole groups (MC-TACO) of the training
split that it has right, cross-fitted (scripts/controls/folds.py). It is null if too few folds have
a group, and for left_out. The control of a kind is chosen by it, never by the test.

A control takes a moment, and starting a process takes longer. So one process fits all controls of a
dataset. A finished control is not fitted again where data, settings and code are the same.

Reads  <data>/<split>.parquet; the training split of another dataset (learns_from)
       the corpus's cleaned training split (search: corpus)
Writes <folder>/<run>/predictions.parquet (schema predictions), history.parquet (no rows) and
       run.json, as trained runs do
       <folder>/<run>/work/, where finished results are kept
"""

import importlib
import platform
import re
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.plan.models import paradigm_of_control
from scripts.running.devices import processor
from scripts.data.keyed import keyed_hash
from scripts.data.manifest import check_made
from scripts.running.program import UserError, log
from scripts.data.tables import HISTORY, PREDICTIONS, content_digest, read_sample, read_table
from scripts.data.tables import write_table
from scripts.controls.folds import BLOCK, Scores, cross_fitted, left_out_value
from scripts.controls.generic import fit as fit_generic
from scripts.controls.generic import learner_of
from scripts.train.paradigms.vectors import read_vectors
from scripts.controls.search import WORD, Vectors
from scripts.controls.simple import DRAW, MOST, fit, learns
from scripts.controls.stack import Known, search
from scripts.controls.view import View
from scripts.train.given_run import GivenRun
from scripts.train.work import NO_STEPS, code_of, columns_of, facts_of_job, finish, finished, forget
from scripts.train.work import hand_out, hash_of_weights, predictions_on, sweep, with_digest
from scripts.train.work import write_json

MOST_SEARCHED = 50_000  # whole groups of these examples; every learner learns from them six times
MOST_LEFT_OUT, EVERYTHING = 20_000, "words pairs numbers"  # examples and features of a left_out
CORPUS = ["video_id", "position", "text"]  # columns of cleaned captions
ALREADY = "measured on the same data, by the same settings and code"


def read_examples(
    file: Path, method: dict, most: int | None = None, taught: Sequence[str] = ()
) -> pd.DataFrame:
    """Read a split: example_id, group_id, label, first and second (the texts), and, if the study
    has them, category and choice_id. If the method has one input, it is second, and first is empty.

    most: read about `most` examples, drawn by hash. taught: more columns, for training. Raises
    UserError if the split is empty.
    """
    columns = {
        method["columns"][name]: name
        for name in ("example_id", "group_id", "choice_id")
        if name in method["columns"]
    }
    texts = dict(zip(method["inputs"], ("first", "second")[len(method["inputs"]) < 2 :]))
    names = [*columns, *method["inputs"], *taught, "label"]
    # the candidates for a mask stay together
    key = method["columns"].get("choice_id", method["columns"]["example_id"])
    table = read_table(file, names) if most is None else read_sample(file, names, key, most, DRAW)
    if not len(table):
        raise UserError(f"{file}: no examples; the log of its build says why")
    blocks = {method["folds_by"]: BLOCK} if "folds_by" in method else {}
    found = table.to_pandas().rename(columns=columns | texts | blocks)
    return found if "first" in found else found.assign(first="")


def hashes_of(run: GivenRun) -> dict[str, str]:
    """The sha256 of the word vectors, and of the captions, that a control reads, by file."""
    file, corpus = Path(run.vectors or ""), Path(run.corpus or "")
    hashes = {file.name: hash_of_weights(file, file.stat().st_mtime_ns)} if file.name else {}
    return hashes | ({corpus.name: content_digest(corpus, CORPUS)} if corpus.name else {})


def describe(run: GivenRun, digests: dict[str, str]) -> dict:
    """The job of one control: everything that decides its numbers, and the digest over it. Raises
    UserError for a view that the study lacks.
    """
    assert run.control
    if "search" in run.control:
        view_of(run.settings["study"], run.control["search"])
    read = {"vectors": run.vectors, "corpus": run.corpus, "learns_from": run.learns_from}
    job = {
        "run": run.name,
        "settings": run.settings,
        "rung": run.rung,
        "control": run.control,
        **{key: value for key, value in read.items() if value is not None},
        "method": run.method,
        "splits": run.splits,
        "data": digests,
        **({"model_files": hashes} if (hashes := hashes_of(run)) else {}),
        "makes_model": False,
        "code": code_of(paradigm_of_control(run.control, run.settings["study"])),
    }
    return with_digest(job)


def view_of(study: str, name: str) -> View:
    """Return a view of a study. Raises UserError if the study has no view of this name."""
    module = f"scripts.studies.{study}.controls"
    try:
        views: dict[str, View] = importlib.import_module(module).VIEWS
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        views = {}
    if name not in views:
        raise UserError(
            f"{study} has no view {name}; name a control whose view it has"
            f" ({', '.join(views) or 'it has none'}), or write one in "
            f"scripts/studies/{study}/controls.py"
        )
    return views[name]


class Measured(NamedTuple):
    """A fitted control: its scores of the evaluation splits, whether it learnt, its value on the
    training split, facts of its own for run.json, and how many examples it learnt from beside the
    training split.
    """

    scores: dict[str, np.ndarray]
    learnt: bool
    training_value: float | None
    facts: dict = {}
    more: int = 0


def facts_of(
    job: dict, labels: list[str], train_examples: int, seconds: float, found: Measured
) -> dict:
    """A control's facts for run.json."""
    return {
        **facts_of_job(job),
        **NO_STEPS,
        "control": job["control"],
        "rung": job["rung"],
        "sees_all": False,
        "training_value": found.training_value,
        **found.facts,
        "labels": labels,
        "label_columns": [],
        "train_examples": train_examples,
        "truncated": {},
        "seconds": round(seconds, 1),
        "kind": "control",
        "parameters": 0,
        "shots": 0,
        "hardware": {
            "device": processor(),
            "processes": 1,
            "threads": 1,
            "precision": "fp64",
            "deterministic": True,
        },
        "versions": {"python": platform.python_version(), "scikit-learn": version("scikit-learn")},
    }


def predict(job: dict, train: pd.DataFrame, evaluation: dict[str, pd.DataFrame]) -> Measured:
    """Fit a control that is not searched."""
    method, learnt = job["method"], learns(job["control"])

    def fitted(table: pd.DataFrame) -> Scores:
        return fit(job["control"], table, len(method["labels"]), method["exchangeable"])

    scores = scores_of_all(fitted, train, evaluation, learnt)
    value = left_out_value(searched(train), fitted, method.get("whole_groups", False))
    return Measured(scores, learnt, value)


def scores_of_all(
    fit: Callable[[pd.DataFrame], Scores],
    train: pd.DataFrame,
    evaluation: dict[str, pd.DataFrame],
    learnt: bool,
) -> dict[str, np.ndarray]:
    """The scores of each split; a control that learnt is cross-fitted on a test alone."""
    score = cross_fitted(train, fit) if learnt else fit(train)
    return {split: score(table) for split, table in evaluation.items()}


def searched(train: pd.DataFrame) -> pd.DataFrame:
    """The examples that a search learns from, and that all training values are measured on: whole
    groups, drawn by hash, with about MOST_SEARCHED examples together.
    """
    hashes = keyed_hash(train["group_id"], DRAW)
    limit = np.sort(hashes)[min(MOST_SEARCHED, len(hashes)) - 1]
    return train[hashes <= limit]


def in_parts(scores: Scores, table: pd.DataFrame) -> np.ndarray:
    """Scores of a table, computed for about MOST examples at a time; a group stays whole."""
    group, _ = pd.factorize(table["group_id"])
    part = (np.cumsum(np.bincount(group)) // MOST)[group]
    rows = [np.flatnonzero(part == number) for number in np.unique(part)]
    found = [scores(table.iloc[one]) for one in rows]
    return np.concatenate(found)[np.argsort(np.concatenate(rows))]


def vectors_for(view: View, job: dict, tables: list[pd.DataFrame]) -> Vectors | None:
    """The vectors of the words of all texts that a view or its parts average; None where the
    control has no file of vectors. Parts then average vectors that training texts give. Raises
    UserError for a view that needs a file or reads none, and where no word has a vector.
    """
    averaged = [part.averaged for part in (view, *view.parts.values()) if part.averaged]
    if not job.get("vectors"):
        if not view.averaged:
            return None
        raise UserError(
            f"{job['run']}: its view averages word vectors; give the control `vectors_of`, the "
            "name of a model with `vectors` (resources/models.yaml)"
        )
    if not averaged:
        raise UserError(f"{job['run']}: its view averages no word vectors; leave out `vectors_of`")
    texts = pd.concat([texts_of(table) for texts_of in averaged for table in tables]).unique()
    words = {word for text in texts for word in re.findall(WORD, text.lower())}
    found = Vectors(*read_vectors(Path(job["vectors"]), words))
    if not found.words:
        raise UserError(f"{job['vectors']}: has no word of the texts; name other vectors")
    return found


def more_for(view: View, job: dict, train: pd.DataFrame) -> pd.DataFrame | None:
    """Further examples from the captions of the training split before pairs are drawn (video_id,
    position, text); None where the view takes none. Raises UserError for a view that needs the
    captions or reads none.
    """
    if view.more and not job.get("corpus"):
        raise UserError(
            f"{job['run']}: its view learns from the cleaned captions; give the control "
            "`reads_cleaned: true` (resources/models.yaml)"
        )
    if not view.more:
        if job.get("corpus"):
            raise UserError(f"{job['run']}: its view reads no captions; leave out `reads_cleaned`")
        return None
    return searched(view.more(read_table(Path(job["corpus"]), CORPUS).to_pandas(), train))


def predict_searched(
    job: dict, train: pd.DataFrame, evaluation: dict[str, pd.DataFrame], known: Known
) -> Measured:
    """Search for the control of a view. known: see search()."""
    method, view = job["method"], view_of(job["settings"]["study"], job["control"]["search"])
    vectors = vectors_for(view, job, [searched(train), *evaluation.values()])
    labels, whole = len(method["labels"]), method.get("whole_groups", False)
    more, turns = more_for(view, job, searched(train)), method["exchangeable"]
    found = search(view, searched(train), labels, turns, vectors, whole, known, more)

    def fitted(table: pd.DataFrame) -> Scores:
        of = found
        if table is not train:
            of = search(view, searched(table), labels, turns, vectors, whole, {}, more)
        return lambda rows: in_parts(of.scores, rows)

    learnt = not view.only_rules
    return Measured(
        scores_of_all(fitted, train, evaluation, learnt),
        learnt,
        found.value,
        {
            "learner": found.learner,
            "learners": found.values,
            "sees_all": view.compares,
            **({} if learnt else {"rung": "rules"}),
        },
        0 if more is None else len(more),
    )


def predict_left_out(
    job: dict, train: pd.DataFrame, evaluation: dict[str, pd.DataFrame]
) -> Measured:
    """Fit a generic learner to words, pairs of words and numbers."""
    method, learner = job["method"], learner_of(EVERYTHING, job["control"]["left_out"])

    def fitted(table: pd.DataFrame) -> Scores:
        drawn = np.sort(np.argsort(keyed_hash(table["example_id"], DRAW))[:MOST_LEFT_OUT])
        return fit_generic(
            learner, table.iloc[drawn], len(method["labels"]), method["exchangeable"]
        )

    return Measured(scores_of_all(fitted, train, evaluation, True), True, None)


def measure(
    job: dict, train: pd.DataFrame, evaluation: dict[str, pd.DataFrame], result: Path, known: Known
) -> None:
    """Fit one control and write its predictions of the evaluation splits,
    history.parquet and run.json.
    """
    started, method = time.time(), job["method"]
    if "search" in job["control"]:
        found = predict_searched(job, train, evaluation, known)
    elif "left_out" in job["control"]:
        found = predict_left_out(job, train, evaluation)
    else:
        found = predict(job, train, evaluation)
    provenance = {"run": job["run"], "settings": job["settings"]}
    selection = "last" if found.learnt else "direct"
    predictions = pa.concat_tables(
        predictions_on(split, table, found.scores[split], job["run"], selection)
        for split, table in evaluation.items()
    )
    write_table(predictions, result / "predictions.parquet", PREDICTIONS, provenance)
    write_table(HISTORY.empty_table(), result / "history.parquet", HISTORY, provenance)
    [columns] = {scores.shape[1] for scores in found.scores.values()}
    labels = method["labels"][-columns:]  # a rank is the score of the label `right`
    train_examples = len(train) + found.more if found.learnt else 0
    facts = facts_of(job, labels, train_examples, time.time() - started, found)
    write_json(facts, result / "run.json")
    value = found.training_value
    said = ["training split: no value" if value is None else f"training split {value:.3f}"]
    if columns > 1:
        said += [
            f"{split} {(found.scores[split].argmax(1) == table['label']).mean():.3f}"
            for split, table in evaluation.items()
        ]
    log.info("%s: %s", job["run"], ", ".join([*filter(None, [found.facts.get("learner")]), *said]))


def measure_controls(runs: list[GivenRun]) -> None:
    """Measure the controls of one dataset, or hand out their finished results."""
    data, method, (learn, *measured) = runs[0].data, runs[0].method, runs[0].splits
    read = [Path(file).parent for run in runs for file in (run.vectors, run.corpus) if file]
    check_made([data, *(Path(run.learns_from) for run in runs if run.learns_from), *read])
    columns, taught = columns_of(method), method.get("teaches", [])
    learnt = {run.name: Path(run.learns_from or data) / f"{learn}.parquet" for run in runs}
    files = {split: data / f"{split}.parquet" for split in measured}
    of_train = {file: content_digest(file, [*columns, *taught]) for file in set(learnt.values())}
    digests = {split: content_digest(file, columns) for split, file in files.items()}
    jobs = [describe(run, {learn: of_train[learnt[run.name]]} | digests) for run in runs]
    trains: dict[Path, tuple[pd.DataFrame, Known]] = {}
    evaluation: dict[str, pd.DataFrame] = {}
    for run, job in zip(runs, jobs):
        work = run.folder / "work"
        sweep(run.folder, work, work / "result")
        if finished(work, job):
            hand_out(work, job, run.folder, ALREADY)
            continue
        if not evaluation:  # read when the first control needs them
            evaluation = {split: read_examples(file, method) for split, file in files.items()}
        if (file := learnt[run.name]) not in trains:
            trains[file] = read_examples(file, method, MOST, taught), {}
        train, known = trains[file]
        forget(work)
        (work / "result").mkdir(parents=True)
        measure(job, train, evaluation, work / "result", known)
        finish(work, job, run.folder)
