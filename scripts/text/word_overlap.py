"""Count the runs of five words that dialogs share with the instances of a challenge.
The instances have their right answers in the mask's place.

scripts/studies/timedial/leakage.py compares whole turns. It misses three cases that shared runs
show:
  * a copy with its turns split elsewhere
  * a copy with a word changed in each turn
  * a copy of the masked turn alone, with its answer, in another dialog

The work grows with the number of shared runs, not with the number of pairs of dialogs.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from scripts.data.keyed import keyed_hash

RUN = 5  # words
DIALOG_SHARE = 0.3  # of the runs of the dialog or the instance, the one with fewer runs
ANSWER_SHARE = 0.75  # of the runs of the masked turn that contain a word of its answer
NEAR_PART = 0.5  # of either share; from this part on, an instance is near a dialog that stays


def words_of(texts: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the words (lower-case letters and digits) of all texts as one array of hashes, and the
    number of words of each text.
    """
    lower = pc.utf8_lower(pc.utf8_normalize(pa.array(texts, pa.string()), form="NFKC"))
    split = pc.split_pattern(
        pc.utf8_trim_whitespace(pc.replace_substring_regex(lower, r"[^\p{L}\p{N}]+", " ")), " "
    )
    words = split.flatten()
    counts = pc.list_value_length(split).to_numpy(False).astype(np.int64)
    counts[(counts == 1) & pc.equal(pc.list_element(split, 0), "").to_numpy(False)] = 0
    return keyed_hash(words.filter(pc.not_equal(words, "")).to_pandas()), counts


def runs_of(texts: pd.Series, length: int = RUN) -> pd.DataFrame:
    """Every run of `length` words in the texts: text (its place),
    at (the place of its first word in it), run (a hash).
    """
    words, counts = words_of(texts)
    text = np.repeat(np.arange(len(counts)), counts)
    at = np.arange(len(words)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = np.flatnonzero(at + length <= counts[text])
    run = np.zeros(len(starts), np.uint64)
    for place in range(length):
        run = keyed_hash(pd.Series([""]), run ^ words[starts + place], place)
    return pd.DataFrame({"text": text[starts], "at": at[starts], "run": run})


def shared(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Count the different runs that each pair of texts shares: ours, theirs (the texts' places),
    and count.
    """
    runs = np.intersect1d(ours["run"].unique(), theirs["run"].unique())
    sides = []
    for side in (ours, theirs):
        shared_runs = side.loc[side["run"].isin(runs), ["text", "run"]].drop_duplicates()
        places = shared_runs["text"], np.searchsorted(runs, shared_runs["run"])
        shape = side["text"].max() + 1 if len(side) else 1, len(runs)
        sides.append(sparse.csr_array((np.ones(len(shared_runs), np.int32), places), shape=shape))
    pairs = (sides[0] @ sides[1].T).tocoo()
    return pd.DataFrame({"ours": pairs.row, "theirs": pairs.col, "count": pairs.data})


def different(runs: pd.DataFrame, places: pd.Series) -> np.ndarray:
    """How many different runs the texts at these places have."""
    return places.map(runs.drop_duplicates(["text", "run"])["text"].value_counts()).to_numpy()


def overlaps(turns: pd.DataFrame, filled: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of a dialog and an instance that share words: dialog, instance_id,
    dialog_share and answer_share (0 to 1, the maximum over the instance's right answers).

    turns: dialog (a number from 0), text, in order. filled: from filled_in().
    """
    dialogs = turns.groupby("dialog")["text"].agg("\n".join)
    runs, whole, masked = runs_of(dialogs), runs_of(filled["text"]), runs_of(filled["masked"])
    before, answer = (words_of(filled[name])[1][masked["text"]] for name in ("before", "answer"))
    answered = masked[(masked["at"] < before + answer) & (masked["at"] + RUN > before)]
    pairs = shared(runs, whole).rename(columns={"count": "dialog_share"})
    pairs["dialog_share"] /= np.minimum(
        different(runs, pairs["ours"]), different(whole, pairs["theirs"])
    )
    of_answer = shared(runs, answered).rename(columns={"count": "answer_share"})
    of_answer["answer_share"] /= different(answered, of_answer["theirs"])
    pairs = pairs.merge(of_answer, on=["ours", "theirs"], how="outer").fillna(0)
    pairs = pairs.assign(
        dialog=dialogs.index.to_numpy()[pairs["ours"].astype(int)],
        instance_id=filled["instance_id"].to_numpy()[pairs["theirs"].astype(int)],
    )
    return pairs.groupby(["dialog", "instance_id"], as_index=False)[
        ["dialog_share", "answer_share"]
    ].max()


def filled_in(challenge: pd.DataFrame, instance_turns: pd.DataFrame) -> pd.DataFrame:
    """The instances with each right option in the mask's place.

    Columns: instance_id, text (of the whole dialog), masked (the turn with the answer), before
    (this turn's text before the answer), answer.

    challenge: schema challenge. instance_turns: from challenge_turns().
    """
    said = instance_turns.groupby("instance_id", sort=False)["text"].agg("\n".join).rename("text")
    masked = (
        instance_turns[instance_turns["masked"]].set_index("instance_id")["text"].rename("masked")
    )
    right = challenge.loc[challenge["label"] == 1, ["instance_id", "option"]].join(
        said, on="instance_id"
    )
    right = (
        right.join(masked, on="instance_id")
        .reset_index(drop=True)
        .rename(columns={"option": "answer"})
    )
    right["before"] = right["masked"].str.split("<MASK>", regex=False).str[0]
    for name in ("text", "masked"):
        right[name] = [
            text.replace("<MASK>", answer) for text, answer in zip(right[name], right["answer"])
        ]
    return right


def leaks(pairs: pd.DataFrame, part: float = 1.0) -> pd.Series:
    """Return which pairs of overlaps() share too much, so the dialog must go. part (0 to 1)
    multiplies the limits.
    """
    return (pairs["dialog_share"] >= part * DIALOG_SHARE) | (
        pairs["answer_share"] >= part * ANSWER_SHARE
    )


def still_near(pairs: pd.DataFrame, learnt: np.ndarray) -> set[str]:
    """Return the instances that share at least half of a limit with a dialog that stayed. learnt:
    the numbers of these dialogs.
    """
    return set(pairs.loc[leaks(pairs, NEAR_PART) & pairs["dialog"].isin(learnt), "instance_id"])
