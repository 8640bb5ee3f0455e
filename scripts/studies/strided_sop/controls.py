"""Controls of strided sentence order: they see two captions, but each by itself. One rule compares
them: whether the start of one repeats the end of the other, as in captions that roll.

A caption often shows its place in its video: "he begins by", "the man", "the end". `place` learns
this place from the training captions, one at a time. The difference of two places orders a pair,
though the control reads only one caption at a time.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge

from scripts.text.repeated_ends import start_repeats_end
from scripts.train.search import has_words
from scripts.train.view import View

PENALTY = 10.0  # the penalty of the ridge regression on word vectors of unit length
# Words that refer to a thing named before, and words that name a thing first.
LOOKS = [
    r"^(?:a|an|two|three|several|some|people)\b",
    r"^(?:the|this|that|these)\b",
    r"^(?:he|she|it|they)\b",
    r"\b(?:a|an)\b",
    r"\bthe\b",
    r"\b(?:he|she|they|him|her|them|his|their|it|its)\b",
    r"\b(?:and|then|again|still|another|other|more)\b",
    r"\b(?:is|are)\b",
    r"\d",
]


def place(train: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
    """Return a function from a table to (n,): the place of the second text in its video, 0 to 1,
    predicted from its words. It learns from the positions of the training captions.
    """
    if "sentences" not in train:  # the label is not the order, so the places are unknown
        return lambda table: np.zeros(len(table))
    last = np.maximum(train["sentences"].to_numpy() - 1, 1)
    early, late = (train[f"{side}_position"].to_numpy() / last for side in ("first", "second"))
    in_order = train["label"].to_numpy() == 1
    known = pd.concat(
        [
            pd.DataFrame({"video": train["group_id"], "text": train[text], "place": place})
            for text, place in (
                ("first", np.where(in_order, early, late)),
                ("second", np.where(in_order, late, early)),
            )
        ]
    ).drop_duplicates()
    counter = TfidfVectorizer(
        ngram_range=(1, 3), token_pattern=r"(?u)\b\w+\b", min_df=2, sublinear_tf=True
    )
    if not has_words(counter, known["text"]):
        return lambda table: np.zeros(len(table))
    model = Ridge(alpha=PENALTY, solver="lsqr")
    model.fit(counter.transform(known["text"]), known["place"])
    return lambda table: model.predict(counter.transform(table["second"]))


def looks(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k) counts of words in the second text that name a thing first or refer to a thing
    named before, and the text's length.
    """
    text = table["second"].str.lower()
    return np.column_stack(
        [
            *(text.str.count(look) for look in LOOKS),
            np.log1p(text.str.len()),
            np.log1p(text.str.split().str.len()),
        ]
    ).astype(float)


BOTH_TEXTS = View(
    sees="each of the two captions by itself: words, letters, its likely place in a video; and "
    "whether the start of one repeats the end of the other",
    words=lambda table: table["second"],
    numbers=looks,
    learnt={"place": place},
    rules={"start_repeats_end": start_repeats_end},
    each=True,
)
VIEWS = {"both_texts": BOTH_TEXTS}
