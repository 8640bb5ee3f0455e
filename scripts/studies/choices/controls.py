"""Controls of questions with options: they see an option, and no order of the context.

one_text     the option: its words, its length, how often it repeats itself, its punctuation marks
all_options  the same, and how the option compares with the other options of its item: by length, by
             shared words. The control does not see which option is right.
words        a stack of this, and of pairs of a late word of the context with a word of the option
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


def of_option(table: pd.DataFrame) -> np.ndarray:
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


def of_options(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k) of_option(), also less the item's mean, and ranks by length, word length and
    distinct words. Add the mean, maximum and minimum similarity to the other options, also less
    their mean.
    """
    item, items = pd.factorize(table["choice_id"])
    alone = pd.DataFrame(of_option(table))
    by_item = alone.groupby(item)
    counts = TfidfVectorizer(
        analyzer=lambda text: WORD.findall(text.lower()), use_idf=False, sublinear_tf=True
    ).fit_transform(table["second"])
    place = alone.groupby(item).cumcount().to_numpy()
    where = np.full((len(items), place.max() + 1), -1)
    where[item, place] = np.arange(len(table))
    others = where[item]  # (n, options): the rows of the item
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
    """Return the last words of the context, and the words of the option."""
    first, second = (table[side].str.lower().str.findall(WORD) for side in ("first", "second"))
    return first.str[-LAST:].str.join(" "), second.str.join(" ")


ONE_TEXT = View(
    sees="the option", words=lambda table: table["second"].str.lower(), numbers=of_option
)
ALL_OPTIONS = View(
    sees="the options of an item, without the context",
    words=lambda table: table["second"].str.lower(),
    numbers=of_options,
    compares=True,
)
WORDS = {
    "all_options": ALL_OPTIONS,
    "pairs": View(sees="pairs of words, one of each text", pairs=word_pairs),
}
VIEWS = {
    "one_text": ONE_TEXT,
    "one_option": View(
        sees="one option, and pairs of words of context and option",
        parts={"option": ONE_TEXT, "pairs": WORDS["pairs"]},
    ),
    "all_options": ALL_OPTIONS,
    "words": View(sees="the options of an item, and pairs of words", parts=WORDS, compares=True),
}
