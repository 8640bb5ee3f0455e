"""Find the dialogs that a challenge was made from, exactly or nearly
(scripts/studies/timedial/build.py drops them).

All challenge instances of TimeDial come from DailyDialog. So a model that learns from the whole
corpus has read its test set. Turns are compared by their letters and digits in lower case: spacing,
quotation marks and case do not matter. Dialogs are joined by their turns. So the work grows with
the number of turns, not with the number of pairs of dialogs.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError

MASK = "<MASK>"
# letters and digits, about five words: shorter turns ("That's right .") occur in many dialogs
LONG = 20
NEAR = 0.5  # shared long turns as a share of the dialog with fewer long turns


def normalized(texts: pd.Series) -> pd.Series:
    """Return the letters and digits of texts, in lower case."""
    # NFKC: a full-width letter equals the plain letter.
    lower = pc.utf8_lower(pc.utf8_normalize(pa.array(texts, pa.string()), form="NFKC"))
    return pd.Series(
        pc.replace_substring_regex(lower, r"[^\p{L}\p{N}]+", "").to_pandas().to_numpy(), texts.index
    )


def challenge_turns(challenge: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return the turns of every instance: instance_id, dialog (its number), turn, line (unchanged),
    text (without its speaker), key (the normalized text), masked.

    `challenge` has the schema challenge. Raises UserError for an instance without exactly one mask
    or with two dialogs.
    """
    dialogs = challenge[["instance_id", "dialog"]].drop_duplicates()
    twice = dialogs.loc[dialogs["instance_id"].duplicated(), "instance_id"]
    if len(twice):
        raise UserError(
            f"{where}: instance {twice.iloc[0]} has rows with different dialogs; clean the "
            "challenge again"
        )
    masks = dialogs["dialog"].str.count(MASK)
    if (masks != 1).any():
        wrong = masks.idxmax() if masks.max() > 1 else masks.idxmin()
        raise UserError(
            f"{where}: the dialog of instance {dialogs['instance_id'][wrong]} has {masks[wrong]} "
            f"{MASK}, not one; mend it at its source and clean the challenge again"
        )
    lines = (
        dialogs.assign(line=dialogs["dialog"].str.split("\n"))
        .drop(columns="dialog")
        .explode("line", ignore_index=True)
    )
    text = lines["line"].str.replace(r"^[^\W\d_]+:\s*", "", regex=True)
    return lines.assign(
        turn=lines.groupby("instance_id").cumcount(),
        dialog=pd.factorize(lines["instance_id"])[0],
        text=text,
        key=normalized(text),
        masked=lines["line"].str.contains(MASK, regex=False),
    )


def with_others(turns: pd.DataFrame, known: pa.Array) -> pd.DataFrame:
    """Return turns with these additional columns:
      code     the number of the turn's words among the known ones, -1 for unknown words
      length   the number of turns of the dialog
      others   a hash of all other turns of the dialog, with their places

    The hash of a dialog is the sum of its turns' hashes. A subtraction leaves one turn out.
    turns: dialog (a number from 0), turn, key (the text normalized).
    """
    code = pc.index_in(pa.array(turns["key"], pa.string()), known).fill_null(-1).to_numpy()
    dialog = turns["dialog"].to_numpy()
    hashed = keyed_hash(pd.Series([""]), code, turns["turn"].to_numpy())
    whole = np.zeros(dialog.max(initial=-1) + 1, np.uint64)
    np.add.at(whole, dialog, hashed)
    return turns.assign(
        code=code, others=whole[dialog] - hashed, length=np.bincount(dialog)[dialog]
    )


def exact_sources(turns: pd.DataFrame, instance_turns: pd.DataFrame) -> np.ndarray:
    """Return the numbers of the dialogs whose turns all equal those of an instance. In the masked
    turn the text around the mask must be equal.

    Both tables are from with_others(); instance_turns also has text and masked of
    challenge_turns().
    """
    masked = instance_turns[instance_turns["masked"]]
    around = masked["text"].str.split(MASK, regex=False)
    masked = masked.assign(before=normalized(around.str[0]), after=normalized(around.str[1]))
    pairs = turns.merge(
        masked[["turn", "length", "others", "before", "after"]], on=["turn", "length", "others"]
    )
    fits = [
        len(before) + len(after) <= len(key) and key.startswith(before) and key.endswith(after)
        for key, before, after in zip(pairs["key"], pairs["before"], pairs["after"])
    ]
    return pairs.loc[fits, "dialog"].unique()


def near_sources(turns: pd.DataFrame, instance_turns: pd.DataFrame) -> np.ndarray:
    """Return the numbers of the dialogs that share at least half of the long turns with one
    instance: half of the dialog's turns or half of the instance's.

    The masked turn of an instance does not count, and a repeated turn counts once. A dialog without
    a long turn is never a near source. Tables as for exact_sources().
    """
    theirs = instance_turns[
        (instance_turns["key"].str.len() >= LONG) & ~instance_turns["masked"]
    ].drop_duplicates(["dialog", "code"])
    ours = turns[turns["dialog"].isin(turns.loc[turns["code"].isin(theirs["code"]), "dialog"])]
    ours = ours[ours["key"].str.len() >= LONG].drop_duplicates(["dialog", "key"])
    theirs = theirs[["dialog", "code"]].rename(columns={"dialog": "instance"})
    shared = ours.merge(theirs, on="code").groupby(["dialog", "instance"], as_index=False).size()
    fewest = np.minimum(
        shared["dialog"].map(ours["dialog"].value_counts()),
        shared["instance"].map(theirs["instance"].value_counts()),
    )
    return shared.loc[shared["size"] >= NEAR * fewest, "dialog"].unique()


def sources(turns: pd.DataFrame, instance_turns: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the dialogs that instances were made from: exactly, and nearly (some
    are in both).

    turns: dialog (a number from 0), turn, text. instance_turns: from challenge_turns().
    """
    known = pa.array(instance_turns["key"].unique(), pa.string())
    turns = with_others(turns[["dialog", "turn"]].assign(key=normalized(turns["text"])), known)
    instance_turns = with_others(instance_turns, known)
    return exact_sources(turns, instance_turns), near_sources(turns, instance_turns)
