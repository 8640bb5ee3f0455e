"""How the options of instances are ranked: which options outrank others, and the slices.

An instance has right and wrong options, and a system gives each option a score. All arrays over
options are (n,). `instance` holds integers from 0 that give the instance of each option.
"""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.running.program import UserError
from scripts.measure.experiment import Run, read_scores
from scripts.measure.tally import Tally, share, sums_by_group

ACCURACY = {1: "one_best_accuracy", 2: "two_best_accuracy"}  # by the number of right options
RULES = {"Rule 1": "phrase", "Rule 2": "numeral", "Rule 3": "open_ended"}
LEAKS = ("none", "near")  # whether a dialog that stayed in training shares words with the instance
TURNS = {"1-6": (1, 6), "7-10": (7, 10), "11-15": (11, 15), "16+": (16, math.inf)}


def checked(options: pd.DataFrame, where: Path) -> pd.DataFrame:
    """Return the options with a column `instance`, from 0 in their order. Raises UserError if the
    metrics are not defined for an instance.
    """
    options = options.assign(instance=pd.factorize(options["instance_id"])[0])
    right, count = (options.groupby("instance")["label"].agg(how) for how in ("sum", "size"))
    if not right.isin(ACCURACY).all() or right.nunique() > 1 or (right == count).any():
        odd = right[~right.isin(ACCURACY) | (right != right.mode()[0]) | (right == count)].index[0]
        name = options.loc[options["instance"] == odd, "instance_id"].iloc[0]
        raise UserError(
            f"{where}: instance {name} has {right[odd]} right options of {count[odd]}. In a split "
            "every instance needs one right option, or every one two, and a wrong option: build "
            "the dataset again"
        )
    return options


def scores_of(run: Run, split: str, options: pd.DataFrame) -> tuple[np.ndarray, bool]:
    """Return a run's (n,) scores of the options, in their order, and whether it was trained."""
    scores, selection = read_scores(run, split, options["example_id"], "options")
    score = scores[:, -1].astype(float)
    if np.isnan(score).any():
        raise UserError(
            f"{run.folder}: the score of {options['example_id'][np.isnan(score)].iloc[0]} is not a "
            "number; lower the learning rate or set precision: fp32, then run it again"
        )
    return score, selection != "direct"


def lowest_right(score: np.ndarray, label: np.ndarray, instance: np.ndarray) -> np.ndarray:
    """Return the (instances,) lowest score of a right option."""
    lowest = np.full(instance.max() + 1, np.inf)
    np.minimum.at(lowest, instance[label == 1], score[label == 1])
    return lowest


def outranked(
    score: np.ndarray, label: np.ndarray, instance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (instances,) 1 where every right option scores above every wrong option. Also return
    (n,) 1 for each wrong option whose score is at least that of a right option of its instance.
    label: 1 right, 0 wrong.
    """
    above = ((label == 0) & (score >= lowest_right(score, label, instance)[instance])).astype(float)
    return (np.bincount(instance, above) == 0).astype(float), above


def outranked_by_chance(
    score: np.ndarray, label: np.ndarray, instance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same as outranked(), but with ties broken at random: the expected values over all
    orders of the tied options.
    """
    lowest = lowest_right(score, label, instance)
    tied = score == lowest[instance]
    right, wrong = (np.bincount(instance, tied & (label == side)) for side in (1, 0))
    above = np.bincount(instance, (label == 0) & (score > lowest[instance])) > 0
    # In the right orders of the tied options, the right options take the first places.
    orders = np.array([math.comb(int(a + b), int(a)) for a, b in zip(right, wrong)])
    # A wrong option ties with k right ones. It comes last in one of k + 1 orders.
    option = np.where(tied, 1 - 1 / (right[instance] + 1), score > lowest[instance])
    return np.where(above, 0, 1 / orders), np.where(label == 0, option, 0)


def slices(instances: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return for each slice which instances belong to it; instances: kind, has_numeral, turns and
    leak.
    """
    kind = instances["kind"].fillna("").replace("", "other")
    parts = {"all": np.full(len(instances), True)}
    parts |= {f"kind={name}": (kind == name).to_numpy() for name in sorted(set(kind))}
    parts |= {
        f"has_numeral={str(value).lower()}": (instances["has_numeral"] == value).to_numpy(bool)
        for value in (True, False)
    }
    parts |= {f"leak={name}": (instances["leak"] == name).to_numpy() for name in LEAKS}
    return parts | {
        f"turns={name}": instances["turns"].between(*ends).to_numpy()
        for name, ends in TURNS.items()
    }


def tallies_of(options: pd.DataFrame, outcomes: list[tuple[np.ndarray, np.ndarray]]) -> list[Tally]:
    """Return the tallies of both metrics with all their slices, by instance. options: instance
    (from 0), label, rule; kind, has_numeral, turns and leak, if their slices are wanted. outcomes:
    for each seed, the result of outranked() on these options.
    """
    instance, rule = options["instance"].to_numpy(), options["rule"].to_numpy()
    wrong = options["label"].to_numpy() == 0
    right = np.bincount(instance, ~wrong).astype(int)
    metric = ACCURACY[int(right[0])]
    first = options.drop_duplicates("instance").sort_values("instance")
    parts = slices(first) if "kind" in first else {"all": right > 0}
    tallies = [
        Tally(
            name,
            {metric: share},
            np.stack([accurate * part for accurate, _ in outcomes]),
            part.astype(int),
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
