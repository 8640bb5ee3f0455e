"""Mixed strides, and the stride itself as the label: datasets, refusals, numbers."""

import numpy as np
import pandas as pd
import pytest

from scripts.studies.strided_sop.build import all_pairs
from scripts.studies.strided_sop.captions import with_counts
from scripts.running.program import UserError
from scripts.studies.strided_sop.options import Options
from scripts.studies.strided_sop.tallies import stride_tallies
from scripts.measure.tally import values_of
from tests.studies.strided_sop.conftest import LENGTHS, captions
from tests.studies.strided_sop.test_build_strided_sop import NO_WINDOWS, PERMUTATIONS
from tests.plan.test_configuration import plan
from tests.rows import each_row, rows_of
from tests.plan.test_initial_configuration import SOP, configured


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


@each_row(
    "data, more, says",
    [
        *rows_of("""
            {stride: up_to_2, predict: stride} | {methods: [train_symmetric]} | 'train_symmetric does not work with predict: stride'
            {learn_from: sample_mctaco} | {} | holds questions
        """),
        ({"span": 3} | PERMUTATIONS, {}, "train does not work with order_by: permutations"),
        *(({"context": context}, {}, "context") for context in NO_WINDOWS),
        ({"span": 5} | PERMUTATIONS, {"methods": ["packed"]}, "order_by has no effect here"),
    ],
)
def test_what_cannot_be_learnt_or_told_is_refused(data, more, says):
    data = {"source": "sample_activitynet", "stride": 0} | data
    with pytest.raises(UserError, match=says):
        plan(configured(["one"], one=SOP | {"data": data} | more))


def test_a_corpus_that_learns_from_itself_is_the_plain_dataset():
    corpora = ["sample_activitynet", "sample_howto100m"]
    data = {"source": corpora, "stride": 0, "learn_from": corpora}
    found = plan(configured(["one"], one=SOP | {"data": data})).datasets
    assert {folder.removeprefix("results/build/strided_sop/") for folder in found} == {
        "sample_activitynet/stride-0",
        "sample_activitynet/stride-0-sample_howto100m",
        "sample_howto100m/stride-0",
        "sample_howto100m/stride-0-sample_activitynet",
    }


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
    shares = confusion / confusion.sum(1, keepdims=True)
    wanted = {("all", "stride_accuracy"): np.mean(right), ("all", "stride_error"): np.mean(errors)}
    for true, told in np.ndindex(3, 3):
        wanted[f"stride={true}; predicted={told}", "confusion"] = shares[true, told]
    if predict == "order_and_stride":
        wanted["all", "order_accuracy"] = np.mean(orders)
        wanted["all", "both_accuracy"] = np.mean(both)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)
    assert (("all", "order_accuracy") in found) == (predict == "order_and_stride")
