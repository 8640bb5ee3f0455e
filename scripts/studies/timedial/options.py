"""The options of a dataset of TimeDial."""

from dataclasses import dataclass
from typing import Literal

from scripts.data.options import DatasetOptions, option


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOptions):
    context_scope: Literal["full", "local", "target"] = option(default="full")
    """the part of the dialog that the model reads. full: all turns; local: the turn with the
    mask and its neighbours; target: the turn with the mask"""
    negatives: int = option(default=3, minimum=1, maximum=20)
    """the number of wrong candidates for each masked span in training, drawn from the other
    spans"""
    negatives_from: Literal["pool", "dialog", "mixed"] = option(default="pool")
    """the source of wrong candidates. pool: other spans of the corpus (the paper's table 4);
    dialog: other spans of the same dialog (the paper's section 4.1.1), and of the pool if the
    dialog has too few; mixed: half of them, rounded up, from the dialog"""
    negatives_of: Literal["any_kind", "same_kind"] = option(default="any_kind")
    """any_kind: a wrong candidate may be of any kind (date, time, duration, …); same_kind: it
    is of the same kind as the span"""
    negatives_by: Literal["text", "occurrence"] = option(default="text")
    """text: every different expression is drawn with equal probability (as the size of the
    paper's pool suggests); occurrence: an expression is drawn in proportion to how often it
    occurs"""
    negative_seed: int = option(default=0, minimum=0, maximum=4_294_967_295)
    """the seed of the draw of wrong candidates"""
    max_dialogs: int | None = option(default=None, minimum=2, maximum=1_000_000_000)
    """the most dialogs to learn from, drawn by hash; null: all"""
    contaminated: bool = option(default=False, later=True)
    """true: train also on the dialogs from which the challenge was made. This shows how much it
    helps to have read them, on their instances (slice leak=near) and on others"""
    choices: Literal["all", "missed", "exchanged"] = option(default="all", later=True)
    """the instances to measure on. all: all. missed: those that the control nearest_two gets
    wrong, so this control scores 0. exchanged: two dialogs exchange their right options, so
    both have the same four options; a rule that reads no dialog is right in at most half of the
    instances"""
    contrast: Literal["none", "unit"] = option(default="none", later=True)
    """unit: each instance has a counterpart with its plain durations in another unit (1 hour,
    60 minutes). Both must be right. Instances without a plain duration on both sides are left
    out"""
    limit: int | None = option(default=None, minimum=1, maximum=1_000_000_000)
    """the most instances of each evaluation split to measure on, drawn by hash; every number is
    marked"""
