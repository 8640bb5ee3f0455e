"""The words with which a caption repeats the end of another, against a slow reference."""

import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from scripts.text.repeated_ends import repeated_words, rolling_words, without_first_words
from tests.rows import each_row, texts_of

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
        count if count >= min(3, *(len(text.split()) for text in pair)) else 0
        for count, pair in zip(wanted, pairs)
    ]
    assert rolling_words(before, after).tolist() == rolls


@each_row(
    "before, after, left",
    texts_of("""
        heat some oil, go on | go on and stir | go on and stir
        heat some oil, go on | Go on. | ""
        go on | go on and stir | and stir
        heat some oil and stir | some oil and stir it | it
        まず油を熱します。 | 油を熱します。次に卵を割る | 次に卵を割る
        まず油を熱します。 | します。次に卵を割る | します。次に卵を割る
        加热油 | 加热油 然后打鸡蛋 | 然后打鸡蛋
        ใส่น้ำมันลงไป | น้ำมันลงไปแล้วคน | แล้วคน
        ใส่น้ำมันลงไป | น่ามันลงไปแล้วคน | น่ามันลงไปแล้วคน
    """),
)
def test_what_is_left_of_a_caption_that_rolls(before, after, left):
    texts = pd.Series([after], dtype=object)
    words = rolling_words(pd.Series([before], dtype=object), texts)
    assert without_first_words(texts, words).tolist() == [left.strip('"')]
