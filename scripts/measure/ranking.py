"""How the options of instances are ranked: which options outrank others.

An instance has right and wrong options, and a system gives each option a score. All arrays over
options are (n,). `instance` holds integers from 0 that give the instance of each option.
"""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.running.program import UserError
from scripts.measure.experiment import Run, read_scores

COUNTS = (1, 2)  # the right options that an instance may have


def checked(options: pd.DataFrame, where: Path) -> pd.DataFrame:
    """Return the options with a column `instance`, from 0 in their order. Raises UserError if the
    metrics are not defined for an instance.
    """
    options = options.assign(instance=pd.factorize(options["instance_id"])[0])
    right, count = (options.groupby("instance")["label"].agg(how) for how in ("sum", "size"))
    if not right.isin(COUNTS).all() or right.nunique() > 1 or (right == count).any():
        odd = right[~right.isin(COUNTS) | (right != right.mode()[0]) | (right == count)].index[0]
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
