"""Altered runs: pairs with random labels, a second objective, or weights of another run. Each is
marked and left out of comparisons.
"""

import pandas as pd

from scripts.publish.selection import as_published
from tests.studies.strided_sop.conftest import build, built, cleaned, sources  # noqa: F401 (fixtures)
from tests.rows import rows_of


def test_coins_change_the_labels_that_are_learnt_and_nothing_else(program, cleaned, built):  # noqa: F811
    order, coin = (built(train_labels=labels) for labels in ("order", "coin"))
    assert coin["val"].equals(order["val"])
    order, coin = order["train"], coin["train"]
    assert coin.drop(columns="label").equals(order.drop(columns="label"))
    agree = (order["label"] == coin["label"]).mean()
    assert 0.2 < agree < 0.8 and 0.2 < coin["label"].mean() < 0.8
    done = build(
        program,
        cleaned / "whole",
        cleaned / "no",
        ok=False,
        train_labels="coin",
        stride="up_to_2",
        predict="stride",
    )
    assert "train_labels: coin replaces the order of pairs" in done.stderr


def test_no_paper_is_compared_with_what_is_altered():
    rows = pd.DataFrame(
        [
            {"experiment": experiment, "method": method, "objectives": objectives}
            for experiment, method, objectives in rows_of("""
                plain           | train   | null
                plain           | train   | sop 1, mlm 1
                begun_elsewhere | train   | null
                begun_elsewhere | control | null
            """)
        ]
    )
    assert as_published(
        rows, {"extensions": ["objectives"], "altered": ["begun_elsewhere"]}
    ).index.tolist() == [0, 3]
