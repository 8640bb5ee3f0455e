"""The times of the sample dialogs, with right and wrong alternatives for each.

The right alternatives follow from the subject (an egg takes minutes, a degree years), so a model
can learn them. Each kind of time is a list of (text, value, whether it is right, wrong or neither:
True, False, None).
"""

from collections.abc import Sequence
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

from scripts.fetch.samples.files import texts_of

MINUTES = {
    "second": 1 / 60,
    "minute": 1,
    "hour": 60,
    "day": 1440,
    "week": 10080,
    "month": 43200,
    "year": 525600,
}
YEARLY = {"day": 365, "week": 52, "month": 12, "year": 1}

Times = list[tuple[str, object, bool | None]]


class Time(NamedTuple):
    """A time in a turn, and right and wrong alternatives in its place, as (text, value)."""

    text: str
    value: object
    right: list[tuple[str, object]]
    wrong: list[tuple[str, object]]


def drawn(chance: Random, times: Times) -> Time:
    right = [time[:2] for time in times if time[2]]
    return Time(*chance.choice(right), right, [time[:2] for time in times if time[2] is False])


def spellings(number: int) -> list[str]:
    """A number in figures, and in words where it is short."""
    words = texts_of("dialogs")["numbers"]
    return [str(number), *([words[number]] if number in words else [])]


def near(value: float, usual: Sequence[float], factor: float) -> bool | None:
    """Whether a value lies in the usual range (True), far from it (False) or neither (None)."""
    if usual[0] <= value <= usual[1]:
        return True
    return False if value < usual[0] / factor or value > usual[1] * factor else None


def away(value: float, usual: Sequence[int], cycle: int) -> float:
    """How far a value is from the nearest usual one, either way round the cycle."""
    return min(min((value - one) % cycle, (one - value) % cycle) for one in usual)


@cache  # the few subjects come again in every dialog
def durations(chance: Random, usual: tuple[int, int, str]) -> Times:
    """`ten minutes`, `10 minutes`; right in the usual range and unit."""
    least, most, usual_unit = usual
    times: Times = []
    for unit, size in MINUTES.items():
        for number in texts_of("dialogs")["counts"][unit]:
            fits = near(number * size, (least * MINUTES[usual_unit], most * MINUTES[usual_unit]), 5)
            if not (fits and unit != usual_unit):
                times += [(f"{word} {unit}s", number * size, fits) for word in spellings(number)]
    return times


@cache
def ages(chance: Random, usual: tuple[float, ...]) -> Times:
    """`80 years old`, `six months old`."""
    years = [2, 3, 4, 5, *range(6, 12), 15, *range(18, 24), 40, 45, 50, 60, 70, 75, 80, 85, 90]
    counted = [(number, "years", number) for number in years]
    counted += [(number, "months", number / 12) for number in range(2, 12)]
    return [
        (f"{word} {unit} old", value, near(value, usual, 2.2))
        for number, unit, value in counted
        for word in spellings(number)
    ]


@cache
def clock_times(chance: Random, usual: tuple[int, ...]) -> Times:
    """`7 am`, `7:30 pm`, `seven o'clock`; wrong four hours or more away, three without am or pm."""
    words = texts_of("dialogs")["numbers"]
    times: Times = []
    for hour, half in product(range(24), (0, 30)):
        value, shown = hour + half / 60, hour % 12 or 12
        fits = True if hour in usual else False if away(value, usual, 24) >= 4 else None
        text = f"{shown}{':30' if half else ''} {'am' if hour < 12 else 'pm'}"
        times.append((text, value, fits))
        if not half and fits:
            times.append((f"{words[shown]} o'clock", value, True))
        if not half and hour < 12 and away(hour, usual, 12) >= 3:
            times.append((f"{words[shown]} o'clock", value, False))
    return times


@cache
def frequencies(chance: Random, usual: tuple[float, ...]) -> Times:
    """`twice a week`, `every day`, `every ten minutes`; the value is the times a year."""
    counted = []
    for unit, yearly in YEARLY.items():
        for number, word in enumerate(("once", "twice", "three times", "four times"), 1):
            counted.append((f"{word} a {unit}", number * yearly))
        counted.append((f"every {unit}", yearly))
    every = {"minute": (10, 15, 20, 30), "hour": (2, 3, 6), "week": (2, 3), "year": (4, 5, 8, 10)}
    for unit, numbers in every.items():
        for number in numbers:
            yearly = MINUTES["year"] / MINUTES[unit] / number
            counted += [(f"every {word} {unit}s", yearly) for word in spellings(number)]
    return [(text, yearly, near(yearly, usual, 5)) for text, yearly in counted]


def months(chance: Random, usual: tuple[str, ...]) -> Times:
    """`July` or `July 12`, all of one form; wrong where three months or more away."""
    names, day = texts_of("dialogs")["months"], chance.choice([None, *range(2, 28)])
    times: Times = []
    for month, name in enumerate(names):
        distance = away(month, [names.index(one) for one in usual], 12)
        fits = True if distance == 0 else False if distance >= 3 else None
        for shown in [None] if day is None else [day, day + 1]:
            times.append((name if shown is None else f"{name} {shown}", (month, shown), fits))
    return times


def weekdays(chance: Random, usual: tuple[str, ...]) -> Times:
    first = chance.choice(["next ", "this ", ""])
    return [(f"{first}{name}", name, name in usual) for name in texts_of("dialogs")["weekdays"]]


@cache
def years(chance: Random, usual: tuple[int, ...]) -> Times:
    """`1938`; wrong where twelve years or more away."""
    subjects = texts_of("dialogs")["scenes"]["born"]["subjects"]
    known = sorted({year for subject in subjects for year in subject["usual"]})
    distances = {year: away(year, usual, 10_000) for year in known}
    return [
        (str(year), year, True if distance == 0 else False if distance >= 12 else None)
        for year, distance in distances.items()
    ]


# How to make the times of each kind of scene from the usual ones.
TIMES_OF = {
    "task": durations,
    "age": ages,
    "clock": clock_times,
    "place": clock_times,
    "habit": frequencies,
    "run": frequencies,
    "season": months,
    "day": weekdays,
    "born": years,
}
