"""What an answer of MC-TACO says: its sizes, unit and kinds."""

import re

import numpy as np
import pandas as pd

from scripts.text.number_words import CARDINAL, DIGITS, values
from scripts.text.time_units import NAMES, SECONDS
from scripts.text.unit_normalization import quantities

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
SIZES = ["seconds", "hour", "rate", "amount"]


class Reader:
    """read_texts() by answer. Each text is read once, since all folds of a search have the same."""

    def __init__(self) -> None:
        self.known = read_texts(["none"]).set_axis(["none"])

    def __call__(self, answers: pd.Series) -> pd.DataFrame:
        """Return the sizes, unit, kinds and length of each answer."""
        new = pd.Index(answers.unique()).difference(self.known.index, sort=False)
        if len(new):
            self.known = pd.concat([self.known, read_texts([*new]).set_axis(new)])
        return self.known.iloc[self.known.index.get_indexer(answers)].set_axis(answers.index)


def read_texts(texts: list[str]) -> pd.DataFrame:
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
        "unit": text.str.extract(UNIT)[0]
        .map(unit_of, na_action="ignore")
        .astype(object)
        .fillna("none"),
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


read = Reader()
