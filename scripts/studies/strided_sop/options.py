"""The options of a strided dataset."""

import math
from dataclasses import dataclass
from typing import Literal

from scripts.data.options import DatasetOptions, option
from scripts.running.program import UserError
from scripts.studies.strided_sop.strides import strides_of

STRIDES = "^up_to_([1-9]|[12][0-9]|30)$"
MOST_UNITS = 4  # of a span whose permutations are all scored
CONTEXT: dict = {
    "properties": {
        "seconds": {"type": "number", "minimum": 0.1, "maximum": 86400},
        "sentences": {"type": "integer", "minimum": 2, "maximum": 10000},
    },
    "additionalProperties": False,
    "minProperties": 1,
    "maxProperties": 1,
}
# methods that can learn another label than the order of two sentences
LEARN_ANY_LABEL = ("train", "train_blind", "control")


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOptions):
    stride: int | str = option(minimum=0, maximum=100, pattern=STRIDES, column="int32")
    """the number of sentences between the two sentences of a pair; up_to_<n>: strides 0 to n,
    with equally many pairs of each, drawn by hash"""
    size_matched: int | None = option(
        default=None, minimum=0, maximum=100, column="int32", series="size-matched"
    )
    """a stride; the training pairs are cut to the number that this stride has. This separates
    the effect of stride from that of training-set size"""
    same_videos: int | None = option(
        default=None, minimum=0, maximum=100, column="int32", series="same videos"
    )
    """a stride; only videos with a pair of this stride are kept. This separates the effect of
    stride from that of the choice of videos"""
    hard: bool = option(default=False, series="hard pairs")
    """true: measure only on hard pairs. A searched control, cross-fitted over the videos, gets
    half of them right at every level of its confidence, so controls are at chance"""
    train_pairs: int | None = option(default=None, minimum=2, maximum=1_000_000_000, later=True)
    """the number of training pairs to keep, drawn by hash"""
    max_videos: int | None = option(default=None, minimum=1, maximum=1_000_000_000, column=None)
    """the most videos to keep of each split, drawn by hash of the id"""
    label_seed: int = option(default=0, minimum=0, maximum=4_294_967_295, column=None)
    """the seed of the coin that swaps half of the pairs"""
    limit: int | None = option(default=None, minimum=1, maximum=1_000_000_000)
    """the most pairs of each evaluation split to measure on, drawn by hash; every number is
    marked"""
    context: dict[str, float] | None = option(
        default=None, later=True, series="windows of {}", **CONTEXT
    )
    """the unit that is put in order. null: a caption; {seconds: n} or {sentences: k}: the
    captions of a window; windows do not overlap"""
    train_stride: int | str | None = option(
        default=None,
        minimum=0,
        maximum=100,
        pattern=STRIDES,
        later=True,
        column="string",
        series="learnt from stride {}",
    )
    """the stride (or up_to_<n>) of the training pairs, if it differs from the stride of the
    evaluation pairs"""
    learn_from: str | None = option(default=None, later=True, series="learnt from {}")
    """a corpus of captions to train on instead of the source's own training split"""
    predict: Literal[None, "stride", "order_and_stride"] = option(default=None, later=True)
    """the label of a pair. null: its order; stride: its stride; order_and_stride: both. The
    pairs must have several strides (stride: up_to_<n>)"""
    span: int | None = option(default=None, minimum=2, maximum=6, later=True, column="int32")
    """the number of units to put in order; between two neighbours lie `stride` sentences"""
    order_by: Literal["pairs", "permutations"] = option(default="pairs", later=True)
    """how the units of a span are put in order. pairs: by the scores of all their pairs;
    permutations: by a score for each order (the method packed, at most 4 units)"""
    wrong_orders: int = option(default=1, minimum=1, maximum=23, later=True, column=None)
    """the number of wrong orders to learn from beside the right order of each span, drawn by
    hash"""
    train_labels: Literal["order", "coin"] = option(
        default="order", later=True, series="learnt from coins"
    )
    """the label of a training pair. order: the order of its sentences; coin: a coin by hash.
    coin is a control: the same texts and steps, with nothing to learn"""

    def needs(self, kind: str) -> dict[str, tuple[bool, str]]:
        is_one_stride, is_pairs = isinstance(self.stride, int), not self.is_permuted
        one_size = self.size_matched is None and self.train_stride is None
        return {
            "train_pairs": (
                is_one_stride and one_size and is_pairs,
                "one stride, without size_matched, train_stride and order_by: permutations",
            ),
            "predict": (not is_one_stride, "stride: up_to_<n>"),
            "span": (
                is_one_stride and not self.hard and not self.predict,
                "one stride, without hard and predict",
            ),
            "order_by": (
                self.span is not None and self.span <= MOST_UNITS and self.train_stride is None,
                f"span, up to {MOST_UNITS} units, without train_stride",
            ),
            "wrong_orders": (not is_pairs, "order_by: permutations"),
            "train_labels": (
                not self.predict and is_pairs,
                "neither predict nor order_by: permutations",
            ),
        }

    def refuses(self, method: str) -> str:
        if method != "control" and self.is_permuted != (method == "packed"):
            return f"order_by: {self.order_by}"
        if self.predict and method not in LEARN_ANY_LABEL:
            return f"predict: {self.predict}"
        return ""

    def check(self) -> None:
        units = self.span or 0
        if self.is_permuted and (not units or self.train_stride is not None):
            raise UserError(
                "order_by: permutations learns from whole spans and puts whole spans in order; set "
                "span, and leave train_stride out"
            )
        if self.is_permuted and units > MOST_UNITS:
            raise UserError(
                f"{units} units have {math.factorial(units)} orders, too many to score "
                f"each of them; set span to {MOST_UNITS} or less, or order_by to pairs"
            )
        if self.train_labels == "coin" and (self.predict or self.is_permuted):
            raise UserError(
                "train_labels: coin replaces the order of pairs; leave predict and order_by out"
            )
        largest = max(*self.learnt_strides, *self.measured_strides)
        if self.same_videos is not None and self.same_videos < largest:
            raise UserError(
                f"same_videos is {self.same_videos}, but videos that reach it may have no pair of "
                f"stride {largest}; set same_videos to the largest stride that you compare, or to "
                "null"
            )

    @property
    def is_permuted(self) -> bool:
        """Whether a row is an order of all units of a span."""
        return self.order_by == "permutations"

    @property
    def step(self) -> int:
        """The places between two neighbouring units of a span."""
        return int(self.stride) + 1

    @property
    def measured_strides(self) -> list[int]:
        """The strides of the evaluation pairs. A span has pairs of several strides; the pair of its
        first and last unit represents a span whose permutations are scored.
        """
        if self.span is None:
            return strides_of(self.stride)
        gaps = [self.span - 1] if self.is_permuted else range(1, self.span)
        return [gap * self.step - 1 for gap in gaps]

    @property
    def learnt_strides(self) -> list[int]:
        """The strides of the training pairs."""
        if self.train_stride is None:
            return self.measured_strides
        return strides_of(self.train_stride)

    def labels(self, labels: list[str]) -> list[str]:
        """The label of a stride is its own number. The label of order and stride is 2 · stride +
        order.
        """
        if self.predict is None:
            return labels
        strides = strides_of(self.stride)
        if self.predict == "stride":
            return [f"stride_{stride}" for stride in strides]
        return [f"{label}_{stride}" for stride in strides for label in labels]
