"""Build the masked datasets of TimeDial (Qin et al. 2021, section 4). Each instance masks one
temporal expression of a dialog. options.py explains the options.

Dialogs are dropped for these reasons, in turn:
  1. The challenge was made from them, exactly or nearly (scripts/studies/timedial/leakage.py).
  2. They share runs of words with an instance or its answer (scripts/text/word_overlap.py).
  3. They repeat an earlier dialog.
With the option contaminated, only reason 3 counts. Instances that share half as much with a kept
dialog are marked (leak: near), even if max_dialogs then drops that dialog.

Every span of the remaining dialogs gives one instance. The span's text is right, and `negatives`
other candidates are wrong. With negatives from a pool, a cue remains: a candidate that also occurs
elsewhere in the dialog is nearly always right in training, but seldom on the challenge.

The pool contains each different text of the split's spans once. A frequent text is then not drawn
more often, so the more frequent candidate tends to be the right one. negatives_by: occurrence draws
a text as often as it occurs and removes this cue. Held-out instances draw from their own texts and
from the training texts, because the held-out split may have too few texts of a kind.

A candidate never has the value of the right one or of another candidate ("two weeks", "14 days").
At the start of a sentence it has a capital; elsewhere it is written as inside a sentence. So the
writing does not show which candidate is right. A drawn candidate may still fit by chance; the paper
accepts this, too.

Reads  <cleaned>/<split>.parquet (schema dialogs), <spans>/<split>.parquet (schema spans) of the two
       --splits; of --beside `challenge` both files of the evaluation splits (schemas challenge,
       spans)
Writes <output>/train.parquet, validation.parquet and <split>.parquet (schema cloze),
       leakage.csv: for each split of the dialogs, how many were dropped for each reason, in turn,
       and how many were kept; also what was built: mask_instances, candidates, pool (different
       texts) and right_by_frequency (the share of instances whose most frequent candidate is right)

    python -m scripts.studies.timedial.build --cleaned results/clean/dailydialog \\
        --spans results/build/temporal_spans/dailydialog --splits train validation \\
        --beside '{"challenge": {"cleaned": "results/clean/timedial", "train": null,
                   "spans": "results/build/temporal_spans/timedial",
                   "evaluate": ["test", "extras"]}}' \\
        --options '{"context_scope": "local", "negatives_from": "dialog"}' --output /tmp/timedial

max_dialogs counts dialogs with a span. It keeps the dialogs of the first split with the lowest
hashes of their ids, and a fifth as many of the second split. A larger number keeps the dialogs of a
smaller number and their candidates, because the pool does not shrink.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.counterparts import COUNTERPART
from scripts.studies.timedial.options import Options
from scripts.data.files import whole, whole_set
from scripts.data.keyed import keyed_hash
from scripts.data.limit import limited
from scripts.data.builder_arguments import builder_arguments, source_beside
from scripts.data.tables import CHALLENGE, SPANS, provenance_of, read_complete, write_table
from scripts.running.program import UserError, execute, log
from scripts.studies.timedial.choices import chosen
from scripts.studies.timedial.contrast import with_counterparts
from scripts.studies.timedial.instances import (
    challenge_cloze,
    cloze,
    numbered,
    ordered,
    spans_in_dialogs,
)
from scripts.studies.timedial.leakage import challenge_turns, sources
from scripts.studies.timedial.pool import pool_of, wrong_rows
from scripts.studies.timedial.tables import CLOZE
from scripts.text.word_overlap import filled_in, leaks, overlaps, still_near

LEARNT = ("train", "validation")
EXACT, NEAR, DUPLICATE = (
    "exact source of the challenge",
    "near source of the challenge",
    "occurs before",
)
SHARES_WORDS = "shares words with the challenge"
NO_SPAN, TOO_MANY = "no temporal expression", "over max_dialogs"
HELD_OUT = 5  # with max_dialogs: training dialogs for each held-out dialog


# A number of its own for each kind of draw, so that no choice predicts another.
# scripts/studies/timedial/pool.py and choices.py have the others.
DIALOG = 2


def reasons_to_leave(
    dialogs: pd.DataFrame, instance_turns: pd.DataFrame, shares: pd.DataFrame, contaminated: bool
) -> np.ndarray:
    """Return the reason to drop each dialog, by its number; empty text for kept dialogs.
    instance_turns: from challenge_turns(); shares: from overlaps(); contaminated: dialogs of the
    challenge are kept.
    """
    reasons = np.where(
        dialogs.loc[dialogs["turn"] == 0, "duplicate_of"] == "", "", DUPLICATE
    ).astype(object)
    if not contaminated:
        exact, near = sources(dialogs, instance_turns)
        for found, reason in (
            (shares.loc[leaks(shares), "dialog"], SHARES_WORDS),
            (near, NEAR),
            (exact, EXACT),
        ):
            reasons[found] = reason
    return reasons


def cut(reasons: np.ndarray, ids: pd.Series, spans: pd.DataFrame, most: int | None) -> np.ndarray:
    """Add reasons to drop: for dialogs without a span, and for dialogs over the limit `most`. The
    kept dialogs are those with the lowest hashes of their ids.
    """
    spanless = np.bincount(spans["dialog"], minlength=len(reasons)) == 0
    reasons = np.where((reasons == "") & spanless, NO_SPAN, reasons)
    if most is not None:
        stay = np.flatnonzero(reasons == "")
        reasons[stay[np.argsort(keyed_hash(ids.iloc[stay], DIALOG), kind="stable")[most:]]] = (
            TOO_MANY
        )
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
        stay &= reasons != step
        rows.append(
            {
                "reason": step,
                "dialogs_dropped": (reasons == step).sum(),
                "dialogs_kept": stay.sum(),
                "spans": stay[spans["dialog"]].sum(),
            }
        )
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


def build_split(
    dialogs: pd.DataFrame,
    spans: pd.DataFrame,
    reasons: np.ndarray,
    options: Options,
    most: int | None,
    where: str,
    learnt: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the dataset of one split (schema cloze), its funnel(), and its remaining spans, for
    the pool of another split.

    dialogs: from ordered(). spans: from spans_in_dialogs(). reasons: from reasons_to_leave(). most:
    the number of dialogs to keep. learnt: spans of another split whose texts are in the pool, too.
    Raises UserError if no span is left, or if the pool is too small.
    """
    left = spans[reasons[spans["dialog"]] == ""].reset_index(drop=True)
    if left.empty:
        raise UserError(
            f"{where}: no temporal expression is left: the dialogs have none, or all dialogs with "
            "one are sources of the challenge or repeat another dialog; use another source of "
            "dialogs"
        )
    by_kind = options.negatives_of == "same_kind"
    pooled = pd.concat([left, learnt], ignore_index=True)
    pool, places = pool_of(pooled, by_kind, options.negatives_by == "occurrence")
    places = places[: len(left)]
    small = places[places["meanings"] <= options.negatives]
    if len(small):
        kind, alternative = (
            (f" of kind {small['kind'].iloc[0]}", ", or any_kind,") if by_kind else ("", "")
        )
        raise UserError(
            f"{where}: {options.negatives} wrong candidates for each span need as many other "
            f"values{kind}, but there are only {small['meanings'].iloc[0] - 1}; ask for fewer "
            f"negatives{alternative} or give more dialogs"
        )
    reasons = cut(reasons, dialogs.loc[dialogs["turn"] == 0, "dialog_id"], left, most)
    stay = reasons[left["dialog"]] == ""
    masks, places = (table[stay].reset_index(drop=True) for table in (left, places))
    rows = wrong_rows(masks, places, pool, options)
    offered = pd.DataFrame(
        {
            "mask": np.repeat(np.arange(len(masks)), options.negatives),
            "candidate": pool["form"].to_numpy()[rows].ravel(),
            "rule": "drawn",
            "label": 0,
        }
    )
    built = cloze(masks, dialogs, offered, options.context_scope)
    return built, funnel(reasons, spans, built, pooled["text"].str.lower()), left


def measured_options(
    challenge: pd.DataFrame,
    spans: pd.DataFrame,
    options: Options,
    near: set[str],
    turns: pd.Series,
    file: str,
    where: str,
) -> pd.DataFrame:
    """Return the instances of a challenge split (schema cloze) that `choices` and `contrast`
    select.

    near: instances that share words with a training dialog. turns: the texts of the training
    dialogs. file: the file of the challenge. where: the dataset and its split. Raises UserError if
    no instance of the split is left.
    """
    scope = options.context_scope
    full = challenge_cloze(challenge, spans, "full", near, file)
    built = chosen(full, options.choices, turns, where)
    if scope != "full":
        shown = challenge_cloze(challenge, spans, scope, near, file)
        shown = shown.drop_duplicates("instance_id").set_index("instance_id")["context"]
        built = built.assign(context=built["instance_id"].map(shown), context_scope=scope)
    if options.contrast == "unit":
        built = with_counterparts(built, where)
    return numbered(built)


def build(given: argparse.Namespace, output: Path) -> None:
    """Write every split and leakage.csv to the folder `output`."""
    options = Options.of(given.options)
    asks = source_beside(given, "challenge")
    measured = {
        split: read_complete(asks.cleaned / f"{split}.parquet", CHALLENGE, ["rule"]).to_pandas()
        for split in asks.evaluate
    }
    if not any(map(len, measured.values())):
        raise UserError(
            f"{asks.cleaned}: no instance in {' or '.join(asks.evaluate)}.parquet; clean the "
            "challenge again"
        )

    def write(built: pd.DataFrame, name: str, file: Path, limit: dict) -> None:
        write_table(
            pa.Table.from_pandas(built, CLOZE, preserve_index=False),
            output / f"{name}.parquet",
            CLOZE,
            provenance_of(file) | {"split": file.stem, "options": options.written()} | limit,
        )

    challenges = pd.concat(measured.values(), ignore_index=True)
    instance_turns = challenge_turns(challenges, str(asks.cleaned))
    filled = filled_in(challenges, instance_turns)
    most, rows, learnt, near = options.max_dialogs, [], None, set()
    turns = pd.Series(dtype=object)
    for name, split in zip(LEARNT, given.splits):
        file, spans_file = (folder / f"{split}.parquet" for folder in (given.cleaned, given.spans))
        dialogs = ordered(file)
        spans, shares = spans_in_dialogs(spans_file, dialogs), overlaps(dialogs, filled)
        reasons = reasons_to_leave(dialogs, instance_turns, shares, options.contaminated)
        built, counts, learnt = build_split(
            dialogs, spans, reasons, options, most, str(spans_file), learnt
        )
        near |= still_near(shares, learnt["dialog"].unique())
        if turns.empty:  # the first split: the texts of all kept dialogs
            turns = dialogs.loc[dialogs["dialog"].isin(learnt["dialog"]), "text"]
        most = None if most is None else -(-most // HELD_OUT)
        write(built, name, file, {})
        rows.append(counts.assign(source=dialogs["source"].iloc[0], split=split))
        left = "; ".join(
            f"{reason} {dropped:,}"
            for reason, dropped in zip(counts["reason"], counts["dialogs_dropped"])
            if dropped
        )
        log.info(
            "%s %s: %d candidates for %d masks in %d dialogs, from a pool of %d texts; left: %s",
            given.output,
            name,
            *counts.iloc[-1][["candidates", "mask_instances", "dialogs_kept", "pool"]],
            left,
        )
    for split, challenge in measured.items():
        file, spans_file = (folder / f"{split}.parquet" for folder in (asks.cleaned, asks.spans))
        spans = read_complete(spans_file, SPANS).to_pandas()
        place = f"{given.output} {split}"
        built = measured_options(challenge, spans, options, near, turns, str(file), place)
        # The limit comes last: instances over the limit drop training dialogs, too.
        items = built["instance_id"].str.removesuffix(COUNTERPART)
        built, limit = limited(built.assign(item=items), "item", options.limit, "instances", place)
        write(built, split, file, limit)
        log.info(
            "%s %s: %d candidates for %d masks, %d of them near a dialog that stayed",
            given.output,
            split,
            len(built),
            built["instance_id"].nunique(),
            built.loc[built["leak"] == "near", "instance_id"].nunique(),
        )
    with whole(output / "leakage.csv") as leakage:
        table = pd.concat(rows)
        table[["source", "split", *counts]].to_csv(leakage, index=False)


def main(given: argparse.Namespace) -> None:
    evaluate = source_beside(given, "challenge").evaluate
    if not set(LEARNT).isdisjoint(evaluate):
        raise UserError(
            f"--beside: challenge.evaluate: {' '.join(evaluate)}: {' and '.join(LEARNT)} are the "
            "names of the training and the held-out split; rename the challenge's split"
        )
    with whole_set(given.output) as folder:
        build(given, folder)


if __name__ == "__main__":
    execute(
        main,
        builder_arguments(
            __doc__, Options, "its training split and its held-out split", 2
        ).parse_args(),
    )
