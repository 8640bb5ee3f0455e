"""A text as pieces with word classes: what the rules for temporal expressions are written in.

White space does not matter: "o'clock", "o ' clock" and "o’clock" are one piece each, "7:30" and "7 : 30", "p.m." and
"p . m ." too, so that DailyDialog's text reads the same before and after its spacing is repaired. Full-width letters,
digits and marks are read as the usual ones. Bounds are always those of the text as it stands.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from scripts.build.unit_normalization import ONES, SCALES, TEENS, TENS, number
from scripts.common.program import UserError

RULES = Path(__file__).parents[2] / "resources" / "temporal_patterns.yaml"
PLAIN = str.maketrans({0xFF01 + sign: 0x21 + sign for sign in range(94)} | {
    "\u3000": " ", "\u00a0": " ", "’": "'", "‘": "'", "´": "'", "`": "'", "‐": "-", "‑": "-", "‒": "-"})

# ---- Numbers. unit_normalization reads their values; here only what is one number: "five fifteen" are two.

GAP = r"(?:\s*-\s*|\s+)"
ONE, TEEN, TEN, SCALE = ("(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")" for words in (ONES, TEENS, TENS, SCALES))
BELOW_100 = rf"(?:{TEN}{GAP}{ONE}|{TEN}|{TEEN}|{ONE})"
NUMBER_WORDS = rf"(?:(?:{BELOW_100}|an?)\s+{SCALE}|{BELOW_100}|(?:hundred|thousand|dozen))(?:\s+{SCALE}|(?<=d)\s+(?:and\s+)?{BELOW_100})*"
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
            "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
            "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30}
ORDINAL = "(?:" + "|".join(sorted(ORDINALS, key=len, reverse=True)) + ")"
DECADES = dict(zip("twenties thirties forties fifties sixties seventies eighties nineties".split(), range(20, 100, 10)))
READ = {  # group: pattern; the first that matches at a place is taken
    "numeric_date": r"\d{4}\s?[-/]\s?\d{1,2}\s?[-/]\s?\d{1,2}(?![\d])|\d{1,2}/\d{1,2}/\d{2,4}(?!\d)",
    "clock": r"(?:[01]?\d|2[0-4])\s*:\s*[0-5]\d(?!\d)(?!\s*:\s*\d)|(?:[01]?\d|2[0-4])\s?\.\s?[0-5]\d(?=\s*[ap]\s?\.?\s?m)",
    "decade": r"(?:(?:1[5-9]|20)\d0|(?<!\d)\d0)\s*'?\s*s(?![a-z])|(?:(?:eighteen|nineteen)\s+)?(?:" + "|".join(DECADES) + r")\b",
    "digit_ordinal": r"\d+\s?(?:st|nd|rd|th)\b",
    "word_ordinal": rf"\b(?:{TEN}{GAP}{ORDINAL}|(?!first|second){ORDINAL})\b",
    "number": rf"\d+\s+1/2|\d{{1,2}} \. \d(?=\s+(?:hour|year|month|day|week)s?)|[1-9]/[2-9](?!\d)|\d*[½¼¾]|\d+(?:,\d{{3}})*(?:\.\d+)?(?:\s+{SCALE}\b)?|\b{NUMBER_WORDS}\b",
}


class Piece(NamedTuple):
    """One piece of a text: its bounds, its class, and its words in lower case with single blanks."""

    start: int
    end: int
    word_class: str
    text: str


class Rules(NamedTuple):
    """resources/temporal_patterns.yaml, read: the classes' pattern, and the lists as they stand."""

    reader: re.Pattern
    form_of: dict[str, str]
    class_of: dict[str, str]
    groups: dict
    patterns: list
    joins: list


@lru_cache
def rules_of(path: Path = RULES) -> Rules:
    """The rules of a file. Raises UserError when it has no patterns (an empty span ruler warns at every text)."""
    held = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not held.get("patterns"):
        raise UserError(f"{path}: no patterns, so no temporal expression could be found; restore the file")
    class_of, forms = {}, []
    for name, entries in held["words"].items():
        for entry in map(str, entries):
            if re.fullmatch("[a-z]+", entry):
                class_of.setdefault(entry, name)
            else:
                forms.append((entry, name))
    names, parts = {}, []
    for place, (entry, name) in enumerate(sorted(forms, key=lambda form: -len(form[0]))):
        names[f"w{place}"] = name
        body = entry.replace("(?: ", r"(?:\s+").replace(" ?", r"\s?").replace(" ", GAP)
        parts.append(rf"(?P<w{place}>(?<![a-z])(?:{body})(?![a-z]))")
    read = [f"(?P<{name}>{pattern})" for name, pattern in READ.items()]
    # Times, dates and numbers first; then words in a class; any other word; any other sign.
    reader = re.compile("|".join([*read, *parts, r"(?P<word>[^\W\d_]+)", r"(?P<sign>\S)"]))
    return Rules(reader, names, class_of, held.get("groups", {}), held["patterns"], held.get("joins", []))


@lru_cache(maxsize=20_000)
def number_class(words: str) -> str:
    """The class of a number in digits or words: hour, number_24, …, year, number."""
    value = number(words)
    if value % 1 != 0:  # so also where there is no value
        return "number"
    if re.fullmatch(r"[12]\d{3}", words):
        return "year" if value < 2100 else "number"
    return next((name for most, name in ((0, "number_24"), (12, "hour"), (24, "number_24"), (31, "number_31"),
                                         (59, "number_59")) if value <= most), "number")


def ordinal_value(words: str) -> int:
    """The value of an ordinal in digits or words: 23 for "23rd" and "twenty-third"."""
    if words[0].isdigit():
        return int(re.match(r"\d+", words)[0])
    *tens, last = re.split(r"[\s-]+", words)
    return ORDINALS[last] + sum(TENS[ten] for ten in tens)


def pieces(text: str, rules: Rules) -> list[Piece]:
    """The pieces of a text, in order."""
    plain = text.translate(PLAIN)
    lower = plain.lower()
    if len(lower) != len(text):  # a letter that is two in lower case would move the bounds
        lower = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in plain)
    made = []
    for found in rules.reader.finditer(lower):
        kind, words = found.lastgroup, " ".join(found[0].split())
        if kind == "word":
            kind = rules.class_of.get(words, "word")
        elif kind == "sign":
            kind = words
        elif kind == "number":
            kind = number_class(words)
        elif kind in ("digit_ordinal", "word_ordinal"):
            kind = "day_ordinal" if ordinal_value(words) <= 31 else "ordinal"
        else:
            kind = rules.form_of.get(kind, kind)
        made.append(Piece(found.start(), found.end(), kind, words))
    return made
