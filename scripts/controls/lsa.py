"""Word vectors that are learnt from the training texts: latent semantic analysis."""

import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from scripts.controls.search import WORD, Vectors, has_words

WIDTH = 50  # of a vector
LEAST_TEXTS = 3  # with a word, so that it has a vector


def word_vectors(texts: pd.Series, width: int = WIDTH) -> Vectors:
    """The vectors of the words of texts, from the singular values of their tf-idf. Each different
    text counts once; no label is read.
    """
    counter = TfidfVectorizer(min_df=LEAST_TEXTS, sublinear_tf=True, token_pattern=WORD)
    different = texts.drop_duplicates()
    if not has_words(counter, different):
        return Vectors([], np.zeros((0, 1)))
    words = list(counter.get_feature_names_out())
    width = min(width, len(words) - 1, len(different) - 1)
    if width < 1:
        return Vectors(words, np.zeros((len(words), 1)))
    found = TruncatedSVD(width, random_state=0).fit(counter.transform(different))
    return Vectors(words, found.components_.T * found.singular_values_)
