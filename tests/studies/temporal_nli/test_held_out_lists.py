"""Set I with the option held_out_list: what training lacks, what tells the label, the groups, and
the figure.
"""

import re
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest

from scripts.publish import style
from scripts.publish.item import Given
from scripts.studies.temporal_nli.evaluate import LABELS
from scripts.studies.temporal_nli.figures import held_out_lists
from scripts.studies.temporal_nli.parts import UNSEEN
from scripts.studies.temporal_nli.reader import read, read_labels
from tests.conftest import ROOT
from tests.publish.figure_faults import faults_of
from tests.runs import write_run
from tests.studies.temporal_nli.test_evaluate_temporal_nli import evaluate
from tests.studies.temporal_nli.test_temporal_nli_variants import (  # noqa: F401
    made,
    split_of,
)

pytestmark = pytest.mark.slow  # whole sets are built

HALF = {"held_out": "list", "held_out_list": "half_1", "balanced": True}
# An item of each list, as a test that shares no code with the generator knows it.
ITEMS = {
    "weekday": r"\w+day",
    "hour": r"\d+ [AP]M|\d\d:00",
    "letter": r"the letter [A-Z]",
    "planet": r"the planet \w+",
    "invented": r"the level \w+",
    "month_full": r"(?:January|February|March|April|May|June|July|August|September|October"
    r"|November|December)",
    "month_day": r"the \d+(?:st|nd|rd|th)",
    "year": r"\d{4}",
    "number_word": r"number \w+",
    "greek": r"the letter [a-z]+",
    "rank": r"the rank of \w+",
}
OF_HALF_1 = {"weekday", "hour", "year", "letter", "planet", "invented"}


def lists_in(rows: pd.DataFrame) -> set[str]:
    """Return the lists that stand in the sentences of these pairs, found after their preposition."""
    text = "\n".join([*rows["text_a"], *rows["text_b"]])
    when = r"(?:^(?:At|On|In|Before|After) {0},|(?:at|on|in|before|after) {0}\.$)"
    return {name for name, one in ITEMS.items() if re.search(when.format(one), text, re.M)}


@pytest.mark.parametrize(
    "name, lacks",
    [("half_1", OF_HALF_1), ("half_2", ITEMS.keys() - OF_HALF_1), ("hour_both", {"hour"})],
)
def test_no_item_of_a_held_out_list_stands_in_training(made, name, lacks):  # noqa: F811
    folder = made("temp_order", **HALF | {"held_out_list": name})
    for split in ("train", "dev"):
        assert lists_in(split_of(folder, split)) == ITEMS.keys() - lacks
    rows = split_of(folder)
    assert lists_in(rows) == set(ITEMS)
    assert lists_in(rows[rows["part"] == UNSEEN]) == lacks


def test_neither_list_nor_distance_nor_preposition_tells_the_label(made):  # noqa: F811
    rows = split_of(made("temp_order", **HALF))
    assert (read_labels(rows) == rows["label"]).all()
    readings = [read(*texts, "temp_order") for texts in zip(rows["text_a"], rows["text_b"])]
    cells = pd.DataFrame(
        [(one.premise["preposition"], one.hypothesis["preposition"]) for one in readings]
    ).assign(list=rows["choice"], distance=rows["distance"], label=rows["label"])
    counts = cells.groupby([0, 1, "list", "distance", "label"]).size().unstack()
    assert (counts.notna().sum(axis=1) == 2).all() and (counts.nunique(axis=1) == 1).all()
    places = np.array([[part["position"] for part in one[:2]] for one in readings])
    steps = np.abs(places[:, 0] - places[:, 1])[rows["choice"] == "weekday"]
    assert set(steps) == {1, 2, 3, 4, 5, 6}, "a chain and a cycle differ beyond three days"


def spread_of_orders(items: int) -> float:
    """Return the standard deviation of the share of pairs in order, over all orders of the items."""
    pairs = list(combinations(range(items), 2))
    orders = np.array(list(permutations(range(items))))
    in_order = np.mean([orders[:, one] < orders[:, other] for one, other in pairs], axis=0)
    return float(in_order.std())


def test_groups_are_pairs_of_items_and_the_figure_shows_them(
    made,  # noqa: F811
    program,
    tmp_path,
    monkeypatch,
):
    """A model knows every learnt list, and of the held-out ones only weekdays."""
    folder = made("temp_order", **HALF)
    rows = split_of(folder)
    known = (rows["part"] != UNSEEN) | (rows["choice"] == "weekday")
    predicted = np.where(known, rows["label"], 0)
    options = {"challenge_set": "temp_order"} | HALF
    facts = {"study": "temporal_nli", "source": "event_templates", "dataset": folder.name}
    facts |= {"seed": 1, "labels": LABELS, "train_examples": 9, "data_options": options}
    parts = [("test", "held_out", rows, np.eye(3)[predicted])]
    runs = [write_run(tmp_path, "r", parts, model="minilm", method="train", **facts)]
    metrics = evaluate(program, folder.parents[1], tmp_path, runs)
    assert set(metrics["held_out_list"]) == {"half_1"}
    found = metrics[(metrics["model"] == "minilm") & (metrics["metric"] == "accuracy")]
    found = found[found["seed"].isna() & (found["scoring"] == "ternary")].set_index("slice")
    named = [
        frozenset(one[part]["time"] for part in (0, 1))
        for one in (read(*texts, "temp_order") for texts in zip(rows["text_a"], rows["text_b"]))
    ]
    for name, of in rows.assign(pair=named).groupby("choice"):
        whole = found.loc[f"choice={name}"]
        assert (whole["n"], whole["groups"]) == (len(of), of["pair"].nunique())
        for distance, at in of.groupby("distance"):
            cell = found.loc[f"choice={name}; distance={distance}"]
            assert (cell["n"], cell["groups"]) == (len(at), at["pair"].nunique())
    drawn = []
    monkeypatch.setattr(style, "save", lambda draw, given: drawn.append(style.drawn(draw)))
    given = Given(metrics=tmp_path / "metrics.parquet", output=tmp_path / "lists")
    given.resources = ROOT / "resources"
    held_out_lists.main(given)
    assert faults_of(drawn[0]) == []
    points = pd.read_csv(f"{tmp_path}/lists.csv")
    points = points[points["distance"].isna() & (points["model"] == "minilm")].set_index("list")
    assert points["part"].eq("held out of training").sum() == 8 and len(points) == 13
    assert points.loc["weekday", "value"] == 1 and points.loc["rank", "value"] == 1
    luck = 1.96 * spread_of_orders(7)
    assert points.loc["weekday", "luck_low"] == pytest.approx(0.5 - luck, abs=1e-6)
    assert points.loc["weekday", "luck_high"] == pytest.approx(0.5 + luck, abs=1e-6)
