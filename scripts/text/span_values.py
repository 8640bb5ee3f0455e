"""The value of a temporal expression: a text that is the same for all expressions with the same
meaning. Examples:

    two weeks, 14 days, a fortnight                        1209600 s
    half an hour, 30 minutes, about thirty minutes         1800 s
    five to ten minutes, 5-10 minutes                      300 s to 600 s
    more than two weeks                                    > 1209600 s
    the last two weeks, the past 14 days                   last 1209600 s
    two weeks ago                                          1209600 s ago
    five years old, a 5-year-old                           157680000 s old
    5 pm, 5:00 p.m., five o'clock in the afternoon         5:00 pm
    five o'clock, 5:00                                     5:00
    tomorrow at 5 pm, 5 o'clock tomorrow afternoon         tomorrow 5:00 pm
    every day, daily, once a day                           1 per 86400 s
    twice a week, two times a week                         2 per 604800 s
    Mar 3, March 3rd, the third of March                   3 march
    the 4th of July, 2004                                  4 july 2004
    the eighties, 1980s                                    80s
    a few days, next week, the second week                 few days, next week, 2nd week

Months and years are converted as in unit normalization (12 months are a year, a month has 30 days).
Words for an inexact quantity (about, nearly) or an added one (another) do not count. Bounds do
count (more than, at least, less than, up to). Vague quantities (a few days) stay words, without the
article.
"""

import re

import pandas as pd

from scripts.text.number_words import number
from scripts.text.temporal_words import DECADES, Piece, Rules, ordinal_value, pieces, plain_text
from scripts.text.unit_normalization import quantities

NUMBERS = {"hour", "number_24", "number_31", "number_59", "number", "year"}
NUMERALS = {*NUMBERS, "day_ordinal", "ordinal", "decade", "clock", "numeric_date"}
NUMERALS |= {"half", "quarter", "masses"}
BOUNDS = {
    "more than": "> ",
    "a little more than": "> ",
    "a bit more than": "> ",
    "less than": "< ",
    "fewer than": "< ",
    "at least": ">= ",
    "no less than": ">= ",
    "at most": "<= ",
    "up to": "<= ",
    "no more than": "<= ",
}
MONTHS = {
    name[:3]: name
    for name in (
        "january february march april may june july august september october november december"
    ).split()
}
MONTH = f"(?P<month>{'|'.join(MONTHS.values())})"
SAME = {
    "coming": "next",
    "following": "next",
    "previous": "last",
    "afterwards": "later",
    "entire": "whole",
    "all": "whole",
    "each": "every",
    "mins": "minutes",
    "hrs": "hours",
    "secs": "seconds",
}
PER = {
    "daily": "day",
    "everyday": "day",
    "weekly": "week",
    "biweekly": "2 weeks",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
    "hourly": "hour",
}
HOW_OFTEN = {"once": "1", "twice": "2", "thrice": "3"}
ADDED = {"more", "full", "whole"}  # five more minutes are five minutes


def has_numeral(text: str, kind: str, rules: Rules) -> bool:
    """Return whether an expression contains a digit, a number word (two, half, a dozen, thousands
    of) or an ordinal; "a" does not count.
    """
    return any(
        piece.word_class in NUMERALS
        or piece.text == "first"
        or (piece.word_class == "unit_second" and kind == "date")
        for piece in pieces(text, rules)
    )


# ---- One form for words that are written in several ways.


def decade(words: str) -> str:
    """80s for "1980s" and "the eighties", 1880s for "1880s"."""
    digits = re.search(r"\d+", words)
    century = "18" if "eighteen" in words else ""
    value = digits[0] if digits else f"{century}{DECADES[re.split('[ -]', words)[-1]]}"
    return f"{value.removeprefix('19') if len(value) == 4 else value}s"


def word_of(piece: Piece, last: bool) -> str:
    """Return a piece in one form: numbers in digits, ordinals as 2nd, months in full; empty for
    articles and marks.
    """
    name, text = piece.word_class, piece.text
    if name in NUMBERS:
        value = number(text)
        return f"{value:.10g}" if value == value else text
    if name in ("day_ordinal", "ordinal") or (text in ("first", "second") and not last):
        value = ordinal_value(text)
        ending = (
            {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th") if not 10 < value % 100 < 14 else "th"
        )
        return f"{value}{ending}"
    if name in ("month", "may_march", "april_june"):
        return MONTHS[text[:3]]
    if name == "decade":
        return decade(text)
    if name == "clock":
        hours, minutes = re.split(r"\s?[:.]\s?", text)
        return f"{int(hours)}:{minutes}"
    if name in ("oclock", "am_pm"):
        return "oclock" if name == "oclock" else f"{text[0]}m"
    if name in ("the", "a", "approximate") or not text[0].isalnum():
        return ""
    return SAME.get(text, re.sub("^(?:an?|the|one) ", "", text))


def words_of(read: list[Piece]) -> str:
    """Pieces as words in one form."""
    words = [word_of(piece, place + 1 == len(read)) for place, piece in enumerate(read)]
    return " ".join(word for word in words if word)


# ---- Clock times and dates, in words of one form.


def clock(hour: str, minute: str, half: str) -> str:
    """A clock time as "5:00 pm"; without am and pm where the half of the day is unknown."""
    number_of_hour = int(hour)
    if number_of_hour > 12 or number_of_hour == 0:
        half = "pm" if 12 < number_of_hour < 24 else "am"
    return f"{(number_of_hour - 1) % 12 + 1}:{int(minute):02}{f' {half}' if half else ''}"


def to_the_hour(found: re.Match) -> str:
    """The time of "10 to 8" and "quarter past 7"."""
    minutes = {"half": 30, "quarter": 15}.get(found["minutes"]) or int(found["minutes"])
    hour = int(found["hour"])
    return (
        f"{hour}:{minutes:02}"
        if found["side"] != "to"
        else f"{(hour - 2) % 12 + 1}:{60 - minutes:02}"
    )


def with_half(found: re.Match) -> str:
    """The time of "5:00 in morning" and "8:00 at night" with am or pm."""
    time, part = found["time"], found["part"]
    after_noon = part in ("afternoon", "evening") or (
        part == "night" and 5 < int(time.split(":")[0]) < 12
    )
    return f"{time} {'pm' if after_noon else 'am'}"


def with_clock_times(words: str) -> str:
    """Write every time of the day, in words of one form, as a clock time. The day comes first."""
    words = re.sub(
        r"\b(?P<minutes>half|quarter|\d+)(?: minutes)? (?P<side>past|after) (?P<hour>\d+)\b(?!:)",
        to_the_hour,
        words,
    )
    # "10 to 8" is a time, "9 to 5" and "5 to 8 pm" are two.
    words = re.sub(
        r"\b(?P<minutes>half|quarter|5|10|20|25) (?:minutes )?(?P<side>to) (?P<hour>\d+)\b(?!:| am"
        r"| pm| in )",
        to_the_hour,
        words,
    )
    words = re.sub(r"\b(\d{1,2}) (\d\d)\b(?!:)", r"\1:\2", words)
    words = re.sub(
        rf"(?<![:\d])(\d{{1,2}})(?![:\d]|st|nd|rd|th| {MONTH})(?: oclock)?", r"\1:00", words
    )
    words = re.sub(r"^12:00 noon$|\b(?:noon|midday)\b", "12:00 pm", words)
    words = words.replace("midnight", "12:00 am").replace(" oclock", "")
    words = re.sub(
        r"(?P<time>\d+:\d\d) (?:in|at) (?P<part>morning|afternoon|evening|night)", with_half, words
    )
    times = re.findall(r"(\d+):(\d\d)(?: (am|pm))?", words)
    if not times:
        return words
    part = re.search(r"\b(morning|afternoon|evening|tonight|night)\b", words)
    half = times[-1][2] or (part and ("am" if part[1] == "morning" else "pm")) or ""
    clock_times = " to ".join(
        clock(hour, minute, half_said or half) for hour, minute, half_said in times
    )
    day = re.sub(
        r"\d+:\d\d(?: [ap]m)?|\b(?:at|on|in|from|to|until|till|of|morning|afternoon|evening"
        r"|night)\b",
        " ",
        words,
    )
    return " ".join([*day.split(), clock_times])


def with_dates(words: str) -> str:
    """Every date in words of one form as "3 march 2004", its weekday before it."""
    ends = "(?:st|nd|rd|th)?"
    words = re.sub(rf"\b{MONTH} (?:of |in )?(\d{{4}})\b", r"\1 \2", words)
    words = re.sub(
        rf"\b{MONTH} (\d{{1,2}}){ends}(?:(?: of| in)? (\d{{4}}))?\b(?!:)",
        lambda found: " ".join(filter(None, (found[2], found[1], found[3]))),
        words,
    )
    return re.sub(rf"\b(\d{{1,2}}){ends} (?:of )?{MONTH}(?: of| in)?\b", r"\1 \2", words)


# ---- Quantities: a template and the duration that goes into it.


def template_of(read: list[Piece], kind: str) -> tuple[str, str]:
    """Split an expression into a template, with {} in the place of the duration, and the duration.
    Return empty texts if the expression has no duration of this kind.
    """
    classes, before, after = [piece.word_class for piece in read], "", ""
    if kind == "set":
        texts = [
            word_of(piece, True)
            for piece in read
            if piece.word_class not in ("the", "a", "per", "in", "approximate")
        ]
        if classes[0] == "often" and texts[0] in PER:
            return "1 per {}", f"1 {PER[texts[0]]}" if PER[texts[0]][0].isalpha() else PER[texts[0]]
        if classes[-1] not in ("unit", "units") or {"vague", "few"} & set(classes):
            return "", ""
        count = ""
        if classes[0] == "how_often":
            count, texts = HOW_OFTEN[texts[0]], texts[1:]
        elif "times" in classes:
            count, texts = texts[0], texts[2:]
        elif classes[0] == "every":
            count = "1"
        texts = ["2" if text == "other" else text for text in texts if text != "every"]
        return f"{count} per {{}}".strip(), " ".join(texts if len(texts) > 1 else ["1", *texts])
    if classes[0] == "approximate":
        before, read = BOUNDS.get(read[0].text, ""), read[1:]
    if read and read[0].word_class == "the":
        read = read[1:]
    if read and (read[0].word_class in ("which_word", "next_last") or read[0].text == "past"):
        before += SAME.get(read[0].text, read[0].text).replace("past", "last") + " "
        read = read[1:]
    if read and read[-1].word_class in ("ago", "old"):
        after, read = f" {SAME.get(read[-1].text, read[-1].text)}", read[:-1]
    if (kind in ("date", "time") and not after) or {"vague", "few", "masses"} & {
        piece.word_class for piece in read
    }:
        return "", ""
    return f"{before}{{}}{after}", re.sub(
        r"[ -]+$", "", " ".join(piece.text for piece in read if piece.text not in ADDED)
    )


def seconds(texts: pd.Series) -> pd.Series:
    """Return durations as "1800 s" or "300 s to 600 s"; missing if a text has not exactly one."""
    texts = texts.str.replace(r"\b(?:a|one|1) fortnight\b", "2 weeks", regex=True).str.replace(
        r" *- *", "-", regex=True
    )
    found = quantities(texts)
    low, high = (
        found[name].map(lambda value: f"{value:.10g} s", na_action="ignore").astype(object)
        for name in ("seconds_low", "seconds_high")
    )
    return low.where(low.isna() | (low == high), low + " to " + high)


def values_of(texts: pd.Series, kinds: pd.Series, rules: Rules) -> pd.Series:
    """Return the value of each expression, by the index of the texts.

    Values are computed one by one, so give each expression only once.
    """
    read = [pieces(text, rules) for text in texts]
    templates = [template_of(of_text, kind) for of_text, kind in zip(read, kinds)]
    durations = seconds(pd.Series([duration for _, duration in templates], dtype=object))
    values = []
    for of_text, kind, (template, _), duration in zip(read, kinds, templates, durations):
        if template and isinstance(duration, str):
            values.append(template.format(duration))
            continue
        words = words_of(of_text)
        if kind in ("date", "time"):
            words = with_dates(words)
        if kind == "time":
            words = with_clock_times(words)
        if kind == "set":
            words = re.sub(r"^(?!every)(.*)s$", r"every \1", words)
        values.append(words or plain_text(texts.iloc[len(values)]))
    return pd.Series(values, texts.index, dtype=object)
