"""Make a challenge in the layout of TimeDial's release of sheets that people labelled
(scripts/studies/timedial/to_label.py).

One sheet is one person's; of several the majority counts. An option that nobody labelled, or that
as many found right as wrong, is left out. An instance needs its original found right, and two wrong
options: the first two by the paper's order of rules (phrase, numeral, then open-ended, which is
also the rule of an option that people added without naming one). correct2 is the first other option
found right, in the order of the sheet; an instance without one is an extra (`none`), as in the
release. The others are dropped, and counted.

Reads  --sheets (CSV: instance_id, dialog, option, rule, label)
       --answers (CSV of a page that was made from the folder --made; docs/people.md), in their
       place or beside them
Writes --output (test.json: a list of {id, conversation, correct1, correct2, incorrect1,
       incorrect1_rule, …}), which the cleaner of TimeDial reads (scripts/clean/timedial.py;
       docs/label.md has the entry)

    python -m scripts.studies.timedial.labelled --sheets anna.csv ben.csv --output test.json
"""

import argparse
import json

import pandas as pd

from scripts.clean.timedial import NONE, OPTIONS, RULES
from scripts.data.files import whole
from scripts.people.label_sheets import Form, labelling_arguments, labels_given, refuse
from scripts.running.program import UserError, execute, log
from scripts.studies.timedial.distractors import IN_ORDER
from scripts.studies.timedial.leakage import MASK
from scripts.studies.timedial.to_label import COLUMNS, ORIGINAL

RELEASED = {rule: name for name, rule in RULES.items()}
# what an instance needs, beside its original
WRONG = [name for name, label in OPTIONS.items() if label == 0]


def checked(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with their dialog, a rule and `folded`, the option without case.

    Raises UserError for rows that are no options.
    """
    rows["rule"] = rows["rule"].str.lower().replace("", IN_ORDER[-1])
    refuse(
        rows,
        ~rows["rule"].isin([ORIGINAL, *IN_ORDER]),
        f"rule is {{rule}}, not {ORIGINAL}, {' or '.join(IN_ORDER)}",
        "correct it",
    )
    refuse(rows, rows["instance_id"] == "", "has no instance_id", "copy that of the dialog")
    refuse(rows, rows["option"] == "", "has no option", "write one, or remove the row")
    # A row that a person added need not repeat the dialog.
    dialogs = rows["dialog"].where(rows["dialog"] != "")
    dialog = dialogs.groupby(rows["instance_id"]).transform("first")
    refuse(
        rows,
        dialog.isna(),
        "no row of instance {instance_id} has its dialog",
        "take it from the sheet",
    )
    refuse(
        rows,
        dialogs.notna() & (dialogs != dialog),
        "the dialog of instance {instance_id} is another one than above",
        "restore it",
    )
    refuse(rows, dialog.str.count(MASK) != 1, f"its dialog has not one {MASK}", "restore it")
    return rows.assign(dialog=dialog, folded=rows["option"].str.lower())


FORM = Form(
    "timedial",
    COLUMNS,
    ["right", "wrong"],
    ["instance_id", "folded"],
    "options",
    lambda sheet: {"instance_id": sheet["instance_id"], "candidate": sheet["option"]},
    checked,
)


def chosen(options: pd.DataFrame) -> pd.DataFrame:
    """The instances that are whole, as the release has them.

    Columns: id, correct1, correct2, incorrect1, incorrect1_rule, incorrect2, incorrect2_rule,
    conversation.
    """
    right, original = options["label"] == "right", options["rule"] == ORIGINAL
    first, second = (
        options[right & where].drop_duplicates("instance_id").set_index("instance_id")
        for where in (original, ~original)
    )
    wrong = options[~right & ~original].sort_values(
        "rule", kind="stable", key=lambda rule: rule.map(IN_ORDER.index)
    )
    place = wrong.groupby("instance_id").cumcount()
    table = pd.DataFrame(
        {
            "correct1": first["option"],
            "correct2": second["option"].reindex(first.index).fillna(NONE),
        }
    )
    for number, name in enumerate(WRONG):
        of_place = wrong[place == number].set_index("instance_id").reindex(first.index)
        table[name], table[f"{name}_rule"] = of_place["option"], of_place["rule"].map(RELEASED)
    count, few = options["instance_id"].nunique(), table[WRONG[-1]].isna()
    log.info(
        "%d instances; dropped: %d whose original was not found right, %d with fewer than %d wrong "
        "options",
        count,
        count - len(table),
        few.sum(),
        len(WRONG),
    )
    return (
        table.assign(conversation=first["dialog"].str.split("\n"))[~few]
        .rename_axis("id")
        .reset_index()
    )


def main(given: argparse.Namespace) -> None:
    table = chosen(labels_given(given, FORM))
    if table.empty:
        raise UserError(
            f"{', '.join(map(str, [*given.sheets, *given.answers]))}: no instance has its original "
            f"found right and {len(WRONG)} options found wrong; label more"
        )
    with whole(given.output) as place:
        place.write_text(
            json.dumps(table.to_dict("records"), ensure_ascii=False, indent=1) + "\n",
            encoding="utf-8",
        )
    log.info(
        "%s: %d instances, %d of them with two right options",
        given.output,
        len(table),
        (table["correct2"] != NONE).sum(),
    )


if __name__ == "__main__":
    execute(main, labelling_arguments(__doc__).parse_args())
