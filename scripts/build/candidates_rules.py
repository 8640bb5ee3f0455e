"""Temporal terms in answers (Zhou et al. 2019, section 3, step 3): what may change in an answer, and what it may become.

Not a program. resources/temporal_terms.yaml holds the sets of variations.

An answer is cut into mentions ("2", "hours", "a.m.", "once") and the text between them. candidates_perturbation.py changes them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from scripts.common.program import UserError

NOUNS = ["units", "parts_of_day", "days", "seasons"]
TEMPORAL = [*NOUNS, "months", "points", "counts", "adjectives", "adverbs"]
OTHER = ["orders", "ordinals", "quantities"]
SECTIONS = {*TEMPORAL, *OTHER, "plurals", "numbers", "ambiguous", "events"}

LATEST_YEAR = 2100
MOST_DIGITS = 15  # of a number; a longer one is no quantity of anything
# A number of four digits before one of these, or at the end, is a year; before another word it counts something.
AFTER_A_YEAR = {"ad", "after", "and", "at", "bc", "bce", "before", "but", "ce", "during", "in", "on", "or", "the",
                "through", "to", "until", "when", "while"}
BEFORE_A_YEAR = {"after", "around", "before", "by", "early", "in", "late", "mid", "of", "since", "until", "year"}
ERAS = {"ad", "bc", "bce", "ce"}
# "once" counts before these and at the end; elsewhere it means "as soon as".
AFTER_ONCE = {"a", "about", "again", "an", "annually", "at", "daily", "each", "every", "in", "monthly", "or", "per",
              "this", "weekly", "yearly"}
MAGNITUDES = {"dozen", "hundred", "thousand", "million", "billion"}
HALF = r"[ap]\.?\s?m(?:\.|\b)"
FORMS = (rf"(?P<clock>\d{{1,2}})(?P<minutes>(?:\s?:\s?\d{{2}})?\s?:?\s?)(?P<half>{HALF})"
         r"|(?P<hour>\d{1,2})(?=:\d{2}(?!\d)|\s?o['’]?clock)"
         r"|(?P<decade>\d{1,3}0)(?='?s\b)"
         r"|(?P<ordinal>\d+)(?P<suffix>st|nd|rd|th)\b"
         r"|(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\w/%:])")


@dataclass
class Terms:
    """The lists, ready to be found."""

    pattern: re.Pattern
    variations: dict[str, tuple[str, list[str]]]  # section and set of each term, as it stands in its set
    singular: dict[str, str]
    plural: dict[str, str]
    words: dict[str, int]
    lists: dict

    def articles(self) -> tuple[str, str]:
        """The terms that want "an" before them, and those that want "a", as alternatives of a pattern."""
        terms = sorted(self.variations)
        vowel = [term for term in terms if term[0] in "aeio" or term.startswith(("hour", "hr"))]
        return tuple("|".join(map(re.escape, words)) for words in (vowel, sorted(set(terms) - set(vowel))))


@dataclass
class Mention:
    """A part of an answer that may change."""

    start: int
    end: int
    kind: str
    # What may stand here, for one and for many; the last is what stands here now.
    singular: list[str]
    plural: list[str]
    one: list[bool]  # whether the number that it tells is one: what a unit behind it agrees with
    is_plural: bool = False
    governed: bool = False  # by the mention before it


def load_terms(file: Path) -> Terms:
    """The lists of a file like resources/temporal_terms.yaml; refuses one without a section, or a term in two sets."""
    try:
        lists = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; name the lists of temporal terms with --terms") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: not YAML in UTF-8 ({' '.join(str(error).split())}); mend it") from None
    if missing := sorted(SECTIONS - set(lists if isinstance(lists, dict) else {})):
        raise UserError(f"{file}: section {missing[0]} is missing; take it from resources/temporal_terms.yaml")
    for name in lists["events"]:
        if odd := [word for word in lists["events"][name] if not isinstance(word, str)]:
            raise UserError(f"{file}: events, {name} has {odd[0]!r}, which is no text; put it in quotes")
    variations, plural = {}, {}
    for section in TEMPORAL + OTHER:
        for variants in lists[section]:
            for term in variants:
                if not isinstance(term, str):
                    raise UserError(f"{file}: {section} has {term!r}, which is no text; put it in quotes")
                # "second" is a unit and an ordinal: told apart by what follows.
                if term in variations and (section, term) != ("ordinals", "second"):
                    raise UserError(f"{file}: {term} stands in {variations[term][0]} and in {section}; "
                                    "keep one of them")
                variations.setdefault(term, (section, variants))
                if section in NOUNS:
                    plural[term] = lists["plurals"].get(term, f"{term}s")
    singular = {many: one for one, many in plural.items()}
    found = sorted({*variations, *singular, *lists["numbers"]["words"]}, key=lambda term: (-len(term), term))
    term = "|".join(map(re.escape, found))
    pattern = rf"(?<![\w.,:/$])(?:{FORMS})|(?<!\w)(?P<term>{term}|an?)(?!\w)"
    return Terms(re.compile(pattern, re.I), variations, singular, plural, lists["numbers"]["words"], lists)


def cased(like: str, terms: list[str]) -> list[str]:
    """The terms in upper case, with a capital, or as they are, like the text that they replace."""
    if len(like) > 1 and like.isupper():
        return [term.upper() for term in terms]
    return [term[:1].upper() + term[1:] for term in terms] if like[:1].isupper() else terms


def invariant(start: int, end: int, kind: str, options: list[str]) -> Mention:
    """The mention of what has no plural and counts nothing."""
    return Mention(start, end, kind, options, options, [False] * len(options))


def ordinal(number: int) -> str:
    """1st, 2nd, 11th."""
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, 'th') }"


def numbers_near(value: float, whole: bool, numbers: dict) -> list[float]:
    """The variations of a number."""
    near = [value * factor for factor in numbers["factors"]]
    if whole:
        near = [round(number) for number in near if abs(number - round(number)) < 1e-9]
        near += [int(value) + offset for offset in numbers["offsets"]]
    else:
        near = [round(number, 2) for number in near]
    return sorted({number for number in near if number > 0 and number != value})


def word_before(text: str, place: int) -> str:
    found = re.search(r"([\w'’]+)[\s,]*$", text[:place])
    return found[1].lower() if found else ""


def word_after(text: str, place: int) -> str:
    found = re.match(r"[\s-]*([\w'’]+)", text[place:])
    return found[1].lower() if found else ""


def counts_units(terms: Terms, text: str, place: int) -> bool:
    """Whether a unit, `times` or a magnitude follows."""
    word = word_after(text, place)
    return word in terms.plural or word in terms.singular or word in MAGNITUDES or word in ("time", "times")


def of_number(terms: Terms, text: str, start: int, end: int) -> Mention | None:
    """The mention of digits: a year, or a number."""
    said, numbers = text[start:end], terms.lists["numbers"]
    before, after = word_before(text, start), word_after(text, end)
    dated = re.search(r"\d(?:st|nd|rd|th)?\b,?\s+$", text[:start])  # "may 5, 1990", "may 5th 670"
    if text[end : end + 1] == "'" or (text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit()):
        return None
    year = said.isdigit() and not counts_units(terms, text, end) and int(said) <= LATEST_YEAR and (
        (len(said) == 4 and said[0] != "0" and (not after or after in AFTER_A_YEAR or before in BEFORE_A_YEAR))
        or after in ERAS or (dated and len(said) > 2))
    if year:
        years = [int(said) + offset for offset in numbers["year_offsets"]]
        return invariant(start, end, "year", [*(str(number) for number in years if 0 < number <= LATEST_YEAR), said])
    value = float(said.replace(",", ""))
    if terms.variations.get(before, ("",))[0] == "months" and 0 < value <= 31:
        days = [int(value) + offset for offset in numbers["ordinal_offsets"]]
        return invariant(start, end, "day", [*(str(day) for day in days if 0 < day <= 28), said])
    near = numbers_near(value, "." not in said, numbers)
    separator = "," if "," in said else ""
    options = [*(f"{number:{separator}}" if isinstance(number, int) else f"{number:g}" for number in near), said]
    return Mention(start, end, "number", options, options, [number == 1 for number in [*near, value]])


def of_term(terms: Terms, text: str, start: int, end: int) -> Mention | None:
    """The mention of a listed term, a number word or an article, or None where the word means something else."""
    said = text[start:end]
    term, before, after = said.lower(), word_before(text, start), word_after(text, end)
    articles = term in ("a", "an")
    if articles or term in terms.words:
        if articles or term == "one":
            unit = counts_units(terms, text, end) and after not in MAGNITUDES | {"time"}
            rate = before in ("once", "twice", "thrice", "time", "times", "half") or before.isdigit()  # "once a week"
            choice = re.match(r"\s+\w+\s+or\b", text[end:])                                            # "a day or two"
            if rate or choice or not (unit or (term == "one" and text.strip().lower() == "one")):
                return None
        value = 1 if articles else terms.words[term]
        near = numbers_near(value, True, terms.lists["numbers"])
        names = {} if articles else {number: word for word, number in terms.words.items()}
        options = [*cased(said, [names.get(number, str(number)) for number in near]), said]
        return Mention(start, end, "number", options, options, [number == 1 for number in [*near, value]])
    is_plural = term in terms.singular
    lemma = terms.singular.get(term, term)
    if lemma == "second" and not is_plural and (after in terms.plural or after in ("half", "part", "time", "year's")):
        section, variants = "ordinals", next(same for same in terms.lists["ordinals"] if "second" in same)
    else:
        section, variants = terms.variations[lemma]
    doubtful = terms.lists["ambiguous"]
    beside_number = after.rstrip("stndrh").isdigit() or before.isdigit()
    if lemma in doubtful["terms"] and not is_plural and not beside_number and before not in doubtful["needs"]:
        if text.strip().lower() != lemma:
            return None
    if lemma in doubtful["verbs"] and before in doubtful["verb_after"]:
        return None
    if term == "once" and after and after not in AFTER_ONCE and after not in terms.plural:
        return None
    if section == "quantities" and term == "some" and not counts_units(terms, text, end):
        return None
    options = [other for other in variants if other != lemma] + [lemma]
    many = [terms.plural.get(other, other) for other in options] if section in NOUNS else options
    return Mention(start, end, section, cased(said, options), cased(said, many), [False] * len(options), is_plural)


def mentions(terms: Terms, text: str) -> list[Mention]:
    """The parts of an answer that may change, from left to right."""
    found: list[Mention] = []
    for match in terms.pattern.finditer(text):
        if len(match["number"] or match["ordinal"] or "") > MOST_DIGITS:
            continue
        if said := match["clock"]:
            hours = [str(hour) for hour in range(1, 13) if hour != int(said)]
            found.append(invariant(*match.span("clock"), "clock", [*hours, said]))
            half = match["half"]
            other = {"a": "p", "p": "a", "A": "P", "P": "A"}[half[0]] + half[1:]
            found.append(invariant(*match.span("half"), "clock", [other, half]))
        elif said := match["hour"]:
            wide = len(said) if said[0] == "0" else 1
            hours = range(24) if int(said) > 12 or said[0] == "0" else range(1, 13)
            hours = [str(hour).zfill(wide) for hour in hours if hour != int(said)]
            found.append(invariant(*match.span("hour"), "clock", [*hours, said]))
        elif said := match["decade"]:
            decades = [int(said) + 10 * step for step in range(-5, 6) if step]
            if len(said) == 2:  # "the 90s" and "the 00s" are neighbours
                decades = [number % 100 for number in decades]
            decades = sorted({str(number).zfill(len(said)) for number in decades if 0 <= number <= LATEST_YEAR} - {said})
            found.append(invariant(*match.span("decade"), "year", [*decades, said]))
        elif said := match["ordinal"]:
            most = 28 if word_before(text, match.start()) in terms.variations else LATEST_YEAR
            near = [int(said) + offset for offset in terms.lists["numbers"]["ordinal_offsets"]]
            options = [*(ordinal(number) for number in near if 0 < number <= most), match[0]]
            found.append(invariant(*match.span(), "ordinals", options))
        elif match["number"]:
            found.append(of_number(terms, text, *match.span("number")))
        else:
            found.append(of_term(terms, text, *match.span("term")))
        if found[-1] is None:
            found.pop()
    return agreeing(terms, text, found)


def agreeing(terms: Terms, text: str, found: list[Mention]) -> list[Mention]:
    """Units right behind a number follow it; so does the word `times`, which never changes otherwise."""
    whole: list[Mention] = []
    for mention, after in zip(found, [*found[1:], None]):
        if whole and mention.kind in NOUNS and whole[-1].kind in ("number", "quantities"):
            gap = text[whole[-1].end : mention.start]
            mention.governed = bool(gap) and gap.isspace()
        whole.append(mention)
        times = re.match(r"\s+(times?)\b", text[mention.end :], re.I)
        if mention.kind == "number" and times and (after is None or after.start >= mention.end + times.end()):
            start, end = mention.end + times.start(1), mention.end + times.end(1)
            said = cased(text[start:end], ["time", "times"])
            whole.append(Mention(start, end, "times", said[:1], said[1:], [False], times[1].lower() == "times", True))
    return whole


def is_event(terms: Terms, text: str, found: list[Mention]) -> bool:
    """Whether an answer is an event phrase: no temporal term or quantity in it, and the look of a phrase with a verb.

    It looks so when it has a word of the list of verbs, or n't; a word in -ed or -ing that is not listed as no verb; a
    word behind a subject pronoun ("they talk", "it ' s"); or a word of its own (no preposition or the like) before an
    object pronoun, or at the very start before an article or possessive ("quit the job").
    """
    if any(mention.kind in (*TEMPORAL, "clock", "year", "day", "times") for mention in found):
        return False
    lists = terms.lists["events"]
    if re.search(r"n['’]t\b", text, re.I):
        return True
    words = re.findall(r"[a-z]+", text.lower())
    openers, objects, subjects = (set(lists[name]) for name in ("openers", "objects", "subjects"))
    numbers = {*terms.words, *terms.variations}
    pronouns = {"him", "them", "me", "us"}
    for place, word in enumerate(words):
        before, after = words[place - 1] if place else "", words[place + 1] if place + 1 < len(words) else ""
        ending = (len(word) > 4 and word.endswith("ing")) or (len(word) > 3 and word.endswith("ed"))
        of_its_own = word not in openers | objects | subjects | numbers
        if word in lists["verbs"] or (ending and word not in lists["not_verbs"] and word not in numbers):
            return True
        if before in subjects and of_its_own:
            return True
        if of_its_own and (after in pronouns or (place == 0 and after in objects)):
            return True
    return False
