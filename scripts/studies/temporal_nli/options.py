"""The options of an NLI challenge set."""

from dataclasses import dataclass
from typing import Literal

from scripts.data.options import DatasetOptions, option

GENERATED = "event_templates"  # the kind of source of which the pairs are generated


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOptions):
    challenge_set: Literal["temp_order", "temp_duration", "cross_unit"] = option()
    """set I: order of two times; set II: a duration; set III: durations in adjacent units"""
    train_templates: int | None = option(
        default=None, minimum=2, maximum=1_000_000_000, column=None
    )
    """the number of event templates to learn from, drawn by hash; dev is a part of them; null:
    all"""
    train_pairs: int | None = option(default=None, minimum=3, maximum=1_000_000_000, later=True)
    """the number of pairs to learn from, drawn by hash; dev is not cut; null: all"""
    test_templates: int | None = option(default=None, minimum=1, maximum=1_000_000_000, column=None)
    """the number of event templates to measure on, drawn by hash; null: all"""
    iterations: int = option(default=5, minimum=1, maximum=100, column=None)
    """the number of draws of times for each form of sentence (sets I and II, generated only);
    the paper has 5"""
    generation_seed: int = option(default=0, minimum=0, maximum=4_294_967_295, column=None)
    """the seed of all draws of times (generated only); a new seed gives a set that no model has
    seen"""
    dev_fraction: float = option(default=0.1, exclusiveMinimum=0, maximum=0.5, column=None)
    """the share of the training templates that is held out as dev, on which the epoch is
    chosen"""
    held_out: Literal["template", "list", "spelling", "unit", "range", "form"] = option(
        default="template"
    )
    """the things that only the test split has. Its templates are always held out. list: also a
    list of times; spelling: a spelling of times; unit: a unit; range: the last third of each
    list; form: a form of sentence (scripts/studies/temporal_nli/parts.py)"""
    held_out_list: Literal[
        None,
        Literal["weekday", "month_full", "month_day", "hour_12", "hour_24", "hour_both", "year"],
        Literal["number_word", "letter", "greek", "rank", "planet", "invented"],
        Literal["half_1", "half_2"],
    ] = option(default=None, later=True)
    """the list that held_out: list holds out, with all lists that share an item with it. Every
    sentence then takes every list, also lists that are not of time, at all distances. half_1
    and half_2 hold out half of the lists together (scripts/studies/temporal_nli/times.py).
    null: weekdays, and each sentence has the lists of its units"""
    balanced: bool = option(default=False, later=True)
    """true: thin the test split until each pair of prepositions (and every other cue) is
    equally frequent with each of its labels. Chance is then 50 %, also for an additive model if
    list, unit or range are held out (scripts/studies/temporal_nli/balance.py)"""
    contrast: Literal["none", "preposition", "times"] = option(default="none", later=True)
    """give each test pair a counterpart. preposition: before and after are exchanged in the
    hypothesis (set II: `less than` is added or removed); times: the two times are exchanged
    (sets I and III). contrast_accuracy is the share of items with both right"""
    limit: int | None = option(default=None, minimum=1, maximum=1_000_000_000)
    """the most pairs of each evaluation split to measure on, drawn by hash; every number is
    marked"""

    def needs(self, kind: str) -> dict[str, tuple[bool, str]]:
        is_generated = kind == GENERATED
        return {
            "iterations": (
                is_generated and self.challenge_set != "cross_unit",
                "generated sentences of sets I and II",
            ),
            "generation_seed": (is_generated, "generated sentences"),
            "held_out_list": (
                is_generated and self.challenge_set == "temp_order" and self.held_out == "list",
                "generated sentences of set I with held_out: list",
            ),
        }
