"""TimeDial's released file, and a file of scores for its options: read, and refused where they are not what they should be."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.common.program import UserError
from scripts.evaluate.timedial_ranking import RULES


def read_gold(file: Path) -> pd.DataFrame:
    """The options of the released file: instance_id, split (test: two right ones, extras: one), option, label, rule."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; give TimeDial's test.json") from None
    except ValueError as error:
        raise UserError(f"{file}: not JSON ({error}); give TimeDial's test.json") from None
    rows = []
    for number, one in enumerate(data, 1):
        try:
            extra = one["correct2"].strip() == "none"
            options = [(one["correct1"], 1, ""), *([] if extra else [(one["correct2"], 1, "")]),
                       *((one[f"incorrect{place}"], 0, RULES[one[f"incorrect{place}_rule"].strip()]) for place in (1, 2))]
            rows += [{"instance_id": str(one["id"]), "split": "extras" if extra else "test", "option": option.strip(),
                      "label": label, "rule": rule} for option, label, rule in options]
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{file}: instance {number} is not one of TimeDial ({type(error).__name__}: {error}); give its "
                            "test.json as it was released") from None
    if not rows:
        raise UserError(f"{file}: has no instance; give TimeDial's test.json")
    table = pd.DataFrame(rows)
    twice = table[table.duplicated(["instance_id", "option"])]
    if len(twice):
        raise UserError(f"{file}: id {twice['instance_id'].iloc[0]} has the option {twice['option'].iloc[0]!r} twice; give "
                        "TimeDial's test.json as it was released")
    return table


def once(pairs: list[tuple]) -> dict:
    """A JSON object, keys without the spaces around them; a key that stands twice is refused."""
    stripped = {key.strip(): value for key, value in pairs}
    if len(stripped) < len(pairs):
        keys = [key.strip() for key, _ in pairs]
        raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} stands twice")
    return stripped


def is_number(score: object) -> bool:
    """Whether a value of JSON is a number that a float holds; an infinity is one."""
    try:
        return isinstance(score, int | float) and not isinstance(score, bool) and not math.isnan(float(score))
    except OverflowError:
        return False


def read_scores_file(file: Path, gold: pd.DataFrame) -> np.ndarray:
    """(n,) the score of each option of read_gold(). Raises UserError that names the line."""
    wanted = {name: list(options) for name, options in gold.groupby("instance_id", sort=False)["option"]}
    try:
        lines = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; give the scores, one JSON object a line") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not text in UTF-8 ({error}); save it as UTF-8") from None
    found: dict[str, dict] = {}
    for number, line in enumerate(lines, 1):
        where = f"{file}: line {number}"
        try:
            one = json.loads(line, object_pairs_hook=once)
            name, scores = str(one["id"]), dict(one["scores"])
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{where} is not an object like {{\"id\": 1, \"scores\": {{\"two hours\": -3.2, …}}}} "
                            f"({type(error).__name__}: {error}); mend it") from None
        if name not in wanted:
            raise UserError(f"{where}: no instance has the id {name}; take the line out")
        if name in found:
            raise UserError(f"{where}: id {name} stood on a line before; keep one of them")
        unknown = [option for option in scores if option not in wanted[name]]
        missing = [option for option in wanted[name] if option not in scores]
        if unknown or missing:
            what = f"{unknown[0]!r} is no option of it" if unknown else f"the option {missing[0]!r} has no score"
            raise UserError(f"{where}: id {name}: {what}; score {', '.join(map(repr, wanted[name]))}")
        for option, score in scores.items():
            if not is_number(score):
                raise UserError(f"{where}: id {name}: the score of {option!r} is {str(score)[:40]!r}, not a number; write one")
        found[name] = scores
    left = [name for name in wanted if name not in found]
    if left:
        raise UserError(f"{file}: line {len(lines)} is the last, and none is of id {left[0]} ({len(left)} of {len(wanted)} "
                        "ids have no line); score every instance")
    return np.array([found[name][option] for name, option in zip(gold["instance_id"], gold["option"])], float)
