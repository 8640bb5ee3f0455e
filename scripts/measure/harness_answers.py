"""Read the answers of lm-evaluation-harness to a task that asks in words (`generate_until`;
scripts/publish/harness_tasks.py). It reads them as scripts/train/asking/ reads answers.
"""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.data.tables import read_table
from scripts.measure.answered import Answered
from scripts.measure.harness_samples import (
    REMEDY,
    TASK,
    facts_of,
    holds,
    refuse_other_doc,
    rows_in,
    texts_in,
)
from scripts.running.program import UserError, cut, log, shown
from scripts.train.asking.answer import CUT, Answer
from scripts.train.asking.thoughts import BEGIN
from scripts.train.asking.questions import Questions, readings_of, scores_of, shares_of

# options: the texts of the letters; labels: the labels of the letters, empty for candidates;
# members: [example_id, option] of each example that the question is about
OPENED = re.compile(rf"(?:{BEGIN.pattern})\s*\Z", re.I)
ROW = ["part", "data", "question", "options", "labels", "members"]


def opened_thought(sent: Any) -> str:
    """Return the mark of a thought with which a request ends, as some templates write it; an empty
    text without one.
    """
    found = [OPENED.search(text) for text in texts_in(sent)]
    return next((mark[0] for mark in found if mark), "")


def row_of(sample: Any, where: str) -> dict:
    try:
        doc, sent = sample["doc"], sample["arguments"]["gen_args_0"]["arg_0"]
        row = {name: doc[name] for name in [*TASK, *ROW]}
        known, answers = sample["doc_hash"], sample["resps"]
        lists = [json.loads(row[name]) for name in ("options", "labels", "members")]
    except (KeyError, TypeError, ValueError, LookupError):
        raise UserError(
            f"{where}: is not an answer to a task of `snakemake harness`; name the samples of such "
            "a task"
        ) from None
    refuse_other_doc(doc, known, where)
    if not holds(sent, row["question"]):
        raise UserError(
            f"{where}: the harness asked {shown(sent)}, which is not in the task; run the task as "
            "it was written"
        )
    match answers:
        case [[str() | None as said]]:
            # null: a server that gave no content; a thought may begin at the end of the prompt
            text = opened_thought(sent) + (said or "")
        case _:
            raise UserError(f"{where}: resps is {shown(answers)}, not one text; {REMEDY}")
    place = json.dumps([row["question"], row["members"]])
    return (
        row | dict(zip(("options", "labels", "members"), lists)) | {"answer": text, "place": place}
    )


def answered_rows(file: Path) -> pd.DataFrame:
    """Return the distinct rows of a file; several filters may have written the same row. Raises
    UserError for rows of two tasks or two models, or if all answers are empty.
    """
    rows = rows_in(file, row_of, [*TASK, "part", "data"])
    rows = rows.drop_duplicates(["place", "answer"]).reset_index(drop=True)
    if rows["place"].duplicated().any():
        question = rows.loc[rows["place"].duplicated(), "question"].iloc[0]
        raise UserError(
            f"{file}: the question {shown(cut(question))} has two answers, so the file holds two "
            "runs; give the file of one model"
        )
    if not rows["answer"].str.strip().any():
        raise UserError(
            f"{file}: every answer is empty; look at the server's log, and give a model that "
            "thinks more tokens (--gen_kwargs max_gen_toks=4000)"
        )
    return rows


def read_answers(file: Path, answered: Answered, split_file: Path) -> tuple[pd.DataFrame, dict]:
    """Return the scores of each label for the examples of a split, by example_id, and the facts
    about the task and the run. An unreadable answer has NaN. The fact `unread` is the share of
    unreadable answers, `cut` of those that end inside a thought.
    """
    rows = answered_rows(file)
    facts = facts_of(rows, answered, split_file, file)
    members = [
        (example, number, option)
        for number, of_question in enumerate(rows["members"])
        for example, option in of_question
    ]
    table = pd.DataFrame(members, columns=["example_id", "question", "option"])
    known = read_table(split_file, answered.columns[:1])[0].to_pandas()
    if lost := sorted(set(known) - set(table["example_id"])):
        raise UserError(
            f"{file}: {len(lost)} of {len(known)} examples have no answer, {cut(lost[0])} first; "
            "run the task without --limit"
        )
    labels = rows["labels"].to_list()
    questions = Questions(
        rows["question"].to_list(),
        rows["options"].to_list(),
        labels,
        table["question"].to_numpy(),
        None if labels[0] else table["option"].to_numpy(),
    )
    names = answered.labels[0]
    readings = readings_of(questions, [Answer(text) for text in rows["answer"]])
    shares = shares_of(questions, readings)
    for name, what in (
        ("unread", "of the answers cannot be read and count as wrong"),
        (CUT, "of the answers end inside a thought; run the task with a larger max_gen_toks"),
    ):
        if shares[name]:
            log.warning("warning: %s: %.1f %% %s", file, 100 * shares[name], what)
    scores = pd.DataFrame(scores_of(questions, readings, names), table["example_id"], names)
    return scores, facts | {name: shares[name] for name in ("unread", CUT)}
