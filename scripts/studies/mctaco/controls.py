"""Controls of MC-TACO: answers by themselves, beside each other, and beside the question.

one_text     the answer and the question's category: its words, its size (seconds, hour of the day,
             times a year), how it is written, its kinds
all_options  the same, and how the answer compares with the other answers of its question: the
             number of answers, the share with the same unit, the distance to the nearest duration.
             The control sees no labels.

words        a stack of both, and of the question: pairs of a word of the question with a word, a
             unit or a size of the answer, and answers to similar questions (similar.py). `texts`
             adds the mean word vector of the question by the answer's unit.
together     the same; then the answers of a question are decided together
one_option   what a model reads: the question and one answer, without the category and the other
             answers. The features are those of `words`

In training folds of whole sentences, more numbers that compare answers (rank, distance to the mean,
shared words) helped the similar questions, and not boosting. Words that the answer shares with the
question, and extremely randomized trees, brought no clear gain.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from scripts.controls.together import CoupledView
from scripts.controls.view import View
from scripts.studies.mctaco.answers import KINDS, SIZES, read
from scripts.studies.mctaco.similar import alike, similar_questions
from scripts.text.text_features import CATEGORIES

FAR = 30.0  # log seconds; used as distance if the question has no other duration


def cues(table: pd.DataFrame) -> pd.Series:
    """Return an answer's words, its unit and kinds, and its sizes rounded to steps."""
    found = read(table["second"])
    said = table["second"].str.lower().str.findall(r"\w+").str.join(" ")
    said = said + " UNIT" + found["unit"]
    for name in KINDS:
        said += np.where(found[name] > 0, " KIND" + name, "")
    for name, step in zip(SIZES, (1.5, 4, 1.5, 1)):
        size = np.floor(found[name] / step)
        said += np.where(size.notna(), f" {name.upper()}" + size.map("{:.0f}".format), "")
    return said


def of_answer(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k) sizes, length, kinds and category. A missing size is 0; four columns mark the
    sizes that exist.
    """
    found = read(table["second"]).drop(columns="unit")
    of_category = [table["category"] == name for name in CATEGORIES]
    return np.column_stack([found.fillna(0), found[SIZES].notna(), *of_category]).astype(float)


def of_answers(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k) of_answer() and three numbers that compare the answer with its question's
    answers.

    * the log of the number of answers
    * the share of answers with the same unit
    * the distance in log seconds to the nearest other duration (0 for the same duration, FAR if
      there is no other duration)
    """
    found = read(table["second"])[["seconds", "unit"]].assign(group=table["group_id"].to_numpy())
    found = found.reset_index(drop=True)
    count = found.groupby("group")["group"].transform("size")
    same_unit = found.groupby(["group", "unit"])["unit"].transform("size")
    ordered = found.sort_values(["group", "seconds"])
    below = ordered.groupby("group")["seconds"].diff()
    above = below.groupby(ordered["group"]).shift(-1)
    nearest = pd.concat([below, above], axis=1).min(axis=1).reindex(found.index).fillna(FAR)
    return np.column_stack([of_answer(table), np.log(count), same_unit / count, nearest])


def with_question(table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the words of sentence and question, and the cues of the answer."""
    return table["first"].str.lower().str.findall(r"[a-z']{3,}").str.join(" "), cues(table)


def unit_and_category(table: pd.DataFrame) -> pd.Series:
    """Return the category of each question with the unit of the answer."""
    return table["category"] + " " + read(table["second"])["unit"]


ONE_TEXT = View(
    sees="the answer and the question's category",
    words=lambda table: table["second"].str.lower(),
    cues=cues,
    by=lambda table: table["category"],
    numbers=of_answer,
)
ALL_OPTIONS = replace(
    ONE_TEXT,
    sees="the answers of a question together and its category, without the question",
    numbers=of_answers,
    compares=True,
)
QUESTION = View(
    sees="the words of the question, with the words, unit and size of the answer, and near answers "
    "to similar questions",
    pairs=with_question,
    numbers=of_answers,
    learnt={"similar questions": lambda train: similar_questions(train, of_answers)},
    compares=True,
)
WORDS = {"one_text": ONE_TEXT, "all_options": ALL_OPTIONS, "question": QUESTION}


def alone(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with each answer as its own question, and without categories."""
    return table.assign(group_id=np.arange(len(table)), category="")


def of_answer_alone(table: pd.DataFrame) -> np.ndarray:
    return of_answer(alone(table))


def similar_alone(train: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
    """Return similar_questions() of answers that are each read alone."""
    score = similar_questions(alone(train), of_answers)
    return lambda table: score(alone(table))


ONE_OPTION = {
    "answer": View(
        sees="the answer",
        words=lambda table: table["second"].str.lower(),
        cues=cues,
        numbers=of_answer_alone,
    ),
    "question": View(
        sees="the words of the question, with the words, unit and size of the answer, and answers "
        "to similar questions",
        pairs=with_question,
        numbers=of_answer_alone,
        learnt={"similar questions": similar_alone},
    ),
}
VECTORS = View(
    sees="the mean word vector of sentence and question, by the unit of the answer",
    averaged=lambda table: table["first"],
    by=unit_and_category,
)
ALL_WORDS = View(
    sees="the answers of a question together, and its words", parts=WORDS, compares=True
)
VIEWS = {
    "one_text": ONE_TEXT,
    "one_option": View(sees="the question and one answer", parts=ONE_OPTION),
    "all_options": ALL_OPTIONS,
    "words": ALL_WORDS,
    "together": CoupledView(
        sees="the answers of a question together, and its words; they are decided together",
        parts=WORDS,
        compares=True,
        coupled=alike,
    ),
    "texts": View(
        sees="the answers of a question together, its words, and word vectors",
        parts=WORDS | {"word_vectors": VECTORS},
        compares=True,
    ),
}
