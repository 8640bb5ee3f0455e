"""The training dialogs that are left out, and why (leakage.csv)."""

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError, log
from scripts.studies.timedial.leakage import sources
from scripts.text.word_overlap import leaks

EXACT, NEAR = "exact source of the challenge", "near source of the challenge"
SHARES_WORDS, DUPLICATE = "shares words with the challenge", "occurs before"
NO_SPAN, TOO_MANY = "no temporal expression", "over max_dialogs"
DIALOG = 2  # the number of the draw of dialogs; pool.py and choices.py have others


def reasons_to_leave(
    dialogs: pd.DataFrame, instance_turns: pd.DataFrame, shares: pd.DataFrame, contaminated: bool
) -> np.ndarray:
    """Return the reason to drop each dialog, by its number; empty text for kept dialogs.
    instance_turns: from challenge_turns(); shares: from overlaps(); contaminated: dialogs of the
    challenge are kept.
    """
    is_first = dialogs.loc[dialogs["turn"] == 0, "duplicate_of"] == ""
    reasons = np.where(is_first, "", DUPLICATE).astype(object)
    if not contaminated:
        exact, near = sources(dialogs, instance_turns)
        reasons[shares.loc[leaks(shares), "dialog"]] = SHARES_WORDS
        reasons[near] = NEAR
        reasons[exact] = EXACT
    return reasons


def cut(reasons: np.ndarray, ids: pd.Series, spans: pd.DataFrame, most: int | None) -> np.ndarray:
    """Add reasons to drop: for dialogs without a span, and for dialogs over the limit `most`. The
    kept dialogs are those with the lowest hashes of their ids.
    """
    spanless = np.bincount(spans["dialog"], minlength=len(reasons)) == 0
    reasons = np.where((reasons == "") & spanless, NO_SPAN, reasons)
    if most is not None:
        stay = np.flatnonzero(reasons == "")
        by_hash = np.argsort(keyed_hash(ids.iloc[stay], DIALOG), kind="stable")
        reasons[stay[by_hash[most:]]] = TOO_MANY
    return reasons


def right_by_frequency(texts: pd.Series, built: pd.DataFrame) -> float:
    """Return the share of instances whose candidate with the most frequent text (in lower case) is
    right. A tie counts in part.
    """
    count = built["candidate"].str.lower().map(texts.value_counts())
    best = built[count == count.groupby(built["instance_id"]).transform("max")]
    return float(best.groupby("instance_id")["label"].mean().mean())


def funnel(
    reasons: np.ndarray, spans: pd.DataFrame, built: pd.DataFrame, texts: pd.Series
) -> pd.DataFrame:
    """Return the rows of leakage.csv for one split: the dialogs that were dropped for each reason,
    and what was kept after it.

    texts: the texts of the pool's spans, in lower case.
    """
    rows, stay = [], np.ones(len(reasons), bool)
    for step in ("read", EXACT, NEAR, SHARES_WORDS, DUPLICATE, NO_SPAN, TOO_MANY):
        dropped = reasons == step
        stay &= ~dropped
        row = {"reason": step, "dialogs_dropped": dropped.sum(), "dialogs_kept": stay.sum()}
        rows.append(row | {"spans": stay[spans["dialog"]].sum()})
    rows.append(
        rows[-1]
        | {
            "reason": "built",
            "dialogs_dropped": 0,
            "mask_instances": built["label"].sum(),
            "candidates": len(built),
            "pool": texts.nunique(),
            "right_by_frequency": round(right_by_frequency(texts, built), 4),
        }
    )
    return pd.DataFrame(rows).astype(
        dict.fromkeys(["mask_instances", "candidates", "pool"], "Int64")
    )


def left_spans(spans: pd.DataFrame, reasons: np.ndarray, where: str) -> pd.DataFrame:
    """Return the spans of the dialogs that are not left out. Raises UserError if there are none."""
    left = spans[reasons[spans["dialog"]] == ""].reset_index(drop=True)
    if left.empty:
        raise UserError(
            f"{where}: no temporal expression is left: the dialogs have none, or all dialogs with "
            "one are sources of the challenge or repeat another dialog; use another source of "
            "dialogs"
        )
    return left


def log_funnel(counts: pd.DataFrame, where: str) -> None:
    """Log what was built of a split, and why dialogs were dropped. counts: from funnel()."""
    dropped = counts[counts["dialogs_dropped"] > 0]
    log.info(
        "%s: %d candidates for %d masks in %d dialogs, from a pool of %d texts; left: %s",
        where,
        *counts.iloc[-1][["candidates", "mask_instances", "dialogs_kept", "pool"]],
        "; ".join(f"{row.reason} {row.dialogs_dropped:,}" for row in dropped.itertuples()),
    )
