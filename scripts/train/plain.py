"""Scores are made fast: many texts in one batch, a shared beginning read once, the head at few
places. A fast way may be wrong for a network, and a GPU may be wrong. On an H200, 5 of 47 scorings
of Gemma 3 270M had log-likelihoods that were up to 8 off. No cause was found
(docs/notes/corrections.md).

So some texts of each batch are scored again, by the paradigm's plain_scores(): each alone, by the
network's own forward. Where two scores differ, so is the whole batch.
"""

from collections.abc import Callable

import numpy as np
import torch

READ_AGAIN = {"cpu": 2, "cuda": 16}  # texts of a batch
# two readings gave the same scores: relative and absolute difference at most
CLOSE, CLOSE_IN_16_BIT = {"rtol": 1e-3, "atol": 1e-3}, {"rtol": 0.02, "atol": 0.5}


def alike(scores: torch.Tensor, plain: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether two readings gave the same scores, up to the rounding of weights of this type."""
    close = CLOSE if dtype.itemsize == 4 else CLOSE_IN_16_BIT
    return torch.allclose(scores, plain, equal_nan=True, **close)


def checked(
    scores: torch.Tensor,
    rows: np.ndarray,
    lengths: np.ndarray,
    plain: Callable[[np.ndarray], torch.Tensor],
    dtype: torch.dtype,
) -> tuple[torch.Tensor, float]:
    """(rows, width) the scores of a batch of these rows; or their plain scores, if those of some
    rows differ, and the largest difference (0 if they agree).

    lengths: tokens of each row; the longest and the shortest text are among those that are read
    again. plain: returns the plain scores of rows.
    """
    most = READ_AGAIN[scores.device.type]
    order = np.argsort(lengths, kind="stable")
    places = order[np.unique(np.linspace(0, len(rows) - 1, most).astype(int))]
    again = plain(rows[places])
    if alike(scores[places], again, dtype):
        return scores, 0.0
    off = (scores[places] - again).abs().nan_to_num(torch.inf).max()
    return plain(rows), float(off)
