"""How far a run is."""

from dataclasses import dataclass, field


@dataclass
class State:
    """How far a run is; what a checkpoint keeps beside the weights and the optimizer."""

    epoch: int = 0  # that are done
    step: int = 0  # of the next one that are done
    loss: float = 0.0  # summed over its examples so far
    right: float = 0.0  # of them
    history: list = field(default_factory=list)  # rows of the schema history
    kept: dict = field(default_factory=dict)  # by selection and split: epoch, accuracy, scores
    weights: dict | None = None  # of the chosen epoch, for a method that makes a model
    seconds: float = 0.0
    tokens: int = 0
    micro_batch_tokens: int | None = None  # of its forward passes, which decide dropout
