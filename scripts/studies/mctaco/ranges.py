"""One range of time for each question of MC-TACO, read from judgements of single candidates.

Not a program. Zhou et al. 2019 (section 4) found that a model "does not infer a range of true answers; it instead associates
discrete terms and decides individual options". Range decoding asks the same model for a range: of all intervals on the scale
of time the one under which its own judgements are most likely.
"""

import numpy as np
import pandas as pd


def one_range(margin: np.ndarray, seconds: np.ndarray, question: np.ndarray) -> np.ndarray:
    """(n,) 1 where a candidate is accepted when each question has one interval of quantities, else 0.

    margin: (n,) log P(likely) - log P(unlikely) of each candidate; seconds: (n,) its quantity, NaN where it has none; question:
    (n,) integers from 0. Log-seconds and seconds have the same intervals, since only the order of the quantities counts.

    Accepting what lies inside an interval and turning down what lies outside has the log-probability of turning down
    everything, plus the margins inside: the best interval is the run of neighbouring quantities with the largest sum. None is
    chosen where no sum is above zero; of equal sums, as judgements without probabilities have them, that of most
    quantities, and of these the one of the shortest times. Candidates of equal quantity stand or fall together. A candidate
    without a quantity keeps its own decision, likely where its margin is above zero.
    """
    accepted = (np.asarray(margin) > 0).astype(int)
    rows = pd.DataFrame({"question": question, "seconds": seconds, "margin": margin}).dropna(subset="seconds")
    if rows.empty:
        return accepted
    steps = rows.groupby(["question", "seconds"], as_index=False)["margin"].sum()  # sorted by both
    place, asked = steps.groupby("question").cumcount().to_numpy(), steps["question"].to_numpy()
    most = place.max() + 1
    # until[q, k]: the sum of the margins of the first k quantities; beyond a question's last one there is nothing to take.
    until = np.zeros((asked.max() + 1, most + 1))
    until[asked, place + 1] = steps["margin"]
    until = until.cumsum(1)
    first, end = np.triu_indices(most + 1, 1)
    sums = until[:, end] - until[:, first]
    size = np.bincount(asked, minlength=len(until))
    sums = np.where(end <= size[:, None], sums, -np.inf)
    wide = np.argsort(first - end, kind="stable")  # so that argmax finds the widest first
    best = wide[sums[:, wide].argmax(1)]
    chosen = sums[np.arange(len(sums)), best] > 0
    inside = chosen[asked] & (place >= first[best][asked]) & (place < end[best][asked])
    of_row = pd.MultiIndex.from_frame(steps[["question", "seconds"]]).get_indexer(
        pd.MultiIndex.from_frame(rows[["question", "seconds"]]))
    accepted[rows.index] = inside[of_row]
    return accepted
