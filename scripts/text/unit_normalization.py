"""Write the temporal quantities of answers in their most proper unit (Zhou et al. 2019, section 4,
unit normalization).

    30 months         2.5 years             90 minutes               1.5 hours
    a few days        3 days                thirty-five minutes      0.58 hours
    12 to 72 hours    0.5 to 3 days         1 hour and 15 minutes    1.25 hours
    half an hour      0.5 hours             every 24 hours           every day
    a two-hour talk   a 2-hour talk         once every 54 months     once every 4.5 years

Reads  answers, one a line, from standard input
Writes the same lines to standard output, with each quantity in its most proper unit

    python -m scripts.text.unit_normalization < answers.txt

The most proper unit of a quantity is the largest unit in which its number is at least 0.5. Units
are second, minute, hour, day, week, month, year, decade and century. As in the authors' code,
decade and century are ordinary units: 5 years are 0.5 decades, and 90 years are 0.9 centuries. A
millennium is read, but written as 10 centuries, because the paper's data has no larger unit. The
smaller end of a range decides the unit of both ends. Less than half a second stays in seconds.

A month has 30 days, a year 365 days. But 12 months are a year when months and years are converted.
This gives the paper's own example, 30 months as 2.5 years (30 times 30 days are 2.47 years). So 180
days, 6 months and half a year are the same.

a, an 1; a couple (of) 2; a few, some 3; several 4; many, tens of 10; dozen(s of) 12; hundreds of
100, and so on. Numbers have two decimals at most. Text around a quantity stays.

"every 2 hours" is a period: its number counts hours, so it is normalised. A period of 1 is written
without its number (every 24 hours: every day). These expressions do not change:
  rates          twice a week, 3 times every 2 hours, 5 days a week, 24 hours a day (0.71 weeks a
                 week are nonsense)
  once a week    its period has the most proper unit already, and other forms are less readable
  ages           18 years old, a 5-year-old, aged 30 years
  clock times    2:30 pm, 5 o'clock, at 0600 hours
  dates, names   1990, March 3, the 1960s, the Seven Years War
  ordinals       the second one, a second child, his 2nd year, every third day
  idioms         one day he left, two weeks' notice
  no number      it took years, next week
  too small      zero, and numbers that two decimals change by more than 1 %
"""

import argparse
import re
import sys
from itertools import chain

import numpy as np
import pandas as pd

from scripts.text.quantity_expressions import expressions
from scripts.text.time_units import PLURALS, SIZE, UNITS
from scripts.running.program import execute, parser
from scripts.data.texts import decoded, lines_in

# for each unit, a smaller unit and the exact number of smaller units in it
SMALLER = {
    "century": ("year", 100),
    "decade": ("year", 10),
    "year": ("month", 12),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
    "minute": ("second", 60),
}
MOST = 180  # the largest number that a reader accepts: 180 minutes, not 300
# words that may come before a plain quantity
FRAME = re.compile(
    r"(?:(?:about|around|for)\s+)?(?:once\s+(?:in\s+)?)?(?P<every>(?:every|each|per)\s+)?", re.I
)
INEXACT = re.compile(
    r"\b(?:few|some|several|couple|many|(?:ten|dozen|hundred|thousand|[mbtr]+illion)s)\b", re.I
)


def short(numbers: pd.Series) -> pd.Series:
    """Numbers as text, with two decimals at most: 2.5, not 2.50."""
    return numbers.map("{:.2f}".format).astype(object).str.rstrip("0").str.rstrip(".")


def rewritten(table: pd.DataFrame) -> pd.Series:
    """Return each expression in its most proper unit; missing if the expression does not change."""
    exact = table[["new_low", "new_high"]]
    written = exact.round(2)
    lossy = ((written - exact).abs() > 0.01 * exact).any(axis=1)
    low, high = written["new_low"], written["new_high"]
    single = table["join"].isna()
    numbers = short(low).where(single, short(low) + table["join"].fillna("") + short(high))
    unit = table["into"].map(dict(enumerate(UNITS)))
    unit = unit.where(table["attributive"] | single & (low == 1), unit.map(PLURALS))
    gap = pd.Series(" ", table.index).where(~table["hyphen"], "-")
    unwritten = (
        table["every"].notna() & single & (low == 1) & ~(unit.eq("second") & table["ordinal_place"])
    )
    text = (numbers + gap + unit).where(~unwritten, unit)
    return text.where(~(lossy | table["fixed"])).astype(object)


def found_in(answers: pd.Series) -> tuple[np.ndarray, pd.Series, pd.DataFrame]:
    """Return the place of each answer among the different texts (-1 if missing), these texts, and
    their quantities from expressions().

    The search ignores soft hyphens. start and end refer to the original texts.
    """
    codes, texts = pd.factorize(answers.to_numpy(object))
    texts = pd.Series(texts, dtype=object)
    table = expressions(texts.str.replace("\u00ad", "", regex=False))
    hyphened = texts.str.contains("\u00ad", regex=False).to_numpy(bool)
    for row, part in table[hyphened[table["row"]]].groupby("row"):
        positions = np.array(
            [place for place, letter in enumerate(texts[row]) if letter != "\u00ad"]
        )
        table.loc[part.index, "start"] = positions[part["start"].to_numpy(int)]
        table.loc[part.index, "end"] = positions[part["end"].to_numpy(int) - 1] + 1
    return codes, texts, table


def quantities(answers: pd.Series) -> pd.DataFrame:
    """Return the temporal quantity of each answer, by the answers' index; missing if the answer has
    not exactly one.

    start, end       bounds of its expression in the answer
    low, high, unit  as written; low and high differ only in ranges ("1 hour and 15 minutes" are
                     1.25 hours)
    seconds_low, seconds_high
                     in the most proper unit, before rounding, so 12 months and a year are the same

    Periods are quantities (every 2 hours; every day; once a week is one week). Rates are not (twice
    a week).
    """
    codes, _, table = found_in(answers)
    ends = np.sort(table[["low", "high"]].to_numpy(float))
    seconds = (
        np.sort(table[["new_low", "new_high"]].to_numpy(float))
        * SIZE[table["into"].to_numpy(int)][:, None]
    )
    # Ten digits, so that 5 days are 120 hours exactly.
    seconds = np.array([float(f"{value:.10g}") for value in seconds.ravel()]).reshape(-1, 2)
    table = table.assign(
        low=ends[:, 0],
        high=ends[:, 1],
        unit=table["unit"].map(dict(enumerate(UNITS))),
        seconds_low=seconds[:, 0],
        seconds_high=seconds[:, 1],
    )
    table = table[~table["row"].duplicated(keep=False)].set_index("row")
    table = table[["start", "end", "low", "high", "unit", "seconds_low", "seconds_high"]].reindex(
        codes
    )
    numbers = dict.fromkeys(["low", "high", "seconds_low", "seconds_high"], "Float64")
    return table.astype({"start": "Int64", "end": "Int64", "unit": "str"} | numbers).set_axis(
        answers.index
    )


def normalize_units(answers: pd.Series) -> pd.Series:
    """The answers with each temporal quantity in its most proper unit (rules: above); the rest
    of the text stays.

    Decade and century are units like any other: the rule, and the authors' code, name them.
    """
    codes, texts, table = found_in(answers)
    table = table.assign(new=rewritten(table)).dropna(subset="new")
    normalized = texts.to_numpy(object).copy()
    for row, part in table.groupby("row", sort=False):
        between = [
            normalized[row][end:start]
            for end, start in zip([0, *part["end"]], [*part["start"], None])
        ]
        normalized[row] = "".join(chain.from_iterable(zip(between, [*part["new"], ""])))
    return answers.where(
        codes < 0, pd.Series(np.append(normalized, None)[codes], answers.index, dtype=answers.dtype)
    )


def same_amount(amount: float, unit: str, is_period: bool) -> tuple[float, str] | None:
    """Return a quantity in another unit, exactly: a whole number of the largest unit that has one,
    else a number and a half. Return None if no such number is from 0.5 to MOST. A day equals 24
    hours only in a period (every day), because a day of work has fewer hours.
    """
    sizes = {big: size for big, size in SMALLER.items() if big != "day" or is_period}
    found = [(amount / times, big) for big, (small, times) in sizes.items() if small == unit]
    found += [(amount * times, small) for big, (small, times) in sizes.items() if big == unit]
    found = [(round(number, 9), name) for number, name in found]
    fits = [one for one in found if 0.5 <= one[0] <= MOST and one[0] % 0.5 == 0]
    return min(fits, key=lambda one: one[0] % 1, default=None)


def in_another_unit(answers: pd.Series) -> pd.Series:
    """Write each answer that is only one exact quantity (with FRAME before it) in another unit;
    missing for all other answers. Examples: "1 hour" as "60 minutes", "once a week" as "once every
    7 days".
    """
    codes, texts, table = found_in(answers)
    written = np.full(len(texts) + 1, None, object)  # the last place is for missing answers
    single = ~table["row"].duplicated(keep=False) & table["join"].isna() & ~table["attributive"]
    for one in table[single].itertuples():
        text = texts[one.row]
        frame = FRAME.fullmatch(text[: one.start])
        is_period = isinstance(one.every, str) or one.fixed
        other = same_amount(one.low, UNITS[one.unit], is_period)
        if not (frame and other) or one.end < len(text) or INEXACT.search(text):
            continue
        number, unit = other
        quantity = f"{number:g} {unit if number == 1 else PLURALS[unit]}"
        if number == 0.5:
            quantity = f"half {'an' if unit == 'hour' else 'a'} {unit}"
        if is_period:
            quantity = "every " + quantity.removeprefix("1 ")
        before = text[: frame.start("every")] if frame["every"] else text[: one.start]
        written[one.row] = before + quantity
    return pd.Series(written[codes], answers.index, dtype=object)


def main(given: argparse.Namespace) -> None:
    remedy = "end each answer with a line feed"
    lines = lines_in(
        decoded(sys.stdin.buffer.read(), "standard input", remedy), "standard input", remedy
    )
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for line in normalize_units(pd.Series(lines, dtype=object)):
        print(line)


if __name__ == "__main__":
    execute(main, parser(__doc__).parse_args())
