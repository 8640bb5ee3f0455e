"""The instances of the challenge TimeDial in the schema of the datasets, with what each of them masks.

Not a program.
"""

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.studies.timedial.leakage import MASK, challenge_turns
from scripts.studies.timedial.instances import contexts, with_columns
from scripts.running.program import UserError
from scripts.data.tables import CLOZE

NUMERAL = (r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)"
           r"teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|half)\b")


def span_behind_mask(challenge: pd.DataFrame, asked: pd.DataFrame, spans: pd.DataFrame, where: str) -> pd.DataFrame:
    """kind and has_numeral of what each instance masks, and `found`: exact, overlapping, or none. Index: instance_id.

    It is the span, of those found in the dialog with the original option in place, that lies where the mask is, or of
    those that overlap it the one that does so most. Where there is none, the kind is `other`, and a digit or a number word
    in the option tells of a numeral. Raises UserError for an instance without exactly one original option.
    """
    original = challenge.loc[challenge["is_original"], ["instance_id", "option"]]
    counts = challenge["instance_id"].map(original["instance_id"].value_counts()).fillna(0)
    if (counts != 1).any():
        wrong = counts.ne(1).idxmax()
        raise UserError(f"{where}: instance {challenge['instance_id'][wrong]} has {counts[wrong]:.0f} original options, not "
                        "one; clean the challenge again")
    masked = asked.loc[asked["masked"], ["instance_id", "turn", "text"]].merge(original, on="instance_id")
    masked["mask_start"] = masked["text"].str.find(MASK)
    masked["mask_end"] = masked["mask_start"] + masked["option"].str.len()
    near = masked.drop(columns="text").merge(spans.rename(columns={"dialog_id": "instance_id"}), on=["instance_id", "turn"])
    near["common"] = np.minimum(near["end"], near["mask_end"]) - np.maximum(near["start"], near["mask_start"])
    near["off"] = (near["start"] - near["mask_start"]).abs() + (near["end"] - near["mask_end"]).abs()
    near = near[near["common"] > 0].sort_values(["common", "off", "start"], ascending=[False, True, True])
    near = near.drop_duplicates("instance_id").set_index("instance_id")
    found = masked.set_index("instance_id")[["option"]].join(near[["kind", "has_numeral", "off"]])
    told = found["option"].str.contains(NUMERAL)
    return pd.DataFrame({
        "kind": found["kind"].fillna("other"),
        "has_numeral": found["has_numeral"].astype("boolean").fillna(told).astype(bool),
        "found": np.select([found["off"].isna(), found["off"] == 0], ["none", "exact"], "overlapping")})


def challenge_cloze(challenge: pd.DataFrame, spans: pd.DataFrame, scope: str, near: set[str],
                    where: str) -> tuple[pa.Table, pd.Series]:
    """The instances of a challenge split (schema cloze), and how many masks were found among its spans.

    near: the instances that share words with a dialog to learn from.
    """
    if challenge.empty:  # a split of a challenge may be
        return CLOZE.empty_table(), pd.Series(dtype=int)
    asked = challenge_turns(challenge, where)
    behind = span_behind_mask(challenge, asked, spans, where)
    masked = np.flatnonzero(asked["masked"])
    turn = asked["turn"].to_numpy()[masked]
    length = asked.groupby("instance_id")["turn"].transform("size").to_numpy()[masked]
    lines = asked["line"].to_numpy(object)
    texts = contexts(lines, masked - turn, length, turn, asked["line"].iloc[masked], scope)
    instances = pd.DataFrame({"context": texts.to_pandas().to_numpy(), "turns": length,
                              "place": np.arange(len(masked))}, asked["instance_id"].iloc[masked]).join(behind)
    rows = challenge.join(instances, on="instance_id").sort_values(["place", "label"], ascending=[True, False], kind="stable")
    number = rows.groupby("instance_id").cumcount().to_numpy()
    rows["leak"] = np.where(rows["instance_id"].isin(near), "near", "none")
    names = ["instance_id", "context", "kind", "has_numeral", "turns", "leak", "label", "rule", "is_original"]
    table = pa.Table.from_pandas(rows[names], preserve_index=False)
    return with_columns(table, number, scope, candidate=pa.array(rows["option"], pa.string()),
                        dialog_id=table["instance_id"]), behind["found"].value_counts()
