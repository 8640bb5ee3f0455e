"""The trigram control equals counting by hand, and its probabilities sum to one."""

import math
import re
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.text.trigrams import learn, trigram
from scripts.text.trigrams import probability

WORDS = st.text("ab .,'Ab", min_size=1, max_size=12)


def by_hand(lines: list[str], before: str, second: str, after: str) -> float:
    """Return the mean log-probability of the second text and two more words, by Witten and Bell's
    rule, with dictionaries.
    """
    split = lambda text: re.findall(r"\w+|[^\w\s]", text.lower())  # noqa: E731
    counted: dict = defaultdict(lambda: defaultdict(int))  # history -> word -> count
    for line in dict.fromkeys(lines):
        words = ["<s>", "<s>", *split(line), "</s>"]
        for place in range(2, len(words)):
            for first in range(place - 2, place + 1):
                counted[tuple(words[first:place])][words[place]] += 1
    vocabulary = set(counted[()]) | {"<s>", "</s>", "unknown"}

    def likely(word: str, history: tuple) -> float:
        shorter = likely(word, history[1:]) if history else 1 / len(vocabulary)
        seen = counted.get(history, {})
        return (
            (seen.get(word, 0) + len(seen) * shorter) / (sum(seen.values()) + len(seen))
            if seen
            else shorter
        )

    words = ["<s>", "<s>", *split(before)][-2:] + split(second) + [*split(after), "</s>"][:2]
    return float(
        np.mean(
            [
                math.log(likely(words[place], tuple(words[place - 2 : place])))
                for place in range(2, len(words))
            ]
        )
    )


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=6), st.tuples(WORDS, WORDS, WORDS)
)
def test_it_counts_as_by_hand(known, asked):
    learnt = pd.DataFrame(
        {
            "first": [f"A: {before}<MASK>{after}" for before, _, after in known],
            "second": [second for _, second, _ in known],
        }
    )
    before, second, after = asked
    [found] = trigram(
        pd.DataFrame({"first": [f"B: c\nA: {before}<MASK>{after}\nB: d"], "second": [second]}),
        learn(learnt),
    )
    lines = [f"{left}{text}{right}" for left, text, right in known]
    assert found == pytest.approx(by_hand(lines, before, second, after))


def test_without_a_mask_the_second_text_follows_the_first():
    model = learn(
        pd.DataFrame(
            {
                "first": ["She beats the eggs.", "He climbs the wall."],
                "second": ["then bakes", "then falls"],
            }
        )
    )
    asked = pd.DataFrame({"first": "They beats the eggs.", "second": ["then bakes", "falls then"]})
    assert np.diff(trigram(asked, model))[0] < 0


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_probabilities_sum_to_one(lines):
    model = learn(pd.DataFrame({"first": "<MASK>", "second": lines}))
    size = len(model.vocabulary) + 1
    for history in [(0, 0), (size - 1, 0), (size - 1, size - 1), (1, 2)]:
        found = np.column_stack(
            [np.full(size, history[0]), np.full(size, history[1]), np.arange(size)]
        )
        assert probability(model, found).sum() == pytest.approx(1)
