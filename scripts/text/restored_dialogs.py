"""Restore the dialogs of a challenge as they were before a span was masked:
with the original option in the mask's place.
"""

import pandas as pd

from scripts.running.program import UserError

MASK = "<MASK>"
SPEAKER = r"^[A-Z]\s*:\s*"


def restored_turns(challenge: pd.DataFrame, where: str) -> pd.DataFrame:
    """The turns of the restored dialogs: source, split, dialog_id (the instance), turn (from 0),
    text (without speaker); mask_start, mask_end: characters of the turn's text where the mask was,
    missing in the other turns.

    challenge: a table of the schema challenge; where: its file, for messages. Raises UserError for
    an instance without exactly one original option, or a dialog without exactly one mask.
    """
    originals = challenge[challenge["is_original"]]
    count = (
        originals.groupby("instance_id")
        .size()
        .reindex(challenge["instance_id"].unique(), fill_value=0)
    )
    wrong = count[count != 1]
    if len(wrong):
        raise UserError(
            f"{where}: instance {wrong.index[0]} has {wrong.iloc[0]} original options, not one, so "
            "its dialog cannot be restored; clean the challenge again"
        )
    masks = originals["dialog"].str.count(MASK)
    if (masks != 1).any():
        raise UserError(
            f"{where}: the dialog of instance {originals.loc[masks != 1, 'instance_id'].iloc[0]} "
            f"has {masks[masks != 1].iloc[0]} times {MASK}, not once; clean the challenge again"
        )
    turns = originals.assign(text=originals["dialog"].str.split("\n")).explode(
        "text", ignore_index=True
    )
    turns["turn"] = turns.groupby("instance_id").cumcount()
    turns["text"] = turns["text"].str.replace(SPEAKER, "", regex=True)
    start = turns["text"].str.find(MASK)
    masked = start >= 0
    turns["mask_start"] = start.where(masked).astype("Int32")
    turns["mask_end"] = (start + turns["option"].str.len()).where(masked).astype("Int32")
    turns.loc[masked, "text"] = [
        text.replace(MASK, option)
        for text, option in zip(turns.loc[masked, "text"], turns.loc[masked, "option"])
    ]
    return turns.rename(columns={"instance_id": "dialog_id"})[
        ["source", "split", "dialog_id", "turn", "text", "mask_start", "mask_end"]
    ]
