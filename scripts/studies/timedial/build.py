"""Build the masked datasets of TimeDial (Qin et al. 2021, section 4).

masked() is the paper's way to make training data of dialogs, and measured() its challenge. The
options (options.py) are further steps, in files of their own:

  left_out.py   dialogs that are left out of training: sources of the challenge (unless
                contaminated), repeated dialogs, dialogs over max_dialogs
  pool.py       negatives_from, negatives_of, negatives_by
  choices.py    choices
  contrast.py   contrast

Instances that share half as much with a kept dialog are marked (leak: near), even if max_dialogs
then drops that dialog. max_dialogs counts dialogs with a span, and keeps a fifth as many of the
second split. A larger number keeps the dialogs of a smaller number and their candidates, because
the pool does not shrink. Held-out instances draw from their own texts and from the training texts,
because the held-out split may have too few texts of a kind.

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
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.builder_arguments import Beside, builder_arguments, source_beside
from scripts.data.counterparts import COUNTERPART
from scripts.data.files import whole, whole_set
from scripts.data.limit import limited
from scripts.data.tables import CHALLENGE, SPANS, read_complete, write_rows
from scripts.running.program import UserError, execute, log
from scripts.studies.timedial.choices import chosen
from scripts.studies.timedial.contrast import with_counterparts
from scripts.studies.timedial.instances import challenge_cloze, cloze, numbered, ordered
from scripts.studies.timedial.instances import spans_in_dialogs
from scripts.studies.timedial.leakage import challenge_turns
from scripts.studies.timedial.left_out import cut, funnel, left_spans, log_funnel, reasons_to_leave
from scripts.studies.timedial.options import Options
from scripts.studies.timedial.pool import pool_of, wrong_rows
from scripts.studies.timedial.tables import CLOZE
from scripts.text.word_overlap import filled_in, overlaps, still_near

LEARNT = ("train", "validation")
HELD_OUT = 5  # with max_dialogs: training dialogs for each held-out dialog


# ---- the paper, section 4


def masked(
    dialogs: pd.DataFrame,
    masks: pd.DataFrame,
    places: pd.DataFrame,
    pool: pd.DataFrame,
    options: Options,
) -> pd.DataFrame:
    """Return the instances (schema cloze) of masked spans. dialogs: from ordered(); masks: from
    spans_in_dialogs(); places, pool: from pool_of().
    """
    # 4.1.1: "we mask each temporal span in this corpus and use the masked text as one positive
    # example". "To generate negative example, we randomly sample another temporal span." 4.3: "we
    # draw 3 negative samples per positive sample".
    rows = wrong_rows(masks, places, pool, options)
    offered = pd.DataFrame({"candidate": pool["form"].to_numpy()[rows].ravel()})
    mask = np.repeat(np.arange(len(masks)), options.negatives)
    offered = offered.assign(mask=mask, rule="drawn", label=0)
    # 4.2: the full dialog, the turns around the mask, or the turn with the mask
    return cloze(masks, dialogs, offered, options.context_scope)


def measured(
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


# ---- the files


def read_challenge(asks: Beside) -> dict[str, pd.DataFrame]:
    """Return the instances of each evaluation split (schema challenge). Raises UserError if there
    are none, or if a split has the name of a split to learn from.
    """
    if not set(LEARNT).isdisjoint(asks.evaluate):
        raise UserError(
            f"--beside: challenge.evaluate: {' '.join(asks.evaluate)}: {' and '.join(LEARNT)} are "
            "the names of the training and the held-out split; rename the challenge's split"
        )
    challenge = {
        split: read_complete(asks.cleaned / f"{split}.parquet", CHALLENGE, ["rule"]).to_pandas()
        for split in asks.evaluate
    }
    if not any(map(len, challenge.values())):
        raise UserError(
            f"{asks.cleaned}: no instance in {' or '.join(asks.evaluate)}.parquet; clean the "
            "challenge again"
        )
    return challenge


def write_learnt(
    given: argparse.Namespace, options: Options, challenges: pd.DataFrame, folder: Path
) -> tuple[set[str], pd.Series]:
    """Write the training and the held-out split, and leakage.csv. Return the instances of the
    challenge that share words with a kept dialog, and the texts of the training dialogs.
    """
    where = str(source_beside(given, "challenge").cleaned)
    instance_turns = challenge_turns(challenges, where)
    filled, most, rows = filled_in(challenges, instance_turns), options.max_dialogs, []
    training: list[pd.Series] = []
    near: set[str] = set()
    learnt: list[pd.DataFrame] = []
    for name, split in zip(LEARNT, given.splits):
        file, spans_file = (place / f"{split}.parquet" for place in (given.cleaned, given.spans))
        dialogs = ordered(file)
        spans, shares = spans_in_dialogs(spans_file, dialogs), overlaps(dialogs, filled)
        reasons = reasons_to_leave(dialogs, instance_turns, shares, options.contaminated)
        left = left_spans(spans, reasons, str(spans_file))
        pooled = pd.concat([left, *learnt], ignore_index=True)
        pool, places = pool_of(pooled, options, len(left), str(spans_file))
        learnt.append(left)
        reasons = cut(reasons, dialogs.loc[dialogs["turn"] == 0, "dialog_id"], left, most)
        stay = reasons[left["dialog"]] == ""
        masks, places = (table[stay].reset_index(drop=True) for table in (left, places))
        built = masked(dialogs, masks, places, pool, options)
        facts = {"split": split, "options": options.written()}
        write_rows(built, folder / f"{name}.parquet", CLOZE, file, facts)
        counts = funnel(reasons, spans, built, pooled["text"].str.lower())
        rows.append(counts.assign(source=dialogs["source"].iloc[0], split=split))
        log_funnel(counts, f"{given.output} {name}")
        near |= still_near(shares, left["dialog"].unique())
        training.append(dialogs.loc[dialogs["dialog"].isin(left["dialog"]), "text"])
        if most is not None:
            most = -(-most // HELD_OUT)
    with whole(folder / "leakage.csv") as leakage:
        table = pd.concat(rows)
        table[["source", "split", *counts]].to_csv(leakage, index=False)
    return near, training[0]


def main(given: argparse.Namespace) -> None:
    options, asks = Options.of(given.options), source_beside(given, "challenge")
    challenge = read_challenge(asks)
    with whole_set(given.output) as folder:
        challenges = pd.concat(challenge.values(), ignore_index=True)
        near, turns = write_learnt(given, options, challenges, folder)
        for split, instances in challenge.items():
            file, where = asks.cleaned / f"{split}.parquet", f"{given.output} {split}"
            spans = read_complete(asks.spans / file.name, SPANS).to_pandas()
            built = measured(instances, spans, options, near, turns, str(file), where)
            # The limit comes last: instances over the limit drop training dialogs, too.
            items = built["instance_id"].str.removesuffix(COUNTERPART)
            built = built.assign(item=items)
            built, limit = limited(built, "item", options.limit, "instances", where)
            facts = {"split": split, "options": options.written()} | limit
            write_rows(built, folder / file.name, CLOZE, file, facts)
            log.info(
                "%s: %d candidates for %d masks, %d of them near a dialog that stayed",
                *(where, len(built), built["instance_id"].nunique()),
                built.loc[built["leak"] == "near", "instance_id"].nunique(),
            )


if __name__ == "__main__":
    execute(
        main,
        builder_arguments(
            __doc__, Options, "its training split and its held-out split", 2
        ).parse_args(),
    )
