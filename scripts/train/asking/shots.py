"""Solved examples of the training split that are written before each question (`shots`).

Not a program; without torch. A chat reads them as turns, any other model as text.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.running.program import UserError
from scripts.train.asking.letters import BEGIN, LETTERS, NONE
from scripts.train.asking.questions import questions_of
from scripts.train.paradigms import prompts


def turn(role: str, content: str) -> dict[str, str]:
    """A turn of a chat (role: system, user, assistant)."""
    return {"role": role, "content": content}


def answer_line(letters: Sequence[str]) -> str:
    """The last line of an answer that names these letters."""
    return f"{BEGIN} {', '.join(letters) or NONE}"


def as_text(shots: Sequence[dict[str, str]]) -> str:
    """The turns as text, with a blank line after the system's text and after each answer."""
    ends = {"user": "\n", "system": "\n\n", "assistant": "\n\n"}
    return "".join(f"{one['content']}{ends[one['role']]}" for one in shots)


def places_of(table: pa.Table) -> np.ndarray:
    """(n,) each example's question, from 0; a question includes all its candidates."""
    place = "choice" if "choice" in table.column_names else "group_id"
    return pd.factorize(table[place].to_pandas())[0]


def drawn_examples(
    table: pa.Table, answers: dict, labels: list[str], count: int, seed: int
) -> pa.Table:
    """The examples that a method of likelihood draws, where each label has a text."""
    rows = pa.array(map(str, range(len(table))))
    numbered = pa.table({"label": table["label"], "row": rows})
    texts = {label: "{row}|" for label in answers}
    drawn = prompts.shots_of(numbered, {"texts": texts}, labels, ["row"], count, seed)
    return table.take([int(row) for row in drawn.split()])


def drawn_questions(table: pa.Table, count: int, seed: int) -> pa.Table:
    """All candidates of `count` questions. Raises UserError if there are too few."""
    places = places_of(table)
    if places.max() + 1 < count:
        raise UserError(
            f"shots: {count} needs as many training questions, but there are {places.max() + 1}; "
            "lower shots"
        )
    drawn = np.random.default_rng(seed).choice(places.max() + 1, count, replace=False)
    return table.take(np.concatenate([np.flatnonzero(places == one) for one in drawn]))


def shots_of(
    table: pa.Table, prompt: dict, labels: list[str], inputs: list[str], count: int, seed: int
) -> list[dict[str, str]]:
    """`count` questions of the training split, each followed by its right letters, as turns.

    The seed decides the draw: examples, equally many of each label, or questions with all their
    candidates. prompt: {question, answers} of a wording. Raises UserError if there are too few.
    """
    if answers := prompt["answers"]:
        chosen = drawn_examples(table, answers, labels, count, seed)
    else:
        chosen = drawn_questions(table, count, seed)
    questions = questions_of(chosen, prompt, inputs)
    right, turns = chosen["label"].to_numpy(), []
    if questions.option is None:
        for place, label in zip(questions.question, right):
            letter = LETTERS[questions.labels[place].index(labels[label])]
            turns += [turn("user", questions.text[place]), turn("assistant", answer_line(letter))]
        return turns
    for place, text in enumerate(questions.text):
        options = questions.option[(questions.question == place) & (right == 1)]
        letters = [LETTERS[option] for option in sorted(options)]
        turns += [turn("user", text), turn("assistant", answer_line(letters))]
    return turns


def right_options(table: pa.Table) -> set[int]:
    """How many right candidates the questions of a table have."""
    return set(np.bincount(places_of(table), table["label"].to_numpy()).astype(int).tolist())
