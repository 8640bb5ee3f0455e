"""Comparisons: the kind of a control, the control of a kind, and what a verdict may say."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from scripts.measure.comparisons import (
    ABOVE,
    BELOW,
    CANNOT_TELL,
    LEVEL_WITH,
    UNCLEAR,
    UNKNOWN,
    Control,
    verdict_of,
)
from scripts.measure.intervals import SHARE, Estimate, Part, difference, least_difference
from scripts.measure.experiment import Run
from scripts.measure.study import controls_of, is_at_cap
from tests.compared import compared
from tests.rows import each_row
from tests.runs import write_history

EXAMPLES = 300
RIGHT = np.random.default_rng(3).random(EXAMPLES)  # an example is right where a share is above
PLACE = {"source": "s", "dataset": "d", "split": "test", "slice": "all", "metric": "accuracy"}


def row(model: str, method: str, share: float, **changed) -> dict:
    weights = np.random.default_rng(7).exponential(size=(200, EXAMPLES))
    right = (RIGHT < share).astype(float)
    return {
        **PLACE,
        **{"model": model, "method": method, "seed": None, "wording": None, "scoring": None},
        **{"value": right.mean(), "sd": None, "seeds": 1, "effective_groups": float(EXAMPLES)},
        **{"n": EXAMPLES, "draws": (weights @ right / weights.sum(1)).astype(np.float32)},
    } | changed


ROWS = [
    row("bert", "train", 0.8),
    row("bert", "train_blind", 0.5),
    row("gpt", "likelihood", 0.6),
    row("majority", "baseline", 0.3),
    row("gold", "baseline", 1.0),
    row("second_text", "control", 0.55),
    row("bag", "control", 0.65),
    row("stack", "control", 0.62),
    row("corpus", "control", 0.7),
    row("calendar", "control", 1.0),
    row("raw_bert", "train", 0.68),
]
CONTROLS = {
    "second_text": Control("less", "same"),
    "corpus": Control("same", "more"),
    "calendar": Control("same", "declared"),
}
ON = {"controls": CONTROLS, "pretrained": {"raw_bert": "bert"}}


def by_system(comparisons: list[dict]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for one in comparisons:
        found.setdefault(one["model"], {})[one["kind"]] = one["control"]
    return found


@each_row(
    "reads, learns, sees_all, beside_all, kind",
    """
        less | same     | false | false | shortcut
        less | nothing  | true  | false | shortcut
        same | nothing  | false | false | like_for_like
        same | same     | false | false | like_for_like
        more | same     | true  | false | with_more
        more | same     | true  | true  | like_for_like  # the model sees all candidates, too
        same | more     | false | false | with_more
        more | more     | true  | true  | with_more
        same | declared | false | false | solver
        less | declared | false | false | solver
    """,
)
def test_reading_and_learning_make_a_kind(reads, learns, sees_all, beside_all, kind):
    assert Control(reads, learns, sees_all=sees_all).kind(beside_all) == kind


def test_each_kind_has_its_control_and_a_solver_is_none():
    _, comparisons = compared(ROWS, **ON)
    shared = {"shortcut": "second_text", "like_for_like": "bag", "with_more": "corpus"}
    shared |= {"solver": "calendar", "maximum": "corpus"}
    assert by_system(comparisons) == {
        "bert": shared | {"blind": "train_blind", "unpretrained": "raw_bert"},
        "gpt": shared,  # another model's blind and raw form are not its own
        "raw_bert": shared,
    }
    without = [one for one in comparisons if one["verdict"] is None]
    assert {one["kind"] for one in without} == {"solver", "maximum"}, "a ceiling and a maximum"


def test_the_training_split_chooses_the_control_and_not_the_test():
    values = {"bag": 0.4, "stack": 0.6}
    controls = {
        name: Control("same", "same", training_values={("s", "d"): value})
        for name, value in values.items()
    }
    rows, comparisons = compared(ROWS, **ON | {"controls": CONTROLS | controls})
    assert by_system(comparisons)["gpt"]["like_for_like"] == "stack", "bag is higher on the test"
    chosen = {one["model"] for one in rows if one["chosen"]}
    assert chosen == {"second_text", "stack", "corpus", "calendar"}
    bag = Control("same", "same", "words", True, {("s", "d"): 0.4})
    controls |= {"bag": bag}
    _, comparisons = compared(ROWS, **ON | {"controls": CONTROLS | controls})
    assert by_system(comparisons)["gpt"]["like_for_like"] == "bag", "of two views, the higher one"


@each_row("share", [0.31, 0.5, 0.8, 0.97])
def test_the_interval_beside_a_perfect_control_is_that_of_the_model(share):
    model, perfect = row("bert", "train", share), row("calendar", "control", 1.0)
    found = difference(model, perfect, SHARE)
    assert found.value == pytest.approx(model["value"] - 1)
    assert found.ci_high < 0, "no value above 100 %"
    alone = difference(model, perfect | {"effective_groups": 1e9}, SHARE)
    assert found[1:3] == pytest.approx(alone[1:3]), "the control adds nothing"
    turned = difference(perfect, model, SHARE)
    assert (-turned.ci_high, -turned.ci_low) == pytest.approx(found[1:3])


def test_other_places_and_slices_without_draws_are_not_compared():
    elsewhere = [row("bag", "control", 0.9, split="other"), row("bag", "control", 0.9, slice="x=1")]
    part = {"slice": "part=unseen"}
    rows = [*ROWS[:1], *elsewhere, row("bert", "train", 0.4, **part, draws=None)]
    assert compared(rows)[1] == []
    rows = [row("bert", "train", 0.4, **part), row("bag", "control", 0.3, **part)]
    assert {one["slice"] for one in compared(rows)[1]} == {"part=unseen"}


@each_row(
    "value, half, p_value, family, verdict",
    [
        (0.05, 0.03, 0.001, 1, ABOVE),
        (-0.05, 0.03, 0.001, 1, BELOW),
        (0.05, 0.04, 0.02, 1, ABOVE),
        (0.05, 0.04, 0.02, 3, CANNOT_TELL),  # among three tests, 0.06
        (0.03, 0.027, 0.03, 3, UNCLEAR),
        (0.005, 0.02, 0.6, 1, LEVEL_WITH),
        (0.02, 0.03, 0.2, 1, UNCLEAR),
        (0.02, 0.09, 0.7, 1, CANNOT_TELL),
        (0.02, None, None, 1, UNKNOWN),
    ],
)
def test_a_verdict_is_made_within_its_family(value, half, p_value, family, verdict):
    ends = (None, None) if half is None else (value - half, value + half)
    parts = (Part((half / 1.96) ** 2, math.inf),) if half else ()
    estimate = Estimate(value, *ends, p_value, parts)
    assert verdict_of(estimate, least_difference(estimate, family), family) == verdict


def test_the_least_difference_is_found_in_four_of_five_cases():
    """Simulated: a difference of this size, with this spread, is clear in 80 % of draws."""
    for tests in (1, 3):
        error = 0.02
        least = least_difference(Estimate(0, -1, 1, 1, (Part(error**2, math.inf),)), tests)
        drawn = np.random.default_rng(5).normal(least, error, 20_000)
        quantile = NormalDist().inv_cdf(1 - 0.025 / tests)
        assert np.mean(drawn > quantile * error) == pytest.approx(0.8, abs=0.01)


@each_row(
    "seeds, cap, said",
    """
        3 | false | clearly above
        2 | false | above in these two runs
        1 | false | above in this run
        3 | true  | clearly above; stopped at its cap, not trained to the end
    """,
)
def test_fewer_than_three_seeds_say_no_more_than_their_runs(seeds, cap, said):
    """Two seeds that differ say no less than one of them."""
    model = row("bert", "train", 0.8, seeds=seeds, sd=0.05 if seeds == 2 else None)
    place = frozenset([("s", "d", "bert", "train")]) if cap else frozenset()
    _, [one, _] = compared([model, row("bag", "control", 0.6)], at_cap=place)
    assert one["words"] == said and one["at_cap"] == cap


def test_the_other_side_stopped_at_its_cap_and_predictions_from_elsewhere_are_one_run():
    rows = [row("bert", "train", 0.8, seeds=3), row("bert", "train_blind", 0.5, seeds=3)]
    place = frozenset([("s", "d", "bert", "train_blind")])
    [one] = [one for one in compared(rows, at_cap=place)[1] if one["kind"] == "blind"]
    assert one["words"] == "clearly above; the other side was not trained to the end"
    assert not one["at_cap"]
    external = row("gpt", "external", 0.8, seeds=None), row("bag", "control", 0.6)
    assert compared(external)[1][0]["words"] == "above in this run"


def test_a_family_does_not_depend_on_what_else_ran():
    """The headline's family is declared; the same numbers have the same words in any company."""
    headline = {"headline": "accuracy", "family": 3}
    [alone] = [one for one in compared(ROWS, **ON, **headline)[1] if one["model"] == "gpt"][1:2]
    fewer = [one for one in ROWS if one["model"] != "bert"]
    [beside] = [one for one in compared(fewer, **ON, **headline)[1] if one["model"] == "gpt"][1:2]
    assert alone == beside and alone["family"] == 3 and "among 3 tests" in alone["words"]
    part = [one | {"slice": "part=unseen"} for one in ROWS]
    assert {one["family"] for one in compared(part, **ON, **headline)[1] if one["verdict"]} == {1}


@each_row(
    "epochs, best, held_out, last_loss, at_cap",
    """
        5 | 5 | 100 | 0.40 | true
        5 | 5 | 100 | 0.48 | true
        5 | 5 | 100 | 0.495 | false  # the loss hardly falls
        5 | 5 | 100 | 0.04 | false  # nothing is left to learn
        5 | 4 | 100 | 0.60 | false  # the loss rose
        4 | 4 | 100 | 0.40 | false  # patience ended it
        5 | 5 | 0   | 0.40 | false  # nothing is held out: nobody knows
    """,
)
def test_a_run_that_ends_at_its_cap_is_known(tmp_path, epochs, best, held_out, last_loss, at_cap):
    facts = {"training": {"epochs": 5}, "epochs": epochs, "best_epoch": best}
    write_history(tmp_path, [*[0.5] * (epochs - 1), last_loss])
    facts |= {"held_out_examples": held_out, "train_examples": 900}
    assert is_at_cap(Run(tmp_path, facts)) == at_cap


def test_a_control_of_ones_own_says_what_it_reads():
    facts = {"model": "mine", "rung": "words", "sees_all": False, "training_value": None}
    facts |= {"source": "s", "dataset": "d"}
    assert controls_of([facts], {"mine": {"reads": "less"}})["mine"].kind() == "shortcut"
    assert controls_of([facts], {})["mine"].kind() == "like_for_like"
