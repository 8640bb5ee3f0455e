"""The options of a dataset of MC-TACO."""

from dataclasses import dataclass
from typing import Literal

from scripts.data.options import DatasetOptions, option


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOptions):
    unit_normalization: bool = option(default=False)
    """true: the temporal expression of each answer is written in its most natural unit (`30
    months` becomes `2.5 years`)"""
    train_questions: int | None = option(default=None, minimum=2, maximum=1_000_000_000)
    """the number of questions to learn from, drawn by hash; null: all"""
    draw: int = option(default=0, minimum=0, maximum=4_294_967_295)
    """the number of the draw; each draw is another sub-sample of the training questions"""
    limit: int | None = option(default=None, minimum=1, maximum=1_000_000_000)
    """the most questions of each evaluation split to measure on, drawn by hash; every number is
    marked"""
    contrast: Literal["none", "unit"] = option(default="none", later=True)
    """unit: each question has a counterpart with its quantities in another unit (60 minutes for
    1 hour); none: no counterpart"""

    def needs(self, kind: str) -> dict[str, tuple[bool, str]]:
        return {"draw": (self.train_questions is not None, "train_questions")}
