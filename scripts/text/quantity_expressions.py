"""Find temporal quantities in texts, join neighbouring quantities, and leave out expressions that
only look like a quantity.

scripts/text/unit_normalization.py lists the expressions that are not quantities.
"""

import re

import numpy as np
import pandas as pd

from scripts.text.number_words import CARDINALS, HYPHEN, NUMBER, SCALE, SCALES, TENS, values
from scripts.text.time_units import NAMES, UNITS, converted, in_unit, proper

UNIT = "(?:" + "|".join(NAMES.values()) + r")\b"
ONE = re.compile("century|millenn?ium|(?!.*s$)(?!.*ia$).*", re.I)  # a unit in the singular


def bounded(pattern: str) -> re.Pattern:
    """Compile a pattern in which white space is at most twenty characters. So the work grows with
    the length of the text, not with its square.
    """
    return re.compile(pattern.replace(r"\s+", r"\s{1,20}").replace(r"\s*", r"\s{0,20}"), re.I)


# A number and a unit; a range of numbers and a unit; or a unit alone after every, each and per.
QUANTITY = bounded(
    r"(?<![\w:/$€£#.])(?<!\d,)(?<!\w-)(?:(?P<every>every|each|per)\s+)?"
    rf"(?P<expression>(?:(?P<low>(?!an?\s+(?:to|or|and)\b|an?\s*{HYPHEN}){NUMBER})"
    r"(?:(?P<join>-?\s+(?:to|or|and)\s+"
    rf"|\s*{HYPHEN}\s*)(?P<high>(?!an?\s*{HYPHEN}?\s*{UNIT}){NUMBER}))?(?P<gap>\s*{HYPHEN}?\s*)"
    rf"|(?(every)|(?!)))(?P<unit>{UNIT})(?P<more>\s+and\s+an?\s+(?:half"
    r"|quarter)\b)?(?:\s+(?P<or>or|to)\s+(?P<or_high>two|three|four|[2-4])\b(?![.,:]\d"
    rf"|\s*{HYPHEN}|\s+(?:and|to|or|\d|{SCALE})|\s*{UNIT}))?)"
)

# ---- Text around a match which shows that the match is not a quantity.
# The text `before` ends where the match starts. The text `after` starts where the match ends.

# the number of characters that are read before and after a match;
# so the work grows with the length of the text, not with its square
AROUND = 80

NUMERAL = (
    rf"(?:\d[\d.,]*|{'|'.join([*CARDINALS, 'several', 'many', 'zero', 'half'])}|"
    rf"(?:couple|few|tens|(?:{'|'.join(SCALES)})s?)(?:\s+of)?)"
)
NUMERAL_OR_A = rf"(?:{NUMERAL}|an?|some|other)\b"
JOIN = rf"(?:-?\s+(?:to|or)\s+|\s*{HYPHEN}\s*)"
PERIOD = (
    rf"(?:{UNIT}|(?:night|evening|morning|afternoon|weekend|weekday|season|quarter|summer|winter"
    r"|spring|autumn|fall|lifetime|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b)"
)
AGE_BEFORE = r"\b(?:age[ds]?(?:\s+of)?|turn(?:ed|s|ing)?)\s+$"
AGE_AFTER = rf"^(?:[\s-]|{HYPHEN})*old\b|^\s+of\s+age\b"
RATE_AFTER = (
    rf"^\s*(?:(?:(?:in|of)\s+)?(?:an?|each|every|per)\s+{PERIOD}|of\s+the\s+{PERIOD}|"
    r"(?:hourly|daily|nightly|weekly|monthly|yearly|every\s?day)\b)"
)
COUNT_BEFORE = (
    rf"\b(?:twice|thrice|times?|{PERIOD}|{NUMERAL}(?:\s+\w+s)?)"
    rf"(?:\s+(?:(?:in|of|to|or)\s+)?|\s*{HYPHEN}\s*)$"
)
TIMES_BEFORE = r"\b(?:twice|thrice|times?)\s+(?:in|within)\s+$"
ONCE_BEFORE = r"\bonce\s+(?:in\s+)?$"
# "a second" is a time only before the end of the text, a mark or one of these words. Otherwise it
# is an ordinal ("a second child", "second-rate").
SECOND_AFTER = (
    r"^\s*$|^\s*[^\w\s-]|^\s+(?:ago|later|earlier|before|after|from|to|of|for|in|into|on|at|by|off"
    r"|over|out|each|and|or|per|an?|every|when|while|until|till|since|during|with|without|prior"
    r"|more|longer|long|only|so|now|then|i|he|she|it|we|they|you|all|usually|as|is|was)\b"
)
ONE_DAY_BEFORE = (
    r"(?:^|[.,;!?]|\b(?:and|but|then|until|when|that|will|would|could|might|may|can|shall"
    r"|should))\s*$"
)
ONE_DAY_AFTER = (
    r"^,?\s+(?:i|he|she|it|we|they|you|the|his|her|their|my|our|your|when|while|be|become)\b"
)
NAME_AFTER, POSSESSIVE_AFTER = r"^['’]?\s+war\b", r"^\s?['’]s?\s+\w"
HOW_BEFORE = r"\b(?:how|too|so)\s+$"
CLOCK, CLOCK_BEFORE = r"^[0-2]\d[0-5]\d$", r"\b(?:at|by|until|till|from|before|after)\s+$"
ATTRIBUTIVE_BEFORE = r"(?:\b(?:an?|the|this|that|his|her|its|their|my|our|your)|['’]s)\s+$"


def found(texts: pd.Series) -> pd.DataFrame:
    """Return every match of QUANTITY in different texts without soft hyphens, as it is written.

    row: the place of its text; start, end: the bounds of the expression; outer: the start of a word
    like `every` before the expression, else start.
    """
    matches = [
        (row, match.start(), *match.span("expression"), match.groupdict())
        for row, text in enumerate(texts)
        for match in QUANTITY.finditer(text)
    ]
    table = pd.DataFrame(
        [match[:4] for match in matches], columns=["row", "outer", "start", "end"], dtype=int
    )
    parts = pd.DataFrame(
        [match[4] for match in matches], columns=list(QUANTITY.groupindex), dtype=object
    )
    table = table.join(parts.rename(columns={"low": "first", "high": "last", "unit": "unit_text"}))
    names = [
        table["unit_text"].str.fullmatch(NAMES[unit], flags=re.I).to_numpy(bool) for unit in UNITS
    ]
    table["unit"] = np.argmax(names, axis=0) if len(table) else pd.Series(dtype=int)
    table["every"] = table["every"].str.lower()
    table["bare"] = table["first"].isna()
    table["article"] = table["first"].str.fullmatch("an?", flags=re.I).eq(True)
    has_half = table["more"].str.contains("half", flags=re.I)
    more = has_half.map({True: 0.5, False: 0.25}).fillna(0).astype(float)
    table["low"] = values(table["first"]).where(~table["bare"], 1.0) + more
    last = table["last"].fillna(table["or_high"])
    table["high"] = values(last).where(last.notna(), table["low"]) + more.where(last.notna(), 0)
    table["join"] = table["join"].fillna(" " + table["or"] + " ")
    table["hyphen"] = table["gap"].str.contains(HYPHEN).eq(True)
    table["singular"] = table["unit_text"].str.fullmatch(ONE).eq(True)
    return table


def merged(table: pd.DataFrame, texts: np.ndarray) -> pd.DataFrame:
    """Join neighbouring quantities: "1 hour and 15 minutes" (a sum, larger unit first), "30 minutes
    to 2 hours" (a range).
    """
    table["muddled"] = False  # whether three or more quantities in a row are not a sum
    if table.empty:
        return table
    for kind in ("sum", "range"):
        before = table.shift()
        same = (
            table["row"].eq(before["row"])
            & table["every"].isna()
            & table["join"].isna()
            & before["join"].isna()
        )
        same &= ~table["bare"] & before["bare"].eq(False)
        start = before["end"].fillna(0).astype(int)
        places = zip(table["row"], start, table["outer"], same)
        said = [texts[row][a:b] if pair else "" for row, a, b, pair in places]
        between = pd.Series(said, table.index, dtype=object)
        if kind == "sum":
            units = table["unit"].to_numpy()
            written = proper(table["low"].to_numpy(), units)
            falling = (np.diff(units, prepend=-1) < 0) | (np.diff(written, prepend=-1) < 0)
            spaced = between.str.fullmatch(r"\s+") & ~table["article"]
            same &= between.str.fullmatch(r"\s+and\s+", flags=re.I) | spaced
            chain = (~same).cumsum()
            # "1 second and 15 minutes" is not a sum: the larger unit must come first.
            clear = pd.Series(falling | ~same, table.index).groupby(chain).transform("all")
            table["muddled"] = ~clear & (chain.groupby(chain).transform("size") > 2)
            part = (~(same & clear)).cumsum()
            into = table["unit"].groupby(part).transform("first").to_numpy()
            lows = pd.Series(converted(table["low"].to_numpy(), units, into), table.index)
            table["low"] = lows.groupby(part).transform("sum")
            table["high"] = np.where(part.duplicated(keep=False), table["low"], table["high"])
        else:
            same &= between.str.fullmatch(rf"\s+(?:to|or)\s+|\s*{HYPHEN}\s*", flags=re.I)
            same &= ~same.shift(fill_value=False)  # of three quantities, join only the first two
            part = (~same).cumsum()
            into = table["unit"].groupby(part).transform("last").to_numpy()
            for end in ("low", "high"):
                table[end] = converted(table[end].to_numpy(), table["unit"].to_numpy(), into)
            table["high"] = table["high"].groupby(part).transform("last")
            table["join"] = table["join"].fillna(
                between.where(same).groupby(part).transform("last")
            )
            table["unit"] = into
        table["end"] = table["end"].groupby(part).transform("last")
        table["more"] = table["more"].where(~part.duplicated(keep=False), "merged")
        table = table[~part.duplicated()].reset_index(drop=True)
    return table


def stands(where: pd.Series, pattern: str) -> pd.Series:
    """Return for each text whether a pattern stands there."""
    codes, different = pd.factorize(where)
    matches = (
        pd.Series(different, dtype=object).str.contains(re.compile(pattern, re.I)).to_numpy(bool)
    )
    return pd.Series(matches[codes], where.index)


def expressions(texts: pd.Series) -> pd.DataFrame:
    """Return the quantities of different texts without soft hyphens: the matches of found() that
    are quantities, joined by merged().

    More columns: attributive: written in the singular ("a two-hour talk"); ordinal_place: "second"
    would be an ordinal here; fixed: must not be rewritten; and the columns of with_proper_unit().
    """
    texts = texts.to_numpy(object)
    table = merged(found(pd.Series(texts, dtype=object)), texts)
    starts, ends = (zip(table["row"], table[name]) for name in ("outer", "end"))
    before = [texts[row][max(0, start - AROUND) : start] for row, start in starts]
    after = [texts[row][end : end + AROUND] for row, end in ends]
    table["before"] = pd.Series(before, dtype=object)
    table["after"] = pd.Series(after, dtype=object)
    table["lone_unit"] = table["bare"] | table["article"]
    is_frequency = stands(table["before"], ONCE_BEFORE) & (
        table["article"] | table["every"].eq("per") & table["bare"]
    )
    after_article = (
        stands(table["before"], ATTRIBUTIVE_BEFORE) & ~table["lone_unit"] & table["every"].isna()
    )
    table["attributive"] = table["singular"] & (table["hyphen"] | after_article)
    table["ordinal_place"] = ~stands(table["after"], SECOND_AFTER)
    table["fixed"] = is_frequency | (table["bare"] & table["join"].isna())
    none = in_another_phrase(table) | of_another_kind(table)
    none |= table["every"].eq("per") & table["bare"] & ~is_frequency
    table = table.drop(columns=["before", "after", "lone_unit"])
    return with_proper_unit(table[~none].reset_index(drop=True))


def of_another_kind(table: pd.DataFrame) -> pd.Series:
    """Return for each match whether it names something else than a quantity: an ordinal, a day, a
    clock time, an age, no number.
    """
    before, after, lone_unit = table["before"], table["after"], table["lone_unit"]
    every, first = table["every"].notna(), table["first"].fillna("").str.lower()
    unit = table["unit"].map(dict(enumerate(UNITS)))
    or_two = table["or_high"].notna() & ~(lone_unit | first.isin(["one", "1"]))
    ordinal = (
        unit.eq("second")
        & table["singular"]
        & ~stands(first, r"\d")
        & (first.isin(TENS) & table["hyphen"] | ~table["hyphen"] & table["ordinal_place"])
    )
    one_day = (
        first.eq("one")
        & unit.eq("day")
        & stands(before, ONE_DAY_BEFORE)
        & stands(after, ONE_DAY_AFTER)
    )
    clock = (
        unit.eq("hour")
        & stands(first, CLOCK)
        & (first.str.startswith("0") | stands(before, CLOCK_BEFORE))
    )
    none = table["muddled"] | or_two | ordinal | one_day | clock
    none |= stands(before, AGE_BEFORE) | stands(after, AGE_AFTER)
    none |= stands(after, NAME_AFTER) | stands(after, POSSESSIVE_AFTER)
    none |= table["bare"] & (
        ~table["singular"] | stands(after, rf"^\s+{UNIT}") | stands(before, r"\bof\s+$")
    )
    none |= first.eq("some") & table["singular"] | first.eq("other") & ~every
    none |= stands(first, "^(?:many|few)") & stands(before, HOW_BEFORE)
    return (
        none | ~np.isfinite(table["low"] + table["high"]) | table[["low", "high"]].max(axis=1).eq(0)
    )


def in_another_phrase(table: pd.DataFrame) -> pd.Series:
    """Return for each match whether it is a part of another phrase: a rate, a chain of numbers, a
    counted fraction.
    """
    before, after, every = table["before"], table["after"], table["every"].notna()
    no_range = table["join"].str.contains(r"\band\b", flags=re.I).eq(True) & ~stands(
        before, r"\bbetween\s+$"
    )
    rate = stands(after, RATE_AFTER) | stands(before, TIMES_BEFORE)
    rate |= (every | table["article"]) & stands(before, COUNT_BEFORE)
    # "5 days and 7 days a day": if "5 days" were written in another unit, a reader would take both
    # as one quantity.
    rate |= (
        rate.shift(-1, fill_value=False)
        & table["row"].eq(table["row"].shift(-1))
        & stands(after, rf"^\s+(?:and\s+)?{NUMERAL_OR_A}")
    )
    chained = stands(after, rf"^{JOIN}{NUMERAL_OR_A}")  # "5 minutes to 7", "2 to 3 to 4 hours"
    chained |= stands(before, rf"\b{NUMERAL_OR_A}(?:\s*{HYPHEN}?\s*{UNIT})?{JOIN}$")
    # "two half hours"
    counted = ~table["article"] & ~every & stands(before, rf"\b{NUMERAL}\s+(?:and\s+)?$")
    return chained | no_range | rate | counted


def with_proper_unit(table: pd.DataFrame) -> pd.DataFrame:
    """Add `into` (the most proper unit) and both ends in that unit: new_low, new_high."""
    low, high, unit = (table[name].to_numpy() for name in ("low", "high", "unit"))
    smaller = np.minimum(low, high)
    into = proper(np.where(smaller > 0, smaller, np.maximum(low, high)), unit)
    return table.assign(
        into=into, new_low=in_unit(low, unit, into), new_high=in_unit(high, unit, into)
    )
