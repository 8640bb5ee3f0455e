"""Tabulate the shortcuts of a study: what stands in the hypothesis.

scripts/publish/shortcuts.py says what the columns tell.
"""

import argparse

import numpy as np
import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.shortcuts import Cues, Shortcuts, publish_shortcuts
from scripts.text.text_features import PREPOSITION, numerals
from scripts.text.unit_normalization import quantities


def cues_of(table: pd.DataFrame, train: pd.DataFrame) -> Cues:
    """What stands in a hypothesis; which label that says, training decides."""
    preposition = table["second"].str.extract(PREPOSITION, expand=False).str.lower().fillna("")
    cues = {
        f"hypothesis: {name}": (preposition == name).to_numpy()
        for name in sorted(preposition.unique())
        if name
    }
    first, second = ([numerals(text) for text in table[side]] for side in ("first", "second"))
    cues["hypothesis names a number of the premise"] = np.array(
        [bool(a & b) for a, b in zip(first, second)]
    )
    cues["hypothesis names a larger number than the premise"] = np.array(
        [bool(a and b) and max(b) > max(a) for a, b in zip(first, second)]
    )
    size = pd.Series(
        [
            ""
            if not b
            else "below 10"
            if min(b) < 10
            else "10 to 99"
            if min(b) < 100
            else "100 and more"
            for b in second
        ]
    )
    for name in sorted(set(zip(preposition, size)) - {("", "")}):
        if all(name):
            cues[f"hypothesis: {name[0]}, a number {name[1]}"] = (
                preposition == name[0]
            ).to_numpy() & (size == name[1]).to_numpy()
    cues["every word of the hypothesis stands in the premise"] = np.array(
        [
            set(b) <= set(a)
            for a, b in zip(
                *(table[side].str.lower().str.findall(r"\w+") for side in ("first", "second"))
            )
        ]
    )
    return {name: (there, None) for name, there in (cues | claims_of(table)).items()}


def claims_of(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Of set II, whose premises have several hypotheses each: whether a duration is the shortest
    that is said of its premise. No model sees these hypotheses together.
    """
    seconds = quantities(table["second"])["seconds_low"].to_numpy(float)
    claims = pd.Series(seconds, table.index).groupby(table["first"])
    several = (claims.transform("nunique") > 1).to_numpy() & ~np.isnan(seconds)
    shortest = seconds == claims.transform("min").to_numpy()
    less = table["second"].str.contains("less than", regex=False).to_numpy()
    return {
        f"hypothesis: {said}{rank} duration of its premise": several & is_said & is_ranked
        for rank, is_ranked in (("the shortest", shortest), ("a longer", ~shortest))
        for said, is_said in (("", ~less), ("less than ", less))
        if (several & less).any()
    }


SHORTCUTS = Shortcuts(["example_id", "text_a", "text_b"], cues_of)


def main(given: argparse.Namespace) -> None:
    publish_shortcuts(given, SHORTCUTS)


if __name__ == "__main__":
    run_program(main, __doc__, "runs", "datasets")
