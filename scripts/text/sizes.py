"""The size of what a text says of time: a duration, a rate, a date, a clock, a number; and how far
two texts are from each other in size.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from scripts.text.number_words import NUMBER, any_of, number
from scripts.text.span_values import HOW_OFTEN, MONTHS, PER, with_clock_times, with_dates, words_of
from scripts.text.temporal_words import pieces, rules_of
from scripts.text.time_units import DAY, NAMES, SECONDS

OTHER = "other"
KINDS = ("duration", "clock", "date", "age", "frequency", OTHER)
# Distances: no size in common; a size that only one option has; different letters.
FAR, UNSHARED, LETTERS = 1000.0, 1.0, 0.01
# Groups of sizes that can be compared. In each group the first size that both options have counts.
# The number is the size after which values start again (12 months, 24 hours).
GROUPS: list[dict[str, float]] = [
    {"duration": np.inf},
    {"offset": np.inf},
    {"rate": np.inf},
    {"number": np.inf},
    {"year": np.inf},
    {"month": 12, "day": np.inf},
    {"weekday": 7},
    {"clock": 24, "hour": 12},
    {"end clock": 24, "end hour": 12},
]
MORE = {"fortnights?": 14 * DAY, "weekends?": 2 * DAY, "semesters?": 126 * DAY, "nights": DAY}
LENGTHS = {NAMES[unit]: float(size) for unit, size in SECONDS.items()} | MORE
LENGTH = re.compile(
    rf"(?:(?:(?P<low>\b{NUMBER})\s+(?:to |or |and (?!half|quarter))?)?"
    rf"(?P<number>\b{NUMBER})\s+(?:\w+ )?)?"
    rf"\b(?P<unit>{'|'.join(LENGTHS)})\b(?P<more> and (?:half|quarter)\b)?"
)
UNIT = [(re.compile(names), size) for names, size in LENGTHS.items()]
OFTEN = re.compile(rf"\b{any_of(PER)}\b")
RATE = re.compile(r"\b(?:every|per|once|twice|thrice|times)\b")
QUARTERS = re.compile(r"\b(3 )?quarters? of\b")
COUNT = re.compile(rf"\b(?:(once|twice|thrice)|({NUMBER}) times)\b")
SIDES = {
    -1: re.compile(r"\b(?:ago|earlier|last|previous)\b"),
    0: re.compile(r"\b(?:this|that)\b"),
    1: re.compile(r"\b(?:later|next|from now)\b"),
}
DAYS = {"day after tomorrow": 2, "day before yesterday": -2, "tomorrow": 1, "yesterday": -1}
DAYS |= {"today": 0, "tonight": 0, "now": 0}
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
TIMES_OF_YEAR = {"spring": 3.5, "summer": 6.5, "autumn": 9.5, "fall": 9.5, "winter": 0.5}
TIMES_OF_YEAR |= {"christmas": 11.8, "new year": 0.0, "valentine": 1.5, "easter": 3.3}
TIMES_OF_YEAR |= {"halloween": 10.0, "thanksgiving": 10.8, "independence": 6.1}
PARTS = {"morning": 9, "afternoon": 15, "evening": 19, "tonight": 21, "night": 22}
DATE = re.compile(rf"(?:\b(\d{{1,2}}) )?\b({'|'.join(MONTHS.values())})\b")
NAMED: dict[str, tuple[re.Pattern, Callable[[str], float]]] = {
    "weekday": (re.compile(rf"\b({'|'.join(WEEKDAYS)})s?\b"), WEEKDAYS.index),
    "month": (re.compile(rf"\b{any_of(TIMES_OF_YEAR)}"), TIMES_OF_YEAR.__getitem__),
    "offset": (re.compile(rf"\b{any_of(DAYS)}\b"), lambda name: signed(DAYS[name] * DAY)),
}
YEAR, DECADE = re.compile(r"\b(?:1[4-9]|20)\d\d\b"), re.compile(r"\b(\d\d|\d{4})s\b")
ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
CLOCK = re.compile(r"\b(\d+):(\d\d)(?: (am|pm))?")
PART = re.compile(rf"\b({any_of(PARTS)})s?\b")


def signed(seconds: float) -> float:
    """Return the logarithm of a distance from now in seconds, negative in the past."""
    return float(np.sign(seconds) * np.log1p(abs(seconds)))


def seconds_of(words: str) -> float:
    """Return the logarithm of a duration's seconds, or NaN. Several durations are added; a range
    gives its middle.
    """
    found = []
    for match in LENGTH.finditer(words):
        size = next(size for unit, size in UNIT if unit.fullmatch(match["unit"]))
        more = {"half": 0.5, "quarter": 0.25}.get((match["more"] or "").removeprefix(" and "), 0)
        ends = [number(match[end] or match["number"] or "1") + more for end in ("low", "number")]
        found.append(np.log(size) + np.log(np.maximum(ends, 1e-3)).mean())
    if not found:
        return np.nan
    ranged = re.search(r"\b(?:to|or)\b", words) is not None
    return float(np.mean(found) if ranged else np.log(np.exp(found).sum()))


@lru_cache(maxsize=200_000)
def sizes(text: str) -> dict[str, float]:
    """Return the sizes of an option, by kind (kinds of GROUPS); empty if no size can be read."""
    read = pieces(text, rules_of())
    words = OFTEN.sub(lambda name: f"every {PER[name[0]]}", words_of(read))
    words = QUARTERS.sub(lambda found: "0.75" if found[1] else "0.25", words).replace("quite ", "")
    found: dict[str, float] = {}
    holiday = any(piece.word_class == "holiday" for piece in read)  # Christmas Day is no duration
    seconds = np.nan if holiday else seconds_of(words)
    if RATE.search(words) and not np.isnan(seconds):
        times = 1.0
        if count := COUNT.search(words):
            times = number(HOW_OFTEN[count[1]] if count[1] else count[2])
        return {"rate": seconds - float(np.log(max(times, 1e-3)))}
    if not np.isnan(seconds):
        found["duration"] = seconds
        for side, pattern in SIDES.items():
            if pattern.search(words):
                found["offset"] = side * seconds
        if re.search(r"\bold\b", words):
            found["number"] = seconds - float(np.log(SECONDS["year"]))
        return found
    if re.fullmatch(r"\d+", words) and not YEAR.fullmatch(words):
        found["number"] = float(np.log(max(int(words), 0.5)))
        return found | ({"hour": int(words) % 12} if int(words) <= 12 else {})
    words = with_dates(words)
    for kind, (pattern, value) in NAMED.items():
        if match := pattern.search(words):
            found[kind] = value(match[0].removesuffix("s") if kind == "weekday" else match[0])
    if match := DATE.search(words):
        found["month"] = list(MONTHS.values()).index(match[2]) + (int(match[1] or 15) - 1) / 30
    if match := YEAR.search(words):
        found["year"] = float(match[0])
    elif match := DECADE.search(words):
        found["year"] = float(match[1]) + (1905 if len(match[1]) == 2 else 5)
    if match := ORDINAL.search(words):
        found["day"] = float(match[1])
    rest = DECADE.sub(" ", YEAR.sub(" ", DATE.sub(" ", words)))
    for name, (hour, minutes, half) in zip(("", "end "), CLOCK.findall(with_clock_times(rest))):
        found[f"{name}hour"] = int(hour) % 12 + int(minutes) / 60
        if half:
            found[f"{name}clock"] = found[f"{name}hour"] + (12 if half == "pm" else 0)
    if "hour" not in found and (match := PART.search(words)):
        found |= {"clock": PARTS[match[1]], "hour": PARTS[match[1]] % 12}
    return found


def kind_of_time(text: str) -> str:
    """Return the kind of time that an expression names, one of KINDS: other if no size can be read,
    or only a number. A time beside now ("tomorrow", "two weeks ago") is a date.
    """
    read = sizes(text)
    if "rate" in read:
        return "frequency"
    if "duration" in read and "number" in read:
        return "age"
    if "duration" in read and "offset" not in read:
        return "duration"
    if read.keys() & {"year", "month", "day", "weekday", "offset"}:
        return "date"
    return "clock" if "hour" in read and "number" not in read else OTHER


def shared_kind(texts: Iterable[str]) -> str:
    """Return the kind of time of several expressions; other if they have several kinds."""
    kinds = {kind_of_time(text) for text in texts}
    return kinds.pop() if len(kinds) == 1 else OTHER


def letters(text: str) -> set[str]:
    """Return every three letters in a row of a text, its ends included."""
    text = f" {text.lower()} "
    return {text[place : place + 3] for place in range(len(text) - 2)}


def distance(one: dict[str, float], other: dict[str, float]) -> float:
    """Return how far the sizes of two options are from each other."""
    total, shared = 0.0, False
    for group in GROUPS:
        for kind, circle in group.items():
            if kind in one and kind in other:
                gap = abs(one[kind] - other[kind])
                total, shared = total + min(gap, circle - gap), True
                break
        else:
            if group.keys() & (one.keys() ^ other.keys()):
                total += UNSHARED
    return total if shared else FAR


def nearest(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return (n,) the distance of each option to the nearest option of its instance, and (n,) the
    row of that option. An option alone in its instance gets its own row.
    """
    texts = table["second"].unique()
    read, spelt = {text: sizes(text) for text in texts}, {text: letters(text) for text in texts}
    second = table["second"].to_numpy()
    far, row = np.full(len(table), 2 * FAR), np.arange(len(table))
    for rows in table.groupby("choice_id", sort=False).indices.values():
        for a, b in combinations(rows, 2):
            one, other = second[a], second[b]
            alike = len(spelt[one] & spelt[other]) / len(spelt[one] | spelt[other])
            found = round(distance(read[one], read[other]) + LETTERS * (1 - alike), 9)
            for this, that in ((a, b), (b, a)):
                if found < far[this]:
                    far[this], row[this] = found, that
    return far, row


def with_neighbour(table: pd.DataFrame, scores: np.ndarray) -> np.ndarray:
    """Return (n, k) the mean of each option's scores and its nearest option's scores. Neighbours
    are right together. A small part of the option's own score breaks ties between the two.
    """
    return (scores + scores[nearest(table)[1]]) / 2 + 1e-6 * scores
