"""Make new instances in the form of TimeDial's challenge out of dialogs,
for people to label (Qin et al. 2021, section 3).

Of the dialogs with more than three temporal expressions each expression that has a numeral is
masked, one an instance. What stood there is right; what might be wrong is proposed by the paper's
three rules (scripts/studies/timedial/distractors.py), and nobody has judged it yet. A dialog that
has the same words as another is taken once.

Reads  <cleaned>/<split>.parquet (schema dialogs), <spans>/<split>.parquet (schema spans)
Writes <output>/test.parquet   schema of the datasets of TimeDial; label is 1 for what stood there,
                               missing for what is proposed, so that nothing can be measured on it
                               before it is labelled
       <output>/labels.csv     the same to write in: instance_id, dialog, option, rule (original,
                               phrase, numeral, open_ended), label. People write right or wrong as
                               label, and may add rows with options of their own (of the same
                               instance_id)

    python -m scripts.studies.timedial.to_label --cleaned results/clean/my_dialogs \\
        --spans results/build/temporal_spans/my_dialogs --splits train validation --instances 100 \\
        --output results/to_label/timedial/my_dialogs/new

scripts/studies/timedial/labelled.py makes a challenge of the labelled sheet, and docs/label.md says
how to measure on it.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash
from scripts.data.tables import provenance_of
from scripts.people.candidates_rules import drawing, load_terms
from scripts.people.label_sheets import write_items
from scripts.running.program import UserError, execute, log, whole_number
from scripts.studies.timedial.distractors import distractors
from scripts.studies.timedial.instances import cloze, ordered, spans_in_dialogs
from scripts.studies.timedial.tables import CLOZE
from scripts.text.temporal_words import rules_of

MORE_THAN = 3  # temporal expressions in a dialog
ORIGINAL = "original"
COLUMNS = ["instance_id", "dialog", "option", "rule", "label"]  # of the sheet


def read_split(
    given: argparse.Namespace, split: str
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Of one split's dialogs, without those that repeat another: turns, spans, and the spans to
    mask, which have a numeral and stand in dialogs with enough spans; dialog is their number.
    """
    turns = ordered(given.cleaned / f"{split}.parquet")
    spans = spans_in_dialogs(given.spans / f"{split}.parquet", turns)
    spans = spans[
        ~spans["dialog"].isin(turns.loc[turns["duplicate_of"] != "", "dialog"])
    ].reset_index(drop=True)
    many = spans[spans.groupby("dialog")["dialog"].transform("size") > MORE_THAN]
    masks = many[many["has_numeral"]]
    log.info(
        "%s %s: %d dialogs, %d of them with more than %d temporal expressions, %d expressions with "
        "a numeral in those",
        given.cleaned,
        split,
        turns["dialog"].nunique(),
        many["dialog"].nunique(),
        MORE_THAN,
        len(masks),
    )
    return turns, spans, masks


def main(given: argparse.Namespace) -> None:
    terms, rules, tables = load_terms(given.terms), rules_of(), []
    parts = [read_split(given, split) for split in given.splits]
    ids = pd.concat([masks["instance_id"] for *_, masks in parts], ignore_index=True)
    if ids.empty:
        raise UserError(
            f"{given.cleaned}: no dialog has more than {MORE_THAN} temporal expressions and a "
            "numeral in one; give other dialogs"
        )
    if (twice := ids.duplicated()).any():
        raise UserError(
            f"{given.cleaned}: the expression {ids[twice].iloc[0]} stands in two of the splits; "
            "name one of them"
        )
    taken = ids.iloc[np.argsort(keyed_hash(ids, given.seed), kind="stable")[: given.instances]]
    for turns, spans, masks in parts:
        masks = masks[masks["instance_id"].isin(taken)].reset_index(drop=True)
        if len(masks):
            offered = distractors(masks, spans, turns, terms, rules, given.per_rule, given.seed)
            tables.append(cloze(masks, turns, offered.assign(label=pd.NA), "full"))
    table = pd.concat(tables, ignore_index=True)
    original = table["is_original"]
    sheet = table.rename(columns={"context": "dialog", "candidate": "option"}).assign(
        rule=table["rule"].mask(original, ORIGINAL), label=np.where(original, "right", "")
    )[COLUMNS]
    provenance = provenance_of(given.cleaned / f"{given.splits[0]}.parquet") | {
        "per_rule": given.per_rule,
        "seed": given.seed,
    }
    write_items(given.output, table, CLOZE, provenance, sheet)
    counts = sheet["rule"].value_counts()
    log.info(
        "%s: %d instances to label, with %s",
        given.output,
        counts[ORIGINAL],
        ", ".join(f"{number:,} by {rule}" for rule, number in counts.drop(ORIGINAL).items()),
    )


def arguments() -> argparse.ArgumentParser:
    options = drawing(__doc__)
    options.add_argument(
        "--cleaned", type=Path, required=True, help="the folder of a cleaned source of dialogs"
    )
    options.add_argument(
        "--spans",
        type=Path,
        required=True,
        help="the folder of its temporal spans (scripts/text/temporal_spans.py)",
    )
    options.add_argument(
        "--splits", nargs="+", required=True, help="the splits whose dialogs are taken"
    )
    options.add_argument(
        "--instances",
        type=whole_number(1, 1_000_000),
        metavar="N",
        help="at most, drawn by hash (default: all)",
    )
    options.add_argument(
        "--per-rule",
        type=whole_number(1, 100),
        default=2,
        metavar="N",
        help="options that each rule proposes for an instance, at most (default: %(default)s)",
    )
    options.add_argument(
        "--output", type=Path, required=True, metavar="FOLDER", help="the folder to write to"
    )
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
