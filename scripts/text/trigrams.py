"""A trigram language model of counts: it sees only which words follow each other.

Its probabilities are interpolated by Witten and Bell's rule (Chen and Goodman 1999, section 2.4):

    P(w | h) = (c(hw) + t(h) P(w | shorter h)) / (c(h) + t(h))

c(h) counts the words seen after a history h, and t(h) counts the distinct ones. The shortest
history gives every word of the vocabulary, and one unknown word, the same probability.

The second text replaces the <MASK> of the first text, or follows a first text without a mask. Each
line is one sentence for the model, without the name of its speaker.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd

MASK, START, END = "<MASK>", "<s>", "</s>"  # the pattern of words matches none of these
WORD = r"\w+|[^\w\s]"
SPEAKER = r"(?m)^[AB]:"
ORDERS = (1, 2, 3)


@dataclass(frozen=True)
class Order:
    """The n-grams of one length: their sorted keys and their counts. Also their sorted histories,
    with the number of words and of distinct words after each history.
    """

    keys: np.ndarray
    counts: np.ndarray
    histories: np.ndarray
    followed: np.ndarray
    kinds: np.ndarray


@dataclass(frozen=True)
class Trigrams:
    """A trained model: the vocabulary (pd.Index of words), and an Order for one, two and three
    words.
    """

    vocabulary: pd.Index
    orders: list[Order]


def words_of(texts: pd.Series) -> pd.Series:
    """Each text's words and signs in lower case."""
    return texts.str.lower().str.findall(WORD)


def masked(table: pd.DataFrame) -> pd.Series:
    """The first texts without speakers' names, each with a <MASK>."""
    texts = table["first"].str.replace(SPEAKER, "", regex=True)
    return texts.where(texts.str.contains(MASK, regex=False), texts + " " + MASK)


def windows(sequences: list[list[str]], vocabulary: pd.Index) -> tuple[np.ndarray, np.ndarray]:
    """Return each window of three words, whose last word is predicted, as places in the vocabulary,
    (n, 3); an unknown word has the vocabulary's length. Also return the sequence of each window,
    (n,). The first two words of a sequence are only history.
    """
    lengths = np.array([len(sequence) for sequence in sequences], int)
    places = vocabulary.get_indexer(list(chain.from_iterable(sequences)))
    places = np.where(places < 0, len(vocabulary), places)
    of = np.repeat(np.arange(len(sequences)), lengths)
    inside = np.flatnonzero(of[2:] == of[:-2])
    return np.column_stack([places[inside], places[inside + 1], places[inside + 2]]), of[inside]


def keys_of(found: np.ndarray, order: int, size: int) -> np.ndarray:
    """Return the last `order` words of each window as one number, (n,). Integer division of a key
    by `size` gives the key of its history, the same words without the last one.
    """
    keys = np.zeros(len(found), np.int64)  # three words of a vocabulary of two million fit
    for column in range(3 - order, 3):
        keys = keys * size + found[:, column]
    return keys


def learn(table: pd.DataFrame) -> Trigrams:
    """Count the distinct lines of examples (first, second: only right ones)."""
    texts = pd.Series(
        [text.replace(MASK, second) for text, second in zip(masked(table), table["second"])],
        dtype="str",
    )
    lines = texts.str.split("\n").explode().drop_duplicates()
    sequences = [[START, START, *words, END] for words in words_of(lines)]
    vocabulary = pd.Index(
        pd.unique(np.array([*chain.from_iterable(sequences), START, END], object))
    )
    found, _ = windows(sequences, vocabulary)
    orders = []
    for order in ORDERS:
        keys, counts = np.unique(keys_of(found, order, len(vocabulary) + 1), return_counts=True)
        histories, starts, kinds = np.unique(
            keys // (len(vocabulary) + 1), return_index=True, return_counts=True
        )
        followed = np.add.reduceat(counts, starts) if len(starts) else starts
        orders.append(Order(keys, counts, histories, followed, kinds))
    return Trigrams(vocabulary, orders)


def look_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the values of the wanted keys, 0 for missing keys, (n,). keys: sorted."""
    if not len(keys):
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0)


def probability(model: Trigrams, found: np.ndarray) -> np.ndarray:
    """Return the probability of each window's last word after the two words before it, (n,)."""
    size = len(model.vocabulary) + 1
    likely = np.full(len(found), 1 / size)
    for length, order in zip(ORDERS, model.orders):
        keys = keys_of(found, length, size)
        followed, kinds = (
            look_up(order.histories, values, keys // size)
            for values in (order.followed, order.kinds)
        )
        likely = (
            look_up(order.keys, order.counts, keys) + np.maximum(kinds, followed == 0) * likely
        ) / np.maximum(followed + kinds, 1)
    return likely


def trigram(table: pd.DataFrame, model: Trigrams) -> np.ndarray:
    """Return the mean log-probability of the second text's words and of the two words after them,
    (n,). Each word is conditioned on the two words before it.
    """
    around = masked(table).str.extract(r"([^\n]*)<MASK>([^\n]*)")
    before, second, after = words_of(around[0]), words_of(table["second"]), words_of(around[1])
    sequences = [
        [*[START, START, *left][-2:], *words, *[*right, END][:2]]
        for left, words, right in zip(before, second, after)
    ]
    found, of = windows(sequences, model.vocabulary)
    return np.bincount(of, np.log(probability(model, found)), len(table)) / np.bincount(
        of, minlength=len(table)
    )
