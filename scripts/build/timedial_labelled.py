"""Make a challenge in the layout of TimeDial's release of sheets that people labelled (scripts/build/timedial_to_label.py).

One sheet is one person's; of several the majority counts. An option that nobody labelled, or that as many found right as wrong, is left out.
An instance needs its original found right, and two wrong options: the first two by the paper's order of rules (phrase, numeral, then
open-ended, which is also the rule of an option that people added without naming one). correct2 is the first other option found right, in the
order of the sheet; an instance without one is an extra (`none`), as in the release. The others are dropped, and counted.

Reads  --sheets (CSV: instance_id, dialog, option, rule, label)
       --answers (CSV of a page that was made from the folder --made; docs/people.md), in their place or beside them
Writes --output (test.json: a list of {id, conversation, correct1, correct2, incorrect1, incorrect1_rule, …}), which the cleaner of
       TimeDial reads (scripts/clean/timedial.py; docs/label.md has the entry)

    python -m scripts.build.timedial_labelled --sheets anna.csv ben.csv --output test.json
"""

import argparse
import json

import pandas as pd

from scripts.build.dialog_leakage import MASK
from scripts.build.distractors import IN_ORDER, OPEN_ENDED
from scripts.build.timedial_to_label import ORIGINAL, SHEET
from scripts.clean.timedial import NONE, RULES
from scripts.common.files import whole
from scripts.common.label_sheets import decided, labelling_arguments, labels_given, refuse
from scripts.common.program import UserError, execute, log

LABELS = ["right", "wrong"]
WRONG = 2  # options of an instance
RELEASED = {rule: name for name, rule in RULES.items()}


def texts_of(sheet: pd.DataFrame) -> pd.DataFrame:
    """What test.parquet has of the rows of a sheet (scripts/build/timedial_to_label.py)."""
    return pd.DataFrame({"instance_id": sheet["instance_id"], "candidate": sheet["option"]})


def options_of(given: argparse.Namespace) -> pd.DataFrame:
    """The options that people decided on: instance_id, dialog, option, rule, label. Raises UserError for rows that are no options."""
    rows = labels_given(given, SHEET, LABELS, texts_of)
    rows["rule"] = rows["rule"].str.lower().replace("", OPEN_ENDED)
    refuse(rows, ~rows["rule"].isin([ORIGINAL, *IN_ORDER]), f"rule is {{rule}}, not {ORIGINAL}, {' or '.join(IN_ORDER)}", "correct it")
    refuse(rows, rows["instance_id"] == "", "has no instance_id", "copy that of the dialog")
    refuse(rows, rows["option"] == "", "has no option", "write one, or remove the row")
    # A row that a person added need not repeat the dialog.
    dialogs = rows[rows["dialog"] != ""].drop_duplicates("instance_id").set_index("instance_id")["dialog"]
    refuse(rows, ~rows["instance_id"].isin(dialogs.index), "no row of instance {instance_id} has its dialog", "take it from the sheet")
    known = rows["instance_id"].map(dialogs)
    refuse(rows, (rows["dialog"] != "") & (rows["dialog"] != known), "the dialog of instance {instance_id} is another one than above", "restore it")
    refuse(rows, known.str.count(MASK) != 1, f"its dialog has not one {MASK}", "restore it")
    rows = rows.assign(dialog=known, folded=rows["option"].str.lower())
    return decided(rows, ["instance_id", "folded"], LABELS, "options")


def chosen(options: pd.DataFrame) -> pd.DataFrame:
    """The instances that are whole: instance_id, dialog, correct1, correct2, incorrect1, incorrect1_rule, incorrect2, incorrect2_rule."""
    right, original = options["label"] == LABELS[0], options["rule"] == ORIGINAL
    first = options[right & original].drop_duplicates("instance_id").set_index("instance_id")
    second = options[right & ~original].drop_duplicates("instance_id").set_index("instance_id")["option"]
    wrong = options[~right & ~original].assign(place=options["rule"].map({rule: place for place, rule in enumerate(IN_ORDER)}))
    wrong = wrong.sort_values("place", kind="stable")
    number = wrong.groupby("instance_id").cumcount()
    table = first[["dialog"]].assign(correct1=first["option"], correct2=second.reindex(first.index).fillna(NONE))
    for place in range(WRONG):
        of_place = wrong[number == place].set_index("instance_id")
        table[f"incorrect{place + 1}"] = of_place["option"].reindex(table.index)
        table[f"incorrect{place + 1}_rule"] = of_place["rule"].map(RELEASED).reindex(table.index)
    log.info("%d instances; dropped: %d whose original was not found right, %d with fewer than %d wrong options",
             options["instance_id"].nunique(), options["instance_id"].nunique() - len(table),
             table[f"incorrect{WRONG}"].isna().sum(), WRONG)
    return table.dropna(subset=f"incorrect{WRONG}").reset_index()


def main(given: argparse.Namespace) -> None:
    table = chosen(options_of(given))
    if table.empty:
        raise UserError(f"{', '.join(map(str, [*given.sheets, *given.answers]))}: no instance has its original found right and {WRONG} options found wrong; label more")
    values = table.rename(columns={"instance_id": "id"}).assign(conversation=table["dialog"].str.split("\n")).drop(columns="dialog")
    with whole(given.output) as place:
        place.write_text(json.dumps(values.to_dict("records"), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    log.info("%s: %d instances, %d of them with two right options", given.output, len(table), (table["correct2"] != NONE).sum())


if __name__ == "__main__":
    execute(main, labelling_arguments(__doc__).parse_args())
