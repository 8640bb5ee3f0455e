"""Retrieval of the event phrases most like an answer (Zhou et al. 2019, section 3, step 3): cosine of TF-IDF vectors.

Not a program. A term is a run of letters, digits and apostrophes, case folded; its weight is its count times
ln((1 + phrases) / (1 + phrases with it)) + 1, over the pool. Terms that the pool does not have count for nothing.
"""

import numpy as np
import pandas as pd
from tqdm import tqdm

CELLS = 4_000_000  # answers times phrases held at a time
DECIMALS = 9       # of a similarity: what differs by less is a tie, which alphabetical order breaks


def counted(texts: pd.Series) -> pd.DataFrame:
    """How often each term is in each text: columns text (its number), term, count; sorted."""
    terms = texts.reset_index(drop=True).str.casefold().str.findall(r"[\w'’]+").explode().dropna()
    return terms.rename_axis("text").to_frame("term").groupby(["text", "term"]).size().rename("count").reset_index()


def most_similar(answers: pd.Series, pool: pd.Series, wanted: int) -> pd.DataFrame:
    """The `wanted` phrases of the pool most similar to each answer: columns row, place (from 0), phrase, similarity.

    Phrases that share no term are left out. Ties go by the order of the pool. The pool must not be empty.
    """
    held = counted(pool)
    postings, terms = pd.factorize(held["term"], sort=True)
    order = np.argsort(postings, kind="stable")
    held, postings = held.iloc[order], postings[order]
    found_in = np.bincount(postings, minlength=len(terms))
    rarity = np.log((1 + len(pool)) / (1 + found_in)) + 1
    weight = held["count"].to_numpy() * rarity[postings]
    phrase_of = held["text"].to_numpy()
    weight /= np.sqrt(np.bincount(phrase_of, weights=weight**2, minlength=len(pool)))[phrase_of]
    starts = np.concatenate([[0], np.cumsum(found_in)])

    asked = counted(answers)
    asked["term"] = pd.Index(terms).get_indexer(asked["term"])
    asked = asked[asked["term"] >= 0]
    asked_weight = asked["count"].to_numpy() * rarity[asked["term"]]
    length = np.sqrt(np.bincount(asked["text"], weights=asked_weight**2, minlength=len(answers)))
    asked_weight = asked_weight / length[asked["text"]]

    step, parts = max(1, CELLS // len(pool)), []
    text, term = asked["text"].to_numpy(), asked["term"].to_numpy()
    for first in tqdm(range(0, len(answers), step), desc="retrieval", unit="chunk", disable=None):
        low, high = np.searchsorted(text, [first, first + step])
        lengths = found_in[term[low:high]]
        # The places of the postings of every asked term, one after the other.
        places = np.arange(lengths.sum()) + np.repeat(starts[term[low:high]] - np.cumsum(lengths) + lengths, lengths)
        cells = np.repeat(text[low:high] - first, lengths) * len(pool) + phrase_of[places]
        several = min(step, len(answers) - first)
        scores = np.bincount(cells, np.repeat(asked_weight[low:high], lengths) * weight[places], several * len(pool))
        scores = scores.round(DECIMALS).reshape(several, len(pool))
        worst = np.partition(scores, len(pool) - min(wanted, len(pool)), axis=1)[:, len(pool) - min(wanted, len(pool))]
        row, phrase = np.nonzero((scores >= worst[:, None]) & (scores > 0))
        best = pd.DataFrame({"row": row + first, "phrase": phrase, "similarity": scores[row, phrase]})
        best = best.sort_values(["row", "similarity", "phrase"], ascending=[True, False, True], kind="stable")
        best["place"] = best.groupby("row").cumcount()
        parts.append(best[best["place"] < wanted])
    table = pd.concat(parts, ignore_index=True)
    return table.assign(phrase=pool.to_numpy(dtype=object)[table["phrase"]])[["row", "place", "phrase", "similarity"]]
