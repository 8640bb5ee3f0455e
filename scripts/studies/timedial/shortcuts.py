"""Tabulate the shortcuts of a study: what a candidate has in common with its dialog, with the
candidates of the training data and with the other options.

scripts/publish/shortcuts.py says what the columns tell.
"""

import argparse

import numpy as np
import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.shortcuts import Cues, Shortcuts, publish_shortcuts
from scripts.text.text_features import frequency, in_context, normal_words, shared_numbers
from scripts.studies.timedial.controls import nearest_two, sizes

# Fives, tens, a half or a dozen.
ROUND = (
    r"(?i)(?<![\d:])\d*[05]\b(?!:)|\b(?:five|ten|fifteen|twenty|thirty|forty|fifty|half|dozen)\b"
)


def cues_of(table: pd.DataFrame, train: pd.DataFrame) -> Cues:
    """What a candidate has in common with its dialog, with the other options and with the right
    candidates of the training data, but itself; it says: right.
    """
    often = frequency(table, train.loc[train["label"] == 1, "second"]) - (
        table["label"] == 1
    ).to_numpy() * (table is train)
    duration = table["second"].map(lambda text: sizes(text).get("duration"))
    of_options = duration.groupby(table["group"])
    nearest = pd.Series(nearest_two(table.rename(columns={"group": "choice_id"})), table.index)
    cues = {
        "one of the two options nearest in size": (
            nearest == nearest.groupby(table["group"]).transform("max")
        ).to_numpy(),
        "the longest duration of the options": (duration == of_options.transform("max")).to_numpy(),
        "the shortest duration of the options": (
            duration == of_options.transform("min")
        ).to_numpy(),
        "a round number": table["second"].str.contains(ROUND, regex=True).to_numpy(),
        "stands in its dialog": in_context(table) == 1,
        "shares a number with its dialog": shared_numbers(table) > 0,
        "a right one elsewhere in training": often > 0,
        "a right one ten times in training": often >= 10,
        "has a digit": table["second"].str.contains(r"\d", regex=True).to_numpy(),
        "one word": (normal_words(table["second"]).str.split().str.len() == 1).to_numpy(),
    }
    return {name: (there, np.ones(len(table), int)) for name, there in cues.items()}


SHORTCUTS = Shortcuts(["instance_id", "context", "candidate"], cues_of, is_ranked=True)


def main(given: argparse.Namespace) -> None:
    publish_shortcuts(given, SHORTCUTS)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets")
