"""The ladder of controls: the best control of each rung, and the highest rung that a model clearly
leaves behind.
"""

import numpy as np
import pandas as pd
import pytest

from scripts.measure.ladder import RUNGS
from scripts.publish.rungs import with_clear, with_stands
from tests.ladder import compared, found_distances

EXAMPLES = 300
RIGHT = np.random.default_rng(3).random(EXAMPLES)  # an example is right where a share is above
PLACE = {"source": "s", "dataset": "d", "split": "test", "slice": "all", "metric": "accuracy"}


def row(model: str, method: str, share: float, **changed) -> dict:
    """Return the row of a system that is right on this share of the examples, with draws."""
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
    row("nearest", "control", 0.55),
    row("farthest", "control", 0.4),
    row("bag", "control", 0.65),
    row("vectors", "control", 0.7),
    row("raw_bert", "train", 0.68),
]
ON = {
    "rungs": {"nearest": "rules", "farthest": "rules", "vectors": "texts"},
    "pretrained": {"raw_bert": "bert"},
}


def by_system(rows: list[dict]) -> dict[str, dict[str, str]]:
    """Return the control of each distance, by model and rung."""
    found: dict[str, dict[str, str]] = {}
    for one in rows:
        name = one["metric"].removeprefix("accuracy_above_")
        found.setdefault(one["model"], {})[name] = one["control"]
    return found


def test_each_rung_gives_its_best_control():
    found = by_system(found_distances(ROWS, **ON))
    shared = {"chance": "majority", "rules": "nearest", "words": "bag", "texts": "vectors"}
    assert found == {
        "bert": shared | {"blind": "train_blind", "unpretrained": "raw_bert", "control": "vectors"},
        "gpt": shared
        | {"control": "vectors"},  # another model's blind and raw form are not its own
        "raw_bert": shared | {"control": "vectors"},
    }


def test_the_training_split_chooses_the_control_of_a_rung():
    values = {("s", "d", "nearest"): 0.4, ("s", "d", "farthest"): 0.6}
    found = by_system(found_distances(ROWS, **ON, training_values=values))
    assert found["gpt"]["rules"] == "farthest" and found["gpt"]["control"] == "vectors"
    apart = {"seeing_all": frozenset(["farthest"]), "training_values": values}
    found = by_system(found_distances(ROWS, **ON, **apart))
    assert found["gpt"]["rules"] == "nearest", "of two views the higher one on the test stands"


def test_a_distance_is_the_paired_difference_of_both_rows():
    found = {one["metric"]: one for one in found_distances(ROWS, **ON) if one["model"] == "bert"}
    above = found["accuracy_above_texts"]
    assert above["value"] == pytest.approx(ROWS[0]["value"] - ROWS[8]["value"])
    spread = np.std(np.subtract(ROWS[0]["draws"], ROWS[8]["draws"], dtype=float))
    assert above["ci_high"] - above["value"] == pytest.approx(1.97 * spread, rel=0.02)


def test_a_control_that_sees_all_options_stands_beside_the_best_that_sees_one():
    for seeing_all, beside in (("vectors", "bag"), ("farthest", None)):
        found = by_system(found_distances(ROWS, **ON, seeing_all=frozenset([seeing_all])))["gpt"]
        assert found["control"] == "vectors" and found.get("same_view") == beside


def test_other_places_and_slices_without_draws_are_not_compared():
    elsewhere = [row("bag", "control", 0.9, split="other"), row("bag", "control", 0.9, slice="x=1")]
    part = {"slice": "part=unseen"}
    rows = [*ROWS[:1], *elsewhere, row("bert", "train", 0.4, **part, draws=None)]
    assert found_distances(rows) == []
    rows = [row("bert", "train", 0.4, **part), row("bag", "control", 0.3, **part)]
    assert {one["slice"] for one in found_distances(rows)} == {"part=unseen"}


def test_rows_name_their_rung():
    rungs = {
        one["model"]: one["rung"] for one in compared(ROWS, **ON) if "_above" not in one["metric"]
    }
    assert rungs["majority"] == "chance" and rungs["vectors"] == "texts" and rungs["gold"] is None
    assert rungs["raw_bert"] == "unpretrained" and rungs["gpt"] is None


def stood(
    p_values: dict[str, float], groups: int = 200, best: str = "control", **above: float
) -> pd.Series:
    """Return the row of one model with these p-values; a rung without one was not measured. best:
    the rung of the best control.
    """
    cells = {"study": "mctaco", "value": 0.7, "groups": groups, "seeds": 3}
    for rung in (*RUNGS, "control"):
        is_measured = rung in p_values
        cells[f"above_{rung}"] = above.get(rung, 0.1) if is_measured else np.nan
        cells[f"above_{rung}_p"] = p_values.get(rung, np.nan)
        cells[f"above_{rung}_control"] = best if rung == "control" else rung
        # the interval excludes zero where p < 0.05
        cells[f"above_{rung}_low"] = 0.05 - p_values.get(rung, np.nan)
        cells[f"above_{rung}_high"] = 0.25
    studies = {"mctaco": {"groups": "sentences"}}
    return with_stands(with_clear(pd.DataFrame([cells])), studies).iloc[0]


def test_a_model_stands_above_the_highest_rung_below_which_all_are_left_behind():
    clear, unclear = 0.001, 0.5
    row = stood({"chance": clear, "blind": clear, "words": clear})
    assert row["rung"] == "words"
    assert "rules" in row["stands"] and "without pretraining" in row["stands"], "not run is said"
    row = stood({"chance": clear, "rules": unclear, "words": clear})
    assert row["rung"] == "chance" and "rules (60.0)" in row["stands"]
    row = stood({"chance": clear, "rules": clear}, rules=-0.1)
    assert row["rung"] == "chance", "below a rung is not above it"
    assert "below rules (80.0)" in row["stands"]
    assert pd.isna(stood({"chance": unclear})["rung"])


def test_holm_is_over_all_rungs_of_all_rows():
    assert stood({"chance": 0.02})["rung"] == "chance"
    row = stood({rung: 0.02 for rung in RUNGS})
    assert pd.isna(row["rung"]), "six tests of 0.02 are not clear"
    assert "chance (60.0): not clear among 6 comparisons, +10.0 (" in row["stands"]
    assert "chance (60.0): not clear, +10.0 (" in stood({"chance": 0.5})["stands"]
    few = stood({"chance": 0.5}, groups=3)["stands"]
    assert "chance (60.0): too few sentences (3) to tell" in few


def test_the_best_control_joins_the_comparisons_once():
    both = {"words": 0.03, "control": 0.03}
    assert stood(both)["tests"] == 2 and not stood(both)["above_control_clear"]
    row = stood(both, best="words")
    assert row["tests"] == 1 and row["above_control_clear"]
    weaker = stood({"rules": 0.5, "control": 0.001})
    assert not weaker["above_control_clear"], "a control of a rung is not left behind"
    assert stood({"rules": 0.5, "control": 0.001}, control=-0.1)["above_control_clear"], "below it"
