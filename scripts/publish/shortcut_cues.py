"""Cues by which an example gives its label away without being understood, for each study.

A cue of a table is two arrays: where it stands, and what it says there (the label, by number, of which it is counted how often it
is right). In strided sentence order a cue stands in one of two sentences, and says that this one comes second.
"""

import re

import numpy as np
import pandas as pd

from scripts.text.text_features import PREPOSITION, frequency, in_context, normal_words, numerals, shared_numbers

ORDER = {
    "begins with a pronoun": r"^\W*(?:he|she|it|they|his|her|their|its)\b",
    "then, next, after": r"\b(?:then|next|after|afterwards|later)\b",
    "finally, last, end, credits": r"\b(?:finally|lastly|last|end|ends|ending|eventually|credits|finish\w*)\b",
    "again, another, continue, still": r"\b(?:again|another|continues?|still|more)\b",
    "first, begin, start, intro, title": r"\b(?:first|begins?|starts?|intro\w*|titles?|logo|opening|appears?)\b",
    "a man, a woman, a person": r"\b(?:a|an) (?:man|woman|person|girl|boy|group|lady|guy)\b",
    "begins with the": r"^\W*the\b",
}
UNITS = ["second", "minute", "hour", "day", "week", "month", "year", "decade", "century|centuries"]


def of_order(table: pd.DataFrame) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Cues that stand in one of two sentences; what they say: 1, the second text comes second, or 0."""
    cues = {}
    for name, pattern in ORDER.items():
        first, second = (table[side].str.contains(pattern, flags=re.I, regex=True).to_numpy() for side in ("first", "second"))
        cues[name] = first != second, second.astype(int)
    first, second = (table[side].str.split().str.len().to_numpy() for side in ("first", "second"))
    cues["has more words"] = first != second, (second > first).astype(int)
    return cues


def of_hypotheses(table: pd.DataFrame) -> dict[str, tuple[np.ndarray, None]]:
    """What stands in a hypothesis; which label that says, training decides."""
    preposition = table["second"].str.extract(PREPOSITION, expand=False).str.lower().fillna("")
    cues = {f"hypothesis: {name}": (preposition == name).to_numpy() for name in sorted(preposition.unique()) if name}
    first, second = ([numerals(text) for text in table[side]] for side in ("first", "second"))
    cues["hypothesis names a number of the premise"] = np.array([bool(a & b) for a, b in zip(first, second)])
    cues["hypothesis names a larger number than the premise"] = np.array([bool(a and b) and max(b) > max(a) for a, b in zip(first, second)])
    size = pd.Series(["" if not b else "below 10" if min(b) < 10 else "10 to 99" if min(b) < 100 else "100 and more" for b in second])
    for name in sorted(set(zip(preposition, size)) - {("", "")}):
        if all(name):
            cues[f"hypothesis: {name[0]}, a number {name[1]}"] = ((preposition == name[0]).to_numpy() & (size == name[1]).to_numpy())
    cues["every word of the hypothesis stands in the premise"] = np.array(
        [set(b) <= set(a) for a, b in zip(*(table[side].str.lower().str.findall(r"\w+") for side in ("first", "second")))])
    return {name: (there, None) for name, there in cues.items()}


def of_answers(table: pd.DataFrame) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What stands in an answer; it says: likely."""
    answer = table["second"].str.lower()
    cues = {f"{unit.split('|')[0]}s": answer.str.contains(rf"\b(?:{unit}s?)\b", regex=True).to_numpy() for unit in UNITS}
    cues["a number"] = answer.map(lambda text: bool(numerals(text))).to_numpy()
    cues["always, never, forever"] = answer.str.contains(r"\b(?:always|never|forever)\b", regex=True).to_numpy()
    cues["more than four words"] = (answer.str.split().str.len() > 4).to_numpy()
    cues["stands in sentence or question"] = in_context(table) == 1
    cues["shares a number with sentence or question"] = shared_numbers(table) > 0
    return {name: (there, np.ones(len(table), int)) for name, there in cues.items()}


def of_candidates(table: pd.DataFrame, learnt: pd.Series | None = None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What a candidate has in common with its dialog and with the spans of the training data; it says: right.

    learnt: the right candidates of the training data; left out: those of the table itself, each without its own.
    """
    own = learnt is None
    learnt = table.loc[table["label"] == 1, "second"] if own else learnt
    often = frequency(table, learnt) - (table["label"] == 1).to_numpy() * own
    cues = {"stands in its dialog": in_context(table) == 1, "shares a number with its dialog": shared_numbers(table) > 0,
            "a right one elsewhere in training": often > 0, "a right one ten times in training": often >= 10,
            "has a digit": table["second"].str.contains(r"\d", regex=True).to_numpy(),
            "one word": (normal_words(table["second"]).str.split().str.len() == 1).to_numpy()}
    return {name: (there, np.ones(len(table), int)) for name, there in cues.items()}
