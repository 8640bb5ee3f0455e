"""Which strided pairs words alone do not put in order: a cross-fitted bag of words gets them wrong,
or cannot decide.

Not a program. Five bags of words (scripts/text/bag_of_words.py) learn from the pairs of all splits,
each without a fifth of the videos, and each pair is judged by the one that saw nothing of its
video. All splits, since so every split is judged by as much as can be had, and two splits that
share videos (ActivityNet's val_1 and val_2) by none that saw the video. What is hard follows from
the corpus and the stride alone: not from the coin that swaps pairs, nor from size_matched.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix

from scripts.text.bag_of_words import (
    difference_features,
    fold_of,
    fold_weights,
    margins,
    words_and_bigrams,
)
from scripts.data.keyed import keyed_hash

MOST = 100_000  # pairs to learn from: bounds time and memory on a large corpus
DRAWN = 5  # the draw of those pairs, apart from the other draws from the same key
READ = ["pair_id", "video_id", "text_a", "text_b", "label"]


def features_of(pairs: pa.Table) -> tuple[csr_matrix, np.ndarray]:
    """The difference features of pairs, and the fold of each."""
    first, second = (pairs[name].to_pylist() for name in ("text_a", "text_b"))
    features = difference_features(first, second, words_and_bigrams())
    return features, fold_of(pairs["video_id"].to_pandas())


def learnt_weights(tables: Iterable[pa.Table]) -> np.ndarray:
    """The weights of each fold's bag of words, from at most MOST of the pairs,
    those with the lowest hash of their id.
    """
    sample = pa.table(
        {name: pa.array([], pa.int8() if name == "label" else pa.string()) for name in READ}
    )
    for pairs in tables:
        sample = pa.concat_tables([sample, pairs.select(READ)])
        if len(sample) > MOST:
            hashes = keyed_hash(sample["pair_id"].to_pandas(), DRAWN)
            sample = sample.take(np.sort(np.argpartition(hashes, MOST)[:MOST]))
    features, fold = features_of(sample)
    return fold_weights(features, sample["label"].to_numpy(), fold)


def are_hard(pairs: pa.Table, weights: np.ndarray) -> np.ndarray:
    """(n,) whether each pair is hard."""
    if not len(pairs):
        return np.zeros(0, bool)
    right = np.where(pairs["label"].to_numpy() == 1, 1, -1)
    return margins(*features_of(pairs), weights) * right <= 0
