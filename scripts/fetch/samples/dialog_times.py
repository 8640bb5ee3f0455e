"""The times of the sample dialogs: as they are said, with all that could and could not be said in their place.

What can be said follows from what is talked about (an egg takes minutes, a degree years), so that a model can learn it.
A range of times is a pair of lists, the right and the wrong ones, each of (text, value).
"""

from itertools import product
from random import Random
from typing import NamedTuple

from scripts.fetch.samples.dialog_texts import BORN, COUNTS, MINUTES, MONTHS, NUMBERS, WEEKDAYS


class Time(NamedTuple):
    """A time in a turn: as it is said, and all that could and could not be said in its place, as (text, value)."""

    text: str
    value: object
    right: list[tuple[str, object]]
    wrong: list[tuple[str, object]]


def drawn(chance: Random, right: list, wrong: list) -> Time:
    """One of the right ones."""
    return Time(*chance.choice(right), right, wrong)


def said(number: int) -> list[str]:
    """A number in figures, and in words where it is short."""
    return [str(number), *([NUMBERS[number]] if number in NUMBERS else [])]


def near(value: float, usual: tuple[float, float], factor: float) -> bool | None:
    """Whether a value lies in the usual range (True), far from it (False) or neither (None)."""
    if usual[0] <= value <= usual[1]:
        return True
    return False if value < usual[0] / factor or value > usual[1] * factor else None


def parted(times: list[tuple[str, object, bool | None]]) -> tuple[list, list]:
    """The right and the wrong ones of (text, value, whether it is right, wrong or neither)."""
    return [time[:2] for time in times if time[2]], [time[:2] for time in times if time[2] is False]


def durations(usual: tuple[float, float]) -> tuple[list, list]:
    """`ten minutes`, `10 minutes`; right in the usual minutes, in the unit in which they are counted."""
    counted = max((unit for unit in MINUTES if 2 * MINUTES[unit] <= usual[0] + 1), key=MINUTES.get)
    times = []
    for unit, size in MINUTES.items():
        for number in COUNTS[unit]:
            fits = near(number * size, usual, 5)
            if not (fits and unit != counted):
                times += [(f"{word} {unit}s", number * size, fits) for word in said(number)]
    return parted(times)


def ages(usual: tuple[float, float]) -> tuple[list, list]:
    """`80 years old`, `six months old`."""
    years = [(f"{word} years old", number, near(number, usual, 2.2))
             for number in (2, 3, 4, 5, *range(6, 12), 15, 18, 19, 20, 21, 22, 23, 40, 45, 50, 60, 70, 75, 80, 85, 90)
             for word in said(number)]
    months = [(f"{word} months old", number / 12, near(number / 12, usual, 2.2)) for number in range(2, 12)
              for word in said(number)]
    return parted(years + months)


def clock_times(usual: tuple[int, ...]) -> tuple[list, list]:
    """`7 am`, `7:30 pm`, `seven o'clock`; wrong where four hours or more away, without am or pm three."""

    def apart(hour: float, cycle: int) -> float:
        return min(min((hour - one) % cycle, (one - hour) % cycle) for one in usual)

    times = []
    for hour, half in product(range(24), (0, 30)):
        value, shown = hour + half / 60, hour % 12 or 12
        fits = True if hour in usual else False if apart(value, 24) >= 4 else None
        times.append((f"{shown}{':30' if half else ''} {'am' if hour < 12 else 'pm'}", value, fits))
        if not half and fits:
            times.append((f"{NUMBERS[shown]} o'clock", value, True))
        if not half and hour < 12 and apart(hour, 12) >= 3:
            times.append((f"{NUMBERS[shown]} o'clock", value, False))
    return parted(times)


def frequencies(usual: tuple[float, float]) -> tuple[list, list]:
    """`twice a week`, `every day`, `every ten minutes`; by how many times a year it is."""
    times = []
    for unit in ("day", "week", "month", "year"):
        yearly = {"day": 365, "week": 52, "month": 12, "year": 1}[unit]
        for number, word in enumerate(("once", "twice", "three times", "four times"), 1):
            times.append((f"{word} a {unit}", number * yearly, near(number * yearly, usual, 5)))
        times.append((f"every {unit}", yearly, near(yearly, usual, 5)))
    for unit, numbers in (("minute", (10, 15, 20, 30)), ("hour", (2, 3, 6)), ("week", (2, 3)), ("year", (4, 5, 8, 10))):
        for number in numbers:
            yearly = MINUTES["year"] / MINUTES[unit] / number
            times += [(f"every {word} {unit}s", yearly, near(yearly, usual, 5)) for word in said(number)]
    return parted(times)


def months(chance: Random, usual: tuple[int, ...]) -> tuple[list, list]:
    """`in July` or `on July 12`, all of one form; wrong where three months or more away."""
    day = chance.choice([None, *range(2, 28)])
    times = []
    for month, name in enumerate(MONTHS):
        apart = min(min((month - one) % 12, (one - month) % 12) for one in usual)
        fits = True if apart == 0 else False if apart >= 3 else None
        for shown in ([None] if day is None else [day, day + 1]):
            times.append((name if shown is None else f"{name} {shown}", (month, shown), fits))
    return parted(times)


def weekdays(chance: Random, usual: tuple[int, ...]) -> tuple[list, list]:
    """`next Monday`, all with the same word before it."""
    first = chance.choice(["next ", "this ", ""])
    return parted([(f"{first}{name}", day, day in usual) for day, name in enumerate(WEEKDAYS)])


def years(usual: range) -> tuple[list, list]:
    """`1938`; wrong where twelve years or more away."""
    known = sorted({year for beginnings in BORN.values() for year in beginnings})
    apart = {year: min(abs(year - one) for one in usual) for year in known}
    return parted([(str(year), year, True if apart[year] == 0 else False if apart[year] >= 12 else None) for year in known])
