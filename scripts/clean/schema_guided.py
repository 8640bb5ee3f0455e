"""Clean Schema-Guided Dialogue (Rastogi et al. 2020): a user talks with an assistant who books,
looks up and reminds.

This corpus replaces Meena, the out-of-domain training data of TimeDial's authors, which was never
public. Like Meena it is not everyday talk, and it is full of times. Unlike Meena it is clean, about
tasks, and much smaller. Only the utterances are read, no annotation. The user, who speaks first, is
A. The assistant is B. White space becomes one space. An empty turn is dropped. As in DailyDialog, a
dialog with the same words as an earlier one (train, then validation) stays and is marked.

Reads  train_*.json and dev_*.json from --fetched: upstream's train/dialogues_*.json and
       dev/dialogues_*.json, all or a part of them, each a list of {dialogue_id, turns: [{speaker,
       utterance, …}], …}
Writes train.parquet, validation.parquet (of dev; schema dialogs; dialog_id is
       <split>:<dialogue_id>), in the order of the files' names, and cleaning.csv

    python -m scripts.clean.schema_guided --source schema_guided \\
        --fetched results/fetch/schema_guided --output results/clean/schema_guided \\
        --provenance '{"licence": "CC BY-SA 4.0"}'
"""

import argparse
from pathlib import Path
from typing import Literal

import msgspec
import pandas as pd

from scripts.clean.corpus import EMPTY, NO_TURN, Count, changed_spaces, cleaner_arguments, counted
from scripts.clean.corpus import entries_of, joined, kept_of, write_corpus
from scripts.clean.dailydialog import marked
from scripts.clean.dialogs import speakers
from scripts.running.program import UserError, cut, execute
from scripts.data.tables import DIALOGS

FILES = {"train": "train_*.json", "validation": "dev_*.json"}


class Turn(msgspec.Struct):
    """The used fields of a turn."""

    speaker: Literal["USER", "SYSTEM"]
    utterance: str


class Dialog(msgspec.Struct):
    """The used fields of a dialog."""

    dialogue_id: str
    turns: list[Turn]


def read_split(files: list[Path]) -> tuple[pd.DataFrame, int]:
    """A row a turn, in the order of the files (dialogue_id, speaker, raw), and the number of
    dialogs. Raises UserError for a file that cannot be read, and for a dialog whose id is repeated.
    """
    rows, file_of = [], {}
    for file in files:
        for dialog in entries_of(file, Dialog, "dialog", "dialogue_id"):
            if dialog.dialogue_id in file_of:
                raise UserError(
                    f"{file}: dialog {cut(dialog.dialogue_id)} was there before, in "
                    f"{file_of[dialog.dialogue_id].name}; remove one of the two, or fetch the "
                    "files again"
                )
            file_of[dialog.dialogue_id] = file
            rows += [(dialog.dialogue_id, turn.speaker, turn.utterance) for turn in dialog.turns]
    return pd.DataFrame(rows, columns=["dialogue_id", "speaker", "raw"], dtype=object), len(file_of)


def clean_split(files: list[Path], source: str, split: str) -> tuple[pd.DataFrame, list[Count]]:
    """One split as a table of turns (schema dialogs, duplicate_of still missing),
    and the counts of what was found and changed.
    """
    turns, dialogs = read_split(files)
    turns["text"] = joined(turns["raw"])
    kept_turns = turns[turns["text"] != ""].copy()
    left = kept_turns["dialogue_id"].nunique()
    kept_turns["dialog_id"] = split + ":" + kept_turns["dialogue_id"]
    kept_turns["turn"] = kept_turns.groupby("dialog_id").cumcount()
    again = (kept_turns["speaker"] == kept_turns["speaker"].shift()) & (kept_turns["turn"] > 0)
    kept_turns["speaker"] = speakers(kept_turns)[0]
    noted = {"the same speaker as the turn before": again}
    of_turns = {"changed": changed_spaces(turns["raw"]), "noted": noted}
    return kept_turns.assign(source=source, split=split), [
        *counted(split, "files", read=len(files)),
        *kept_of(split, "dialogs", dialogs, left, NO_TURN),
        *kept_of(split, "turns", len(turns), len(kept_turns), EMPTY, **of_turns),
    ]


def main(given: argparse.Namespace) -> None:
    parts, counts = [], []
    for split, pattern in FILES.items():
        files = sorted(given.fetched.glob(pattern))
        if not files:
            raise UserError(
                f"{given.fetched}: holds no {pattern}, so {split} would be empty; fetch the corpus "
                "again"
            )
        table, found = clean_split(files, given.source, split)
        if table.empty:
            raise UserError(
                f"{given.fetched}: no dialog of {pattern} has a turn; fetch the corpus again"
            )
        parts.append(table)
        counts += found
    turns = marked(pd.concat(parts, ignore_index=True))
    tables = {split: turns[turns["split"] == split] for split in FILES}
    for split, table in tables.items():
        repeated = (table["turn"] == 0) & (table["duplicate_of"] != "")
        counts += counted(split, "dialogs", noted={"the same words as one before": repeated})
    write_corpus(given, tables, DIALOGS, counts)


if __name__ == "__main__":
    execute(main, cleaner_arguments(__doc__).parse_args())
