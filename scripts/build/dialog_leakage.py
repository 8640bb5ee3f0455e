"""Find the dialogs that a challenge was made from, exactly or nearly (scripts/build/timedial.py drops them).

Not a program. All challenge instances of TimeDial come from DailyDialog, so a model that learns from the whole corpus has
read what it is measured on. Turns are compared by the letters and digits of their lower case, which spacing, quotation
marks and case do not change. Dialogs are joined by hashes of their turns: the work grows with the number of turns, not
with the number of pairs of dialogs.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.common.keyed import keyed_hash
from scripts.common.program import UserError

MASK = "<MASK>"
LONG = 20  # letters and digits, about five words: shorter turns ("That's right .") are said in many dialogs
NEAR = 0.5  # the share of long turns in common, of the dialog that has fewer of them

# Separate hashes of the same text.
IN_PLACE, ANYWHERE = 1, 2


def normalized(texts: pd.Series) -> pd.Series:
    """Texts as their letters and digits in lower case."""
    # NFKC: a full-width letter is the letter.
    lower = pc.utf8_lower(pc.utf8_normalize(pa.array(texts, pa.string()), form="NFKC"))
    return pd.Series(pc.replace_substring_regex(lower, r"[^\p{L}\p{N}]+", "").to_pandas().to_numpy(object), texts.index)


def challenge_turns(challenge: pd.DataFrame, where: str) -> pd.DataFrame:
    """The turns of every instance: instance_id, turn (from 0), line (as it stands), text (without its speaker), masked.

    `challenge` is of the schema challenge. Raises UserError for an instance without exactly one mask or with two dialogs.
    """
    dialogs = challenge[["instance_id", "dialog"]].drop_duplicates()
    twice = dialogs.loc[dialogs["instance_id"].duplicated(), "instance_id"]
    if len(twice):
        raise UserError(f"{where}: instance {twice.iloc[0]} has rows with different dialogs; clean the challenge again")
    masks = dialogs["dialog"].str.count(MASK)
    if (masks != 1).any():
        wrong = masks.idxmax() if masks.max() > 1 else masks.idxmin()
        raise UserError(f"{where}: the dialog of instance {dialogs['instance_id'][wrong]} has {masks[wrong]} {MASK}, not one; "
                        "mend it at its source and clean the challenge again")
    lines = dialogs.assign(line=dialogs["dialog"].str.split("\n")).drop(columns="dialog").explode("line", ignore_index=True)
    return lines.assign(turn=lines.groupby("instance_id").cumcount(),
                        text=lines["line"].str.replace(r"^[^\W\d_]+:\s*", "", regex=True),
                        masked=lines["line"].str.contains(MASK, regex=False))


def with_keys(turns: pd.DataFrame, dialog: str) -> pd.DataFrame:
    """Turns with their words compared (`key`), their dialog's length, and `others`: a hash of all other turns in place.

    The hash of a dialog is the sum of its turns' hashes with their places, so leaving one turn out is a subtraction.
    """
    turns = turns.assign(key=normalized(turns["text"]))
    placed = keyed_hash(turns["key"], turns["turn"].to_numpy(), IN_PLACE)
    code, _ = pd.factorize(turns[dialog])
    whole = np.zeros(code.max(initial=-1) + 1, np.uint64)
    np.add.at(whole, code, placed)
    return turns.assign(others=whole[code] - placed, length=np.bincount(code)[code] if len(code) else 0)


def exact_sources(turns: pd.DataFrame, asked: pd.DataFrame) -> pd.Series:
    """The ids of the dialogs all of whose turns are an instance's; in the masked turn, what stands around the mask.

    turns: with_keys() of the schema dialogs. asked: with_keys() of challenge_turns().
    """
    masked = asked[asked["masked"]]
    around = masked["text"].str.split(MASK, regex=False)
    masked = masked.assign(before=normalized(around.str[0]), after=normalized(around.str[1]))
    pairs = turns.merge(masked[["turn", "length", "others", "before", "after"]], on=["turn", "length", "others"])
    fits = [len(before) + len(after) <= len(key) and key.startswith(before) and key.endswith(after)
            for key, before, after in zip(pairs["key"], pairs["before"], pairs["after"])]
    return pairs.loc[fits, "dialog_id"].drop_duplicates()


def long_turns(turns: pd.DataFrame, dialog: str) -> pd.DataFrame:
    """The different long turns of each dialog: its id and a hash of the turn's words."""
    long = turns[turns["key"].str.len() >= LONG]
    return pd.DataFrame({dialog: long[dialog], "said": keyed_hash(long["key"], ANYWHERE)}).drop_duplicates()


def near_sources(turns: pd.DataFrame, asked: pd.DataFrame) -> pd.Series:
    """The ids of the dialogs that share half of the long turns, or more, with one instance: half of its own, or of theirs.

    The masked turn of an instance counts for nothing. A dialog without a long turn is near to none.
    """
    ours, theirs = long_turns(turns, "dialog_id"), long_turns(asked[~asked["masked"]], "instance_id")
    shared = ours.merge(theirs, on="said").groupby(["dialog_id", "instance_id"], as_index=False).size()
    fewest = np.minimum(shared["dialog_id"].map(ours["dialog_id"].value_counts()),
                        shared["instance_id"].map(theirs["instance_id"].value_counts()))
    return shared.loc[shared["size"] >= NEAR * fewest, "dialog_id"].drop_duplicates()
