"""Dialogs that share runs of words with the challenge: planted copies, and a slow count of the same
shares.
"""

import difflib
import re

import numpy as np
import pandas as pd

from scripts.studies.timedial.leakage import challenge_turns
from scripts.text.word_overlap import filled_in, overlaps
from scripts.studies.timedial.leakage import sources
from scripts.text.word_overlap import leaks

VOCABULARY = np.array([f"word{number}" for number in range(400)])
MASKED = "A: {0}\nB: well i think that it will take <MASK> before they call us back .\nA: {1}"


def challenge_of(turns: list[tuple[str, str]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "instance_id": str(number),
                "dialog": MASKED.format(*pair),
                "option": option,
                "label": label,
            }
            for number, pair in enumerate(turns)
            for option, label in (("two weeks", 1), ("a fortnight", 1), ("nine years", 0))
        ]
    )


def dialog_table(dialogs: list[list[str]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"dialog": number, "turn": turn, "text": text}
            for number, turns in enumerate(dialogs)
            for turn, text in enumerate(turns)
        ]
    )


def blocks(one: str, other: str) -> int:
    """Return the words in common stretches of five words or more, by difflib: without runs and
    hashes.
    """
    one, other = (re.findall(r"\w+", text.lower()) for text in (one, other))
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return sum(max(block.size - 4, 0) for block in matcher.get_matching_blocks())


def sentence(draw: np.random.Generator, count: int) -> list[str]:
    return list(draw.choice(VOCABULARY, count))


def leaking(dialogs: list[list[str]], challenge: pd.DataFrame) -> set[int]:
    pairs = overlaps(
        dialog_table(dialogs), filled_in(challenge, challenge_turns(challenge, "here"))
    )
    return set(pairs.loc[leaks(pairs), "dialog"])


def test_shares_are_those_of_a_slow_account():
    """Random dialogs contain stretches of the instances. No run occurs twice, so difflib's blocks
    count the runs.
    """
    draw = np.random.default_rng(1)
    pairs = [
        (" ".join(draw.permutation(VOCABULARY)[:20]), " ".join(draw.permutation(VOCABULARY)[:20]))
        for _ in range(6)
    ]
    challenge = challenge_of(pairs)
    filled = filled_in(challenge, challenge_turns(challenge, "here"))
    dialogs = []
    for number in range(30):
        taken = pairs[number % 6][0].split()[: 4 + number // 2]
        dialogs.append([" ".join([*taken, *draw.permutation(VOCABULARY)[:15]]), "Yes ."])
    found = overlaps(dialog_table(dialogs), filled).set_index(["dialog", "instance_id"])[
        "dialog_share"
    ]
    compared = 0
    for number, turns in enumerate(dialogs):
        text = " ".join(turns)
        for row in filled.drop_duplicates("instance_id").itertuples():
            fewest = min(len(re.findall(r"\w+", one)) - 4 for one in (text, row.text))
            expected = blocks(text, row.text) / fewest
            assert abs(found.get((number, row.instance_id), 0) - expected) < 1e-9, (
                number,
                row.instance_id,
            )
            compared += expected > 0
    assert compared >= 25


def test_planted_copies_are_found():
    draw = np.random.default_rng(0)
    first, last, other = (sentence(draw, 30) for _ in range(3))
    challenge = challenge_of([(" ".join(first), " ".join(last))])
    changed = [word if place % 9 else "another" for place, word in enumerate(first + last)]
    dialogs = [
        # every ninth word is another, and the turns have other breaks
        [" ".join(changed[:11]), " ".join(changed[11:35]), " ".join(changed[35:])],
        # the answer, verbatim
        [" ".join(other), "Well, I think that it will take two weeks before they call us back!"],
        # the second answer
        [" ".join(other), "Well, I think that it will take a fortnight before they call us back!"],
        # no right answer
        [" ".join(other), "Well, I think that it will take nine years before they call us back!"],
        [" ".join(other), "It will take long."],
        [" ".join(sorted(first))],
        ["Hi"],
        [""],
    ]
    assert leaking(dialogs, challenge) == {0, 1, 2}
    exact, near = sources(dialog_table(dialogs), challenge_turns(challenge, "here"))
    assert not len(exact) and not len(near)  # turns of equal text do not show these copies
