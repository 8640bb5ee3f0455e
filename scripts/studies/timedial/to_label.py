"""Make new instances in the form of TimeDial's challenge out of dialogs, for people to label (Qin et al. 2021, section 3).

Of the dialogs with more than three temporal expressions each expression that has a numeral is masked, one an instance. What stood
there is right; what might be wrong is proposed by the paper's three rules (scripts/studies/timedial/distractors.py), and nobody has judged it yet.
A dialog that has the same words as another is taken once.

Reads  <cleaned>/<split>.parquet (schema dialogs), <spans>/<split>.parquet (schema spans)
Writes <output>/test.parquet   schema of the datasets of TimeDial; label is 1 for what stood there, missing for what is proposed, so that
                               nothing can be measured on it before it is labelled
       <output>/labels.csv     the same to write in: instance_id, dialog, option, rule (original, phrase, numeral, open_ended), label. People write
                               right or wrong as label, and may add rows with options of their own (of the same instance_id)

    python -m scripts.studies.timedial.to_label --cleaned results/clean/my_dialogs --spans results/build/temporal_spans/my_dialogs \\
        --splits train validation --instances 100 --output results/to_label/timedial/my_dialogs/new

scripts/studies/timedial/labelled.py makes a challenge of the labelled sheet, and docs/label.md says how to measure on it.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.people.candidates_rules import drawing, load_terms
from scripts.studies.timedial.leakage import MASK
from scripts.studies.timedial.distractors import distractors
from scripts.text.temporal_words import rules_of
from scripts.studies.timedial.build import SENTENCE_START
from scripts.studies.timedial.instances import capital, contexts, ordered, placed
from scripts.data.keyed import keyed_hash
from scripts.people.label_sheets import write_items
from scripts.running.program import UserError, execute, log, whole_number
from scripts.data.tables import CLOZE, DIALOGS, SPANS, provenance_of, read_complete

MORE_THAN = 3  # temporal expressions in a dialog
ORIGINAL = "original"
COLUMNS = ["instance_id", "dialog", "option", "rule", "label"]  # of the sheet


def read_split(given: argparse.Namespace, split: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Turns and spans of one split's dialogs, without those that repeat another; dialog is their number."""
    file, spans_file = (folder / f"{split}.parquet" for folder in (given.cleaned, given.spans))
    turns = ordered(read_complete(file, DIALOGS).to_pandas(), str(file))
    spans = placed(read_complete(spans_file, SPANS).to_pandas(), turns, str(spans_file))
    spans["initial"] = pc.match_substring_regex(pa.array(spans["before"], pa.string()), SENTENCE_START).to_numpy(False)
    repeats = turns.loc[turns["duplicate_of"] != "", "dialog"].unique()
    return turns, spans[~spans["dialog"].isin(repeats)].reset_index(drop=True)


def masks_of(spans: pd.DataFrame) -> pd.DataFrame:
    """The spans to mask, with instance_id: those with a numeral, in dialogs with enough spans."""
    many = spans.groupby("dialog")["dialog"].transform("size") > MORE_THAN
    masks = spans[many & spans["has_numeral"]].reset_index(drop=True)
    return masks.assign(instance_id=masks["dialog_id"] + ":" + masks["turn"].astype(str) + ":" + masks["start"].astype(str))


def instances(masks: pd.DataFrame, turns: pd.DataFrame, proposed: pd.DataFrame) -> pd.DataFrame:
    """The instances of one split (schema cloze): what stood there, then what is proposed, whose label is missing."""
    begins = (masks["initial"] & ~masks["text"].str[:1].str.islower()).to_numpy()[proposed["mask"]]
    option = np.where(begins, capital(proposed["option"].to_numpy(object)), proposed["option"].to_numpy(object))
    originals = pd.DataFrame(
        {"mask": np.arange(len(masks)), "option": masks["text"], "rule": "", "label": 1}
    )
    rows = pd.concat([originals, proposed.assign(option=option, label=pd.NA)]).sort_values(
        "mask", kind="stable", ignore_index=True
    )
    turn, place = masks["turn"].to_numpy(np.int64), masks["row"].to_numpy()
    masked = turns["speaker"].to_numpy()[place] + ": " + masks["before"] + MASK + masks["after"]
    lines = (turns["speaker"] + ": " + turns["text"]).to_numpy(object)
    context = contexts(
        lines, place - turn, masks["length"].to_numpy(), turn, masked, "full"
    ).to_pandas()
    of_mask = (
        masks.drop(columns="turn")
        .rename(columns={"length": "turns"})
        .assign(context=context, context_scope="full", leak="")
    )
    table = (
        of_mask.iloc[rows["mask"]]
        .reset_index(drop=True)
        .assign(
            candidate=rows["option"],
            rule=rows["rule"],
            label=rows["label"].astype("Int8"),
            is_original=rows["label"].notna(),
        )
    )
    number = rows.groupby("mask").cumcount().astype(str)
    return table.assign(example_id=table["instance_id"] + ":" + number)[CLOZE.names]


def sheet_of(table: pd.DataFrame) -> pd.DataFrame:
    """The rows to label (COLUMNS); what stood there is right until somebody says otherwise."""
    rows, original = (
        table.rename(columns={"context": "dialog", "candidate": "option"}),
        table["is_original"],
    )
    return rows.assign(
        rule=rows["rule"].mask(original, ORIGINAL), label=np.where(original, "right", "")
    )[COLUMNS]


def main(given: argparse.Namespace) -> None:
    terms, rules, parts = load_terms(given.terms), rules_of(), []
    for split in given.splits:
        turns, spans = read_split(given, split)
        parts.append((masks := masks_of(spans), spans, turns))
        log.info("%s %s: %d dialogs, %d of them with more than %d temporal expressions, %d expressions with a numeral in those", given.cleaned,
                 split, turns["dialog"].nunique(), (spans["dialog"].value_counts() > MORE_THAN).sum(), MORE_THAN, len(masks))
    ids = pd.concat([masks["instance_id"] for masks, _, _ in parts], ignore_index=True)
    if ids.empty:
        raise UserError(f"{given.cleaned}: no dialog has more than {MORE_THAN} temporal expressions and a numeral in one; give other dialogs")
    if (twice := ids.duplicated()).any():
        raise UserError(f"{given.cleaned}: the expression {ids[twice].iloc[0]} stands in two of the splits; name one of them")
    taken = ids.iloc[np.argsort(keyed_hash(ids, given.seed), kind="stable")[:given.instances]]
    tables = []
    for masks, spans, turns in parts:
        masks = masks[masks["instance_id"].isin(taken)].reset_index(drop=True)
        if len(masks):
            tables.append(instances(masks, turns, distractors(masks, spans, turns, terms, rules, given.per_rule, given.seed)))
    table = pd.concat(tables, ignore_index=True)
    sheet = sheet_of(table)
    provenance = provenance_of(given.cleaned / f"{given.splits[0]}.parquet") | {
        "per_rule": given.per_rule,
        "seed": given.seed,
    }
    write_items(given.output, table, CLOZE, provenance, sheet)
    counts = sheet["rule"].value_counts()
    log.info("%s: %d instances to label, with %s", given.output, counts[ORIGINAL],
             ", ".join(f"{number:,} by {rule}" for rule, number in counts.drop(ORIGINAL).items()))


def arguments() -> argparse.ArgumentParser:
    options = drawing(__doc__)
    options.add_argument("--cleaned", type=Path, required=True, help="the folder of a cleaned source of dialogs")
    options.add_argument("--spans", type=Path, required=True, help="the folder of its temporal spans (scripts/text/temporal_spans.py)")
    options.add_argument("--splits", nargs="+", required=True, help="the splits whose dialogs are taken")
    options.add_argument("--instances", type=whole_number(1, 1_000_000), metavar="N", help="at most, drawn by hash (default: all)")
    options.add_argument("--per-rule", type=whole_number(1, 100), default=2, metavar="N",
                         help="options that each rule proposes for an instance, at most (default: %(default)s)")
    options.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="the folder to write to")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
