"""Controls of temporal NLI: they see the hypothesis alone, the words of both sentences without
order, or the numbers of both.

The rules compare the first numbers of the two sentences, as digits or as hours of 24. They know
what before and after mean, and nothing of months, weekdays or units.

`calendar` is the reader of the ceiling (reader.py) as a rule. It declares the order of months and
weekdays, and how long units are.

`numbers` learns what the rules declare, from the labels: for each pair of prepositions a linear
model of the difference of the two numbers. The number of a unit is a logarithm, and each unit has a
weight, so the model learns how long an hour is. Months and weekdays have a weight each.

`both_texts` is additive. A word that the two sentences do not share has one weight for each pair of
their prepositions. A number has one weight for each threshold that it reaches. No weight belongs to
two times together, so the control cannot compare times. Yet a sum of two weights orders any two
times whose names occur in training. A model must beat this control.

`word_vectors` is additive, too. It reads the mean vector of the words that only the premise has,
and that of the hypothesis. So it also has a weight for times whose names training lacks.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from scripts.studies.temporal_nli.reader import FALLBACK, GRAMMARS, LABELS, LISTS, read
from scripts.studies.temporal_nli.times import MONTHS, NOUNS, SHORT_MONTHS, WEEKDAYS
from scripts.text.number_words import any_of
from scripts.text.time_units import NAMES, SECONDS
from scripts.controls.view import View

TOKEN = re.compile(r"(\d+)(st|nd|rd|th|:\d\d)?(?![^\W_])|[^\W_]+")
UNITS = "|".join(f"(?P<{unit}>{names})" for unit, names in NAMES.items())
UNIT = re.compile(rf"\s+(?:(?P<half>[ap]m)|{UNITS})\b")
# A noun stands for an item of a list that has no other sign: the planet Mars.
NAMED = [*MONTHS, *SHORT_MONTHS, *WEEKDAYS, *NOUNS]
TIME = rf"(?:\d[^\W_]*|(?:{any_of(NAMED)})\b)"
TIMES = re.compile(rf"\b{TIME}", re.I)
LEADING = re.compile(
    rf"\b((?:[^\W\d_]+\s+(?:less|more)\s+than)|[^\W\d_]+)\s+(?:the\s+)?{TIME}", re.I
)
# The thresholds are each number up to 31, then steps of 6 %; for numbers of four digits, each year.
THRESHOLDS = np.unique(np.rint(np.r_[1:32, 31 * 1.06 ** np.arange(80)])).astype(int)
YEARS = np.arange(1900, 2101)
MOST_TEXTS = 20_000  # whose cues and sizes are kept


def kind_of(digits: str, suffix: str | None, unit: re.Match | None) -> str:
    """Return what a number counts, by the text after it: hour, pm, th, :00. A number of four digits
    with no such text is a year.
    """
    if unit:
        return unit["half"] or str(unit.lastgroup)
    if suffix:
        return suffix if suffix[0] == ":" else "th"
    return "four_digits" if len(digits) == 4 else "number"


@lru_cache(maxsize=MOST_TEXTS)
def cues_of(text: str) -> dict[str, str]:
    """Return the cues of each word of a text, by the word. A word is its own cue. A number has each
    threshold that it reaches, marked by what it counts.
    """
    found, text = {}, text.lower()
    for token in TOKEN.finditer(text):
        digits, suffix = token.groups()
        if not digits:
            found[token[0]] = token[0]
            continue
        kind = kind_of(digits, suffix, UNIT.match(text, token.end()))
        value = int(digits) % 12 if kind in ("am", "pm") else int(digits)  # 12 AM comes first
        reached = YEARS if kind == "four_digits" else THRESHOLDS
        cues = [f"{kind}>={threshold}" for threshold in reached[reached <= value]]
        found[f"{digits} {kind}"] = " ".join([kind, *cues])
    return found


@lru_cache(maxsize=MOST_TEXTS)
def leading(text: str) -> str:
    """Return the words before the first time of a text: after, for less than."""
    found = LEADING.search(text)
    return re.sub(r"\s+", "_", found[1].lower()) if found else "none"


def of_each(function: Callable[[str], Any], texts: pd.Series) -> list:
    """Return the function's value for each text. Each different text is read once."""
    codes, known = pd.factorize(texts)
    values = [function(text) for text in known]
    return [values[code] for code in codes]


def of_both(function: Callable[[str], Any], table: pd.DataFrame) -> zip:
    """Return the function's values for the premises, and for the hypotheses."""
    return zip(*(of_each(function, table[side]) for side in ("first", "second")))


def unshared(table: pd.DataFrame) -> pd.Series:
    """Return the cues of the words that only one sentence has, each marked by its sentence."""
    rows = [
        " ".join(
            f"{side}:{cue}"
            for side, words, others in (("p", premise, hypothesis), ("h", hypothesis, premise))
            for word, cues in words.items()
            if word not in others
            for cue in cues.split()
        )
        for premise, hypothesis in of_both(cues_of, table)
    ]
    return pd.Series(rows, table.index, dtype=object)


def hypothesis_words(table: pd.DataFrame) -> pd.Series:
    """Return the words and numbers that only the hypothesis has."""
    rows = [
        " ".join(word for word in hypothesis if word not in premise)
        for premise, hypothesis in of_both(cues_of, table)
    ]
    return pd.Series(rows, table.index, dtype=object)


def prepositions(table: pd.DataFrame) -> pd.Series:
    """Return the words before the first time of each sentence, and the number of words and numbers
    in the hypothesis's time. Example: in>before:2 for "in May 1950" and "before July 1950".
    """
    parts = of_each(lambda text: len(TIMES.findall(text)), table["second"])
    pairs = zip(of_both(leading, table), parts)
    rows = [f"{premise}>{hypothesis}:{part}" for (premise, hypothesis), part in pairs]
    return pd.Series(rows, table.index, dtype=object)


def hypothesis_times(table: pd.DataFrame) -> pd.Series:
    """Return the cues of the hypothesis's time words and numbers."""

    def times(text: str) -> str:
        words = cues_of(text).items()
        return " ".join(cue for word, cue in words if word[0].isdigit() or TIMES.fullmatch(word))

    return pd.Series(of_each(times, table["second"]), table.index, dtype=object)


def hypothesis_preposition(table: pd.DataFrame) -> pd.Series:
    """Return the words before the hypothesis's first time."""
    return pd.Series(of_each(leading, table["second"]), table.index, dtype=object)


def hypothesis_numbers(table: pd.DataFrame) -> np.ndarray:
    """Return (n, 5) the logarithms of the hypothesis's first number and of the seconds of its unit,
    and whether the hypothesis contains before, after or less.
    """
    text = table["second"].str.lower()
    number = pd.to_numeric(text.str.extract(r"(\d+)")[0]).fillna(0)
    unit = text.str.extract(rf"\d\s({'|'.join(SECONDS)})")[0].map(SECONDS).fillna(0)
    flags = [text.str.contains(rf"\b{word}\b") for word in ("before", "after", "less")]
    return np.column_stack([np.log1p(number), np.log1p(unit), *flags]).astype(float)


# The range of each kind of number, so that differences of different kinds compare. The first kind
# that a sentence has decides.
RANGES = {"four_digits": 100.0, "clock": 24.0, "th": 31.0, "number": 100.0}
DAYS_AND_MONTHS = list(dict.fromkeys(map(str.lower, [*WEEKDAYS, *MONTHS, *SHORT_MONTHS])))
NAME = re.compile(rf"\b{any_of(DAYS_AND_MONTHS)}\b")
SPREAD = 10.0  # of a difference as large as its range, beside 1 of a name


@lru_cache(maxsize=MOST_TEXTS)
def sizes_of(text: str) -> tuple[dict[str, float], frozenset[str]]:
    """Return the numbers of a text by kind (hours of 24, day of a month, year, logarithm for a
    unit), each divided by the range of its kind; and the names of months and weekdays.
    """
    found, text = {}, text.lower()
    for token in TOKEN.finditer(text):
        digits, suffix = token.groups()
        if not digits:
            continue
        kind, value = kind_of(digits, suffix, UNIT.match(text, token.end())), float(digits)
        if kind in ("am", "pm"):
            kind, value = "clock", value % 12 + (12 if kind == "pm" else 0)
        elif kind.startswith(":"):
            kind, value = "clock", value + float(kind[1:]) / 60
        known = RANGES.get(kind)
        found[kind] = value / known if known else float(np.log(max(value, 0.5)))
    return found, frozenset(NAME.findall(text))


def differences(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k): the premise's number less the hypothesis's, the same by kind, whether they are
    equal, the units of each sentence, and the names that only the premise (1) or only the
    hypothesis (-1) has.
    """
    premise, hypothesis = (of_each(sizes_of, table[side]) for side in ("first", "second"))
    less, more = [main_number(table, "first") - main_number(table, "second")], []
    for kind in [*RANGES, *NAMES]:
        one, other = (
            np.array([numbers.get(kind, np.nan) for numbers, _ in texts])
            for texts in (premise, hypothesis)
        )
        less.append(np.nan_to_num(one) - np.nan_to_num(other))
        more += [one == other, *([] if kind in RANGES else [~np.isnan(one), ~np.isnan(other)])]
    for name in DAYS_AND_MONTHS:
        of_both_texts = (
            np.array([name in names for _, names in texts], float)
            for texts in (premise, hypothesis)
        )
        more.append(np.subtract(*of_both_texts))
    return np.column_stack([*(SPREAD * one for one in less), *more]).astype(float)


def main_number(table: pd.DataFrame, side: str) -> np.ndarray:
    """Return (n,) on_24_hours() of one side's texts."""
    return np.array(of_each(on_24_hours, table[side]))


def both_prepositions(table: pd.DataFrame) -> pd.Series:
    """Return the words before the first time of each sentence, for example in>before."""
    return prepositions(table).str.partition(":")[0]


def kinds_and_prepositions(table: pd.DataFrame) -> pd.Series:
    """Return both_prepositions() with the kinds of the times of both sentences."""
    kinds = [
        ">".join(" ".join(sorted(numbers)) + ("+name" if names else "") for numbers, names in pair)
        for pair in of_both(sizes_of, table)
    ]
    return both_prepositions(table) + " " + pd.Series(kinds, table.index, dtype=object)


# Which label follows if the premise's number is less than, equal to or more than the hypothesis's:
# entailment 0, neutral 1, contradiction 2. `at` stands for all words but before and after.
FOLLOWS = {
    ("at", "at"): (2, 0, 2),
    ("at", "before"): (0, 2, 2),
    ("at", "after"): (2, 2, 0),
    ("before", "at"): (2, 2, 1),
    ("before", "before"): (0, 0, 1),
    ("before", "after"): (2, 2, 1),
    ("after", "at"): (1, 2, 2),
    ("after", "before"): (1, 2, 2),
    ("after", "after"): (1, 0, 0),
}


def compared(number_of: Callable[[str], float]) -> Callable[[pd.DataFrame], np.ndarray]:
    """Return a rule that compares the two numbers: (n, 3), 1 for the label that follows."""

    def rule(table: pd.DataFrame) -> np.ndarray:
        first, second = (np.array(of_each(number_of, table[side])) for side in ("first", "second"))
        sign = np.nan_to_num(np.sign(first - second)).astype(int)
        at = both_prepositions(table).str.partition(">")[[0, 2]].to_numpy()
        known = np.where(np.isin(at, ["before", "after"]), at, "at")
        label = [FOLLOWS[one, other][1 + order] for (one, other), order in zip(known, sign)]
        return np.eye(3)[label]

    return rule


def last_digits(text: str) -> float:
    """Return the last number of a text as it is written; 0 without one."""
    found = re.findall(r"\d+", text)
    return float(found[-1]) if found else 0.0


def on_24_hours(text: str) -> float:
    """Return a text's year, else its hour, its day, or the logarithm of its number; 0 without."""
    numbers, _ = sizes_of(text)
    return next((numbers[kind] for kind in [*RANGES, *NAMES] if kind in numbers), 0.0)


def by_calendar(table: pd.DataFrame) -> np.ndarray:
    """Return (n, 3): 1 for the label that the reader of the ceiling gives. It tries the grammar of
    each set. A pair of a list that is not of time stays unread: neutral.
    """
    label = []
    for pair in zip(table["first"], table["second"]):
        readings = [read(*pair, name) for name in GRAMMARS]
        labels = [
            LABELS.index(one.label)
            for one in readings
            if one.label and one.premise and one.premise.get("kind") not in LISTS
        ]
        label.append(labels[0] if labels else FALLBACK)
    return np.eye(len(LABELS))[label]


ONE_TEXT = View(
    sees="the hypothesis: its time words and numbers, by unit and size, and what leads them",
    cues=hypothesis_times,
    by=hypothesis_preposition,
    numbers=hypothesis_numbers,
)
BOTH_TEXTS = View(
    sees="words that the two sentences do not share, without order, and what leads their times",
    cues=unshared,
    by=prepositions,
)
WORD_VECTORS = View(
    sees="the mean word vector of the words that only one sentence has, by what leads their times",
    averaged=hypothesis_words,
    by=prepositions,
    each=True,
)
NUMBERS = View(
    sees="the difference of the two numbers and of the names, by what leads them",
    by=both_prepositions,
    numbers=differences,
)
WORDS = {
    "numbers": NUMBERS,
    "numbers_by_kind": replace(NUMBERS, by=kinds_and_prepositions),
    "both_texts": BOTH_TEXTS,
}
VIEWS = {
    "one_text": ONE_TEXT,
    "both_texts": BOTH_TEXTS,
    "word_vectors": WORD_VECTORS,
    "rules": View(
        sees="which number is larger, and before or after",
        rules={"digits": compared(last_digits), "hours of 24": compared(on_24_hours)},
    ),
    "calendar": View(
        sees="the times and durations of both sentences, by a declared calendar",
        rules={"calendar": by_calendar},
    ),
    "words": View(sees="words and numbers of both sentences", parts=WORDS),
    "texts": View(
        sees="words and numbers of both sentences, and word vectors",
        parts=WORDS | {"word_vectors": WORD_VECTORS},
    ),
}
