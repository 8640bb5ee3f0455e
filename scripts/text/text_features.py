"""Text features for controls: words without their order, or less.

Each feature is a function of a table's texts alone. It takes the table and returns an (n, k)
matrix. The table's columns `first` and `second` are the two texts of an example. Some studies also
have the column `category`. Features are not fitted, so no information leaks from the test set.

In strided sentence order, exchanging the two texts exchanges the labels. There a feature is the
second text's value minus the first text's value. So a control without an intercept cannot prefer a
label.
"""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from scripts.text.number_words import CARDINALS, ONES, SCALES, TENS
from scripts.text.rows_of_texts import RowsOfTexts

# Words that show a sentence's place in a text: connectives, words for beginnings and ends, and
# pronouns that refer back.
CUES = (
    "after, afterwards, again, another, at last, before, begin, begins, continue, continues, "
    "end, ends, eventually, finally, finish, finished, finishes, first, he, her, him, his, "
    "in the end, introduce, it, last, later, lastly, next, now, once, opening, second, she, "
    "start, starts, still, the end, the man, the woman, their, them, then, they, third, "
    "title, until, when, while, a man, a woman, a person, credits, logo, intro"
).split(", ")
NUMERAL = re.compile(
    rf"\d+|\b({'|'.join(TENS)})(?:[\s-]+({'|'.join(ONES)}))?\b"
    rf"|\b(?:{'|'.join(CARDINALS | SCALES)})\b"
)
PREPOSITION = re.compile(
    r"\b(for less than|for more than|less than|more than|before|after|since|until|by|in|on|at|for"
    r"|within|from|between|over|under)\b",
    re.I,
)
WORD = r"(?u)\b\w+\b"


def numerals(text: str) -> set[int]:
    """The numbers in a text, in digits or words: {48, 2} of "forty-eight hours, or 2"."""
    values = set()
    for found in NUMERAL.finditer(text.lower()):
        if found[1]:
            values.add(TENS[found[1]] + ONES.get(found[2], 0))
        elif found[0].isdecimal():
            values.add(int(found[0][:4000]))  # Python reads no longer ones
        else:
            values.add((CARDINALS | SCALES)[found[0]])
    return values


HASHED = {"token_pattern": WORD, "alternate_sign": False, "norm": None}
# words and bigrams; hashed, so memory is bounded and no vocabulary of test data leaks
words_of = RowsOfTexts(HashingVectorizer(ngram_range=(1, 2), n_features=2**18, **HASHED).transform)
distinct_words = RowsOfTexts(HashingVectorizer(n_features=2**20, binary=True, **HASHED).transform)
# how often each cue occurs in each text
cue_counts = RowsOfTexts(
    CountVectorizer(
        vocabulary=CUES, ngram_range=(1, 3), token_pattern=WORD, dtype=np.float64
    ).transform
)


def of_both(
    of_texts: Callable[[pd.Series], csr_matrix],
) -> Callable[[pd.DataFrame, bool], csr_matrix]:
    """Return a feature of both texts: the two values side by side or, for an exchangeable pair, the
    second text's value minus the first text's value.
    """

    def feature(table: pd.DataFrame, exchangeable: bool) -> csr_matrix:
        first, second = of_texts(table["first"]), of_texts(table["second"])
        return csr_matrix(second - first) if exchangeable else hstack([first, second], format="csr")

    return feature


def length_of(texts: pd.Series) -> csr_matrix:
    """Return log(1 + the number of words) and log(1 + the number of characters) of each text."""
    return csr_matrix(
        np.log1p(np.column_stack([texts.str.split().str.len(), texts.str.len()]).astype(float))
    )


def overlap(table: pd.DataFrame) -> csr_matrix:
    """Return the share of the second text's words that are also in the first text, whether all are,
    and how many numbers both texts share.
    """
    first, second = distinct_words(table["first"]), distinct_words(table["second"])
    shared = np.asarray(first.multiply(second).sum(1)).ravel()
    of_second = np.maximum(np.asarray(second.sum(1)).ravel(), 1)
    return csr_matrix(
        np.column_stack([shared / of_second, shared == of_second, shared_numbers(table)]).astype(
            float
        )
    )


def preposition_and_number(table: pd.DataFrame) -> csr_matrix:
    """Return the first temporal preposition of the second text, together with the size of its first
    number (as a power of two).
    """
    preposition = table["second"].str.extract(PREPOSITION, expand=False).str.lower().fillna("none")
    number = (
        pd.to_numeric(table["second"].str.extract(r"(\d+)", expand=False), errors="coerce")
        .fillna(0)
        .clip(upper=1e9)
    )
    size = np.floor(np.log2(number + 1)).astype(int).astype(str)
    hashed = HashingVectorizer(
        analyzer=str.split, n_features=2**12, alternate_sign=False, norm=None
    )
    joined = preposition.str.replace(" ", "_")
    return hashed.transform(joined + " size" + size + " " + joined + ":" + size)


def words_by_category(table: pd.DataFrame) -> csr_matrix:
    """Words and bigrams of the second text, separately for each category, and the category."""
    words, category = words_of(table["second"]), table["category"]
    is_of = np.column_stack([category == name for name in CATEGORIES]).astype(float)
    parts = [words.multiply(column[:, None]) for column in is_of.T]
    return hstack([words, *parts, csr_matrix(is_of)], format="csr")


def normal_words(texts: pd.Series) -> pd.Series:
    """Return texts as lower-case words and signs, with one space between them and at both ends. A
    new line counts as a sign.
    """
    return (
        " "
        + texts.str.lower().str.replace("\n", " ¶ ").str.findall(r"\w+|[^\w\s]").str.join(" ")
        + " "
    )


def visible(contexts: pd.Series) -> pd.Series:
    """Return dialogs without the names of the speakers, and with a new line for the mask."""
    return contexts.str.replace(r"(?m)^[AB]:", "", regex=True).str.replace("<MASK>", "\n")


def in_context(table: pd.DataFrame) -> np.ndarray:
    """Return 1 where the first text contains the second text word for word, else 0, (n,)."""
    pairs = zip(normal_words(table["second"]), normal_words(visible(table["first"])))
    return np.array([text in context for text, context in pairs], float)


def shared_numbers(table: pd.DataFrame) -> np.ndarray:
    """Count the numbers of the second text that are also in the first, in digits or words, (n,)."""
    contexts = visible(table["first"])
    known = {text: numerals(text) for text in pd.concat([contexts, table["second"]]).unique()}
    return np.array(
        [len(known[text] & known[context]) for text, context in zip(table["second"], contexts)],
        float,
    )


def frequency(table: pd.DataFrame, learnt: pd.Series) -> np.ndarray:
    """Count the right candidates of the training data, `learnt`, that have the same words as the
    second text, (n,).
    """
    return (
        normal_words(table["second"])
        .map(normal_words(learnt).value_counts())
        .fillna(0)
        .to_numpy(float)
    )


CATEGORIES = ["duration", "ordering", "typical_time", "frequency", "stationarity"]  # MC-TACO's
FEATURES = {  # of a classifier; (table, exchangeable) -> (n, k)
    "words": of_both(words_of),
    "cue_words": of_both(cue_counts),
    "lengths": of_both(length_of),
    "first_words": lambda table, _: words_of(table["first"]),
    "second_words": lambda table, _: words_of(table["second"]),
    "overlap": lambda table, exchangeable: (
        overlap(table) if not exchangeable else csr_matrix((len(table), 1))
    ),
    "preposition_and_number": lambda table, _: preposition_and_number(table),
    "words_by_category": lambda table, _: words_by_category(table),
}
