"""The slices of strided pairs: properties of a pair, other than its order, that could make it hard.

Each property divides all pairs of a split, so the n of its slices add up to all:

  overlap      of the two clips in time: none, partial, contained (the shorter clip lies wholly
               inside the other one)
  same_start   whether both start at the same second; their order then comes only from the file
  position     of the middle of the pair in the video: first_third, middle_third, last_third
  sentences    of the video: 5-6, 7-9, 10-19, 20-99, 100+
  words        of both sentences together: 1-10, 11-20, 21-30, 31+
  stride       of the pair; only for a mixture of strides
  category     of the video, or unknown; only if the corpus has categories
"""

import numpy as np
import pandas as pd

READ = (
    "pair_id stride overlap same_start relative_position sentences words_a words_b category"
).split()
POSITIONS = {"first_third": 1 / 3, "middle_third": 2 / 3, "last_third": np.inf}
SENTENCES = {"5-6": 6, "7-9": 9, "10-19": 19, "20-99": 99, "100+": np.inf}
WORDS = {"1-10": 10, "11-20": 20, "21-30": 30, "31+": np.inf}
PARTS = {
    "overlap": ["none", "partial", "contained"],
    "same_start": ["false", "true"],
    "position": list(POSITIONS),
    "sentences": list(SENTENCES),
    "words": list(WORDS),
}


def parted(values: pd.Series, limits: dict[str, float]) -> np.ndarray:
    """Return the part of each value: the first part with a limit not below the value."""
    return pd.cut(values, [-np.inf, *limits.values()], labels=list(limits)).astype(str).to_numpy()


def parts_of(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the part of each pair (columns READ) in every partition: one column for each
    partition, indexed by pair_id.
    """
    parts = {
        "overlap": np.select(
            [pairs["overlap"] <= 0, pairs["overlap"] < 1], ["none", "partial"], "contained"
        ),
        "same_start": pairs["same_start"].map({False: "false", True: "true"}).to_numpy(),
        "position": parted(pairs["relative_position"], POSITIONS),
        "sentences": parted(pairs["sentences"], SENTENCES),
        "words": parted(pairs["words_a"] + pairs["words_b"], WORDS),
    }
    if pairs["stride"].nunique() > 1:
        parts["stride"] = pairs["stride"].astype(str).to_numpy()
    if pairs["category"].notna().any():
        parts["category"] = pairs["category"].fillna("unknown").to_numpy()
    return pd.DataFrame(parts, index=pd.Index(pairs["pair_id"]))


def slices_of(parts: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the rows of each slice by its name: all, then `overlap=none` and so on. Only slices
    with a pair appear.
    """
    slices = {"all": np.ones(len(parts), bool)}
    for name in parts:
        present = set(parts[name])
        ordered = [part for part in PARTS.get(name, sorted(present)) if part in present]
        slices |= {f"{name}={part}": (parts[name] == part).to_numpy() for part in ordered}
    return slices
