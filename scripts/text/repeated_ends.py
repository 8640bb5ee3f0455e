"""Captions that roll: a caption begins with the words that end the caption before it.

Automatic captions show the last line again above the new one. So the repeated words show which of
two captions comes first. Words are compared in lower case, without punctuation at their ends. In a
language without spaces between words, each letter counts as a word.
"""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.keyed import keyed_hash

LEAST = 3  # repeated words of a caption that rolls; fewer only if one of the two is repeated whole
LEAST_LETTERS = 6  # the same without spaces between words
# the letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
WORD = re.compile(rf"[{UNSPACED}][^\s{UNSPACED}]*|[^\s{UNSPACED}]+")
BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that its powers never become zero
ENDS = r"^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$"  # punctuation at the ends of a word


def _words_of(texts: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes of the words of all texts, and where the words of each text begin; (n + 1).
    The words are those of WORD.
    """
    given = pa.array(texts.to_numpy(object), pa.string())
    if not pc.all(pc.string_is_ascii(given)).as_py():
        given = pc.replace_substring_regex(given, rf"([{UNSPACED}])", r" \1")
    split = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(given))
    words = pc.replace_substring_regex(pc.utf8_lower(split.flatten()), ENDS, "")
    counts = pc.list_value_length(split).to_numpy(zero_copy_only=False)
    return keyed_hash(words.to_pandas()), np.concatenate([[0], np.cumsum(counts)])


def repeated_words(before: pd.Series, after: pd.Series) -> np.ndarray:
    """Return (n,) the number of words at the start of each text in `after` that repeat the end of
    its text in `before`.
    """
    words, begins = _words_of(pd.concat([before, after], ignore_index=True))
    powers = np.full(len(words) + 1, BASE)
    powers[0] = 1
    powers = np.cumprod(powers)  # wraps at 2**64
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words * powers[:-1])])
    many = len(before)
    end, start = begins[1 : many + 1], begins[many:-1]
    most = np.minimum(end - begins[:many], begins[many + 1 :] - start)
    found, rows = np.zeros(many, np.int64), np.arange(many)
    for length in range(1, int(most.max(initial=0)) + 1):
        rows = rows[most[rows] >= length]
        tail, head = end[rows] - length, start[rows]
        of_tail = (sums[end[rows]] - sums[tail]) * powers[head - tail]
        found[rows[of_tail == sums[head + length] - sums[head]]] = length
    return found


def rolling_words(before: pd.Series, after: pd.Series) -> np.ndarray:
    """Return (n,) the repeated words of each text in `after` that rolls, and 0 for other texts. A
    text rolls if it repeats at least LEAST words, or the whole text before it, or if it holds
    nothing else.
    """
    found = repeated_words(before, after)
    rows = np.flatnonzero(found)  # few, and counting words takes long
    before, after = before.iloc[rows], after.iloc[rows]
    most = np.minimum(*(texts.str.count(WORD).to_numpy() for texts in (before, after)))
    least = np.where(after.str.match(f"[{UNSPACED}]"), LEAST_LETTERS, LEAST)
    found[rows[found[rows] < np.minimum(least, most)]] = 0
    return found


def without_first_words(texts: pd.Series, words: pd.Series) -> pd.Series:
    """Texts without their first words. words: how many go."""
    starts = ([found.start() for found in WORD.finditer(text)] for text in texts)
    left = [
        text[begins[count] :] if count < len(begins) else ""
        for text, begins, count in zip(texts, starts, words)
    ]
    return pd.Series(left, index=texts.index, dtype=object)


def start_repeats_end(table: pd.DataFrame) -> np.ndarray:
    """Return (n,) the number of words at the start of the second text that repeat the end of the
    first, less the same with the texts exchanged. Above 0 the first text likely comes first.
    """
    first, second = table["first"], table["second"]
    return repeated_words(first, second) - repeated_words(second, first)
