"""Clean TimeDial (Qin et al. 2021): dialogs with one temporal expression masked, and two right and
two wrong ways to fill it.

Instances with only one right option (`correct2` is `none`) become a split of their own, `extras`;
the paper measures on the others. The turns are repaired as DailyDialog's are, and each repair is
counted. An option keeps its text except white space at its ends. The speaker's prefix becomes
`A: `; an empty turn is dropped.

The dialog's original option is `correct1`. We compared the real file with DailyDialog. In 1,402 of
the 1,446 instances, the dialog with `correct1` in the mask's place is in DailyDialog, word for
word. No other option gives such a match. In the other 44 instances the authors wrote a time of the
day in another way (`2 pm` as `2:00 PM`), again in `correct1`.

Reads  from --fetched the file that --provenance names, else test.json: a list, JSON lines or
       Parquet of {conversation, id, correct1, correct2, incorrect1, …}
Writes test.parquet, extras.parquet (schema challenge), in the order of the file, and cleaning.csv

    python -m scripts.clean.timedial --source timedial --fetched results/fetch/timedial \\
        --output results/clean/timedial --provenance '{"licence": "CC BY-NC-SA 4.0"}'
"""

import argparse
import re
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from scripts.clean.corpus import cleaner_arguments, counted, entries_of, file_named, places_given
from scripts.clean.corpus import write_corpus
from scripts.clean.dailydialog import repaired
from scripts.running.program import UserError, cut, execute, shown
from scripts.data.tables import CHALLENGE

FILE = "test.json"
SPLITS = ("test", "extras")
MASK = "<MASK>"
NONE = "none"  # correct2 of an extra
OPTIONS = {"correct1": 1, "correct2": 1, "incorrect1": 0, "incorrect2": 0}
# Section 3.2 of the paper: phrase matching, numeral matching, open-ended.
RULES = {"Rule 1": "phrase", "Rule 2": "numeral", "Rule 3": "open_ended"}
ORIGINAL = "correct1"
REMEDY = "mend that instance, or fetch the file again"


class Instance(msgspec.Struct):
    """One instance as the file has it."""

    conversation: list[str]
    id: int | str
    correct1: str
    correct2: str
    incorrect1: str
    incorrect1_rule: str
    incorrect2: str
    incorrect2_rule: str
    correct3: None = None  # a fifth option is refused
    incorrect3: None = None


def refuse(wrong: pd.DataFrame, file: Path, why: str) -> None:
    """Raise UserError that names the first of the wrong rows, if there is one;
    `why` may name its columns in braces.
    """
    if len(wrong):
        shown_values = {
            name: value if name == "key" else shown(value) for name, value in wrong.iloc[0].items()
        }
        raise UserError(
            f"{file}: instance {cut(wrong['id'].iloc[0])}: {why.format(**shown_values)}; {REMEDY}"
        )


def dialogs(
    instances: pd.DataFrame, file: Path
) -> tuple[pd.Series, dict[str, dict[str, pd.Series]]]:
    """The dialog of each instance (turns as `A: text`, one a line). Also, by action and reason,
    which turns were changed, indexed by instance.
    """
    turns = instances["conversation"].explode().fillna("").rename("text").to_frame()
    turns["id"] = instances["id"]
    found = turns["text"].str.extract(r"^\s*([AB]):(\s*)(.*)$", flags=re.DOTALL)
    bare = turns["text"].str.strip() == ""
    refuse(turns[found[0].isna() & ~bare], file, "the turn {text} opens with neither A: nor B:")
    said, changed = repaired(found[2].fillna(""))
    empty = said == ""
    last = ~turns.index.duplicated(keep="last")
    turn_lines = (found[0] + ": " + said)[~empty]
    speaker = found[0][~empty]
    follows = (speaker == speaker.shift()) & (
        speaker.index == speaker.index.to_series().shift().to_numpy()
    )
    return turn_lines.groupby(level=0).agg("\n".join).reindex(instances.index, fill_value=""), {
        "read": {"": pd.Series(True, turns.index)},
        "kept": {"": ~empty},
        "dropped": {
            "text is empty, at the end of the dialog": empty & last,
            "text is empty, before the end of the dialog": empty & ~last,
        },
        "changed": {
            "no space after the speaker's prefix: put in": (found[1] == "") & ~empty,
            **changed,
        },
        "noted": {"the same speaker as the turn before": follows},
    }


def read_instances(file: Path) -> pd.DataFrame:
    """Return the checked instances of a file, with their split."""
    read = [msgspec.structs.asdict(one) for one in entries_of(file, Instance, "instance", "id")]
    instances = pd.DataFrame(read).astype({"id": str})
    refuse(instances[instances["id"].duplicated()], file, "its id occurs a second time")
    for column in ("incorrect1_rule", "incorrect2_rule"):
        unknown = instances[~instances[column].isin(RULES)]
        refuse(unknown, file, f"{column} is {{{column}}}, not one of {', '.join(RULES)}")
    is_extra = instances["correct2"].str.strip().str.lower() == NONE  # Python writes None
    return instances.assign(split=np.where(is_extra, "extras", "test"))


def options_of(instances: pd.DataFrame, file: Path, source: str) -> pd.DataFrame:
    """Return the options of instances with dialogs as rows of the schema challenge; raw: the text
    as the file has it.
    """
    kept = ["id", "split", "dialog", "incorrect1_rule", "incorrect2_rule"]
    options = instances.melt(kept, list(OPTIONS), "key", "raw", ignore_index=False)
    options = options.sort_index(kind="stable").rename_axis("place").reset_index()
    options = options[~((options["split"] == "extras") & (options["key"] == "correct2"))]
    options = options.assign(option=options["raw"].str.strip(), rule="")
    refuse(options[options["option"] == ""], file, "{key} is empty")
    # No two options of the real file differ in case alone, and an uncased model could not
    # distinguish them.
    folded = options["option"].str.lower().str.split().str.join(" ")
    again = options.assign(folded=folded).duplicated(["id", "folded"])
    refuse(options[again], file, "the option {option} repeats")
    for key in ("incorrect1", "incorrect2"):
        options.loc[options["key"] == key, "rule"] = options[f"{key}_rule"].map(RULES)
    return options.assign(
        source=source,
        instance_id=options["id"],
        label=options["key"].map(OPTIONS),
        is_original=options["key"] == ORIGINAL,
    )


def main(given: argparse.Namespace) -> None:
    named = [place for place in places_given(given.fetched, given.provenance) if place.is_file()]
    file = given.fetched / FILE
    if named and file not in named:
        file = file_named(given.fetched, given.provenance, ".json", ".jsonl", ".parquet")
    instances = read_instances(file)
    instances["dialog"], of_turns = dialogs(instances, file)
    masks = instances["dialog"].str.count(MASK)
    refuse(instances[masks == 0], file, f"its dialog has no {MASK}")
    refuse(instances[masks > 1], file, f"its dialog has more than one {MASK}")
    table = options_of(instances, file, given.source)
    tables, counts = {split: table[table["split"] == split] for split in SPLITS}, []
    for split, options in tables.items():
        chosen = instances.index[instances["split"] == split]
        turns = {
            action: {reason: which[which.index.isin(chosen)] for reason, which in reasons.items()}
            for action, reasons in of_turns.items()
        }
        by_rule = {f"wrong by rule: {rule}": options["rule"] == rule for rule in RULES.values()}
        spaces = {"several spaces in a row": options["option"].str.contains(r"\s\s")}
        counts += counted(split, "instances", read=len(chosen), kept=len(chosen))
        counts += counted(split, "turns", **turns)
        counts += counted(
            split,
            "options",
            kept=len(options),
            changed={"white space at an end: removed": options["raw"] != options["option"]},
            noted=spaces | by_rule,
        )
    write_corpus(given, tables, CHALLENGE, counts)


if __name__ == "__main__":
    execute(main, cleaner_arguments(__doc__).parse_args())
