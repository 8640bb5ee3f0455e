"""Read TimeDial's released file, and a file of scores for its options; refuse malformed files."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.running.program import UserError, cut, shown
from scripts.data.texts import json_of, lines_in, text_of
from scripts.studies.timedial.tallies import RULES

RIGHT = ("correct1", "correct2")
OPTIONS = (*RIGHT, "incorrect1", "incorrect2")


def read_gold(file: Path) -> pd.DataFrame:
    """Return the options of the released file: instance_id, split (test: two right options, extras:
    one), option, label, rule.
    """
    remedy = "give TimeDial's test.json"
    data = json_of(text_of(file, remedy, remedy), str(file), remedy)
    rows = []
    for number, one in enumerate(data if isinstance(data, list) else [data], 1):
        try:
            texts = {key: one[key].strip() for key in OPTIONS}
            split = "extras" if texts["correct2"] == "none" else "test"
            rows += [
                {
                    "instance_id": str(one["id"]),
                    "split": split,
                    "option": text,
                    "label": int(key in RIGHT),
                    "rule": "" if key in RIGHT else RULES[one[f"{key}_rule"].strip()],
                }
                for key, text in texts.items()
                if (key, split) != ("correct2", "extras")
            ]
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise UserError(
                f"{file}: instance {number} is not one of TimeDial ({type(error).__name__}: "
                f"{cut(str(error))}); give its test.json as it was released"
            ) from None
    if not rows:
        raise UserError(f"{file}: has no instance; give TimeDial's test.json")
    table = pd.DataFrame(rows)
    twice = table[table.duplicated(["instance_id", "option"])]
    if len(twice):
        raise UserError(
            f"{file}: id {cut(twice['instance_id'].iloc[0])} has the option "
            f"{shown(twice['option'].iloc[0])} twice; give TimeDial's test.json as it was released"
        )
    return table


def unique_keys(pairs: list[tuple]) -> dict:
    """Return a JSON object without spaces around its keys. Raises ValueError for a repeated key."""
    known = {}
    for key, value in pairs:
        if key.strip() in known:
            raise ValueError(f"{shown(key.strip())} stands twice")
        known[key.strip()] = value
    return known


def scores_on(line: str, where: str, wanted: dict[str, list[str]]) -> tuple[str, dict]:
    """Return the id and the scores of one line. wanted: the options of each id."""
    try:
        one = json.loads(line, object_pairs_hook=unique_keys)
        name, scores = str(one["id"]), dict(one["scores"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(
            f'{where} is not an object like {{"id": 1, "scores": {{"two hours": -3.2, …}}}} '
            f"({type(error).__name__}: {cut(str(error))}); mend it"
        ) from None
    if name not in wanted:
        raise UserError(f"{where}: no instance has the id {cut(name)}; take the line out")
    unknown = [option for option in scores if option not in wanted[name]]
    missing = [option for option in wanted[name] if option not in scores]
    if unknown or missing:
        what = (
            f"{shown(unknown[0])} is not one of its options"
            if unknown
            else f"the option {shown(missing[0])} has no score"
        )
        raise UserError(
            f"{where}: id {cut(name)}: {what}; score {', '.join(map(shown, wanted[name]))}"
        )
    for option, score in scores.items():
        # true and NaN are no scores
        if type(score) not in (int, float) or not abs(score) < math.inf:
            raise UserError(
                f"{where}: id {cut(name)}: the score of {shown(option)} is {shown(score)}, not a "
                "number; write one that is finite"
            )
    return name, scores


def read_scores_file(file: Path, gold: pd.DataFrame) -> np.ndarray:
    """Return (n,) the score of each option of read_gold(). Raises UserError that names the line."""
    wanted = {
        name: list(options) for name, options in gold.groupby("instance_id", sort=False)["option"]
    }
    remedy = "give the scores, one JSON object a line"
    lines = lines_in(text_of(file, remedy, remedy), str(file), remedy) or [""]
    found: dict[str, dict] = {}
    for number, line in enumerate(lines, 1):
        name, scores = scores_on(line, f"{file}: line {number}", wanted)
        if name in found:
            raise UserError(
                f"{file}: line {number}: id {cut(name)} repeats an earlier line; keep one of them"
            )
        found[name] = scores
    left = [name for name in wanted if name not in found]
    if left:
        raise UserError(
            f"{file}: none of its {len(lines)} lines is for id {cut(left[0])} ({len(left)} of "
            f"{len(wanted)} ids have no line); score every instance"
        )
    return np.array(
        [found[name][option] for name, option in zip(gold["instance_id"], gold["option"])], float
    )
