"""Temporal terms in answers (Zhou et al. 2019, section 3, step 3): what may change in an answer,
and what it may become. resources/temporal_terms.yaml holds the sets of variations.

An answer is cut into mentions ("2", "hours", "a.m.", "once") and the text between them.
candidates_perturbation.py changes them.
"""

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts.running.program import SEED, UserError, parser
from scripts.plan.schemas import check, schema
from scripts.data.yaml_files import read_yaml

TERMS = Path(__file__).parents[2] / "resources" / "temporal_terms.yaml"
NOUNS = ["units", "parts_of_day", "days", "seasons"]
TEMPORAL = [*NOUNS, "months", "points", "counts", "adjectives", "adverbs"]
OTHER = ["orders", "ordinals", "quantities"]

LATEST_YEAR = 2100
MOST_DIGITS = 15  # of a number; a longer one is no quantity of anything
# A number of four digits before one of these, or at the end, is a year; before another word it
# counts something.
AFTER_A_YEAR = set(
    "ad after and at bc bce before but ce during in on or the through to until when while".split()
)
BEFORE_A_YEAR = set("after around before by early in late mid of since until year".split())
ERAS = {"ad", "bc", "bce", "ce"}
# "once" counts before these and at the end; elsewhere it means "as soon as".
AFTER_ONCE = set(
    "a about again an annually at daily each every in monthly or per this weekly yearly".split()
)
# Before "a" or "one" these make a rate of it: "once a week".
BEFORE_A_RATE = {"once", "twice", "thrice", "time", "times", "half"}
MAGNITUDES = {"dozen", "hundred", "thousand", "million", "billion"}
FORMS = (
    r"(?P<clock>\d{1,2})(?:\s?:\s?\d{2})?\s?:?\s?(?P<half>[ap]\.?\s?m(?:\.|\b))"
    r"|(?P<hour>\d{1,2})(?=:\d{2}(?!\d)|\s?o['’]?clock)"
    r"|(?P<decade>\d{1,3}0)(?='?s\b)"
    r"|(?P<ordinal>\d+)(?:st|nd|rd|th)\b"
    r"|(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\w/%:])"
)


@dataclass
class Terms:
    """The lists, ready to be found."""

    pattern: re.Pattern
    # section and set of each term, as it stands in its set
    variations: dict[str, tuple[str, list[str]]]
    singular: dict[str, str]
    plural: dict[str, str]
    words: dict[str, int]
    lists: dict

    def articles(self) -> tuple[str, str]:
        """The terms that want "an" before them, and those that want "a", as alternatives of a
        pattern.
        """
        terms = sorted(self.variations)
        vowel = [term for term in terms if term[0] in "aeio" or term.startswith(("hour", "hr"))]
        return tuple(
            "|".join(map(re.escape, words)) for words in (vowel, sorted(set(terms) - set(vowel)))
        )


@dataclass
class Mention:
    """A part of an answer that may change."""

    start: int
    end: int
    kind: str
    options: list[str]  # what may stand here; the last is what stands here now
    plural: list[str] | None = None  # the options for many, where they differ
    is_plural: bool = False
    governed: bool = False  # by the mention before it


def load_terms(file: Path) -> Terms:
    """The lists of a file like resources/temporal_terms.yaml; refuses one without a section, or a
    term in two sets.
    """
    lists = check(read_yaml(file), schema("temporal_terms"), str(file))
    variations, plural = {}, {}
    for section in TEMPORAL + OTHER:
        for variants in lists[section]:
            for term in variants:
                # "second" is a unit and an ordinal: what follows it decides.
                if term in variations and (section, term) != ("ordinals", "second"):
                    raise UserError(
                        f"{file}: {term} stands in {variations[term][0]} and in {section}; "
                        "keep one of them"
                    )
                variations.setdefault(term, (section, variants))
                if section in NOUNS:
                    plural[term] = lists["plurals"].get(term, f"{term}s")
    singular, words = {many: one for one, many in plural.items()}, lists["numbers"]["words"]
    longest_first = sorted({*variations, *singular, *words}, key=lambda term: (-len(term), term))
    term = "|".join(map(re.escape, longest_first))
    pattern = rf"(?<![\w.,:/$])(?:{FORMS})|(?<!\w)(?P<term>{term}|an?)(?!\w)"
    return Terms(re.compile(pattern, re.I), variations, singular, plural, words, lists)


def drawing(doc: str) -> argparse.ArgumentParser:
    options = parser(doc)
    options.add_argument(
        "--terms",
        type=Path,
        metavar="FILE",
        default=TERMS,
        help="the sets of variations (default: resources/temporal_terms.yaml)",
    )
    options.add_argument(
        "--seed", type=SEED, default=0, metavar="N", help="of all draws (default: %(default)s)"
    )
    return options


def cased(like: str, terms: list[str]) -> list[str]:
    """The terms in upper case, with a capital, or as they are, like the text that they replace."""
    if len(like) > 1 and like.isupper():
        return [term.upper() for term in terms]
    return [term[:1].upper() + term[1:] for term in terms] if like[:1].isupper() else terms


def ordinal(number: int) -> str:
    """1st, 2nd, 11th."""
    last = number % 10 if number % 100 not in (11, 12, 13) else 0
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"


def shifted(number: int, offsets: list[int], most: int) -> list[int]:
    """The number plus each offset, from 1 to `most`."""
    return [number + offset for offset in offsets if 0 < number + offset <= most]


def numbers_near(value: float, whole: bool, numbers: dict) -> list[float]:
    near = [value * factor for factor in numbers["factors"]]
    if whole:
        near = [round(number) for number in near if abs(number - round(number)) < 1e-9]
        near += [int(value) + offset for offset in numbers["offsets"]]
    else:
        near = [round(number, 2) for number in near]
    return sorted({number for number in near if number > 0 and number != value})


def word_before(text: str, place: int) -> str:
    """The word in front of a place, in lower case; empty where none is."""
    found = re.search(r"([\w'’]+)[\s,]*$", text[:place])
    return found[1].lower() if found else ""


def word_after(text: str, place: int) -> str:
    """The word behind a place, in lower case; empty where none is."""
    found = re.match(r"[\s-]*([\w'’]+)", text[place:])
    return found[1].lower() if found else ""


def counts_units(terms: Terms, text: str, place: int) -> bool:
    return word_after(text, place) in {*terms.plural, *terms.singular, *MAGNITUDES, "time", "times"}


def of_number(terms: Terms, text: str, start: int, end: int) -> Mention | None:
    """The mention of digits: a year, a day of a month, or a number."""
    said, numbers = text[start:end], terms.lists["numbers"]
    before, after = word_before(text, start), word_after(text, end)
    dated = re.search(r"\d(?:st|nd|rd|th)?\b,?\s+$", text[:start])  # "may 5, 1990", "may 5th 670"
    if re.match(r"'|\.\d", text[end:]):
        return None
    value = float(said.replace(",", ""))
    is_year = (
        len(said) == 4
        and said[0] != "0"
        and (not after or after in AFTER_A_YEAR or before in BEFORE_A_YEAR)
    ) or (after in ERAS or (dated and len(said) > 2))
    if is_year and said.isdigit() and value <= LATEST_YEAR and not counts_units(terms, text, end):
        return Mention(
            start,
            end,
            "year",
            [*map(str, shifted(int(said), numbers["year_offsets"], LATEST_YEAR)), said],
        )
    if terms.variations.get(before, ("",))[0] == "months" and 0 < value <= 31:
        return Mention(
            start,
            end,
            "day",
            [*map(str, shifted(int(value), numbers["ordinal_offsets"], 28)), said],
        )
    separator = "," if "," in said else ""
    near = numbers_near(value, "." not in said, numbers)
    options = [
        f"{number:{separator}}" if isinstance(number, int) else f"{number:g}" for number in near
    ]
    return Mention(start, end, "number", [*options, said])


def of_number_word(terms: Terms, text: str, start: int, end: int) -> Mention | None:
    """The mention of a number word or an article, or None where the word counts nothing."""
    said, before, after = text[start:end], word_before(text, start), word_after(text, end)
    term = said.lower()
    if term in ("a", "an", "one"):
        unit = counts_units(terms, text, end) and after not in MAGNITUDES | {"time"}
        rate = before in BEFORE_A_RATE or before.isdigit()
        choice = re.match(r"\s+\w+\s+or\b", text[end:])  # "a day or two"
        if rate or choice or not (unit or text.strip().lower() == term == "one"):
            return None
    near = numbers_near(terms.words.get(term, 1), True, terms.lists["numbers"])
    names = {number: word for word, number in terms.words.items()} if term in terms.words else {}
    return Mention(
        start,
        end,
        "number",
        [*cased(said, [names.get(number, str(number)) for number in near]), said],
    )


def of_term(terms: Terms, text: str, start: int, end: int) -> Mention | None:
    """The mention of a listed term, or None where the word means something else."""
    said, before, after = text[start:end], word_before(text, start), word_after(text, end)
    term, doubtful = said.lower(), terms.lists["ambiguous"]
    is_plural, lemma = term in terms.singular, terms.singular.get(term, term)
    section, variants = terms.variations[lemma]
    if term == "second" and (after in terms.plural or after in ("half", "part", "time", "year's")):
        section, variants = (
            "ordinals",
            next(same for same in terms.lists["ordinals"] if "second" in same),
        )
    clear = (
        is_plural
        or before.isdigit()
        or before in doubtful["needs"]
        or after.rstrip("stndrh").isdigit()
    )
    if lemma in doubtful["terms"] and not clear and text.strip().lower() != lemma:
        return None
    if lemma in doubtful["verbs"] and before in doubtful["verb_after"]:
        return None
    if term == "once" and after and after not in AFTER_ONCE and after not in terms.plural:
        return None
    if term == "some" and not counts_units(terms, text, end):
        return None
    options = [other for other in variants if other != lemma] + [lemma]
    many = cased(said, [terms.plural[option] for option in options]) if section in NOUNS else None
    return Mention(start, end, section, cased(said, options), many, is_plural)


def others(numbers: Iterable[int], said: str, width: int = 1) -> list[str]:
    """The other numbers as they are written, and at last what stands there."""
    return [*(str(number).zfill(width) for number in numbers if number != int(said)), said]


def in_form(terms: Terms, text: str, match: re.Match) -> list[Mention | None]:
    """The mentions of what the pattern found: two of a clock time with a half, else one."""
    kind = match.lastgroup
    said, (start, end) = match[kind], match.span(kind)
    if kind == "half":
        half = said[0].translate(str.maketrans("apAP", "paPA")) + said[1:]
        return [
            Mention(*match.span("clock"), "clock", others(range(1, 13), match["clock"])),
            Mention(start, end, "clock", [half, said]),
        ]
    if kind == "hour":
        padded = said[0] == "0"
        hours = range(24) if padded or int(said) > 12 else range(1, 13)
        return [Mention(start, end, "clock", others(hours, said, len(said) if padded else 1))]
    if kind == "decade":
        decades = range(int(said) - 50, int(said) + 51, 10)
        if len(said) == 2:  # "the 90s" and "the 00s" are neighbours
            decades = {number % 100 for number in decades}
        options = others(
            (number for number in decades if 0 <= number <= LATEST_YEAR), said, len(said)
        )
        return [Mention(start, end, "year", [*sorted(options[:-1]), said])]
    if kind == "ordinal":
        most = 28 if word_before(text, start) in terms.variations else LATEST_YEAR
        near = shifted(int(said), terms.lists["numbers"]["ordinal_offsets"], most)
        return [Mention(*match.span(), "ordinals", [*map(ordinal, near), match[0]])]
    if kind == "number":
        return [of_number(terms, text, start, end)]
    is_number = said.lower() in {*terms.words, "a", "an"}
    return [(of_number_word if is_number else of_term)(terms, text, start, end)]


def mentions(terms: Terms, text: str) -> list[Mention]:
    """The parts of an answer that may change, from left to right.

    Units right behind a number follow it; so does the word `times`, which never changes otherwise.
    """
    found = [
        mention
        for match in terms.pattern.finditer(text)
        if len(match["number"] or match["ordinal"] or "") <= MOST_DIGITS
        for mention in in_form(terms, text, match)
        if mention
    ]
    whole: list[Mention] = []
    for mention, after in zip(found, [*found[1:], None]):
        if whole and mention.kind in NOUNS and whole[-1].kind in ("number", "quantities"):
            mention.governed = text[whole[-1].end : mention.start].isspace()
        whole.append(mention)
        times = re.compile(r"\s+(times?)\b", re.I).match(text, mention.end)
        if mention.kind == "number" and times and (after is None or after.start >= times.end()):
            one, many = cased(times[1], ["time", "times"])
            whole.append(
                Mention(*times.span(1), "times", [one], [many], times[1].lower() == "times", True)
            )
    return whole


def is_event(terms: Terms, text: str, found: list[Mention]) -> bool:
    """Whether an answer is an event phrase: no temporal term or quantity in it, and the look of a
    phrase with a verb.

    It looks so when it has a word of the list of verbs, or n't; a word in -ed or -ing that is not
    listed as no verb; a word behind a subject pronoun ("they talk"); or a plain word before an
    object pronoun, or at the very start before an article or possessive ("quit the job").
    """
    if any(mention.kind in (*TEMPORAL, "clock", "year", "day", "times") for mention in found):
        return False
    if re.search(r"n['’]t\b", text, re.I):
        return True
    words = re.findall(r"[a-z]+", text.lower())
    verbs, others, openers, objects, subjects = (
        set(terms.lists["events"][name])
        for name in ("verbs", "not_verbs", "openers", "objects", "subjects")
    )
    numbers = {*terms.words, *terms.variations}
    for place, (before, word, after) in enumerate(zip(["", *words], words, [*words[1:], ""])):
        ending = re.fullmatch(r".{2,}ing|.{2,}ed", word) and word not in others | numbers
        plain = word not in openers | objects | subjects | numbers
        of_object = after in {"him", "them", "me", "us"} or (place == 0 and after in objects)
        if word in verbs or ending or (plain and (before in subjects or of_object)):
            return True
    return False
