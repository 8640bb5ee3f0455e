"""Controls of temporal NLI: they see the hypothesis alone, or the words of both sentences without
order.

`both_texts` is additive. A word that the two sentences do not share has one weight for each pair of
their prepositions. A number has one weight for each threshold that it reaches. No weight belongs to
two times together, so the control cannot compare times. Yet a sum of two weights orders any two
times whose names occur in training. A model must beat this control.

`word_vectors` is additive, too. It reads the mean vector of the words that only the premise has,
and that of the hypothesis. So it also has a weight for times whose names training lacks.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from scripts.studies.temporal_nli.times import MONTHS, NOUNS, SHORT_MONTHS, WEEKDAYS
from scripts.text.number_words import any_of
from scripts.text.time_units import NAMES, SECONDS
from scripts.train.view import View

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


def kind_of(digits: str, suffix: str | None, unit: re.Match | None) -> str:
    """Return what a number counts, by the text after it: hour, pm, th, :00. A number of four digits
    with no such text is a year.
    """
    if unit:
        return unit["half"] or str(unit.lastgroup)
    if suffix:
        return suffix if suffix[0] == ":" else "th"
    return "four_digits" if len(digits) == 4 else "number"


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
    pairs, parts = (
        of_both(leading, table),
        of_each(lambda text: len(TIMES.findall(text)), table["second"]),
    )
    rows = [f"{premise}>{hypothesis}:{part}" for (premise, hypothesis), part in zip(pairs, parts)]
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


VIEWS = {
    "one_text": View(
        sees="the hypothesis: its time words and numbers, by unit and size, and what leads them",
        cues=hypothesis_times,
        by=hypothesis_preposition,
        numbers=hypothesis_numbers,
    ),
    "both_texts": View(
        sees="words that the two sentences do not share, without order, and what leads their times",
        cues=unshared,
        by=prepositions,
    ),
    "word_vectors": View(
        sees="the mean word vector of the words that only one sentence has, by what leads their "
        "times",
        averaged=hypothesis_words,
        by=prepositions,
        each=True,
    ),
}
