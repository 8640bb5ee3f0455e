"""Read the pairs of temporal NLI by rule: times, prepositions and the label that follows.

The reader shares no code with the generator of pairs (sets.py, times.py). It sees two sentences and
the name of their set. It knows English times and the rules of the paper (Thukral et al. 2021,
section 3). Its score is the ceiling of a test set: it fails only on sentences that it cannot read,
and on labels that break the rules.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

LABELS = ["entailment", "neutral", "contradiction"]
FALLBACK = LABELS.index("neutral")  # the prediction for a pair that the reader cannot read
FULL = (
    "January February March April May June July August September October November December"
).split()
MONTHS = {spelling: number for number, name in enumerate(FULL) for spelling in (name, name[:3])}
WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))

# Lists that are read only in the dataset that has them; the order of `level` was drawn by lot.
LISTS = {
    "letter": "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z",
    "greek": "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi "
    "rho sigma tau upsilon phi chi psi omega",
    "planet": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune",
    "rank": "private corporal sergeant lieutenant captain major colonel general",
    "number": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty",
    "level": "gorp nirp vost dax snad sorb zarn obba drell lurn heb mip clat yat usp jex twim quib "
    "wug blick plonk krelt fep tove",
}
LIST_NOUNS = {"greek": "the letter", "rank": "the rank of", "number": "number"}
# Kinds of time. Longer expressions come first, because a date contains a month, a year and a day.
KINDS = {
    "date_dmy": rf"(?P<day>\d\d?)(?P<suffix>st|nd|rd|th) (?P<month>{MONTH}) (?P<year>\d{{4}})",
    "date_my": rf"(?P<month>{MONTH}) (?P<year>\d{{4}})",
    "month_day": r"(?:the )?(?P<day>\d\d?)(?P<suffix>st|nd|rd|th)",
    "weekday": rf"(?P<weekday>{'|'.join(WEEKDAYS)})",
    "month": rf"(?P<month>{MONTH})",
    "hours": r"(?:(?P<hour_12>1[0-2]|[1-9]) (?P<half>[AP]M)|(?P<hour_24>[01]\d|2[0-3]):00)",
    "year": r"(?P<year>\d{4})",
} | {
    kind: rf"{LIST_NOUNS.get(kind, f'the {kind}')} (?P<{kind}>{words.replace(' ', '|')})"
    for kind, words in LISTS.items()
}
TIMES = [(kind, re.compile(pattern)) for kind, pattern in KINDS.items()]
# Set II: the unit of positions, and the length of the lists that start again.
UNIT = {"hours": "hour", "weekday": "day", "month_day": "day", "month": "month", "year": "year"} | {
    "date_my": "month"
}
CYCLE = {"hours": 24, "weekday": 7, "month": 12}
SECONDS = {"minute": 60, "hour": 3600, "day": 86400, "month": 2.628e6, "year": 3.154e7}

# The pattern of a sentence depends on its times. So events may contain any words ("was sworn in",
# "left on a journey").
TIME = "|".join(re.sub(r"\?P<\w+>", "?:", pattern) for pattern in KINDS.values())
AMOUNT = rf"(?:0|[1-9]\d*) (?:{'|'.join(SECONDS)})s*"
PARTS = re.compile(rf"(\d+) ({'|'.join(SECONDS)})(s*)")
FORWARD = r"(?P<event>.+) (?P<preposition>at|on|in|before|after) (?P<time>{})\."
FRONTED = r"(?P<preposition>At|On|In|Before|After) (?P<time>{}), (?P<event>.+)\."
POINTS, AMOUNTS = (
    {"forward": re.compile(FORWARD.format(time)), "fronted": re.compile(FRONTED.format(time))}
    for time in (TIME, AMOUNT)
)
SPANS = {
    "one_clause": re.compile(
        rf"(?P<event>.+) (?P<preposition>from) (?P<start>{TIME}) to (?P<end>{TIME})\."
    ),
    "two_clauses": re.compile(
        rf"(?P<event>.+) (?P<preposition>at|on|in) (?P<start>{TIME}) "
        rf"(?P<ending>.+?)(?: (?P<second>at|on|in))? (?P<end>{TIME})\."
    ),
}
LASTS = {
    "lasting": re.compile(
        rf"(?P<event>.+) (?P<preposition>for) (?P<less>less than )?"
        rf"(?P<time>{AMOUNT}(?: {AMOUNT})?)\."
    )
}

Parts = dict[str, Any]  # a sentence's form and parts, by name


@lru_cache(maxsize=1 << 16)
def point_in_time(text: str) -> tuple[str, int]:
    """Return the kind of a time ("5 PM", "the 3rd", "May 1950") and its place among times of its
    kind.
    """
    kind, part = next(
        (kind, match.groupdict()) for kind, pattern in TIMES if (match := pattern.fullmatch(text))
    )
    if kind == "hours":
        half = 12 if part["half"] == "PM" else 0
        return kind, int(part["hour_24"] or int(part["hour_12"]) % 12 + half)
    if kind == "weekday":
        return kind, WEEKDAYS.index(text)
    if kind in LISTS:
        return kind, LISTS[kind].split().index(part[kind])
    day, year = int(part.get("day", 0)), int(part.get("year", 0))
    months = year * 12 + MONTHS.get(part.get("month", ""), 0)
    return kind, {"year": year, "month_day": day, "date_dmy": months * 31 + day}.get(kind, months)


def amount_of_time(text: str) -> list[tuple[int, str]]:
    """Return the numbers and units of "5 hours" or "4 years 1 month"."""
    return [(int(number), unit) for number, unit, _ in PARTS.findall(text)]


def sentence(text: str, forms: dict[str, re.Pattern]) -> Parts | None:
    """Return the form and the parts of a sentence; None if it fits no form, or several."""
    fitting = [
        match.groupdict() | {"form": form}
        for form, pattern in forms.items()
        if (match := pattern.fullmatch(text))
    ]
    if len(fitting) != 1 or text != " ".join(text.split()):
        return None
    return fitting[0] | {"preposition": fitting[0]["preposition"].lower()}


@lru_cache(maxsize=1 << 16)
def order_sentence(text: str) -> Parts | None:
    """Read a sentence of set I, with kind and position of its time."""
    part = sentence(text, POINTS)
    return part and part | dict(zip(("kind", "position"), point_in_time(part["time"])))


@lru_cache(maxsize=1 << 16)
def unit_sentence(text: str) -> Parts | None:
    """Read a sentence of set III, with number and unit of its duration; the position is in
    seconds.
    """
    if part := sentence(text, AMOUNTS):
        [(number, unit)] = amount_of_time(part["time"])
        part |= {"number": number, "unit": unit, "position": number * SECONDS[unit]}
    return part


@lru_cache(maxsize=1 << 16)
def span_sentence(text: str) -> Parts | None:
    """Read a premise of set II, with kind and position of its start and its end."""
    if part := sentence(text, SPANS):
        for end in ("start", "end"):
            part |= dict(zip((f"{end}_kind", f"{end}_position"), point_in_time(part[end])))
    return part


@lru_cache(maxsize=1 << 16)
def lasting_sentence(text: str) -> Parts | None:
    """Read a hypothesis of set II, with the numbers and units of its duration."""
    part = sentence(text, LASTS)
    return part and part | {"parts": amount_of_time(part["time"])}


def relation(premise: str, i: float, hypothesis: str, j: float) -> str:
    """Return the label by temporal inclusion: before and after are open intervals, every other
    preposition is a point.
    """
    (start, end), (low, high) = (
        {"before": (-inf, at), "after": (at, inf)}.get(preposition, (at, at))
        for preposition, at in ((premise, i), (hypothesis, j))
    )
    if start == end:
        return "entailment" if low < start < high else "contradiction"
    if low <= start and end <= high:
        return "entailment"
    return "contradiction" if end <= low or high <= start else "neutral"


def of_two_times(premise: Parts, hypothesis: Parts) -> str | None:
    """Return the label of a pair of set I or III; None if the reader cannot compare its times."""
    interval = hypothesis["preposition"] in ("before", "after")
    if not interval or premise.get("kind") != hypothesis.get("kind"):
        return None
    return relation(
        *(one[name] for one in (premise, hypothesis) for name in ("preposition", "position"))
    )


def gold_duration(premise: Parts) -> int | None:
    """Return how long a premise of set II lasts, in the unit of its times. An end that is not after
    the start lies in the next day, week or year. Dates and years have no next cycle.
    """
    kind, lasts = premise["start_kind"], premise["end_position"] - premise["start_position"]
    if kind != premise["end_kind"] or kind not in UNIT:
        return None
    if lasts <= 0:
        return lasts + CYCLE[kind] if kind in CYCLE else None
    return lasts


def claimed_duration(hypothesis: Parts, kind: str) -> int | None:
    """Return the duration of a hypothesis of set II, in the unit of times of this kind; None for
    other units.
    """
    units = [unit for _, unit in hypothesis["parts"]]
    of_dates = [["year"], ["year", "month"]]
    if units != [UNIT[kind]] and not (kind == "date_my" and units in of_dates):
        return None
    return sum(number * (12 if unit != UNIT[kind] else 1) for number, unit in hypothesis["parts"])


def of_duration(premise: Parts, hypothesis: Parts) -> str | None:
    """Return the label of a pair of set II; None if the reader cannot read a duration."""
    gold = gold_duration(premise)
    claimed = None if gold is None else claimed_duration(hypothesis, premise["start_kind"])
    if gold is None or claimed is None:
        return None
    is_true = gold < claimed if hypothesis["less"] else gold == claimed
    return "entailment" if is_true else LABELS[2]


class Grammar(NamedTuple):
    """Functions that read the sentences of a set and return the label."""

    premise: Callable[[str], Parts | None]
    hypothesis: Callable[[str], Parts | None]
    label: Callable[[Parts, Parts], str | None]


GRAMMARS = {
    "temp_order": Grammar(order_sentence, order_sentence, of_two_times),
    "temp_duration": Grammar(span_sentence, lasting_sentence, of_duration),
    "cross_unit": Grammar(unit_sentence, unit_sentence, of_two_times),
}


class Reading(NamedTuple):
    """The parts of both sentences of a pair, and the label that follows; None for a part that the
    reader cannot read.
    """

    premise: Parts | None
    hypothesis: Parts | None
    label: str | None


def read(premise: str, hypothesis: str, challenge_set: str) -> Reading:
    """Read a pair of sentences of a set. Each different sentence is parsed once."""
    grammar = GRAMMARS[challenge_set]
    first, second = grammar.premise(premise), grammar.hypothesis(hypothesis)
    return Reading(first, second, grammar.label(first, second) if first and second else None)


def read_labels(pairs: pd.DataFrame) -> np.ndarray:
    """Return (n,) the label of each pair by rule, as a place in LABELS; -1 if the reader cannot
    read the pair.

    pairs: text_a, text_b, challenge_set.
    """
    places = {name: place for place, name in enumerate(LABELS)}
    columns = (pairs[name] for name in ("text_a", "text_b", "challenge_set"))
    return np.array([places.get(read(*pair).label or "", -1) for pair in zip(*columns)], int)
