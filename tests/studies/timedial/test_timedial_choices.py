"""Variants of the challenge that controls cannot pass: balanced choices, contrast pairs, and
dialogs as groups.
"""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.measure.ranking import outranked_by_chance
from scripts.studies.timedial.choices import chosen, table_of
from scripts.studies.timedial.contrast import in_other_units
from scripts.studies.timedial.controls import nearest_two
from tests.files import read_json
from tests.studies.timedial.test_build_timedial import TEST, challenge_rows, corpus  # noqa: F401
import itertools
from scripts.text.sizes import distance
from scripts.text.sizes import letters
from scripts.text.sizes import sizes

pytestmark = pytest.mark.slow  # many processes

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
MONTHS = {"month": 1, "year": 12, "decade": 120, "century": 1200}  # another scale, so kept apart
WORDS = {"half a": 0.5, "half an": 0.5, "one": 1, "a": 1, "an": 1}
UNITS = {"centuries": "century"} | {f"{unit}s": unit for unit in [*SECONDS, *MONTHS]}


@pytest.fixture(scope="module")
def real(mirror):
    """Return the options of the real challenge's instances with two right and two wrong options
    (schema cloze, with the columns that choices read).
    """
    if not (mirror / TEST).exists():
        pytest.skip(f"the mirror lacks {TEST}")
    rows = []
    for one in read_json(mirror / TEST):
        options = [one[name].strip() for name in "correct1 correct2 incorrect1 incorrect2".split()]
        if options[1] != "none":
            rows += [
                {
                    "example_id": f"{one['id']}:{place}",
                    "instance_id": str(one["id"]),
                    "dialog_id": str(one["id"]),
                    "context": "\n".join(one["conversation"]),
                    "candidate": option,
                    "label": int(place < 2),
                    "rule": "",
                    "is_original": place == 0,
                }
                for place, option in enumerate(options)
            ]
    return pd.DataFrame(rows)


def rights(options: pd.DataFrame, score: np.ndarray) -> np.ndarray:
    """Return (instances,) the probability that a control's scores are right, with ties broken at
    random.
    """
    label, instance = options["label"].to_numpy(), pd.factorize(options["instance_id"])[0]
    return outranked_by_chance(score, label, instance)[0]


def slow_nearest_two(texts: list[str]) -> float:
    """Return the probability that the two nearest options are the first two, over all orders of
    ties.
    """

    def far(one: str, other: str) -> float:
        alike = letters(one), letters(other)
        share = len(alike[0] & alike[1]) / len(alike[0] | alike[1])
        return round(distance(sizes(one), sizes(other)) + 0.01 * (1 - share), 9)

    nearest = [
        min(far(one, other) for place, other in enumerate(texts) if place != at)
        for at, one in enumerate(texts)
    ]
    orders = [
        {place for _, _, place in sorted(zip(nearest, order, range(4)))[:2]}
        for order in itertools.permutations(range(4))
    ]
    return float(np.mean([top == {0, 1} for top in orders]))


def test_two_dialogs_exchange_their_right_options_whatever_is_seen_of_them(corpus):  # noqa: F811
    flight = ["The flight takes <MASK> .", "That is long for an old man like me ."]
    visit = ["She will stay for <MASK> .", "I shall be glad when they are over ."]
    corpus.challenge = pd.concat(
        [
            challenge_rows({"1": flight}, ["two hours", "3 hours", "2 days", "10 seconds"]),
            challenge_rows({"2": visit}, ["two weeks", "three weeks", "a day", "two years"]),
            challenge_rows({"3": ["Not now , <MASK> !"]}, ["May", "June", "noon", "5 pm"]),
        ],
        ignore_index=True,
    )
    corpus.challenge_spans = corpus.challenge_spans.iloc[:0]
    test = corpus.build("exchanged", choices="exchanged")["test"]
    assert test.groupby("instance_id")["candidate"].agg(list).to_dict() == {
        "1": ["two hours", "3 hours", "two weeks", "three weeks"],
        "2": ["two weeks", "three weeks", "two hours", "3 hours"],
    }
    assert test["label"].tolist() == [1, 1, 0, 0] * 2
    target = corpus.build("target", choices="exchanged", context_scope="target")["test"]
    assert target["candidate"].equals(test["candidate"])


def test_a_choice_that_leaves_nothing_is_refused(corpus):  # noqa: F811
    said = corpus.build(ok=False, choices="missed")
    assert "choices: missed keeps no instance of 2; use choices: all" in said
    corpus.challenge = challenge_rows({"9": ["<MASK> !"]}, ["May", "June", "noon", "5 pm"])
    corpus.challenge_spans = corpus.challenge_spans.iloc[:0]
    assert "use contrast: none" in corpus.build(ok=False, contrast="unit")


def amount(text: str) -> tuple[str, float]:
    """Return the scale and value of a plain duration, read without the code that writes it."""
    found = re.search(r"(?i)(half an?|one|an?|[\d.]+) (\w+)", text)
    unit = UNITS.get(found[2], found[2])
    number = WORDS.get(found[1].lower()) or float(found[1])
    return "seconds" if unit in SECONDS else "months", number * (SECONDS | MONTHS)[unit]


@settings(max_examples=30)
@given(
    st.integers(1, 400),
    st.sampled_from([*SECONDS, *MONTHS]),
    st.sampled_from(["{}", "about {}", "the last {}", "{} ago", "at least {}"]),
)
def test_another_unit_has_the_same_value(number, unit, around):
    many = {name: plural for plural, name in UNITS.items()}
    said = around.format(f"{number} {unit if number == 1 else many[unit]}")
    [new] = in_other_units(pd.Series([said]))
    if isinstance(new, str):
        assert new != said and amount(new) == amount(said)


def test_instances_of_one_dialog_share_its_id_though_words_were_changed(corpus):  # noqa: F811
    turns = ["The flat is free for <MASK> , madam .", "I will take it for two weeks .", "Good ."]
    asked = {
        "1": ["The flat is free for six months , madam .", "I will take it for <MASK> .", "Good ."],
        "5": [turns[0].replace("madam", "sir"), *turns[1:]],
        "9": ["Nobody says what stands in here at all .", "<MASK> !"],
    }
    corpus.challenge = challenge_rows(asked)
    corpus.challenge_spans = corpus.challenge_spans.iloc[:0]
    test = corpus.build()["test"].drop_duplicates("instance_id").set_index("instance_id")
    assert test["dialog_id"].to_dict() == {"1": "1", "5": "1", "9": "9"}
    limited = corpus.build("one", limit=1)["test"]
    assert set(limited["dialog_id"]) <= {"1", "9"}, "whatever a limit keeps"


def test_missed_are_the_instances_that_a_slow_nearest_two_misses(real):
    wanted = {
        name
        for name, texts in real.groupby("instance_id")["candidate"].agg(list).items()
        if slow_nearest_two(texts) == 0
    }
    missed = chosen(real, "missed", pd.Series(dtype=object), "here")
    assert set(missed["instance_id"]) == wanted and 50 < len(wanted) < 80
    assert len(missed) == 4 * len(wanted)
    assert rights(missed, nearest_two(table_of(missed))).max() == 0
