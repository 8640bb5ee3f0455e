"""Controls of MC-TACO: they see an answer, but not its sentence and question.

one_text     the answer and the question's category: its words, its size (seconds, hour of the day,
             times a year), how it is written, its kinds
all_options  the same, and how the answer compares with the other answers of its question: the
             number of answers, the share with the same unit, the distance to the nearest duration.
             The control sees no labels.

words        a stack of both, and of pairs of a word of the question with a word, a unit or a size
             of the answer. `texts` adds the mean word vector of the question by the answer's unit.

Other numbers that compare answers (rank, distance to the median, shared words) did not improve the
control on folds of the training questions.
"""

import re
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd

from scripts.text.number_words import CARDINAL, DIGITS, values
from scripts.text.text_features import CATEGORIES
from scripts.text.time_units import NAMES, SECONDS
from scripts.text.unit_normalization import quantities
from scripts.controls.view import View

UNIT = re.compile(rf"\b({'|'.join(NAMES.values())})\b")
AMOUNT = re.compile(rf"({DIGITS}|\b{CARDINAL})")
TIMES = re.compile(rf"\b(once|twice|(?:{DIGITS}|{CARDINAL}|several|few)\s+times?)\b")
PER = re.compile(
    rf"\b(?:an?|each|every|per)\s+(?P<every>{DIGITS}|{CARDINAL}|other)?\s*"
    rf"(?P<unit>{'|'.join(NAMES.values())}|night|morning|evening|weekend)"
)
OFTEN = re.compile(r"\b(hourly|daily|everyday|nightly|weekly|monthly|yearly|annually)\b")
SAME_AS = {"hourly": "hour", "weekly": "week", "monthly": "month", "yearly": "year"}
SAME_AS |= {"annually": "year", "weekend": "week"}
CLOCK = re.compile(r"\b(\d{1,2})(?:\s?:\s?(\d\d))?\s?:?\s*([ap])\s?\.?\s?m\b")
PARTS = {"midnight": 0, "dawn": 6, "morning": 9, "noon": 12, "afternoon": 15, "evening": 19}
PARTS |= {"night": 22}
KINDS = {
    name: re.compile(pattern)
    for name, pattern in {
        "clock": r"\b[ap]\.?m\b|o'?\s?clock",
        "part_of_day": rf"\b(?:{'|'.join(PARTS)})\b",
        "weekday": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\bweekends?\b",
        "month": r"\b(?:january|february|march|april|june|july|august|september|october|november"
        r"|december)\b",
        "season": r"\b(?:spring|summer|fall|autumn|winter)\b",
        "year": r"\b(?:1\d{3}|20\d\d)s?\b",
        "yes": r"^yes\b",
        "no": r"^no\b",
        "always": r"\b(?:always|forever|never)\b",
        "sentence": r"^(?:he|she|it|they|the \w+|i|we)\b",
        "past": r"\b(?:was|were|had|did|\w+ed)\b",
        "later": r"\b(?:later|ago|earlier|before|after)\b",
        "every": r"\b(?:every|each)\b",
        "range": r"\bto\b|-",
        "wrong_article": r"\ban (?!hour|[aeiou])|\ba (?:hour|[aeiou])",
        "wrong_number": r"\b(?:[02-9]|\d+[02-9]|\d+\.\d+|two|three|five|ten) (?:second|minute|hour"
        r"|day|week|month|year|century)\b|\b(?:1|one|an?) (?:\w+s|centuries)\b",
        "fraction": r"\d\.\d",
        "number_alone": r"^\d+$",
        "sign": r"[^\w\s:.,'-]",
    }.items()
}
FAR = 30.0  # log seconds; used as distance if the question has no other duration
SIZES = ["seconds", "hour", "rate", "amount"]


def read(answers: pd.Series) -> pd.DataFrame:
    """Return the sizes, unit, kinds and length of each answer: read_texts() by answer."""
    place, texts = pd.factorize(answers)
    return read_texts(tuple(texts)).iloc[place].set_axis(answers.index)


@lru_cache(maxsize=4)
def read_texts(texts: tuple[str, ...]) -> pd.DataFrame:
    """Return the sizes, unit, kinds and length of each text.

    The sizes are the log seconds of a duration, the hour of the day, the log times a year and the
    log number. A size that an answer does not have is NaN.
    """
    written = pd.Series(texts, dtype=object)
    text = written.str.lower()
    number = values(text.str.extract(AMOUNT)[0])
    ends = quantities(text)[["seconds_low", "seconds_high"]].astype(float)
    clock = text.str.extract(CLOCK)
    hour = clock[0].astype(float) % 12 + clock[1].astype(float).fillna(0) / 60
    hour += np.where(clock[2] == "p", 12, 0)
    for name, usual in PARTS.items():
        hour = hour.fillna(text.str.contains(rf"\b{name}").map({True: usual}))
    per = text.str.extract(PER)
    unit = per["unit"].fillna(text.str.extract(OFTEN)[0]).map(unit_of, na_action="ignore")
    period = unit.map(SECONDS) * values(per["every"].replace("other", "2")).fillna(1)
    times = text.str.extract(TIMES)[0].replace({"once": "1", "twice": "2"})
    times = values(times.str.replace(r"\s+times?$", "", regex=True)).fillna(1)
    found = {
        "seconds": log(ends["seconds_low"]) / 2 + log(ends["seconds_high"]) / 2,
        "hour": hour,
        "rate": log(times) - log(period / SECONDS["year"]),
        "amount": log(number),
        "unit": text.str.extract(UNIT)[0].map(unit_of, na_action="ignore").fillna("none"),
        "letters": np.log1p(text.str.len()),
        "words": np.log1p(text.str.count(r"\S+")),
        "capitals": written.str.count(r"[A-Z]"),
        "digits": text.str.count(r"\d"),
        "round": sum((number % whole == 0).astype(int) for whole in (5, 10, 100)),
    } | {name: text.str.contains(kind).astype(int) for name, kind in KINDS.items()}
    return pd.DataFrame(found)


def log(numbers: pd.Series) -> pd.Series:
    """Return natural logarithms of positive numbers, NaN for other numbers."""
    return np.log(numbers.where(numbers > 0))


def unit_of(word: str) -> str:
    """Return the unit of a word, for example day for "nightly"."""
    word = SAME_AS.get(word, word)
    return next((unit for unit, names in NAMES.items() if re.fullmatch(names, word)), "day")


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
    sees="the words of the question, with the words, unit and size of the answer",
    pairs=with_question,
    numbers=of_answers,
    compares=True,
)
WORDS = {"one_text": ONE_TEXT, "all_options": ALL_OPTIONS, "question": QUESTION}
VECTORS = View(
    sees="the mean word vector of sentence and question, by the unit of the answer",
    averaged=lambda table: table["first"],
    by=unit_and_category,
)
VIEWS = {
    "one_text": ONE_TEXT,
    "all_options": ALL_OPTIONS,
    "words": View(
        sees="the answers of a question together, and its words", parts=WORDS, compares=True
    ),
    "texts": View(
        sees="the answers of a question together, its words, and word vectors",
        parts=WORDS | {"word_vectors": VECTORS},
        compares=True,
    ),
}
