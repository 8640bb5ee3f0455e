"""How far a run is, which epoch it reports, and when learning ends:
the same rule for every study and paradigm.

Standard library only.

A run reports the epoch with the lowest loss on the held-out examples, the first of equals (Jain
et al. 2020 watch the loss as well). Where nothing is held out, it reports the last epoch. The loss
is the one that training lowers: cross-entropy of the labels for classification, minus the mean
log-likelihood of the right words for all other paradigms.
"""

import math
from dataclasses import dataclass, field


@dataclass
class State:
    """How far a run is: the part of a checkpoint beside the weights and the optimizer."""

    epoch: int = 0  # finished epochs
    step: int = 0  # finished steps of the next epoch
    loss: float = 0.0  # summed over its examples so far
    right: float = 0.0  # right ones among these examples
    history: list = field(default_factory=list)  # rows of the schema history
    reported: dict = field(default_factory=dict)  # by selection and split: epoch, accuracy, scores
    weights: dict = field(default_factory=dict)  # of the reported epoch
    seconds: float = 0.0
    tokens: int = 0
    micro_batch_tokens: int | None = None  # of its forward passes, which decide dropout


def held_out_losses(history: list[dict]) -> list[float]:
    """The held-out loss of each epoch so far, from rows of the schema history."""
    return [row["loss"] for row in history if row["split"] == "held_out"]


def chosen_epoch(losses: list[float]) -> int:
    """The epoch to report, counted from 1, given the held-out losses by epoch. A loss that is not a
    number counts as infinite.
    """
    known = [math.inf if math.isnan(loss) else loss for loss in losses]
    return known.index(min(known)) + 1


def is_last(epoch: int, losses: list[float], epochs: int, patience: int) -> bool:
    """Whether learning ends after `epoch` epochs: all are done, or the held-out loss has not fallen
    for `patience` epochs.
    """
    return epoch >= epochs or (bool(losses) and epoch - chosen_epoch(losses) >= patience)
