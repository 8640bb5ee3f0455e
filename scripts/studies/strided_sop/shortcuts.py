"""Tabulate the shortcuts of a study: cues that stand in one of the two sentences,
and say that this one comes second.

scripts/publish/shortcuts.py says what the columns tell.
"""

import argparse
import re

import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.shortcuts import Cues, Shortcuts, publish_shortcuts
from scripts.studies.strided_sop.strides import tells_of_pairs

ORDER = {
    "begins with a pronoun": r"^\W*(?:he|she|it|they|his|her|their|its)\b",
    "then, next, after": r"\b(?:then|next|after|afterwards|later)\b",
    "finally, last, end, credits": (
        r"\b(?:finally|lastly|last|end|ends|ending"
        r"|eventually|credits|finish\w*)\b"
    ),
    "again, another, continue, still": r"\b(?:again|another|continues?|still|more)\b",
    "first, begin, start, intro, title": (
        r"\b(?:first|begins?|starts?|intro\w*|titles?"
        r"|logo|opening|appears?)\b"
    ),
    "a man, a woman, a person": r"\b(?:a|an) (?:man|woman|person|girl|boy|group|lady|guy)\b",
    "begins with the": r"^\W*the\b",
}


def cues_of(table: pd.DataFrame, train: pd.DataFrame) -> Cues:
    """Cues that stand in one of two sentences; what they say: 1, the second text comes second,
    or 0.
    """
    cues = {}
    for name, pattern in ORDER.items():
        first, second = (
            table[side].str.contains(pattern, flags=re.I, regex=True).to_numpy()
            for side in ("first", "second")
        )
        cues[name] = first != second, second.astype(int)
    first, second = (table[side].str.split().str.len().to_numpy() for side in ("first", "second"))
    cues["has more words"] = first != second, (second > first).astype(int)
    return cues


SHORTCUTS = Shortcuts(["pair_id", "text_a", "text_b"], cues_of, tells_of_pairs, is_coin=True)


def main(given: argparse.Namespace) -> None:
    publish_shortcuts(given, SHORTCUTS)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets")
