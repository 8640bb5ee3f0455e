"""The options of a dataset of HellaSwag."""

from dataclasses import dataclass
from typing import Literal

from scripts.data.options import DatasetOptions, option


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOptions):
    domain: Literal["all", "activitynet", "wikihow"] = option(default="all")
    """the items to train on and to measure on"""
    train_items: int | None = option(default=None, minimum=2, maximum=1_000_000_000)
    """the number of items to learn from, drawn by hash; null: all"""
    limit: int | None = option(default=None, minimum=1, maximum=1_000_000_000)
    """the most items of each evaluation split to measure on, drawn by hash; every number is
    marked"""
