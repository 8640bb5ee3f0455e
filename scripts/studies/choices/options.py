"""The options of a dataset of questions with options."""

from dataclasses import dataclass

from scripts.data.options import DatasetOptions, option

FOLDS = 5


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOptions):
    category: str | None = option(default=None, pattern=r"^\w[\w.-]*$", maxLength=100)
    """the category of the items to learn from and to measure on, with _ for each space; null:
    all"""
    train_items: int | None = option(default=None, minimum=2, maximum=1_000_000_000)
    """the number of items to learn from, drawn by hash; null: all"""
    fold: int | None = option(default=None, minimum=0, maximum=FOLDS - 1, later=True)
    """the fifth of the test's groups that is measured; the other fifths are learnt from. null: the
    source's own splits"""
