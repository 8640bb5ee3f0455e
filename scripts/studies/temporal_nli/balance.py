"""Thin a test split until each cue is equally frequent with each label.

A cell is the set of pairs that agree in all cues that a control can use. Each cell keeps equally
many pairs of each label, those with the lowest hashes of their ids. A cell with a single label is
dropped. Both labels of every cell are then equally frequent. So a control that knows only the cell
scores 50 %, chance. These cues define a cell:

  in every set     the part, seen or unseen
  sets I and III   the prepositions of both sentences, and whether the times are the same
  held_out_list    also the list and the distance of the times, so that chance is 50 % in each
  set II           the claim ("less than 5 hours."), and whether it is ten times the duration

For unseen pairs they also include what training shows about the order of the times:

  range, set I     the order of the times, with all held-out times counted as one
  range, set II    which of the two times is held out
  range, set III   T2 in whole units: for T2 below 8 or over 10 the order follows from T2 alone
  unit, set III    T1, and whether T2 / T1 exceeds the ratio of each pair of units: between the two
                   ratios (hours in a day, days in a month) only the units decide the order

If list, unit or range are held out, training lacks their words, and these words have no weight. An
additive model can then use only the cell, and scores at chance. On other splits it can score
higher.
"""

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError, log
from scripts.studies.temporal_nli.parts import DAY_PAIRS, UNSEEN, second_size
from scripts.studies.temporal_nli.times import SECONDS, UNIT_PAIRS

DRAW = 11  # the number of this draw: other draws from the same ids differ


def number_in(texts: pd.Series) -> pd.Series:
    """Return the number in each sentence of set III."""
    return pd.to_numeric(texts.str.extract(r"(?i)\b(?:in|before|after) (\d+) ")[0])


def order_cues(rows: pd.DataFrame, held_out: str) -> dict[str, pd.Series]:
    """Return what training shows about the order of each pair's times, if `held_out` holds them
    out.
    """
    counted = rows["challenge_set"].iloc[0] == "cross_unit"
    if held_out == "range":
        return {"order": np.floor(second_size(rows)) if counted else rows["known"]}
    if held_out == "unit" and counted:
        first, second = number_in(rows["text_a"]), number_in(rows["text_b"])
        key = {"first": first}
        for pair in DAY_PAIRS:
            low, high = UNIT_PAIRS[pair]
            key[pair] = (second * SECONDS[low] / SECONDS[high] > first).astype(float)
        return key
    return {}


def cells_of(rows: pd.DataFrame, held_out: str, by_list: bool) -> pd.Series:
    """Return the number of the cell of each pair. by_list: whether a cell has one list and one
    distance.
    """
    if rows["challenge_set"].iloc[0] == "temp_duration":
        key = {
            "claim": rows["text_b"].str.extract(r".* for (.+)$")[0],
            "far": rows["hypothesis_type"].str.endswith("times_10"),
        }
    else:
        key = {
            "premise": rows["premise_preposition"],
            "hypothesis": rows["hypothesis_preposition"],
            "same": rows["distance"] == "same",
        } | ({"list": rows["choice"], "distance": rows["distance"]} if by_list else {})
    unseen = rows["part"] == UNSEEN
    key |= {name: cue.where(unseen) for name, cue in order_cues(rows, held_out).items()}
    table = pd.DataFrame(key | {"part": rows["part"]})
    return table.groupby(list(table), dropna=False, sort=False).ngroup()


def balanced(rows: pd.DataFrame, held_out: str, where: str, by_list: bool = False) -> pd.DataFrame:
    """Return the pairs to keep from an evaluation split of one set (schema nli; a generated split
    also has `known`). Raises UserError if no held-out pair remains. where: the split's name in
    messages; by_list: from cells_of().
    """
    at = pd.DataFrame({"cell": cells_of(rows, held_out, by_list), "label": rows["label"]})
    by_hash = np.argsort(keyed_hash(rows["example_id"], DRAW), kind="stable")
    rank = at.iloc[by_hash].groupby(["cell", "label"]).cumcount().reindex(rows.index)
    counts = at.groupby(["cell", "label"]).size().unstack()
    least = counts.min(axis=1).where(counts.notna().sum(axis=1) > 1, 0)
    kept = rows[rank < at["cell"].map(least)]
    unseen = (kept["part"] == UNSEEN).sum()
    log.info("%s: balanced, %d of %d pairs, %d unseen", where, len(kept), len(rows), unseen)
    if not unseen:
        raise UserError(f"{where}: balanced leaves no unseen pair; ask for more test_templates")
    return kept
