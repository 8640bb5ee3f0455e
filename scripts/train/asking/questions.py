"""A dataset's examples as questions with lettered options, and which options an answer names.

A wording (method answer, prompts.yaml of the study) has a question with {options} in it. With
`answers` the options are these answers, one for each label, and each example is a question. Without
`answers`, the options are all candidates of one place or question. Their order is drawn by the ids
of the examples, so a model that always says A is at chance. Not a program; without torch.
"""

import re
from collections.abc import Sequence
from itertools import permutations
from string import ascii_uppercase as LETTERS
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError, cut
from scripts.train.paradigms.prompts import columns_of, filled

ORDER = 31  # marks the draw of the order of options
# "The answer is", "Answer:": the letters follow such a phrase; the last phrase counts
CONCLUSION = re.compile(r"\banswers?\b\s*(?:is|are|:)+", re.I)
# A letter alone, before a sign, the end, a verb or another letter: not "A week", not "5 A.M."
LETTER = re.compile(
    r"(?<![\w'’.])([A-Z])(?!\.?\s?[Mm]\b)"
    r"(?=\s*(?:[.):,;*\]/\"”&]|\n|$|(?:and|or|is|are|because|since)\b)|\s+[A-Z]\b)"
)
FIRST = re.compile(r"\W*([A-Z])\s*(?:[.):*\]]|\n|$)")  # a letter at an answer's beginning
LISTED = re.compile(r"^\W*([A-Z])[.):]", re.M)  # a list of options, said again
NAMED = re.compile(r"\b(?:option|letter|choice|answer)s?\s+\(?([A-Z])\b", re.I)
RUN = re.compile(r"\W*([A-Z]{2,})\W*")  # "AC", where several are asked for
NONE = re.compile(r"\W*(?:none|neither)\b", re.I)


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


def bare(text: str) -> str:
    """A text without case, and without signs around it."""
    return text.strip(" \t\r\n.,;:!?\"'*`“”").lower()


def chosen(answer: str, options: Sequence[str], several: bool) -> set[int] | None:
    """The options that an answer names, by letter or by their whole text; None if the answer
    cannot be read. It then names no option, a letter without an option, several options where one
    is asked for, or a letter with the text of another option.
    """
    by_text = {bare(text): place for place, text in enumerate(options) if bare(text)}
    if bare(answer) in by_text:
        return {by_text[bare(answer)]}
    conclusions = CONCLUSION.split(answer)
    said = conclusions[-1] if conclusions[-1].strip(" .:*") else answer
    said = re.sub(r"(?<!\w)\(?([a-z])\)", lambda found: f"{found[1].upper()})", said)
    said = said.upper() if re.fullmatch(r"\W*[a-z]\W*", said) else said
    letters = {*LETTER.findall(said), *filter(str.isupper, NAMED.findall(said))}
    if not several and (first := FIRST.match(said)) and len(set(LISTED.findall(said))) < 2:
        letters = {first[1]}
        other = by_text.get(bare(said[first.end() :]), LETTERS.index(first[1]))
        if other != LETTERS.index(first[1]):
            return None
    if several and not letters:
        if NONE.match(said):
            return set()
        letters = set(found[1]) if (found := RUN.fullmatch(said)) else letters
    if not letters or len(letters) > 1 and not several or max(letters) > LETTERS[len(options) - 1]:
        return None
    return {LETTERS.index(letter) for letter in letters}


def scores_of(questions: Questions, answers: Sequence[str], labels: list[str]) -> np.ndarray:
    """(n, labels) 1 for the label that each example's answer names and 0 for others; NaN where the
    answer cannot be read. For candidates the labels are wrong and right.
    """
    several = questions.option is not None
    read = [chosen(answer, options, several) for answer, options in zip(answers, questions.options)]
    if questions.option is None:
        rows = np.full((len(read), len(labels)), np.nan)
        for row, named, order in zip(rows, read, questions.labels):
            if named:
                row[:] = 0
                row[labels.index(order[named.pop()])] = 1
        return rows[questions.question]
    right = np.full(len(questions.option), np.nan)
    for place, (question, option) in enumerate(zip(questions.question, questions.option)):
        if (named := read[question]) is not None:
            right[place] = option in named
    return np.stack([1 - right, right], 1)
