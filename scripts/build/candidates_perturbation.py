"""Rule perturbation of answers (Zhou et al. 2019, section 3, step 3): numbers, units and temporal words, at random.

Not a program. Every attempt changes each mention of an answer (candidates_rules.py) with probability 1/2, one of them for
certain, to another of its variations. A unit right after a number agrees with it ("1 day", "10 days"), other nouns keep their
number, and "a" becomes "an" where the next word asks for it.
"""

import numpy as np
import pandas as pd

from scripts.build.candidates_rules import Mention, Terms
from scripts.common.keyed import keyed_uniform


def laid_out(rows: np.ndarray, texts: list[str], found: list[list[Mention]]) -> tuple[np.ndarray, np.ndarray]:
    """By row and place from the left: which mention of the rows stands there (-1: none), and the text in front of it.

    The text behind the last mention stands in the place after it.
    """
    most = max(len(found[row]) for row in rows)
    at, gaps = np.full((len(rows), most), -1), np.full((len(rows), most + 1), "", dtype=object)
    number = 0
    for place, row in enumerate(rows):
        end = 0
        for order, mention in enumerate(found[row]):
            at[place, order], number = number, number + 1
            gaps[place, order], end = texts[row][end : mention.start], mention.end
        gaps[place, len(found[row])] = texts[row][end:]
    return at, gaps


def perturbed(terms: Terms, keys: pd.Series, texts: list[str], found: list[list[Mention]], attempts: int, seed: int
              ) -> pd.DataFrame:
    """`attempts` perturbations of each text, as columns row, attempt and answer; texts without mentions have none.

    A draw follows from the key of the row, the attempt, the place of the mention and the seed alone.
    """
    changing = [any(len(mention.singular) > 1 for mention in in_text) for in_text in found]
    rows = np.flatnonzero(changing)
    if not len(rows):
        return pd.DataFrame({"row": rows, "attempt": rows, "answer": pd.Series([], dtype=object)})
    # One list of all variations, and where those of each mention start.
    listed = [mention for row in rows for mention in found[row]]
    size = np.array([len(mention.singular) for mention in listed])
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    singular, plural = (np.array([form for mention in listed for form in getattr(mention, name)], dtype=object)
                        for name in ("singular", "plural"))
    one = np.concatenate([mention.one for mention in listed])
    is_plural = np.array([mention.is_plural for mention in listed])
    governed = np.array([mention.governed for mention in listed])
    at, gaps = laid_out(rows, texts, found)
    now = np.array([texts[row][mention.start : mention.end] for row in rows for mention in found[row]], dtype=object)

    # A row for each text and attempt.
    again, attempt = np.repeat(np.arange(len(rows)), attempts), np.tile(np.arange(attempts), len(rows))
    key = keys.iloc[rows].repeat(attempts).reset_index(drop=True)
    free = (at >= 0) & (size[at] > 1)
    nth = np.cumsum(free, axis=1) - 1
    certain = (keyed_uniform(key, attempt, 0, seed) * free.sum(axis=1)[again]).astype(int)
    text, told_one, changed_before = gaps[again, 0], np.zeros(len(again), bool), np.zeros(len(again), bool)
    for order in range(at.shape[1]):
        mention = at[again, order]
        there = mention >= 0
        change = there & free[again, order] & (
            (nth[again, order] == certain) | (keyed_uniform(key, attempt, 2 * order + 1, seed) < 0.5))
        drawn = (keyed_uniform(key, attempt, 2 * order + 2, seed) * (size[mention] - 1)).astype(int)
        chosen = start[mention] + np.where(change, drawn, size[mention] - 1)
        many = np.where(governed[mention], ~told_one, is_plural[mention])
        stays = ~change & ~(governed[mention] & changed_before)
        said = np.where(stays, now[mention], np.where(many, plural[chosen], singular[chosen]))
        text = text + np.where(there, said, "") + gaps[again, order + 1]
        told_one, changed_before = one[chosen], change
    vowel, consonant = terms.articles()
    answer = pd.Series(text, dtype=object).str.replace(rf"(?i)\b(a)(?=\s+(?:{vowel})\b)", r"\1n", regex=True)
    answer = answer.str.replace(rf"(?i)\b(a)n(?=\s+(?:{consonant})\b)", r"\1", regex=True)
    return pd.DataFrame({"row": rows[again], "attempt": attempt, "answer": answer})
