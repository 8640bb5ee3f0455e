"""Whole orders of spans: the candidates that are built, how a model scores and ranks them, and what
is refused.
"""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import kendalltau

from scripts.studies.strided_sop.tallies import span_tallies
from scripts.measure.tally import values_of
from scripts.train.paradigms import packed
from tests.models import job_of
from tests.studies.strided_sop.conftest import build
from tests.studies.strided_sop.test_build_strided_sop import PERMUTATIONS
from tests.studies.strided_sop.test_spans import spans_by_a_loop
from tests.train.test_symmetric import bert  # noqa: F401 (a fixture)


@pytest.mark.parametrize("length, stride", [(3, 1), (4, 0)])
def test_candidates_of_every_span(built, length, stride):
    learnt, measured = built(span=length, stride=stride, wrong_orders=3, **PERMUTATIONS).values()
    spans = measured.groupby(["video_id", "first_position"])
    assert (
        set(spans.groups)
        == spans_by_a_loop(length, stride + 1)
        == set(learnt.groupby(["video_id", "first_position"]).groups)
    )
    every = ["".join(map(str, order)) for order in permutations(range(length))]
    for (video, first), candidates in spans:
        units = [f"{int(video[1:])} {first + place * (stride + 1)}" for place in range(length)]
        assert [name.rpartition(":")[2] for name in candidates["pair_id"]] == every
        assert candidates["label"].tolist() == [1] + [0] * (len(every) - 1)
        for order, candidate in zip(permutations(range(length)), candidates.to_dict("records")):
            shown = [units[place] for place in order]
            assert candidate["units"].split("\n") == shown
            # a bag of words sees every pair of the order
            pairs = list(combinations(shown, 2))
            assert Counter(candidate["text_a"].split("\n")) == Counter(
                before for before, _ in pairs
            )
            assert Counter(candidate["text_b"].split("\n")) == Counter(after for _, after in pairs)
    by_span = learnt.groupby(["video_id", "first_position"])["label"]
    assert set(by_span.sum()) == {1}
    assert set(by_span.size()) == {1 + 3}
    assert learnt["pair_id"].is_unique


def test_nobody_is_asked_for_whole_orders(program, cleaned, tmp_path):
    place = tmp_path / "strided_sop/captions/orders"
    build(program, cleaned / "whole", place, span=3, **PERMUTATIONS)
    done = program(
        f"scripts.people.sheet --dataset {place} --split val --person Ann --output {tmp_path}/a.csv"
    )
    assert done.returncode != 0
    assert "people cannot be asked about a dataset with order_by: permutations" in done.stderr
    assert not (tmp_path / "a.csv").exists()


def test_the_best_order_is_told():
    """Three spans in two videos: the best candidate is the right order; then one with a pair turned
    round; then two candidates tie, one of them right.
    """
    every = list(permutations(range(3)))
    rows = [
        {
            "pair_id": f"{video}:1:{first}:{''.join(map(str, order))}",
            "video_id": video,
            "first_position": first,
        }
        for video, first in (("v", 1), ("v", 2), ("w", 1))
        for order in every
    ]
    odds = np.zeros((3, len(every)))
    odds[0, every.index((0, 1, 2))] = odds[1, every.index((1, 0, 2))] = odds[
        2, every.index((0, 1, 2))
    ] = odds[2, every.index((2, 1, 0))] = 4.0
    table, scores = (
        pd.DataFrame(rows),
        pd.Series(list(np.stack([np.zeros(odds.size), odds.ravel()], axis=1))),
    )
    turned = np.random.default_rng(0).permutation(len(table))  # candidates may be in any order
    tallies, videos = span_tallies(
        [pd.DataFrame({"scores": scores[turned].to_list()})],
        table.iloc[turned].reset_index(drop=True),
        3,
    )
    found = {
        (tally.slice, name): value[0]
        for tally in tallies
        for name, value in values_of(tally).items()
    }
    taus = [1, kendalltau(range(3), (1, 0, 2)).statistic, 0]
    assert set(videos) == {"v", "w"} and found["all", "exact_order"] == pytest.approx(0.5)
    assert 2 * found["all", "concordance"] - 1 == pytest.approx(np.mean(taus))
    assert found["distance=2", "concordance"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert found["distance=1", "concordance"] == pytest.approx((2 + 1 + 1) / 6)


@pytest.mark.models
def test_units_are_apart_as_the_texts_of_a_pair_and_the_longest_is_cut(bert):  # noqa: F811
    def encoded(*units: str):
        table = pa.table({"example_id": ["a"], "units": ["\n".join(units)], "label": [1]})
        return paradigm.encode(table)

    paradigm = packed.Paradigm(bert, job_of(["units"], max_length=24), {})
    tokenizer, texts = paradigm.tokenizer, ["the man cuts", "bread", "and opens doors " * 9]
    words = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    start, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    room = 24 - 4 - len(words[0]) - len(words[1])
    found = encoded(*texts)
    wanted = [start, *words[0], end, *words[1], end, *words[2][:room], end]
    assert found.fields["input_ids"].flat.tolist() == wanted and found.truncated == 1
    pair, whole = encoded(*texts[:2]).fields, tokenizer(*texts[:2])
    assert {name: pair[name].flat.tolist() for name in pair} == {name: whole[name] for name in pair}
