"""A filter removes what its judges see, and a family that it left out says whether that is enough."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.data.tables import read_table
from scripts.data.yaml_files import read_yaml
from scripts.measure.filtered import verdict
from tests.files import read_json
from tests.measure.orders import FACTS, evaluate, write_split
from tests.runs import write_run
from tests.studies.strided_sop.test_evaluate_strided_sop import scored_pair
from tests.controls.test_controls import run_control, scores_of
from tests.controls.test_search import captions

PAIRS = 2000


def metrics_of(program, folder, systems: dict[str, tuple[np.ndarray, dict]], *more) -> pd.DataFrame:
    """Evaluate systems on pairs; a system has the sureness of the right order, and facts."""
    table = write_split([scored_pair(pair) for pair in range(PAIRS)], folder)
    turn = np.where(table["label"] == 1, 1, -1)
    for name, (sure, facts) in systems.items():
        scores = np.column_stack([-sure * turn / 2, sure * turn / 2])
        parts = [("val", "held_out", table, scores)]
        write_run(folder, name, parts, **FACTS | {"model": name, "seed": 0} | facts)
    return evaluate(program, folder, systems, *more)[0]


def control(**kind: str) -> dict:
    return {"method": "control", "control": kind, "training_value": 0.7}


def planted(draw: np.random.Generator, share: float) -> np.ndarray:
    """Draw how sure a learner is of the right order that is right on a share of the pairs."""
    return np.where(draw.random(PAIRS) < share, 1, -1) * draw.exponential(size=PAIRS)


@pytest.fixture(params=["cue of the judges", "cue of the family left out"])
def cue(request):
    return request.param


def test_a_cue_that_the_judges_see_is_gone_and_one_of_the_left_out_family_is_found(
    program, tmp_path, cue
):
    draw = np.random.default_rng(1)
    judge, model = planted(draw, 0.75), planted(draw, 0.8)
    of_judges = cue == "cue of the judges"
    left_out = judge + 0.3 * draw.normal(size=PAIRS) if of_judges else planted(draw, 0.75)
    systems = {
        "search_words": (judge, control(search="words")),
        "left_out_network": (left_out, control(left_out="network")),
        "minilm": (model, {"method": "train"}),
    }
    metrics = metrics_of(program, tmp_path, systems)
    found = metrics[metrics["seed"].isna()].set_index(["model", "metric", "slice"])
    reached = found["value"].loc[:, "accuracy"]
    assert reached["search_words", "all"] > 0.7 and reached["search_words", "filter=even"] == 0.5
    assert abs(reached["minilm", "filter=even"] - 0.8) < 0.04, (
        "a model that does not use the cue stays"
    )
    before, after = (
        found.loc[("left_out_network", "left_out", part)] for part in ("all", "filter=even")
    )
    assert 0.3 * PAIRS < after["n"] < 0.6 * PAIRS and before["n"] == PAIRS
    assert verdict(before, after) == ("hard" if of_judges else "not hard"), after["value"]
    if not of_judges:
        compared = read_table(tmp_path / "comparisons.parquet").to_pandas()
        rows = compared[(compared["kind"] == "maximum") & (compared["slice"] == "filter=even")]
        assert set(rows["control"]) == {"left_out_network"}, (
            "the family left out is the highest control there"
        )
    program(
        f"scripts.publish.item scripts.publish.ladder --metrics {tmp_path}/metrics.parquet --headline accuracy"
        f" --train {tmp_path} --runs minilm --output {tmp_path}/ladder"
    ).checked()
    [said] = re.findall(r"filtered: (.*) \(left out", (tmp_path / "ladder.md").read_text())
    assert said == ("hard" if of_judges else "not hard")


def test_without_a_family_left_out_no_set_is_filtered(program, tmp_path):
    judge = planted(np.random.default_rng(1), 0.75)
    metrics = metrics_of(program, tmp_path, {"search_words": (judge, control(search="words"))})
    assert not metrics["slice"].str.startswith("filter").any()


def test_a_solver_is_no_judge(program, tmp_path):
    """The other judge filters as if the solver were not there."""
    judge, right = planted(np.random.default_rng(1), 0.75), np.ones(PAIRS)
    systems = {
        "search_words": (judge, control(search="words")),
        "left_out_network": (judge, control(left_out="network")),
    }
    solver = control(search="calendar") | {"rung": "rules"}
    metrics = read_yaml(Path("scripts/studies/strided_sop/study.yaml"))["metrics"]
    declared = {"metrics": metrics, "controls": {"search_calendar": {"learns": "declared"}}}
    left = []
    for name, more in (("alone", {}), ("beside", {"search_calendar": (right, solver)})):
        (folder := tmp_path / name).mkdir()
        found = metrics_of(program, folder, systems | more, "--contest", json.dumps(declared))
        found = found.set_index(["model", "metric", "slice"])
        left.append(found.loc[("search_words", "accuracy", "filter=even"), "n"])
    assert left[0] == left[1] > 0


def test_a_judge_that_is_never_wrong_leaves_nothing_to_filter():
    rows = [{"n": 400, "ci_low": 0.9, "ci_high": 1.0}, {"n": 2, "ci_low": 0.1, "ci_high": 0.9}]
    assert verdict(*rows) == "cannot be filtered, 2 of 400 are left"


@pytest.mark.slow
def test_the_network_learns_words_from_scratch_and_writes_no_value(program, tmp_path):
    control_of_program = {"left_out": "network"}
    run_control(program, tmp_path, captions(1), captions(2), control_of_program).checked()
    scores, label = scores_of(tmp_path), captions(2)["label"].to_numpy()
    assert ((scores[:, 1] > scores[:, 0]) == label).mean() > 0.6
    assert read_json(tmp_path / "run/run.json")["training_value"] is None
