"""Rule perturbation of answers (Zhou et al. 2019, section 3, step 3): numbers, units and temporal
words, at random.

Every attempt changes each mention of an answer (candidates_rules.py) with probability 1/2, one of
them for certain, to another of its variations. A unit right after a number agrees with it ("1 day",
"10 days"), other nouns keep their number, and "a" becomes "an" where the next word asks for it.
"""

import re
from itertools import zip_longest

import numpy as np
import pandas as pd

from scripts.people.candidates_rules import Mention, Terms
from scripts.data.keyed import keyed_uniform

ONE = re.compile(r"0*1(?:\.0+)?|one|an?", re.I)  # a number that wants a unit in the singular


def gaps_of(text: str, found: list[Mention]) -> list[str]:
    """The text in front of each mention, and behind the last one."""
    ends, starts = (
        [0, *(mention.end for mention in found)],
        [*(mention.start for mention in found), len(text)],
    )
    return [text[end:start] for end, start in zip(ends, starts)]


def perturbed(
    terms: Terms,
    keys: pd.Series,
    texts: list[str],
    found: list[list[Mention]],
    attempts: int,
    seed: int,
) -> pd.DataFrame:
    """`attempts` perturbations of each text, as columns row, attempt and answer; texts without
    mentions have none. A draw follows from the key of the row, the attempt, the place of the
    mention and the seed alone.
    """
    rows = np.flatnonzero(
        [any(len(mention.options) > 1 for mention in in_text) for in_text in found]
    )
    if not len(rows):
        return pd.DataFrame({"row": rows, "attempt": rows, "answer": pd.Series([], dtype=object)})
    # One list of all variations, and where those of each mention start.
    listed = [mention for row in rows for mention in found[row]]
    size = np.array([len(mention.options) for mention in listed])
    start = np.cumsum(size) - size
    singular = np.array([form for mention in listed for form in mention.options], dtype=object)
    plural = np.array(
        [form for mention in listed for form in mention.plural or mention.options], dtype=object
    )
    one = np.array([bool(ONE.fullmatch(form)) for form in singular])
    is_plural, governed = (
        np.array([getattr(mention, name) for mention in listed])
        for name in ("is_plural", "governed")
    )
    now = np.array(
        [texts[row][mention.start : mention.end] for row in rows for mention in found[row]],
        dtype=object,
    )
    # By row and place from the left: the mention there (-1: none), and the text in front of it.
    count = np.array([len(found[row]) for row in rows])
    order = np.arange(count.max())
    at = np.where(order < count[:, None], (np.cumsum(count) - count)[:, None] + order, -1)
    gaps = np.array(
        list(zip_longest(*(gaps_of(texts[row], found[row]) for row in rows), fillvalue="")),
        dtype=object,
    ).T

    # A row for each text and attempt.
    again, attempt = (
        np.repeat(np.arange(len(rows)), attempts),
        np.tile(np.arange(attempts), len(rows)),
    )
    key = keys.iloc[rows].repeat(attempts).reset_index(drop=True)
    free = (at >= 0) & (size[at] > 1)
    nth = np.cumsum(free, axis=1) - 1
    certain = (keyed_uniform(key, attempt, 0, seed) * free.sum(axis=1)[again]).astype(int)
    text, after_one, changed_before = (
        gaps[again, 0],
        np.zeros(len(again), bool),
        np.zeros(len(again), bool),
    )
    for place in order:
        mention = at[again, place]
        change = free[again, place] & (
            (nth[again, place] == certain)
            | (keyed_uniform(key, attempt, 2 * place + 1, seed) < 0.5)
        )
        drawn = (keyed_uniform(key, attempt, 2 * place + 2, seed) * (size[mention] - 1)).astype(int)
        chosen = start[mention] + np.where(change, drawn, size[mention] - 1)
        many = np.where(governed[mention], ~after_one, is_plural[mention])
        stays = ~change & ~(governed[mention] & changed_before)
        said = np.where(stays, now[mention], np.where(many, plural[chosen], singular[chosen]))
        text = text + np.where(mention >= 0, said, "") + gaps[again, place + 1]
        after_one, changed_before = one[chosen], change
    vowel, consonant = terms.articles()
    answer = pd.Series(text, dtype=object).str.replace(
        rf"(?i)\b(a)(?=\s+(?:{vowel})\b)", r"\1n", regex=True
    )
    answer = answer.str.replace(rf"(?i)\b(a)n(?=\s+(?:{consonant})\b)", r"\1", regex=True)
    return pd.DataFrame({"row": rows[again], "attempt": attempt, "answer": answer})
