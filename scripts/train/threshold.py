"""The threshold of a method that scores one text. Not a program; without torch."""

import numpy as np


def best_threshold(scores: np.ndarray, right: np.ndarray) -> float:
    """The threshold that separates most right examples (above it) from wrong ones (below it); the
    lowest of equals.

    It lies in the middle between two scores, or 1 beyond all of them.
    """
    order = np.argsort(scores, kind="stable")
    ordered, labels = scores[order], right[order].astype(np.int64)
    # how many wrong ones lie below each threshold, less the right ones below it
    gained = np.concatenate([[0], np.cumsum(1 - 2 * labels)])
    possible = np.concatenate([[True], ordered[1:] > ordered[:-1], [True]])
    best = int(np.where(possible, gained, np.iinfo(np.int64).min).argmax())
    edges = np.concatenate([[ordered[0] - 2], ordered, [ordered[-1] + 2]])
    return float((edges[best] + edges[best + 1]) / 2)
