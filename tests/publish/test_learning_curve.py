"""Accuracy against training pairs, and the point at which a model passes the control like for
like.
"""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scripts.publish.learning_curve import crossing
from scripts.publish.compared import read_comparisons
from scripts.publish.scorecard.cells import cells_of, probe_rows, read_scores
from scripts.publish.selection import only
from tests.publish.recorded import Recorded
from tests.registers import SOURCES, STUDIES

FIGURE = "strided_sop_learning_curve"
WHOLE = {"dataset": "stride-0", "train_pairs": None}


def with_draws(frame: pd.DataFrame) -> pd.DataFrame:
    """Add draws, which the record leaves out."""
    noise = np.random.default_rng(1).normal(0, 0.015, 200)
    return frame.assign(draws=[value + noise * (0.5 + value) for value in frame["value"]])


def with_whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the smallest size as if it were the whole training split."""
    return pd.concat([frame, frame[frame["train_pairs"] == 500].assign(**WHOLE)])


def headlines(frame: pd.DataFrame) -> pd.DataFrame:
    return only(frame, metric="accuracy", slice="all", seed=None, split="val_1")


def slow_crossing(sizes: list[float], above: list[float]) -> float:
    """Find the crossing in small steps along the line, from its right end."""
    if all(value > 0 for value in above):
        return 0.0
    if above[-1] <= 0:
        return np.inf
    steps = np.linspace(np.log(sizes[0]), np.log(sizes[-1]), 20_001)
    for at in np.union1d(steps, np.log(sizes))[::-1]:  # a line may touch zero at a size alone
        if np.interp(at, np.log(sizes), above) <= 0:
            return float(np.exp(at))
    raise AssertionError("a line with both signs crosses zero")


def test_models_stand_beside_the_control_of_each_size(tmp_path, program):
    recorded = Recorded(tmp_path, program, "strided_sop", "curves", with_draws)
    recorded.call(FIGURE).checked()
    rows = headlines(pd.read_parquet(recorded.metrics))
    chosen = rows["chosen"].eq(True) & rows["kind_of_control"].eq("like_for_like")
    best = rows[chosen].groupby("train_pairs")["value"].max()
    trained = rows[rows["model"] == "mpnet_base"].set_index("train_pairs")["value"].sort_index()
    points = recorded.points(FIGURE).query("split == 'val_1'")
    control = points[points["method"] == "control"].sort_values("train_pairs")
    assert control["value"].tolist() == pytest.approx(best.tolist())
    assert set(points[points["method"] == "train"]["model"]) == {"mpnet_base", "minilm"}
    figure = (tmp_path / f"figures/{FIGURE}.svg").read_text()
    title = " ".join(" ".join(re.findall(r">([^<>]+)<", figure)).split())
    passes = re.search(r"MPNet\S* passes the control at ([\d,]+) pairs", title)
    expected = slow_crossing(list(best.index), list(trained - best))
    assert float(passes[1].replace(",", "")) == pytest.approx(expected, rel=0.005)
    assert "MiniLM-L6 does not pass the control" in title


@pytest.mark.parametrize("whole", [True, False])
def test_elsewhere_the_model_that_learnt_from_most_pairs_stands(tmp_path, program, whole):
    """Other figures show the model that learnt from most pairs, or from all pairs if there is one.
    The scorecard once showed the smallest.
    """
    change = with_whole if whole else None
    recorded = Recorded(tmp_path, program, "strided_sop", "curves", change)
    recorded.call("accuracy_by_stride").checked()
    rows = only(headlines(pd.read_parquet(recorded.metrics)), model="mpnet_base")
    [value] = only(rows, train_pairs=500 if whole else 4000)["value"]
    points = recorded.points("accuracy_by_stride")
    points = only(points, model="mpnet_base", split="val_1", metric="accuracy", seed=None)
    assert points["value"].tolist() == pytest.approx([value])
    metrics, studies = read_scores(recorded.metrics), {"strided_sop": STUDIES["strided_sop"]}
    beside = read_comparisons(recorded.metrics)
    cells = cells_of(probe_rows(metrics, studies, SOURCES), metrics, beside, studies, {})
    assert only(cells, model="mpnet_base")["value"].tolist() == pytest.approx([value])


@example([1, 0, 1, 1])
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=6))
def test_a_crossing_is_where_the_line_stays_above_zero(values):
    sizes = np.array([250 * 2.0**place for place in range(len(values))])
    [found] = crossing(sizes, np.array([values], float))
    assert found == pytest.approx(slow_crossing(list(sizes), values), rel=0.005)
