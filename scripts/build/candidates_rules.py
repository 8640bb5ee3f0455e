"""Rule perturbation of answers (Zhou et al. 2019, section 3, step 3): numbers, units and temporal words, at random.

Not a program. resources/temporal_terms.yaml holds the sets of variations.

An answer is cut into mentions ("2", "hours", "a.m.", "once") and the text between them. Every attempt changes each
mention with probability 1/2, one of them for certain, to another of its variations. A unit right after a number agrees
with it ("1 day", "10 days"), other nouns keep their number, and "a" becomes "an" where the next word asks for it.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from scripts.common.keyed import keyed_uniform
from scripts.common.program import UserError

NOUNS = ["units", "parts_of_day", "days", "seasons"]
TEMPORAL = [*NOUNS, "months", "points", "counts", "adjectives", "adverbs"]
OTHER = ["orders", "ordinals", "quantities"]
SECTIONS = {*TEMPORAL, *OTHER, "plurals", "numbers", "ambiguous", "events"}

LATEST_YEAR = 2100
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
        return tuple("|".join(map(re.escape, some)) for some in (vowel, sorted(set(terms) - set(vowel))))


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
        for some in lists[section]:
            for term in some:
                if not isinstance(term, str):
                    raise UserError(f"{file}: {section} has {term!r}, which is no text; put it in quotes")
                # "second" is a unit and an ordinal: told apart by what follows.
                if term in variations and (section, term) != ("ordinals", "second"):
                    raise UserError(f"{file}: {term} stands in {variations[term][0]} and in {section}; "
                                    "keep one of them")
                variations.setdefault(term, (section, some))
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
        near = [round(some) for some in near if abs(some - round(some)) < 1e-9]
        near += [int(value) + offset for offset in numbers["offsets"]]
    else:
        near = [round(some, 2) for some in near]
    return sorted({some for some in near if some > 0 and some != value})


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
        return invariant(start, end, "year", [*(str(some) for some in years if 0 < some <= LATEST_YEAR), said])
    value = float(said.replace(",", ""))
    if terms.variations.get(before, ("",))[0] == "months" and 0 < value <= 31:
        days = [int(value) + offset for offset in numbers["ordinal_offsets"]]
        return invariant(start, end, "day", [*(str(day) for day in days if 0 < day <= 28), said])
    near = numbers_near(value, "." not in said, numbers)
    separator = "," if "," in said else ""
    options = [*(f"{some:{separator}}" if isinstance(some, int) else f"{some:g}" for some in near), said]
    return Mention(start, end, "number", options, options, [some == 1 for some in [*near, value]])


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
        options = [*cased(said, [names.get(some, str(some)) for some in near]), said]
        return Mention(start, end, "number", options, options, [some == 1 for some in [*near, value]])
    is_plural = term in terms.singular
    lemma = terms.singular.get(term, term)
    if lemma == "second" and not is_plural and (after in terms.plural or after in ("half", "part", "time", "year's")):
        section, some = "ordinals", next(some for some in terms.lists["ordinals"] if "second" in some)
    else:
        section, some = terms.variations[lemma]
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
    options = [other for other in some if other != lemma] + [lemma]
    many = [terms.plural.get(other, other) for other in options] if section in NOUNS else options
    return Mention(start, end, section, cased(said, options), cased(said, many), [False] * len(options), is_plural)


def mentions(terms: Terms, text: str) -> list[Mention]:
    """The parts of an answer that may change, from left to right."""
    found: list[Mention] = []
    for match in terms.pattern.finditer(text):
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
                decades = [some % 100 for some in decades]
            decades = sorted({str(some).zfill(len(said)) for some in decades if 0 <= some <= LATEST_YEAR} - {said})
            found.append(invariant(*match.span("decade"), "year", [*decades, said]))
        elif said := match["ordinal"]:
            most = 28 if word_before(text, match.start()) in terms.variations else LATEST_YEAR
            near = [int(said) + offset for offset in terms.lists["numbers"]["ordinal_offsets"]]
            options = [*(ordinal(some) for some in near if 0 < some <= most), match[0]]
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


def perturbed(terms: Terms, keys: pd.Series, texts: list[str], found: list[list[Mention]], attempts: int, seed: int
              ) -> pd.DataFrame:
    """`attempts` perturbations of each text, as columns row, attempt and answer; texts without mentions have none.

    A draw follows from the key of the row, the attempt, the place of the mention and the seed alone.
    """
    changing = [any(len(mention.singular) > 1 for mention in some) for some in found]
    rows = np.flatnonzero(changing)
    if not len(rows):
        return pd.DataFrame({"row": rows, "attempt": rows, "answer": pd.Series([], dtype=object)})
    most = max(len(found[row]) for row in rows)
    # One list of all variations, and where those of each mention start.
    listed = [mention for row in rows for mention in found[row]]
    size = np.array([len(mention.singular) for mention in listed])
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    singular, plural = (np.array([form for mention in listed for form in getattr(mention, name)], dtype=object)
                        for name in ("singular", "plural"))
    one = np.concatenate([mention.one for mention in listed])
    is_plural = np.array([mention.is_plural for mention in listed])
    governed = np.array([mention.governed for mention in listed])
    # By row and place from the left: which mention stands there (-1: none), and the text in front of it.
    at = np.full((len(rows), most), -1)
    gaps = np.full((len(rows), most + 1), "", dtype=object)
    number = 0
    for place, row in enumerate(rows):
        end = 0
        for order, mention in enumerate(found[row]):
            at[place, order], number = number, number + 1
            gaps[place, order], end = texts[row][end : mention.start], mention.end
        gaps[place, len(found[row])] = texts[row][end:]
    now = np.array([texts[row][mention.start : mention.end] for row in rows for mention in found[row]], dtype=object)

    # A row for each text and attempt.
    again, attempt = np.repeat(np.arange(len(rows)), attempts), np.tile(np.arange(attempts), len(rows))
    key = keys.iloc[rows].repeat(attempts).reset_index(drop=True)
    free = (at >= 0) & (size[at] > 1)
    nth = np.cumsum(free, axis=1) - 1
    certain = (keyed_uniform(key, attempt, 0, seed) * free.sum(axis=1)[again]).astype(int)
    made, told_one, changed_before = gaps[again, 0], np.zeros(len(again), bool), np.zeros(len(again), bool)
    for order in range(most):
        mention = at[again, order]
        there = mention >= 0
        change = there & free[again, order] & (
            (nth[again, order] == certain) | (keyed_uniform(key, attempt, 2 * order + 1, seed) < 0.5))
        drawn = (keyed_uniform(key, attempt, 2 * order + 2, seed) * (size[mention] - 1)).astype(int)
        chosen = start[mention] + np.where(change, drawn, size[mention] - 1)
        many = np.where(governed[mention], ~told_one, is_plural[mention])
        stays = ~change & ~(governed[mention] & changed_before)
        said = np.where(stays, now[mention], np.where(many, plural[chosen], singular[chosen]))
        made = made + np.where(there, said, "") + gaps[again, order + 1]
        told_one, changed_before = one[chosen], change
    vowel, consonant = terms.articles()
    answer = pd.Series(made, dtype=object).str.replace(rf"(?i)\b(a)(?=\s+(?:{vowel})\b)", r"\1n", regex=True)
    answer = answer.str.replace(rf"(?i)\b(a)n(?=\s+(?:{consonant})\b)", r"\1", regex=True)
    return pd.DataFrame({"row": rows[again], "attempt": attempt, "answer": answer})
