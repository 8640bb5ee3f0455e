"""Retrieval of the event phrases most like an answer (Zhou et al. 2019, section 3, step 3): cosine of TF-IDF vectors.

Not a program. A term is a run of letters, digits and apostrophes, case folded; its weight is its count times
ln((1 + phrases) / (1 + phrases with it)) + 1, over the pool. Terms that the pool does not have count for nothing.
"""

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from tqdm import tqdm

TERM = r"[\w'’]+"
CELLS = 4_000_000  # answers times phrases held at a time
DECIMALS = 9  # of a similarity: what differs by less is a tie, which the order of the pool breaks


def most_similar(answers: pd.Series, pool: pd.Series, wanted: int) -> pd.DataFrame:
    """The `wanted` phrases of the pool most similar to each answer: columns row, place (from 0), phrase, similarity.

    Phrases that share no term are left out. The pool must hold a term.
    """
    vectorizer = TfidfVectorizer(preprocessor=str.casefold, token_pattern=TERM)
    phrases = vectorizer.fit_transform(pool).T.tocsr()
    vectors = vectorizer.transform(answers)
    step, parts = max(1, CELLS // len(pool)), []
    for first in tqdm(range(0, len(answers), step), desc="retrieval", unit="chunk", disable=None):
        scores = (vectors[first : first + step] @ phrases).toarray().round(DECIMALS)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :wanted]
        row, place = np.indices(best.shape).reshape(2, -1)
        found = pd.DataFrame(
            {
                "row": row + first,
                "place": place,
                "phrase": pool.to_numpy(object)[best.ravel()],
                "similarity": scores[row, best.ravel()],
            }
        )
        parts.append(found[found["similarity"] > 0])
    return pd.concat(parts, ignore_index=True)
