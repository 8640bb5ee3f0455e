"""The tallies of TimeDial: 2-best accuracy on its slices, and wrong options above right ones by the
rule that made them. scripts/studies/timedial/evaluate.py explains the metrics.
"""

import math
import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from scripts.measure.tally import Tally, share, sums_by_group
from scripts.text.number_words import NUMBER
from scripts.text.sizes import KINDS, shared_kind, with_neighbour

ACCURACY = {1: "one_best_accuracy", 2: "two_best_accuracy"}  # by the number of right options
RULES = {"Rule 1": "phrase", "Rule 2": "numeral", "Rule 3": "open_ended"}
LEAKS = ("none", "near")  # whether a dialog that stayed in training shares words with the instance
TURNS = {"1-6": (1, 6), "7-10": (7, 10), "11-15": (11, 15), "16+": (16, math.inf)}
FORMS = ("same", "differs")
STARTING_NUMBER, PLURAL = re.compile(rf"{NUMBER}\b", re.IGNORECASE), re.compile(r"[^s]s$")
HYPHENATED, BESIDE_NOW = re.compile(r"\w ?- ?\w"), re.compile(r"\b(?:ago|earlier|later|old)\b")


def time_and_form(instances: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the slices of slices() by time and by form. Systems are compared on them."""
    parts = {f"time={name}": (instances["time"] == name).to_numpy() for name in KINDS}
    return parts | {f"form={name}": (instances["form"] == name).to_numpy() for name in FORMS}


def slices(instances: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return for each slice which instances belong to it; instances: kind, has_numeral, turns and
    leak, and what with_time_and_form() adds.
    """
    kind = instances["kind"].fillna("").replace("", "other")
    parts = {"all": np.full(len(instances), True)}
    parts |= {f"kind={name}": (kind == name).to_numpy() for name in sorted(set(kind))}
    parts |= {
        f"has_numeral={str(value).lower()}": (instances["has_numeral"] == value).to_numpy(bool)
        for value in (True, False)
    }
    parts |= time_and_form(instances)
    parts |= {f"leak={name}": (instances["leak"] == name).to_numpy() for name in LEAKS}
    return parts | {
        f"turns={name}": instances["turns"].between(*ends).to_numpy()
        for name, ends in TURNS.items()
    }


def form(text: str) -> tuple:
    """Return what the words around a gap can require of an option: its first word (numbers are
    alike), whether it is plural, hyphenated or begins with a capital, and its word beside now.
    """
    beside_now = BESIDE_NOW.search(text.lower())
    return (
        "number" if STARTING_NUMBER.match(text) else text.split()[0].lower(),
        PLURAL.search(text) is not None,
        HYPHENATED.search(text) is not None,
        text[0].isupper(),
        beside_now[0] if beside_now else "",
    )


def set_apart(options: pd.DataFrame) -> pd.Series:
    """Return, by instance, whether a part of form() is the same in all right options and in no
    wrong option.
    """
    forms, right = (
        pd.DataFrame([*map(form, options["candidate"])]),
        options["label"].to_numpy() == 1,
    )
    instance = options["instance"].to_numpy()
    one_right = forms[right].groupby(instance[right]).first()
    like_right = forms.eq(one_right.loc[instance].reset_index(drop=True))
    return like_right.eq(right, axis=0).groupby(instance).all().any(axis=1)


def with_time_and_form(options: pd.DataFrame) -> pd.DataFrame:
    """Return the first option of each instance, with `time`, the kind of time that the right
    options of the instance name, and `form`, one of FORMS.
    """
    right = options[options["label"] == 1].groupby("instance")["candidate"]
    first = options.drop_duplicates("instance").sort_values("instance")
    forms = np.where(set_apart(options), "differs", "same")
    return first.assign(time=right.agg(shared_kind).to_numpy(), form=forms)


def joined_tallies(
    options: pd.DataFrame, scores: list[np.ndarray], how: Callable[..., tuple]
) -> list[Tally]:
    """Return the tallies of joined_two_best_accuracy, by instance, on all instances, by kind of
    time and by form. options: as for tallies_of(). scores: (n,) for each seed. how: outranked(), or
    outranked_by_chance().
    """
    table = options.rename(columns={"candidate": "second"}).assign(choice_id=options["instance"])
    label, instance = options["label"].to_numpy(), options["instance"].to_numpy()
    right = [how(with_neighbour(table, score), label, instance)[0] for score in scores]
    first = with_time_and_form(options)
    parts = {"all": np.full(len(first), True)} | time_and_form(first)
    return [
        Tally(
            name,
            {"joined_two_best_accuracy": share},
            np.stack([accurate * part for accurate in right]),
            part.astype(int),
            compared=True,
        )
        for name, part in parts.items()
    ]


def tallies_of(options: pd.DataFrame, outcomes: list[tuple[np.ndarray, np.ndarray]]) -> list[Tally]:
    """Return the tallies of both metrics with all their slices, by instance. options: instance
    (from 0), label, rule; kind, has_numeral, turns and leak, if their slices are wanted. outcomes:
    for each seed, the result of outranked() on these options.
    """
    instance, rule = options["instance"].to_numpy(), options["rule"].to_numpy()
    wrong = options["label"].to_numpy() == 0
    right = np.bincount(instance, ~wrong).astype(int)
    metric = ACCURACY[int(right[0])]
    parts = slices(with_time_and_form(options)) if "kind" in options else {"all": right > 0}
    tallies = [
        Tally(
            name,
            {metric: share},
            np.stack([accurate * part for accurate, _ in outcomes]),
            part.astype(int),
            compared=name.startswith(("time=", "form=")),
        )
        for name, part in parts.items()
    ]
    for name in ("all", *(f"rule={rule}" for rule in RULES.values())):
        counted = wrong & ((name == "all") | (rule == name.removeprefix("rule=")))
        above = sums_by_group([above * counted for _, above in outcomes], instance, len(right))
        tallies.append(
            Tally(
                name,
                {"wrong_above_right": share},
                above,
                np.bincount(instance, counted).astype(int),
            )
        )
    return tallies
