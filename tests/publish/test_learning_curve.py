"""Accuracy against training pairs, and the point at which a model passes the control like for
like.
"""

import re

import pandas as pd
import pytest

from scripts.publish.compared import read_comparisons
from scripts.publish.scorecard.cells import cells_of, probe_rows, read_scores
from scripts.publish.selection import only
from tests.publish.recorded import Recorded
from tests.registers import SOURCES, STUDIES

FIGURE = "strided_sop_learning_curve"
WHOLE = {"dataset": "stride-0", "train_pairs": None}


def with_whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the smallest size as if it were the whole training split."""
    return pd.concat([frame, frame[frame["train_pairs"] == 500].assign(**WHOLE)])


def headlines(frame: pd.DataFrame) -> pd.DataFrame:
    return only(frame, metric="accuracy", slice="all", seed=None, split="val_1")


def test_models_stand_beside_the_control_of_each_size(tmp_path, program):
    recorded = Recorded(tmp_path, program, "strided_sop", "curves")
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
    beside = only(read_comparisons(recorded.metrics), kind="like_for_like", model="mpnet_base")
    beside = only(beside, metric="accuracy", method="train", split="val_1", slice="all")
    sizes = beside.set_index(beside["dataset"].str.extract(r"(\d+)$")[0].astype(int))["difference"]
    assert (trained - best).dropna().tolist() == pytest.approx(
        sizes.sort_index().tolist(), abs=1e-5
    )
    assert "MPNet-base is not above the control at 4,000 pairs (1 seed)" in title
    assert "MiniLM-L6 is not above the control at 4,000 pairs (3 seeds)" in title


def test_a_title_names_the_size_from_which_the_verdict_is_above(tmp_path, program):
    recorded = Recorded(tmp_path, program, "temporal_nli", "curves")
    recorded.call("temporal_nli_learning_curve").checked()
    figure = (tmp_path / "figures/temporal_nli_learning_curve.svg").read_text()
    title = " ".join(" ".join(re.findall(r">([^<>]+)<", figure)).split())
    assert "MPNet-base is above the control at 2,000 pairs, not at 1,000 (1 seed)" in title
    assert "MPNet-base is above the control at 1,000 pairs, not at 500 (1 seed)" in title


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
