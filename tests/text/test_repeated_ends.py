"""The words with which a caption repeats the end of another, against a slow reference."""

import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from scripts.text.repeated_ends import repeated_words, rolling_words

WORDS = st.sampled_from(["a", "B", "b,", "pan.", "Pan", "don't", "–", "é"])
TEXTS = st.lists(WORDS, min_size=1, max_size=7).map(" ".join)


def by_a_loop(before: str, after: str) -> int:
    words = [
        [re.sub(r"^[^\w]+|[^\w]+$", "", word.lower()) for word in text.split()]
        for text in (before, after)
    ]
    lengths = range(1, min(map(len, words)) + 1)
    return max((n for n in lengths if words[0][-n:] == words[1][:n]), default=0)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=20))
def test_repeated_words_as_in_a_loop(pairs):
    before, after = (pd.Series([pair[side] for pair in pairs], dtype=object) for side in (0, 1))
    wanted = [by_a_loop(*pair) for pair in pairs]
    assert repeated_words(before, after).tolist() == wanted
    rolls = [
        count if count >= min(3, len(one.split())) else 0 for count, (one, _) in zip(wanted, pairs)
    ]
    assert rolling_words(before, after).tolist() == rolls
