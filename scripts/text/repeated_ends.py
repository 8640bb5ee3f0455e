"""Captions that roll: a caption begins with the words that end the caption before it.

Not a program. Automatic captions show the last line again above the new one. So the repeated words
show which of two captions comes first. Words are compared in lower case, without punctuation at
their ends.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.keyed import keyed_hash

LEAST = 3  # repeated words of a caption that rolls; fewer only if the whole caption is repeated
BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that its powers never become zero
ENDS = r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$"  # punctuation at the ends of a word


def _words_of(texts: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes of the words of all texts, and where the words of each text begin; (n + 1).
    Spaces separate words, as Python's str.split() does.
    """
    given = pa.array(texts.to_numpy(object), pa.string())
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
    end, start, until = (
        begins[1 : len(before) + 1],
        begins[len(before) : -1],
        begins[len(before) + 1 :],
    )
    most = np.minimum(end - begins[: len(before)], until - start)
    found = np.zeros(len(before), np.int64)
    rows = np.arange(len(before))
    for length in range(1, int(most.max(initial=0)) + 1):
        rows = rows[most[rows] >= length]
        tail, head = end[rows] - length, start[rows]
        of_tail = (sums[end[rows]] - sums[tail]) * powers[head - tail]
        found[rows[of_tail == sums[head + length] - sums[head]]] = length
    return found


def rolling_words(before: pd.Series, after: pd.Series) -> np.ndarray:
    """Return (n,) the repeated words of each text in `after` that rolls, and 0 for other texts. A
    text rolls if it repeats at least LEAST words, or the whole text before it.
    """
    found = repeated_words(before, after)
    return np.where(found >= np.minimum(LEAST, before.str.split().str.len()), found, 0)


def start_repeats_end(table: pd.DataFrame) -> np.ndarray:
    """Return (n,) the number of words at the start of the second text that repeat the end of the
    first, less the same with the texts exchanged. Above 0 the first text likely comes first.
    """
    first, second = table["first"], table["second"]
    return repeated_words(first, second) - repeated_words(second, first)
