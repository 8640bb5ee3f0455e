"""What is no plain run: pairs whose labels are coins, a second objective, other weights to begin with; how each is marked and kept out of comparisons."""

import json

import pandas as pd
import pytest

from scripts.common.program import UserError
from scripts.common.tables import read_table
from scripts.evaluate.strided_sop import objectives_of, options_told
from scripts.publish.selection import altered_experiments, as_published
from scripts.publish.strided_sop.metrics import variant_title
from scripts.publish.transfer.metrics import start_title
from tests.unit.test_build_strided_sop import build, cleaned  # noqa: F401 (a fixture)
from tests.unit.test_strides import names_of

PLAIN = {"size_matched": None, "same_videos": None, "hard": False, "method": "train"}


def test_coins_change_the_labels_that_are_learnt_and_nothing_else(program, cleaned):  # noqa: F811
    build(program, cleaned / "whole", cleaned / "order")
    build(program, cleaned / "whole", cleaned / "coin", train_labels="coin")
    (order, coin), (measured, same) = ([read_table(cleaned / f"{name}/{split}.parquet") for name in ("order", "coin")] for split in ("train", "val"))
    assert measured.equals(same) and coin.drop_columns(["label"]).equals(order.drop_columns(["label"]))
    agree = (order["label"].to_numpy() == coin["label"].to_numpy()).mean()
    assert 0.2 < agree < 0.8 and 0.2 < coin["label"].to_numpy().mean() < 0.8
    done = build(program, cleaned / "whole", cleaned / "no", ok=False, train_labels="coin", stride="up_to_2", predict="stride")
    assert "train_labels: coin stands for the order of pairs" in done.stderr and "Traceback" not in done.stderr


def test_coins_are_told():
    assert names_of({"source": "sample_activitynet", "stride": 3, "train_labels": ["order", "coin"]}) == ["sample_activitynet/stride-3", "sample_activitynet/stride-3-coin"]
    assert options_told(PLAIN | {"stride": 3, "train_labels": "coin"})["train_labels"] == "coin" and options_told(PLAIN | {"stride": 3})["train_labels"] is None
    assert variant_title(pd.Series(PLAIN | {"train_labels": "coin"})) == ", learnt from coins"
    begun = {"study": "strided_sop", "source": "a", "method": "train", "data": {"stride": 3, "train_labels": "coin"}}
    assert start_title(begun, {}, {}) == "after coins for sentence order, stride 3, a (a control)"
    begun["data"]["train_labels"] = "order"
    assert start_title(begun, {}, {}) == "after sentence order, stride 3, a"


def test_a_second_objective_is_told():
    assert objectives_of({"objectives": {"mlm": 0.5, "sop": 1.0}}) == "sop 1, mlm 0.5" and objectives_of({"epochs": 3}) is None
    assert variant_title(pd.Series(PLAIN | {"objectives": "sop 1, mlm 0.5"})) == ", beside masked words (weight 0.5)" and variant_title(pd.Series(PLAIN)) == ""
    with pytest.raises(UserError, match="which are none"):
        objectives_of({"objectives": {"sop": "much"}})


def test_no_paper_is_compared_with_what_is_altered(tmp_path):
    rows = pd.DataFrame([{"experiment": experiment, "method": method, "objectives": objectives} for experiment, method, objectives in (
        ("plain", "train", None), ("plain", "train", "sop 1, mlm 1"), ("begun_elsewhere", "train", None), ("begun_elsewhere", "control", None))])
    (tmp_path / "altered.yaml").write_text(json.dumps(["begun_elsewhere"]))
    assert as_published(rows, altered_experiments(tmp_path / "sources.yaml")).index.tolist() == [0, 3]
    assert altered_experiments(tmp_path / "elsewhere/sources.yaml") == []
