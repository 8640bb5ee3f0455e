"""Split a text into pieces with word classes. The rules for temporal expressions use these pieces.

White space does not matter: "o'clock", "o ' clock" and "o’clock" are one piece each. So are "7:30"
and "7 : 30", "p.m." and "p . m .". So DailyDialog's text has the same pieces before and after its
spacing is repaired. Full-width letters, digits and marks are read as plain ones. Bounds always
refer to the original text.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from scripts.text.number_words import ONES, SCALES, TEENS, TENS, any_of, number
from scripts.running.program import UserError

RULES = Path(__file__).parents[2] / "resources" / "temporal_patterns.yaml"
PLAIN = str.maketrans(
    {0xFF01 + sign: 0x21 + sign for sign in range(94)}
    | dict.fromkeys("\u3000\u00a0", " ")
    | dict.fromkeys("’‘´`", "'")
    | dict.fromkeys("‐‑‒", "-")
)

# ---- Numbers.
# unit_normalization reads the values of numbers. Here only the bounds of each number count. For
# example, "five fifteen" is two numbers.

ORDINALS = dict(
    zip(
        (
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        ).split(),
        range(1, 21),
    )
) | {"thirtieth": 30}
DECADES = {ten.removesuffix("y") + "ies": value for ten, value in TENS.items()}
GAP = r"(?:\s*-\s*|\s+)"
ONE, TEEN, TEN, SCALE, ORDINAL, DECADE = map(any_of, (ONES, TEENS, TENS, SCALES, ORDINALS, DECADES))
BELOW_100 = rf"(?:{TEN}{GAP}{ONE}|{TEN}|{TEEN}|{ONE})"
NUMBER_WORDS = (
    rf"(?:(?:{BELOW_100}|an?)\s+{SCALE}|{BELOW_100}|(?:hundred|thousand|dozen))"
    rf"(?:\s+{SCALE}|(?<=d)\s+(?:and\s+)?{BELOW_100})*"
)  # d: the end of hundred and thousand
# Patterns (class, pattern) of pieces that begin with a digit or an apostrophe, and of pieces that
# begin with a number word. The first pattern that matches is used.
DIGITS = [
    (name, re.compile(pattern))
    for name, pattern in [
        (
            "numeric_date",
            r"\d{4}\s?[-/]\s?\d{1,2}\s?[-/]\s?\d{1,2}(?!\d)|\d{1,2}/\d{1,2}/\d{2,4}(?!\d)",
        ),
        ("clock", r"(?:[01]?\d|2[0-4])\s*:\s*[0-5]\d(?!\d)(?!\s*:\s*\d)"),
        ("clock", r"(?:[01]?\d|2[0-4])\s?\.\s?[0-5]\d(?=\s*[ap]\s?\.?\s?m)"),
        ("decade", r"(?:(?:1[5-9]|20)\d0|'?\s?[2-9]0)s(?![a-z])"),
        ("ordinal", r"\d+\s?(?:st|nd|rd|th)(?![a-z])"),
        (
            "number",
            (
                r"\d+\s+1/2|[1-9]/[2-9](?!\d)|\d*[½¼¾]|\d{1,2} \. \d(?=\s+(?:hour|year|month|day"
                r"|week))"
            ),
        ),
        ("number", rf"\d+(?:,\d{{3}})*(?:\.\d+)?(?:\s+{SCALE}(?![a-z]))?"),
    ]
]
WORDS = [
    (name, re.compile(pattern))
    for name, pattern in [
        ("decade", rf"(?:(?:eighteen|nineteen){GAP})?{DECADE}(?![a-z])"),
        ("ordinal", rf"(?:{TEN}{GAP})?{ORDINAL}(?![a-z])"),
        ("number", rf"{NUMBER_WORDS}(?![a-z])"),
    ]
]
FIRST_WORDS = {*ONES, *TEENS, *TENS, *DECADES, *ORDINALS} - {"first", "second"}
FIRST_WORDS |= {"hundred", "thousand", "dozen", "a", "an"}
NEXT = re.compile(r"\s*(?:([^\W\d_]+)|(\S))")


class Piece(NamedTuple):
    """One piece of a text: its bounds, its class, and its words in lower case
    with single blanks.
    """

    start: int
    end: int
    word_class: str
    text: str


class Rules(NamedTuple):
    """resources/temporal_patterns.yaml, read.

    forms: {first word or sign: the patterns that may begin with it}.
    """

    class_of: dict[str, str]
    forms: dict[str, list[tuple[str, re.Pattern]]]
    common: frozenset[str]
    groups: dict[str, list[str]]
    patterns: list[dict]
    joins: list[dict]


@lru_cache
def rules_of(path: Path = RULES) -> Rules:
    """Read the rules of a file. Raises UserError if it has no patterns, because an empty span ruler
    warns for every text.
    """
    held = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not held.get("patterns"):
        raise UserError(
            f"{path}: no patterns, so no temporal expression could be found; restore the file"
        )
    class_of, forms = {}, {}
    for name, entries in held["words"].items():
        for entry in entries:
            if re.fullmatch("[a-z]+", entry):
                class_of.setdefault(entry, name)
                continue
            pattern = entry.replace(" ?", r"\s?").replace(" ", GAP) + "(?![a-z])"
            begins = re.match(r"(?:\(\?<![^)]*\))?(?:\(\?:([a-z|]+)\)|([a-z]+)|\\?(\S))", entry)
            for first in (begins[1] or begins[2] or begins[3]).split("|"):
                forms.setdefault(first, []).append((entry, (name, re.compile(pattern))))
    forms = {
        first: [form for _, form in sorted(same_start, key=lambda form: -len(form[0]))]
        for first, same_start in forms.items()
    }
    return Rules(
        class_of, forms, frozenset(held["common"]), held["groups"], held["patterns"], held["joins"]
    )


@lru_cache(maxsize=20_000)
def number_class(words: str) -> str:
    """The class of a number in digits or words: hour, number_24, …, year, number."""
    value = number(words)
    if value % 1 != 0:  # also where there is no value (NaN)
        return "number"
    if re.fullmatch(r"\d{4}", words) and 1400 <= value < 2100:
        return "year"
    names = {0: "number_24", 12: "hour", 24: "number_24", 31: "number_31", 59: "number_59"}
    return next((name for most, name in names.items() if value <= most), "number")


def ordinal_value(words: str) -> int:
    """The value of an ordinal in digits or words: 23 for "23rd" and "twenty-third"."""
    if words[0].isdigit():
        return int(re.match(r"\d+", words)[0])
    *tens, last = re.split(r"[\s-]+", words)
    return ORDINALS[last] + sum(TENS[ten] for ten in tens)


def plain_text(text: str) -> str:
    """A text in lower case with plain letters, digits and marks, letter for letter."""
    lower = text.translate(PLAIN).lower()
    if len(lower) == len(text):
        return lower
    return "".join(
        letter.lower() if len(letter.lower()) == 1 else letter for letter in text.translate(PLAIN)
    )


def pieces(text: str, rules: Rules) -> list[Piece]:
    """The pieces of a text, in order."""
    lower = plain_text(text)
    found_pieces, place = [], 0
    while token := NEXT.match(lower, place):
        word, sign = token.groups()
        start, end = token.start(token.lastindex), token.end()
        name = rules.class_of.get(word, "word") if word else sign
        candidates = rules.forms.get(word or sign, [])
        if word in FIRST_WORDS:
            candidates = WORDS + candidates
        elif not word and (sign.isdigit() or sign in "'½¼¾"):
            candidates = DIGITS + candidates
        for form, pattern in candidates:
            if found := pattern.match(lower, start):
                end, name = found.end(), form
                break
        words = lower[start:end]
        if end - start > 1:
            words = " ".join(words.split())
        if name == "number":
            name = number_class(words)
        elif name == "ordinal":
            name = "day_ordinal" if ordinal_value(words) <= 31 else "ordinal"
        found_pieces.append(Piece(start, end, name, words))
        place = end
    return found_pieces
