"""Write the temporal quantities of answers in their most proper unit (Zhou et al. 2019, section 4, unit normalization).

    30 months         2.5 years             90 minutes               1.5 hours
    a few days        3 days                thirty-five minutes      0.58 hours
    12 to 72 hours    0.5 to 3 days         1 hour and 15 minutes    1.25 hours
    half an hour      0.5 hours             every 24 hours           every day
    a two-hour talk   a 2-hour talk         once every 54 months     once every 4.5 years

Reads  answers, one a line, from standard input; a line ends at a line feed and nowhere else
Writes the same lines to standard output, each quantity in its most proper unit

    python -m scripts.build.unit_normalization < answers.txt

The most proper unit is the largest of which there is at least a half: second, minute, hour, day, week, month, year,
decade or century. Decade and century are units like any other, as in the authors' code, so 5 years are 0.5 decades and
90 years 0.9 centuries; a millennium is read, but written as 10 centuries, since the paper's data has no larger unit.
The smaller end of a range decides for both ends. What is less than half a second stays in seconds.

A month has 30 days, a year 365. Months and years are converted at 12 to the year, which gives the paper's own example,
30 months as 2.5 years (30 times 30 days are 2.47 years); so 180 days, 6 months and half a year are the same.

a, an 1; a couple (of) 2; a few, some 3; several 4; many, tens of 10; dozen(s of) 12; hundreds of 100, and so on.
Numbers have two decimals at most. Text around a quantity stays.

every 2 hours is a period: its number counts hours, so it is normalised, and a period of 1 is written without its number
(every 24 hours: every day). Left as they are:
  rates          twice a week, 3 times every 2 hours, 5 days a week, 24 hours a day (0.71 weeks a week are nonsense)
  once a week    its period has the most proper unit already, and no other wording reads as well
  ages           18 years old, a 5-year-old, aged 30 years
  clock times    2:30 pm, 5 o'clock, at 0600 hours
  dates, names   1990, March 3, the 1960s, the Seven Years War
  ordinals       the second one, a second child, his 2nd year, every third day
  idioms         one day he left, two weeks' notice
  no number      it took years, next week
  too small      what two decimals cannot hold to 1 %, and zero
"""

import argparse
import re
import sys
from itertools import chain

import numpy as np
import pandas as pd

from scripts.common.program import parser, run
from scripts.common.texts import decoded, lines_in

DAY = 86400
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": DAY, "week": 7 * DAY, "month": 30 * DAY, "year": 365 * DAY,
           "decade": 3650 * DAY, "century": 36500 * DAY, "millennium": 365000 * DAY}  # ascending
UNITS = list(SECONDS)
SIZE = np.array(list(SECONDS.values()), float)
MONTHS = np.array([np.nan] * 5 + [1, 12, 120, 1200, 12000])  # of the units that are counted in months
LARGEST = UNITS.index("century")  # the largest that is written
PLURALS = {unit: f"{unit}s" for unit in UNITS} | {"century": "centuries", "millennium": "millennia"}
NAMES = {"second": "seconds?|secs?", "minute": "minutes?|mins?", "hour": "hours?|hrs?", "day": "days?",
         "week": "weeks?|wks?", "month": "months?|mths?", "year": "years?|yrs?", "decade": "decades?",
         "century": "century|centur(?:ie|y)s", "millennium": "millenn?iums?|millenn?ia"}
UNIT = "(?:" + "|".join(NAMES.values()) + r")\b"
ONE = re.compile("century|millenn?ium|(?!.*s$)(?!.*ia$).*", re.I)  # a unit in the singular

# ---- Numbers.

ONES = dict(zip("one two three four five six seven eight nine".split(), range(1, 10)))
TEENS = dict(zip("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
                 range(10, 20)))
TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10)))
SCALES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
CARDINALS = ONES | TEENS | TENS
VAGUE = {"couple": 2, "other": 2, "few": 3, "some": 3, "several": 4, "many": 10, "tens": 10, "zero": 0}
GLYPHS = {"½": 0.5, "¼": 0.25, "¾": 0.75}

HYPHEN = "[-‐‑‒–—]"
A, OF = r"(?:an?\s+)?", r"(?:\s+of)?"
ONE_TO_NINE, TEEN, TEN, SCALE = ("(?:" + "|".join(words) + r")\b" for words in (ONES, TEENS, TENS, SCALES))
DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d{1,2} \. \d{1,2}(?!\d)|\d+(?:\.\d+)?|\.\d+)"
WORD = rf"(?:{TEN}(?:(?:\s*{HYPHEN}\s*|\s+){ONE_TO_NINE})?|{TEEN}|{ONE_TO_NINE}|{SCALE}|zero\b)"
# "one hundred and five" is a number, "two and five" are two.
AND = "(?:" + "|".join(rf"(?<={word})\s+and\s+" for word in SCALES) + r"|\s+)"
CARDINAL = rf"{WORD}(?:{AND}{WORD}){{0,15}}"
SCALED = rf"(?:\s+{SCALE}){{0,5}}"
NUMBER = "(?:" + "|".join([
    r"\d*[½¼¾]", r"(?:\d+\s+)?[1-9]/[2-9](?![\d/])", DIGITS + SCALED,
    rf"(?:(?:an?|one)[\s-]+)?half{OF}(?:[\s-]+(?:an?|one)\b)?{SCALED}",
    rf"(?:an?|one|three)[\s-]+quarters?(?:\s+of\s+(?:an?|one))?\b",
    rf"{A}(?:couple|few){OF}{SCALED}{OF}\b", rf"(?:several|many)\b{SCALED}", r"(?:some|other)\b",
    rf"(?:(?:several|many)\s+)?(?:tens|(?:{'|'.join(SCALES)})s)(?:\s+of\s+(?:{'|'.join(SCALES)})s)*{OF}\b",
    rf"(?:an?\s+(?={SCALE}))?" + CARDINAL, r"an?\b",
]) + r")(?:\s+and\s+(?:(?:an?|one)\s+)?(?:half|quarter)\b" + SCALED + ")?"



def bounded(pattern: str) -> re.Pattern:
    """A pattern in which white space is twenty characters at most, so that the work grows with the text, not with its square."""
    return re.compile(pattern.replace(r"\s+", r"\s{1,20}").replace(r"\s*", r"\s{0,20}"), re.I)


# A number and a unit; a range of numbers and a unit; or a unit alone after every, each and per.
QUANTITY = bounded(
    r"(?<![\w:/$€£#.])(?<!\d,)(?<!\w-)(?:(?P<every>every|each|per)\s+)?"
    rf"(?P<expression>(?:(?P<low>(?!an?\s+(?:to|or|and)\b|an?\s*{HYPHEN}){NUMBER})"
    rf"(?:(?P<join>-?\s+(?:to|or|and)\s+|\s*{HYPHEN}\s*)(?P<high>(?!an?\s*{HYPHEN}?\s*{UNIT}){NUMBER}))?"
    rf"(?P<gap>\s*{HYPHEN}?\s*)|(?(every)|(?!)))(?P<unit>{UNIT})(?P<more>\s+and\s+an?\s+(?:half|quarter)\b)?"
    rf"(?:\s+(?P<or>or|to)\s+(?P<or_high>two|three|four|[2-4])\b"
    rf"(?![.,:]\d|\s*{HYPHEN}|\s+(?:and|to|or|\d|{SCALE})|\s*{UNIT}))?)")

# ---- What stands around a quantity and says that it is none. `before` ends, `after` starts where the quantity does.

AROUND = 80  # characters looked at before and after a quantity, so that the work grows with the text and not with its square

NUMERAL = (rf"(?:\d[\d.,]*|{'|'.join([*CARDINALS, 'several', 'many', 'zero', 'half'])}|"
           rf"(?:couple|few|tens|(?:{'|'.join(SCALES)})s?)(?:\s+of)?)")
NUMERAL_OR_A = rf"(?:{NUMERAL}|an?|some|other)\b"
JOIN = rf"(?:-?\s+(?:to|or)\s+|\s*{HYPHEN}\s*)"
PERIOD = (rf"(?:{UNIT}|(?:night|evening|morning|afternoon|weekend|weekday|season|quarter|summer|winter|spring|autumn|"
          r"fall|lifetime|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b)")
AGE_BEFORE, AGE_AFTER = r"\b(?:age[ds]?(?:\s+of)?|turn(?:ed|s|ing)?)\s+$", rf"^(?:[\s-]|{HYPHEN})*old\b|^\s+of\s+age\b"
RATE_AFTER = (rf"^\s*(?:(?:(?:in|of)\s+)?(?:an?|each|every|per)\s+{PERIOD}|of\s+the\s+{PERIOD}|"
              r"(?:hourly|daily|nightly|weekly|monthly|yearly|every\s?day)\b)")
COUNT_BEFORE = (rf"\b(?:twice|thrice|times?|{PERIOD}|{NUMERAL}(?:\s+\w+s)?)"
                rf"(?:\s+(?:(?:in|of|to|or)\s+)?|\s*{HYPHEN}\s*)$")
TIMES_BEFORE = r"\b(?:twice|thrice|times?)\s+(?:in|within)\s+$"
ONCE_BEFORE = r"\bonce\s+(?:in\s+)?$"
# "a second" is a time only before an end, a mark or one of these; else an ordinal ("a second child", "second-rate").
SECOND_AFTER = (r"^\s*$|^\s*[^\w\s-]|^\s+(?:ago|later|earlier|before|after|from|to|of|for|in|into|on|at|by|off|over|"
                r"out|each|and|or|per|an?|every|when|while|until|till|since|during|with|without|prior|more|longer|long|"
                r"only|so|now|then|i|he|she|it|we|they|you|all|usually|as|is|was)\b")
ONE_DAY_BEFORE = r"(?:^|[.,;!?]|\b(?:and|but|then|until|when|that|will|would|could|might|may|can|shall|should))\s*$"
ONE_DAY_AFTER = r"^,?\s+(?:i|he|she|it|we|they|you|the|his|her|their|my|our|your|when|while|be|become)\b"
NAME_AFTER, POSSESSIVE_AFTER, HOW_BEFORE = r"^['’]?\s+war\b", r"^\s?['’]s?\s+\w", r"\b(?:how|too|so)\s+$"
CLOCK, CLOCK_BEFORE = r"^[0-2]\d[0-5]\d$", r"\b(?:at|by|until|till|from|before|after)\s+$"
ATTRIBUTIVE_BEFORE = r"(?:\b(?:an?|the|this|that|his|her|its|their|my|our|your)|['’]s)\s+$"


def number(text: str) -> float:
    """The value of a number in digits or words, NaN where the words do not make one."""
    text = re.sub(r"(?<=\d) \. (?=\d)", ".", text.lower().replace(",", ""))
    text = re.sub(r"\s+and\s+(?:(?:an?|one)\s+)?(?=(?:half|quarter)\b)", " +", text)
    words = [word for word in re.sub(HYPHEN, " ", text).split() if word not in ("a", "an", "of", "and")]
    if re.search(r"(?<!\+)(?:half|quarter)", text):  # "one half", "three quarters"
        part = "0.5" if "half" in words else "0.75" if "three" in words else "0.25"
        words = [part] + [word for word in words if word in SCALES]
    total, current = 0.0, 0.0
    for word in words or ["one"]:
        word = word.removesuffix("s") if word[:-1] in SCALES else word
        if word in SCALES and SCALES[word] < 1000:
            current = (current or 1) * SCALES[word]
        elif word in SCALES:
            below = total and not current and total < SCALES[word]  # "hundred thousand million"
            total, current = total * SCALES[word] if below else total + (current or 1) * SCALES[word], 0.0
        elif word in CARDINALS:
            # "twenty five" is a number, "two five" and "fifteen two" are not.
            follows = current % 100 == 0 or (current % 100 >= 20 and current % 10 == 0 and CARDINALS[word] < 10)
            current = current + CARDINALS[word] if follows else np.nan
        elif word in VAGUE:
            current = float(VAGUE[word])
        elif word[-1] in GLYPHS:
            current = float(word[:-1] or 0) + GLYPHS[word[-1]]
        elif "/" in word:
            current += float(word.split("/")[0]) / float(word.split("/")[1])
        elif word in ("+half", "+quarter"):
            current += 0.5 if word == "+half" else 0.25
        else:
            current = float(word)
    return total + current


def values(texts: pd.Series) -> pd.Series:
    """number() of each text, worked out once for each different one; NaN where there is none."""
    return texts.map({text: number(text) for text in texts.dropna().unique()}).astype(float)


# ---- Units.

def converted(value: np.ndarray, unit: np.ndarray, into: np.ndarray) -> np.ndarray:
    """Values of units (places in UNITS) in other units: 12 months to the year, 30 days to the month, 365 a year."""
    by_months = MONTHS[unit] / MONTHS[into]
    return value * np.where(np.isnan(by_months), SIZE[unit] / SIZE[into], by_months)


def proper(value: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The place in UNITS of the most proper unit for each value of a unit.

    What rounding lifts to half of a larger unit (29.999 minutes are written as 30) goes there, and so on, so that the
    result, read again, stays as it is.
    """
    written, chosen = value, unit
    for _ in UNITS:
        largest = np.zeros_like(unit)
        for larger in range(1, LARGEST + 1):
            enough = converted(written, chosen, np.full_like(unit, larger)) >= 0.5 * (1 - 1e-9)
            largest = np.where(enough, larger, largest)
        rounded = np.round(converted(value, unit, largest), 2)
        settled, written, chosen = (largest == chosen) & (rounded == written), rounded, largest
        if settled.all():
            break
    return chosen


def in_unit(value: np.ndarray, unit: np.ndarray, into: np.ndarray) -> np.ndarray:
    """Values in their most proper unit, of which there is at least a half (but for seconds)."""
    made = converted(value, unit, into)
    return np.where((into > 0) & (value > 0), np.maximum(made, 0.5), made)


# ---- Expressions in texts.

def found(texts: pd.Series) -> pd.DataFrame:
    """Every match of QUANTITY in different texts without soft hyphens, as it is written; row is the place of its text.

    start and end bound the expression, outer is where a word like every before it starts.
    """
    matches = [(row, match.start(), *match.span("expression"), match.groupdict())
               for row, text in enumerate(texts) for match in QUANTITY.finditer(text)]
    table = pd.DataFrame([match[:4] for match in matches], columns=["row", "outer", "start", "end"], dtype=int)
    parts = pd.DataFrame([match[4] for match in matches], columns=list(QUANTITY.groupindex), dtype=object)
    table = table.join(parts.rename(columns={"low": "first", "high": "last", "unit": "unit_text"}))
    names = [table["unit_text"].str.fullmatch(NAMES[unit], flags=re.I).to_numpy(bool) for unit in UNITS]
    table["unit"] = np.argmax(names, axis=0) if len(table) else pd.Series(dtype=int)
    table["every"] = table["every"].str.lower()
    table["bare"] = table["first"].isna()
    table["article"] = table["first"].str.fullmatch("an?", flags=re.I).eq(True)
    more = table["more"].str.contains("half", flags=re.I).map({True: 0.5, False: 0.25}).fillna(0).astype(float)
    table["low"] = values(table["first"]).where(~table["bare"], 1.0) + more
    last = table["last"].fillna(table["or_high"])
    table["high"] = values(last).where(last.notna(), table["low"]) + more.where(last.notna(), 0)
    table["join"] = table["join"].fillna(" " + table["or"] + " ")
    table["hyphen"] = table["gap"].str.contains(HYPHEN).eq(True)
    table["singular"] = table["unit_text"].str.fullmatch(ONE).eq(True)
    return table


def merged(table: pd.DataFrame, texts: np.ndarray) -> pd.DataFrame:
    """Neighbours as one: "1 hour and 15 minutes" (a sum, larger unit first), "30 minutes to 2 hours" (a range)."""
    table["muddled"] = False  # three or more in a row that are no sum
    if table.empty:
        return table
    for kind in ("sum", "range"):
        before = table.shift()
        same = table["row"].eq(before["row"]) & table["every"].isna() & table["join"].isna() & before["join"].isna()
        same &= ~table["bare"] & before["bare"].eq(False)
        start = before["end"].fillna(0).astype(int)
        between = pd.Series([texts[row][a:b] if pair else "" for row, a, b, pair in
                             zip(table["row"], start, table["outer"], same)], index=table.index, dtype=object)
        if kind == "sum":
            units = table["unit"].to_numpy()
            written = proper(table["low"].to_numpy(), units)
            falling = (np.diff(units, prepend=-1) < 0) | (np.diff(written, prepend=-1) < 0)
            spaced = between.str.fullmatch(r"\s+") & ~table["article"]
            same &= between.str.fullmatch(r"\s+and\s+", flags=re.I) | spaced
            chain = (~same).cumsum()
            # Not "1 second and 15 minutes".
            clear = pd.Series(falling | ~same, table.index).groupby(chain).transform("all")
            table["muddled"] = ~clear & (chain.groupby(chain).transform("size") > 2)
            part = (~(same & clear)).cumsum()
            into = table["unit"].groupby(part).transform("first").to_numpy()
            lows = pd.Series(converted(table["low"].to_numpy(), units, into), table.index)
            table["low"] = lows.groupby(part).transform("sum")
            table["high"] = np.where(part.duplicated(keep=False), table["low"], table["high"])
        else:
            same &= between.str.fullmatch(rf"\s+(?:to|or)\s+|\s*{HYPHEN}\s*", flags=re.I)
            same &= ~same.shift(fill_value=False)  # of three only the first two
            part = (~same).cumsum()
            into = table["unit"].groupby(part).transform("last").to_numpy()
            for end in ("low", "high"):
                table[end] = converted(table[end].to_numpy(), table["unit"].to_numpy(), into)
            table["high"] = table["high"].groupby(part).transform("last")
            table["join"] = table["join"].fillna(between.where(same).groupby(part).transform("last"))
            table["unit"] = into
        table["end"] = table["end"].groupby(part).transform("last")
        table["more"] = table["more"].where(~part.duplicated(keep=False), "merged")
        table = table[~part.duplicated()].reset_index(drop=True)
    return table


def expressions(texts: pd.Series) -> pd.DataFrame:
    """The quantities of different texts without soft hyphens: found(), less what is none, and how to write them.

    attributive: to be written in the singular ("a two-hour talk"); ordinal_place: "second" would be an ordinal here;
    fixed: not to be written anew; the columns of with_proper_unit().
    """
    texts = texts.to_numpy(object)
    table = merged(found(pd.Series(texts, dtype=object)), texts)
    before = pd.Series([texts[row][max(0, start - AROUND) : start] for row, start in zip(table["row"], table["outer"])], dtype=object)
    after = pd.Series([texts[row][end : end + AROUND] for row, end in zip(table["row"], table["end"])], dtype=object)

    def stands(where: pd.Series, pattern: str) -> pd.Series:
        codes, different = pd.factorize(where)
        return pd.Series(pd.Series(different, dtype=object).str.contains(re.compile(pattern, re.I)).to_numpy(bool)[codes], where.index)

    every, first = table["every"].notna(), table["first"].fillna("").str.lower()
    unit = table["unit"].map(dict(enumerate(UNITS)))
    once = stands(before, ONCE_BEFORE) & (table["article"] | table["every"].eq("per") & table["bare"])
    lone_unit = table["bare"] | table["article"]
    no_range = table["join"].str.contains(r"\band\b", flags=re.I).eq(True) & ~stands(before, r"\bbetween\s+$")
    or_two = table["or_high"].notna() & ~(lone_unit | first.isin(["one", "1"]))
    ordinal_place = ~stands(after, SECOND_AFTER)
    ordinal = unit.eq("second") & table["singular"] & ~stands(first, r"\d") & (
        first.isin(TENS) & table["hyphen"] | ~table["hyphen"] & ordinal_place)
    one_day = first.eq("one") & unit.eq("day") & stands(before, ONE_DAY_BEFORE) & stands(after, ONE_DAY_AFTER)
    clock = unit.eq("hour") & stands(first, CLOCK) & (first.str.startswith("0") | stands(before, CLOCK_BEFORE))
    rate = stands(after, RATE_AFTER) | stands(before, TIMES_BEFORE)
    rate |= (every | table["article"]) & stands(before, COUNT_BEFORE)
    chained = stands(after, rf"^{JOIN}{NUMERAL_OR_A}")  # "5 minutes to 7", "2 to 3 to 4 hours"
    chained |= stands(before, rf"\b{NUMERAL_OR_A}(?:\s*{HYPHEN}?\s*{UNIT})?{JOIN}$")
    counted = ~table["article"] & ~every & stands(before, rf"\b{NUMERAL}\s+(?:and\s+)?$")  # "two half hours"
    none = table["muddled"] | chained | no_range | or_two | ordinal | one_day | clock | rate | counted
    none |= stands(before, AGE_BEFORE) | stands(after, AGE_AFTER)
    none |= stands(after, NAME_AFTER) | stands(after, POSSESSIVE_AFTER)
    none |= table["every"].eq("per") & table["bare"] & ~once
    none |= table["bare"] & (~table["singular"] | stands(after, rf"^\s+{UNIT}") | stands(before, r"\bof\s+$"))
    none |= first.eq("some") & table["singular"] | first.eq("other") & ~every
    none |= stands(first, "^(?:many|few)") & stands(before, HOW_BEFORE)
    none |= ~np.isfinite(table["low"] + table["high"]) | (table[["low", "high"]].max(axis=1) == 0)
    after_article = stands(before, ATTRIBUTIVE_BEFORE) & ~lone_unit & ~every
    table["attributive"] = table["singular"] & (table["hyphen"] | after_article)
    table["ordinal_place"] = ordinal_place
    table["fixed"] = once | (table["bare"] & table["join"].isna())
    return with_proper_unit(table[~none].reset_index(drop=True))


def with_proper_unit(table: pd.DataFrame) -> pd.DataFrame:
    """With into (the most proper unit) and the ends in it: new_low, new_high."""
    low, high, unit = (table[name].to_numpy() for name in ("low", "high", "unit"))
    smaller = np.minimum(low, high)
    into = proper(np.where(smaller > 0, smaller, np.maximum(low, high)), unit)
    return table.assign(into=into, new_low=in_unit(low, unit, into), new_high=in_unit(high, unit, into))


def short(numbers: pd.Series) -> pd.Series:
    """Numbers as text, with two decimals at most: 2.5, not 2.50."""
    return numbers.map("{:.2f}".format).astype(object).str.rstrip("0").str.rstrip(".")


def rewritten(table: pd.DataFrame) -> pd.Series:
    """The text of each expression in its most proper unit; missing where it stays as it is."""
    exact = table[["new_low", "new_high"]]
    written = exact.round(2)
    lossy = ((written - exact).abs() > 0.01 * exact).any(axis=1)
    low, high = written["new_low"], written["new_high"]
    single = table["join"].isna()
    numbers = short(low).where(single, short(low) + table["join"].fillna("") + short(high))
    unit = table["into"].map(dict(enumerate(UNITS)))
    unit = unit.where(table["attributive"] | single & (low == 1), unit.map(PLURALS))
    gap = pd.Series(" ", table.index).where(~table["hyphen"], "-")
    unwritten = table["every"].notna() & single & (low == 1) & ~(unit.eq("second") & table["ordinal_place"])
    text = (numbers + gap + unit).where(~unwritten, unit)
    return text.where(~(lossy | table["fixed"])).astype(object)


def prepared(answers: pd.Series) -> tuple[np.ndarray, pd.Series, pd.Series]:
    """The place of each answer among the different texts (-1 where missing); those texts; they without soft hyphens."""
    codes, texts = pd.factorize(answers.to_numpy(object))
    texts = pd.Series(texts, dtype=object)
    return codes, texts, texts.str.replace("\u00ad", "", regex=False)


def restore_bounds(table: pd.DataFrame, texts: pd.Series) -> pd.DataFrame:
    """start and end in the texts with their soft hyphens."""
    hyphened = texts.str.contains("\u00ad", regex=False).to_numpy(bool)
    for row, part in table[hyphened[table["row"]]].groupby("row"):
        kept = np.array([place for place, letter in enumerate(texts[row]) if letter != "\u00ad"])
        table.loc[part.index, "start"] = kept[part["start"].to_numpy(int)]
        table.loc[part.index, "end"] = kept[part["end"].to_numpy(int) - 1] + 1
    return table


def quantities(answers: pd.Series) -> pd.DataFrame:
    """The temporal quantity of each answer that has exactly one, by the answers' index; missing in the others.

    start, end: bounds of its expression in the answer. low, high, unit: as written, equal but for ranges ("1 hour and
    15 minutes" are 1.25 hours). seconds_low, seconds_high: in the most proper unit, before rounding, so that 12 months
    and a year are the same. Periods are quantities (every 2 hours; every day; once a week is one week), rates are not
    (twice a week).
    """
    codes, texts, plain = prepared(answers)
    table = restore_bounds(expressions(plain), texts)
    ends = np.sort(table[["low", "high"]].to_numpy(float))
    seconds = np.sort(table[["new_low", "new_high"]].to_numpy(float)) * SIZE[table["into"].to_numpy(int)][:, None]
    # Ten digits, so that 5 days are 120 hours exactly.
    seconds = np.array([float(f"{value:.10g}") for value in seconds.ravel()]).reshape(-1, 2)
    table = table.assign(low=ends[:, 0], high=ends[:, 1], unit=table["unit"].map(dict(enumerate(UNITS))),
                         seconds_low=seconds[:, 0], seconds_high=seconds[:, 1])
    table = table[~table["row"].duplicated(keep=False)].set_index("row")
    table = table[["start", "end", "low", "high", "unit", "seconds_low", "seconds_high"]].reindex(codes)
    numbers = dict.fromkeys(["low", "high", "seconds_low", "seconds_high"], "Float64")
    return table.astype({"start": "Int64", "end": "Int64", "unit": "str"} | numbers).set_axis(answers.index)


def normalize_units(answers: pd.Series) -> pd.Series:
    """The answers with each temporal quantity in its most proper unit (rules: above); the rest of the text stays.

    Decade and century are units like any other: the rule, and the authors' code, name them.
    """
    codes, texts, plain = prepared(answers)
    table = restore_bounds(expressions(plain), texts)
    table = table.assign(new=rewritten(table)).dropna(subset="new")
    written = texts.to_numpy(object).copy()
    for row, part in table.groupby("row", sort=False):
        between = [written[row][end:start] for end, start in zip([0, *part["end"]], [*part["start"], None])]
        written[row] = "".join(chain.from_iterable(zip(between, [*part["new"], ""])))
    return answers.where(codes < 0, pd.Series(np.append(written, None)[codes], answers.index, dtype=answers.dtype))


def main(given: argparse.Namespace) -> None:
    remedy = "end each answer with a line feed"
    lines = lines_in(decoded(sys.stdin.buffer.read(), "standard input", remedy), "standard input", remedy)
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for line in normalize_units(pd.Series(lines, dtype=object)):
        print(line)


def arguments() -> argparse.ArgumentParser:
    return parser(__doc__)


if __name__ == "__main__":
    run(main, arguments().parse_args())
