"""A dataset's examples as questions with lettered options, and the scores that answers give them.

A wording (method answer, prompts.yaml of the study) has a question with {options} in it. With
`answers` the options are these answers, one for each label, and each example is a question. Without
`answers`, the options are all candidates of one place or question. Their order is drawn by the ids
of the examples, so a model that always says A is at chance. Not a program; without torch.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError, cut
from scripts.train.asking.answer import LIKELIEST, UNREAD, Answer, Reading, reading_of
from scripts.train.asking.letters import LETTERS
from scripts.train.paradigms.prompts import columns_of, filled

ORDER = 31  # marks the draw of the order of options


class Questions(NamedTuple):
    """The distinct questions of a table.

    text: (questions,) as they are asked. options: (questions,) the texts of each one's options.
    labels: (questions,) the names of the labels for these options; empty if the options are
    candidates. question: (n,) which question each example is in. option: (n,) which option of the
    question an example is, from 0; None if the options stand for labels.
    """

    text: list[str]
    options: list[list[str]]
    labels: list[list[str]]
    question: np.ndarray
    option: np.ndarray | None


def lettered(options: Sequence[str]) -> str:
    """`A. first`, `B. second`, … a line each."""
    return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, options))


def questions_of(table: pa.Table, prompt: dict, inputs: list[str]) -> Questions:
    """The questions of a table of examples (scripts/train/splits.py).

    prompt: {question, answers} of a wording. Raises UserError if a question has more options
    than there are letters.
    """
    columns = columns_of(table, inputs)
    examples = table["example_id"].to_pandas()
    drawn = keyed_hash(examples, ORDER)
    if answers := prompt["answers"]:
        orders = list(permutations(answers))
        order = pd.Series((drawn % np.uint64(len(orders))).astype(int), columns.index)
        options = [[answers[label] for label in one] for one in orders]
        text = filled(
            prompt["question"],
            columns.assign(options=order.map(dict(enumerate(map(lettered, options))))),
        )
        codes, distinct = pd.factorize(text)
        order = order.groupby(codes).first().to_list()
        return Questions(
            list(distinct),
            [options[one] for one in order],
            [list(orders[one]) for one in order],
            codes,
            None,
        )
    place = table["choice" if "choice" in table.column_names else "group_id"].to_pandas()
    order = pd.Series(drawn).groupby(place.to_numpy())
    option = order.rank(method="first").to_numpy(int) - 1
    if option.max() >= len(LETTERS):
        raise UserError(
            f"example {cut(examples[option.argmax()])}: its question has more than {len(LETTERS)} "
            "candidates, which have no letters; use the method answer"
        )
    columns = columns.assign(place=pd.factorize(place)[0], option=option)
    columns = columns.sort_values(["place", "option"], kind="stable")
    options = columns.groupby("place")[inputs[-1]].agg(list).to_list()
    first = columns[columns["option"] == 0].assign(options=[lettered(one) for one in options])
    text = filled(prompt["question"], first).to_list()
    return Questions(text, options, [], pd.factorize(place)[0], option)


def readings_of(
    questions: Questions, answers: Sequence[Answer], thought_end: str | None = None
) -> list[Reading]:
    """How the answer to each question is read."""
    several = questions.option is not None
    return [
        reading_of(answer, options, several, thought_end)
        for answer, options in zip(answers, questions.options)
    ]


def shares_of(questions: Questions, readings: Sequence[Reading]) -> dict[str, float]:
    """The SHARES of examples: whose answer cannot be read, whose likeliest letter counts, and with
    each end of UNREAD.
    """
    ends = np.array([one.end for one in readings])[questions.question]
    unread = np.array([one.named is None for one in readings])[questions.question]
    likeliest = np.array([bool(one.ranked) for one in readings])[questions.question]
    shares = {"unread": unread, LIKELIEST: likeliest, **{end: ends == end for end in UNREAD}}
    return {name: float(of_examples.mean()) for name, of_examples in shares.items()}


def scores_of(questions: Questions, readings: Sequence[Reading], labels: list[str]) -> np.ndarray:
    """(n, labels) 1 for the label that each example's answer names and 0 for others; NaN where the
    answer cannot be read. For candidates the labels are wrong and right; if the answer cannot be
    read, but its letters are ranked, the right scores are 1, 1/3, 1/5, … in their order.
    """
    if questions.option is None:
        rows = np.full((len(readings), len(labels)), np.nan)
        for row, (named, *_), order in zip(rows, readings, questions.labels):
            if named:
                row[:] = 0
                row[labels.index(order[min(named)])] = 1
        return rows[questions.question]
    right = np.full(len(questions.option), np.nan)
    for place, (question, option) in enumerate(zip(questions.question, questions.option)):
        named, _, ranked = readings[question]
        if ranked:
            right[place] = 1 / (2 * ranked.index(option) + 1)
        elif named is not None:
            right[place] = option in named
    return np.stack([1 - right, right], 1)
