"""How well the stride of pairs is told, alone or with the order: the metrics of one system on one split.

Not a program. Predicted is the label with the highest score; of order and stride together each is summed over the other first.
  stride_accuracy  the share of pairs whose stride is told; of n strides 1/n by chance, since there are as many pairs of each
  stride_error     the mean of |predicted - stride|, as a share of the largest stride
  confusion        slice `stride=2; predicted=3`: the share of all pairs of that stride for which that one is told
  order_accuracy   with the order: the share of pairs whose order is told, and on slices `stride=2`
  both_accuracy    with the order: of pairs where both are told, by the highest of all labels
Strides and labels that tie share a pair.
"""

import numpy as np
import pandas as pd

from scripts.measure.tally import Tally, share, sums_by_group


def highest(scores: np.ndarray) -> np.ndarray:
    """(n, k) 1 for the highest score of each row; of several that tie a share of 1."""
    is_highest = scores == scores.max(1, keepdims=True)
    return is_highest / is_highest.sum(1, keepdims=True)


def marginals(scores: np.ndarray, strides: int, predict: str) -> tuple[np.ndarray, np.ndarray | None]:
    """(n, strides) scores of the strides, and (n, 2) of the orders, or None; scores: (n, labels) log-probabilities."""
    if predict == "stride":
        return scores, None
    shares = np.exp(scores - scores.max(1, keepdims=True)).reshape(len(scores), strides, 2)
    return shares.sum(2), shares.sum(1)


def measures_of(judgements: list[pd.DataFrame], strides: int, predict: str, video: np.ndarray, videos: int) -> list[Tally]:
    """The tallies of one system; judgements: of each replicate the columns label and scores, of the same pairs in one order; video: the
    number of each pair's video."""
    label, everything = judgements[0]["label"].to_numpy(), np.bincount(video, minlength=videos)
    stride = label if predict == "stride" else label // 2
    scores = [np.stack(judgement["scores"].to_list()).astype(float) for judgement in judgements]
    told = [highest(marginals(one, strides, predict)[0]) for one in scores]
    row = np.arange(len(label))

    def tally(name: str, values: list[np.ndarray], where: str = "all", inside: np.ndarray | None = None) -> Tally:
        inside = np.ones(len(label), bool) if inside is None else inside
        return Tally(where, {name: share}, sums_by_group([one * inside for one in values], video, videos),
                     np.bincount(video[inside], minlength=videos) if not inside.all() else everything)

    distance = np.abs(np.arange(strides) - stride[:, None]) / max(strides - 1, 1)
    found = [tally("stride_accuracy", [one[row, stride] for one in told]), tally("stride_error", [(one * distance).sum(1) for one in told])]
    found += [tally("confusion", [one[:, predicted] for one in told], f"stride={true}; predicted={predicted}", stride == true)
              for true in range(strides) for predicted in range(strides)]
    if predict == "order_and_stride":
        order = [highest(marginals(one, strides, predict)[1])[row, label % 2] for one in scores]
        found += [tally("order_accuracy", order), tally("both_accuracy", [highest(one)[row, label] for one in scores])]
        found += [tally("order_accuracy", order, f"stride={true}", stride == true) for true in range(strides)]
    return found
