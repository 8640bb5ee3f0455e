"""A control reads what its study declares, and no more: what it may not read is exchanged, and its
features and rules stay equal.
"""

import importlib

import numpy as np
import pandas as pd
import pytest

from scripts.controls.view import View
from scripts.data.studies import read_studies
from tests.registers import MODELS

STUDIES = {name: study for name, study in read_studies().items() if "controls" in study}
SENTENCES = [
    "A: How long is the flight to Rome? B: <MASK> . We leave at 5 PM.",
    "He went to the market in May 1990. How long did he stay there?",
    "They met on Monday, before July. What happened two hours later?",
    "She slept for 3 days after 14:00. How often does she sleep?",
]
OPTIONS = ["2 hours", "for 40 minutes", "in March", "three weeks ago", "at 5 PM", "before Friday"]


def table(seed: int) -> pd.DataFrame:
    """Return twelve instances of four options, as a search reads them."""
    draw, rows = np.random.default_rng(seed), []
    for number in range(12):
        for place, option in enumerate(draw.permutation(OPTIONS)[:4]):
            rows.append(
                {
                    "first": SENTENCES[number % 4].replace("Rome", f"town {number}"),
                    "second": option,
                    "choice_id": f"c{number}",
                    "group_id": f"g{number}",
                    "example_id": f"e{number}:{place}",
                    "category": ["duration", "ordering", "frequency"][number % 3],
                    "label": int(place < 2),
                }
            )
    return pd.DataFrame(rows)


def features_of(view: View, rows: pd.DataFrame, train: pd.DataFrame) -> list:
    """Return all that a view and its parts read of each row: texts, and numbers."""
    made = [view.words, view.cues, view.averaged, view.by, view.numbers, *view.rules.values()]
    made += [learn(train) for learn in view.learnt.values()]
    found = [np.asarray(make(rows)) for make in made if make]
    found += [np.asarray(text) for text in (view.pairs(rows) if view.pairs else ())]
    return found + [one for part in view.parts.values() for one in features_of(part, rows, train)]


def declared(reads: str) -> list[tuple[str, str]]:
    """Return the searched views that read less than, or the same as, a model, by study."""
    return [
        (study, MODELS[name]["control"]["search"])
        for study, entry in STUDIES.items()
        for name, how in entry["controls"].items()
        if how.get("reads", "same") == reads and "search" in MODELS[name].get("control", {})
    ]


def view_of(study: str, name: str) -> View:
    return importlib.import_module(f"scripts.studies.{study}.controls").VIEWS[name]


def assert_equal(view: View, rows: pd.DataFrame, changed: pd.DataFrame, row: slice) -> None:
    train = table(1)
    both = features_of(view, rows, train), features_of(view, changed, train)
    assert both[0], "the view reads something"
    for one, other in zip(*both, strict=True):
        if one.dtype == object:
            assert list(one[row]) == list(other[row])
        else:
            assert np.allclose(one[row], other[row], equal_nan=True)


@pytest.mark.parametrize("study, name", declared("less"))
def test_a_shortcut_does_not_read_the_other_text(study, name):
    rows = table(2)
    changed = rows.assign(first=[*rows["first"][4:], *rows["first"][:4]])
    assert_equal(view_of(study, name), rows, changed, slice(None))


OF_ONE = [
    (study, name)
    for study, name in declared("same")
    if "choice_id" in STUDIES[study]["columns"] or study == "mctaco"
]


@pytest.mark.parametrize("study, name", OF_ONE)
def test_like_for_like_reads_one_option(study, name):
    """The other options of the first instance are exchanged, and all categories."""
    rows = table(2)
    second = [rows["second"][0], *["next year", "17 seconds", "every decade"], *rows["second"][4:]]
    changed = rows.assign(second=second, category="stationarity")
    view = view_of(study, name)
    assert not view.compares
    assert_equal(view, rows, changed, slice(0, 1))


def test_every_search_of_a_study_is_declared():
    for study, entry in STUDIES.items():
        views = importlib.import_module(f"scripts.studies.{study}.controls").VIEWS
        known = {MODELS[name]["control"].get("search") for name in entry["controls"]}
        assert {*views} <= known, study
