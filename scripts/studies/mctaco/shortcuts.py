"""Tabulate the shortcuts of a study: what stands in the answer, and beside it in the others.

scripts/publish/shortcuts.py says what the columns tell.
"""

import argparse

import numpy as np
import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.shortcuts import Cues, Shortcuts, publish_shortcuts
from scripts.studies.mctaco.controls import read
from scripts.text.text_features import in_context, numerals, shared_numbers

UNITS = ["second", "minute", "hour", "day", "week", "month", "year", "decade", "century|centuries"]


def cues_of(table: pd.DataFrame, train: pd.DataFrame) -> Cues:
    """What stands in an answer, and whether it is the longest or the shortest of its question; it
    says: likely.
    """
    answer = table["second"].str.lower()
    cues = {
        f"{unit.split('|')[0]}s": answer.str.contains(rf"\b(?:{unit}s?)\b", regex=True).to_numpy()
        for unit in UNITS
    }
    seconds = read(table["second"])["seconds"]
    of_question = seconds.groupby(table["group"])
    spread = (of_question.transform("size") > 1) & seconds.notna()
    cues["the longest duration of the answers"] = (
        spread & (seconds == of_question.transform("max"))
    ).to_numpy()
    cues["the shortest duration of the answers"] = (
        spread & (seconds == of_question.transform("min"))
    ).to_numpy()
    cues["a number"] = answer.map(lambda text: bool(numerals(text))).to_numpy()
    cues["always, never, forever"] = answer.str.contains(
        r"\b(?:always|never|forever)\b", regex=True
    ).to_numpy()
    cues["more than four words"] = (answer.str.split().str.len() > 4).to_numpy()
    cues["stands in sentence or question"] = in_context(table) == 1
    cues["shares a number with sentence or question"] = shared_numbers(table) > 0
    return {name: (there, np.ones(len(table), int)) for name, there in cues.items()}


SHORTCUTS = Shortcuts(["group_id", "text_a", "text_b"], cues_of)


def main(given: argparse.Namespace) -> None:
    publish_shortcuts(given, SHORTCUTS)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets")
