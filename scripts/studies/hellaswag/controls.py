"""Controls of HellaSwag: they see an ending, and no order of the context.

one_text     the ending: its words, its length, how often it repeats itself, its punctuation marks
all_options  the same, and how the ending compares with the other endings of its item: by length, by
             shared words. The control does not see which ending is right.
words        a stack of this, and of pairs of a late word of the context with a word of the ending
"""

import re

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

from scripts.controls.view import View

WORD = re.compile(r"\w+")
LAST = 15  # words of the context
MARKS = [
    r",",
    r"\.",
    r"\.\.",
    r"[\"'()]",
    r"\d",
    r"[A-Z]",
    r"\b(?:a|an)\b",
    r"\bthe\b",
    r"\b(?:he|she|it|they|him|her|them|his|their|its|you|your)\b",
    r"\b(?:and|then|as|while|before|after)\b",
    r"\b(?:not|no|n't|never)\b",
]
COMPILED = [re.compile(mark) for mark in MARKS]


def of_ending(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k) length, share of distinct words, and counts of marks (punctuation, digits,
    capitals, some small words) for each word.
    """
    place, texts = pd.factorize(table["second"])
    text = pd.Series(texts, dtype=object)
    words = text.str.lower().str.findall(WORD)
    count = np.maximum(words.str.len(), 1)
    found = [np.log(count), text.str.len() / count, words.map(set).str.len() / count]
    found += [text.str.count(mark) / count for mark in COMPILED]
    return np.column_stack(found)[place]


def of_endings(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k) of_ending(), also less the item's mean, and ranks by length, word length and
    distinct words. Add the mean, maximum and minimum similarity to the other endings, also less
    their mean.
    """
    item, items = pd.factorize(table["choice_id"])
    alone = pd.DataFrame(of_ending(table))
    by_item = alone.groupby(item)
    counts = TfidfVectorizer(
        analyzer=lambda text: WORD.findall(text.lower()), use_idf=False, sublinear_tf=True
    ).fit_transform(table["second"])
    place = alone.groupby(item).cumcount().to_numpy()
    where = np.full((len(items), place.max() + 1), -1)
    where[item, place] = np.arange(len(table))
    others = where[item]  # (n, endings): the rows of the item
    like = np.column_stack(
        [np.asarray(counts.multiply(counts[column]).sum(1)).ravel() for column in others.T]
    )
    like[(others < 0) | (others == np.arange(len(table))[:, None])] = np.nan
    with np.errstate(all="ignore"):
        shared = np.column_stack(
            [np.nanmean(like, axis=1), np.nanmax(like, axis=1), np.nanmin(like, axis=1)]
        )
    shared = pd.DataFrame(np.nan_to_num(shared))
    less = shared - shared.groupby(item).transform("mean")
    return np.column_stack(
        [alone, alone - by_item.transform("mean"), by_item[[0, 1, 2]].rank(), shared, less]
    )


def word_pairs(table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the last words of the context, and the words of the ending."""
    first, second = (table[side].str.lower().str.findall(WORD) for side in ("first", "second"))
    return first.str[-LAST:].str.join(" "), second.str.join(" ")


ONE_TEXT = View(
    sees="the ending", words=lambda table: table["second"].str.lower(), numbers=of_ending
)
ALL_OPTIONS = View(
    sees="the endings of an item, without the context",
    words=lambda table: table["second"].str.lower(),
    numbers=of_endings,
    compares=True,
)
WORDS = {
    "all_options": ALL_OPTIONS,
    "pairs": View(sees="pairs of words, one of each text", pairs=word_pairs),
}
VIEWS = {
    "one_text": ONE_TEXT,
    "one_option": View(
        sees="one ending, and pairs of words of context and ending",
        parts={"ending": ONE_TEXT, "pairs": WORDS["pairs"]},
    ),
    "all_options": ALL_OPTIONS,
    "words": View(sees="the endings of an item, and pairs of words", parts=WORDS, compares=True),
}
