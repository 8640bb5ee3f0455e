"""Mixed strides, training on another stride or corpus, and the stride itself as the label:
datasets, names, numbers, figures.
"""

import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from scripts.studies.strided_sop.build import all_pairs
from scripts.studies.strided_sop.captions import with_counts
from scripts.running.program import UserError
from scripts.studies.strided_sop.options import Options
from scripts.data.tables import content_digest, provenance_of, read_table, write_table
from scripts.studies.strided_sop.tallies import stride_tallies
from scripts.measure.tally import values_of
from tests.studies.strided_sop.conftest import LENGTHS, build, captions
from tests.studies.strided_sop.test_build_strided_sop import NO_WINDOWS, PERMUTATIONS
from tests.plan.test_configuration import plan
from tests.rows import each_row, rows_of
from tests.plan.test_initial_configuration import SOP, configured

LEARNT = "pair_id video_id text_a text_b label".split()  # the columns that training reads


def test_a_mixture_has_as_many_pairs_of_each_stride(built):
    mixed, parts = (built(source, stride="up_to_2") for source in ("whole", "sharded"))
    for split, pairs in mixed.items():
        assert pairs.equals(parts[split])
        tables = (
            all_pairs(with_counts(captions(LENGTHS, split)), [stride], 0).to_pandas()
            for stride in range(3)
        )
        of_each = {stride: table.set_index("pair_id") for stride, table in enumerate(tables)}
        assert pairs["stride"].value_counts().to_dict() == dict.fromkeys(range(3), len(of_each[2]))
        for pair in pairs.to_dict("records"):
            same = of_each[pair["stride"]].loc[pair["pair_id"]]
            assert (pair["text_a"], pair["label"]) == (same["text_a"], same["label"])
        order = list(zip(pairs["video_id"], pairs["first_position"], pairs["stride"]))
        assert order == sorted(order) and len(set(order)) == len(order)


def test_a_mixture_cut_to_the_size_of_a_stride(program, cleaned, built):
    mixed, plain = built(stride="up_to_2", size_matched=2), built(stride=2)
    learnt, measured = (pairs["stride"].value_counts() for pairs in mixed.values())
    assert set(learnt) == {-(-len(plain["train"]) // 3)}
    assert set(measured) == {len(plain["val"])}
    build(program, cleaned / "whole", cleaned / "limited", stride="up_to_2", limit=10)
    assert len(read_table(cleaned / "limited/val.parquet")) == 10
    assert provenance_of(cleaned / "limited/val.parquet")["limited"]["kept"] == 10


def test_what_is_learnt_from_is_that_of_the_other_stride(program, cleaned):
    """All columns that training reads are equal, so kept weights serve for every evaluated
    stride.
    """
    build(program, cleaned / "whole", cleaned / "two", stride=2)
    build(program, cleaned / "whole", cleaned / "crossed", stride=0, train_stride=2)
    build(program, cleaned / "whole", cleaned / "none", stride=0)
    digest = {
        name: {
            split: content_digest(cleaned / f"{name}/{split}.parquet", LEARNT)
            for split in ("train", "val")
        }
        for name in ("two", "crossed", "none")
    }
    assert digest["crossed"]["train"] == digest["two"]["train"] != digest["none"]["train"]
    assert digest["crossed"]["val"] == digest["none"]["val"] != digest["two"]["val"]


def test_another_corpus_to_learn_from(program, cleaned, built, tmp_path):
    other = captions([9, 9], "elsewhere")
    other = other.set_column(
        2, "video_id", pa.array([f"w{name}" for name in other["video_id"].to_pylist()])
    )
    write_table(other, tmp_path / "other/elsewhere.parquet", other.schema, {"licence": "CC0"})
    program(
        f"scripts.studies.strided_sop.build --cleaned {cleaned}/whole --splits train val "
        f"--output {tmp_path}/out",
        "--beside",
        json.dumps(
            {
                "learn_from": {
                    "cleaned": str(tmp_path / "other"),
                    "spans": "",
                    "train": "elsewhere",
                    "evaluate": [],
                }
            }
        ),
        "--options",
        json.dumps({"stride": 1, "learn_from": "other"}),
    ).checked()
    learnt, measured = (
        read_table(tmp_path / f"out/{split}.parquet").to_pandas() for split in ("train", "val")
    )
    assert {video[0] for video in learnt["video_id"]} == {"w"}
    assert provenance_of(tmp_path / "out/train.parquet")["licence"] == "CC0"
    assert measured.equals(built(stride=1)["val"])


def test_the_label_is_what_is_told(built):
    order, stride, both = (
        built(stride="up_to_2", predict=predict)["val"]
        for predict in (None, "stride", "order_and_stride")
    )
    assert stride["label"].tolist() == order["stride"].tolist()
    assert set(stride["label"]) == {0, 1, 2}
    assert both["label"].tolist() == (2 * order["stride"] + order["label"]).tolist()
    assert both["text_a"].equals(order["text_a"])
    names = Options(stride="up_to_2", predict="order_and_stride").labels(["swapped", "in_order"])
    assert names[2 * 2 + 1] == "in_order_2" and names[0] == "swapped_0" and len(names) == 6


def names_of(data: dict, **more) -> list[str]:
    return [
        folder.removeprefix("results/build/strided_sop/")
        for folder in plan(configured(["one"], one=SOP | {"data": data} | more)).datasets
    ]


ACTIVITYNET, HOWTO100M = "sample_activitynet", "sample_howto100m"


@each_row(
    "data, more, names",
    [
        *rows_of("""
            {stride: up_to_3, train_stride: [0, null]} | {} | [up_to_3-train_stride-0, up_to_3]
            {context: [null, {seconds: 10}, {sentences: 3}]} | {} | [stride-0, stride-0-context-seconds-10, stride-0-context-sentences-3]
            {span: [3, 5], order_by: [pairs]} | {} | [stride-0-span-3, stride-0-span-5]
        """),
        ({"span": 3, **PERMUTATIONS}, {"methods": ["packed"]}, ["stride-0-span-3-permutations"]),
        (
            {"source": [ACTIVITYNET, HOWTO100M], "learn_from": [ACTIVITYNET, HOWTO100M]},
            {},
            (
                "stride-0 stride-0-sample_howto100m "
                "../sample_howto100m/stride-0-sample_activitynet ../sample_howto100m/stride-0"
            ).split(),
        ),
    ],
)
def test_names_of_datasets(data, more, names):
    found = [
        os.path.relpath(name, ACTIVITYNET)
        for name in names_of({"source": ACTIVITYNET, "stride": 0} | data, **more)
    ]
    assert found == names


@each_row(
    "data, more, says",
    [
        *rows_of("""
            {stride: up_to_2, predict: stride} | {methods: [train_symmetric]} | 'train_symmetric does not work with predict: stride'
            {stride: 2, predict: stride} | {} | predict has no effect here
            {learn_from: nowhere} | {} | no source nowhere
            {learn_from: sample_mctaco} | {} | holds questions
        """),
        ({"span": 3} | PERMUTATIONS, {}, "train does not work with order_by: permutations"),
        ({"span": 3}, {"methods": ["packed"]}, "packed does not work with order_by"),
        *(({"context": context}, {}, "context") for context in NO_WINDOWS),
        ({"span": 5} | PERMUTATIONS, {"methods": ["packed"]}, "order_by has no effect here"),
    ],
)
def test_what_cannot_be_learnt_or_told_is_refused(data, more, says):
    with pytest.raises(UserError, match=says):
        names_of({"source": ACTIVITYNET, "stride": 0} | data, **more)


@pytest.mark.parametrize("predict", ["stride", "order_and_stride"])
def test_numbers_equal_a_slow_reference(predict):
    random = np.random.default_rng(3)
    width = 3 if predict == "stride" else 6
    label, video = random.integers(0, width, 40), random.integers(0, 7, 40)
    scores = np.log(random.dirichlet(np.ones(width), 40))
    judged = pd.DataFrame({"label": label, "scores": list(scores)})
    found = {
        (tally.slice, name): value[0]
        for tally in stride_tallies(
            [judged], pd.DataFrame({"video_id": video}), 3, predict == "order_and_stride"
        )[0]
        for name, value in values_of(tally).items()
    }
    right, errors, orders, both, confusion = [], [], [], [], np.zeros((3, 3))
    for true, log in zip(label, scores):
        share = np.exp(log)
        stride = true if predict == "stride" else true // 2
        by_stride = (
            share if predict == "stride" else [share[2 * at] + share[2 * at + 1] for at in range(3)]
        )
        predicted = int(np.argmax(by_stride))
        right.append(predicted == stride)
        errors.append(abs(predicted - stride) / 2)
        confusion[stride, predicted] += 1
        orders.append((share[1::2].sum() > share[::2].sum()) == true % 2)
        both.append(np.argmax(share) == true)
    assert found["all", "stride_accuracy"] == pytest.approx(np.mean(right))
    assert found["all", "stride_error"] == pytest.approx(np.mean(errors))
    shares = confusion / confusion.sum(1, keepdims=True)
    assert all(
        found[f"stride={true}; predicted={predicted}", "confusion"]
        == pytest.approx(shares[true, predicted])
        for true in range(3)
        for predicted in range(3)
    )
    if predict == "order_and_stride":
        assert found["all", "order_accuracy"] == pytest.approx(np.mean(orders))
        assert found["all", "both_accuracy"] == pytest.approx(np.mean(both))
    else:
        assert ("all", "order_accuracy") not in found
