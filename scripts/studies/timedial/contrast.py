"""The option `contrast`: instances and counterparts that give durations in another unit.

A system that understands durations treats "1 hour" and "60 minutes" equally. A counterpart writes
each option that is a plain duration in another unit with exactly the same value (in_another_unit()
of scripts/text/unit_normalization.py). Other words may surround the duration: "about an hour", "two
years ago". The other options do not change.

An instance has a counterpart if a right and a wrong option are plain durations. So the change of
units does not show which options are right. The values do not change, so the control `nearest_two`
solves both halves; the option `choices` stops this control.
"""

import re

import pandas as pd

from scripts.data.counterparts import COUNTERPART
from scripts.running.program import UserError, log
from scripts.text.unit_normalization import in_another_unit, quantities

# words that may follow a duration; a noun may not ("a two week holiday")
AFTER = re.compile(r"(?i)(?:\s+(?:ago|later|earlier|before|from now|or so))?\W*")


def in_other_units(options: pd.Series) -> pd.Series:
    """Return each option with its duration in another unit; missing if the option is no plain
    duration.
    """
    found = quantities(options)[["start", "end"]].dropna().astype(int)
    parts = pd.DataFrame(
        [
            (text[:start], text[start:end], text[end:])
            for text, start, end in zip(options[found.index], found["start"], found["end"])
        ],
        found.index,
        ["before", "said", "after"],
        dtype=object,
    )
    parts = parts[parts["after"].str.fullmatch(AFTER).to_numpy(bool)]
    new = parts["before"] + in_another_unit(parts["said"]) + parts["after"]
    return new.reindex(options.index)


def with_counterparts(options: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return the instances that have a counterpart, then their counterparts (schema cloze).

    where: the dataset and its split. Raises UserError if no instance has a counterpart.
    """
    new = in_other_units(options["candidate"])
    labels = options["label"].where(new.notna()).groupby(options["instance_id"])
    originals = options[labels.transform("nunique") == 2]
    if originals.empty and len(options):
        raise UserError(
            f"{where}: contrast: unit finds no instance with a plain duration among its right and "
            "its wrong options; use contrast: none, or a larger challenge"
        )
    count = options["instance_id"].nunique(), originals["instance_id"].nunique()
    log.info("%s: contrast: of %d instances %d have a counterpart", where, *count)
    new = new[originals.index]
    ids = originals["instance_id"] + COUNTERPART
    turned = originals.assign(
        instance_id=ids, candidate=new.fillna(originals["candidate"]), is_original=False
    )
    return pd.concat([originals, turned], ignore_index=True)
