"""Rows of the tasks of `snakemake harness` (scripts/publish/harness_tasks.py), as another program
hands them back, and the answers in words to them.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.data.runs import is_name
from scripts.measure.answered import Answered
from scripts.measure.elsewhere.table import table_of
from scripts.running.program import UserError, cut, log, shown
from scripts.train.asking.answer import SHARES, Answer
from scripts.train.asking.questions import Questions, readings_of, scores_of, shares_of

# fields with the same value in all rows
TASK = ["study", "dataset", "split", "method", "wording", "score", "threshold"]
# part: the row's split: the task's split, or the split that chooses a threshold; data: its digest
PART = ["part", "data"]
# a text whose likelihood is asked for, and its label; a question: the texts of its letters, their
# labels (empty for candidates), and [example_id, option] of each example that it is about
LIKELY = ["example_id", "label", "context", "text"]
WORDED = ["question", "options", "labels", "members"]
WARNINGS = {
    "unread": "of the answers cannot be read and count as wrong",
    "cut": "of the answers are cut or end inside a thought; allow more tokens",
}


def row_of(doc: Any, place: str) -> dict:
    """Return the checked fields of a task's row, its lists decoded."""
    try:
        fields = [*TASK, *PART, *(WORDED if "members" in doc else LIKELY)]
        row = {name: doc[name] for name in fields}
        if not all(isinstance(value, str) for value in row.values()):
            raise TypeError
        row |= {name: json.loads(row[name]) for name in WORDED[1:] if name in row}
        row["members"] = [(str(one), int(option)) for one, option in row.get("members", [])]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise UserError(
            f"{place}: is not a row of a task of `snakemake harness`; name the samples of such a "
            "task"
        ) from None
    return row


def check_task(rows: pd.DataFrame, answered: Answered, split_file: Path, file: Path) -> dict:
    """Return the facts about the task. Raises UserError for rows of two tasks, and of another
    study, dataset, split or build.
    """
    if mixed := [name for name in TASK if rows[name].nunique() > 1]:
        raise UserError(
            f"{file}: its rows have {rows[mixed[0]].nunique()} values of {mixed[0]}; give the "
            "samples of one task"
        )
    dataset = f"{split_file.parent.parent.name}/{split_file.parent.name}"
    task = rows.iloc[0][TASK].to_dict()
    for name, wanted, remedy in (
        ("study", answered.study, f"measure it with scripts.studies.{task['study']}.evaluate"),
        ("dataset", dataset, f"give --dataset results/build/{answered.study}/{task['dataset']}"),
        ("split", split_file.stem, f"give --split {task['split']}"),
    ):
        if task[name] != wanted:
            raise UserError(f"{file}: has the {name} {cut(task[name])}, not {wanted}; {remedy}")
    builds = rows.loc[rows["part"] != "", PART].drop_duplicates()
    for part, data in builds.itertuples(index=False):
        if not is_name(part):
            raise UserError(f"{file}: part {shown(part)} is not the name of a split; run it again")
        place = split_file.with_name(f"{part}.parquet")
        if answered.digest(place) != data:
            raise UserError(
                f"{file}: {place} has changed since these rows; write the tasks and run them again"
            )
    return task


def answers_in_words(
    rows: pd.DataFrame, answers: list[Answer], answered: Answered, file: Path
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return the table of the examples that questions are about, and the SHARES of answers. rows:
    place, question, options, labels, members.
    """
    members = [
        (example, number, option)
        for number, of_question in enumerate(rows["members"])
        for example, option in of_question
    ]
    example, question, option = (pd.Series(column) for column in zip(*members))
    labels = rows["labels"].to_list()
    questions = Questions(
        rows["question"].to_list(),
        rows["options"].to_list(),
        labels,
        question.to_numpy(),
        None if labels[0] else option.to_numpy(),
    )
    readings, names = readings_of(questions, answers), answered.labels[0]
    shares = shares_of(questions, readings)
    for name, what in WARNINGS.items():
        if shares[name]:
            log.warning("warning: %s: %.1f %% %s", file, 100 * shares[name], what)
    places = rows["place"].to_numpy()[question]
    scores = scores_of(questions, readings, names).T
    parts = [table_of(file, places, example, name, column) for name, column in zip(names, scores)]
    return pd.concat(parts, ignore_index=True), {name: shares[name] for name in SHARES}
