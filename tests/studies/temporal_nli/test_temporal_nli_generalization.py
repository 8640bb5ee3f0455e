"""The matrices of temporal-expression NLI about a rule or memory, from the numbers on record."""

import pandas as pd
import pytest

from scripts.studies.temporal_nli.figures.generalization import KINDS, TEMPLATE, cells_of, most_lost
from scripts.studies.temporal_nli.figures.metrics import finest, nli_metrics
from tests.publish.recorded import Recorded
from tests.registers import MODELS


@pytest.fixture(scope="module")
def metrics(tmp_path_factory, program):
    recorded = Recorded(tmp_path_factory.mktemp("nli"), program, "temporal_nli", "base")
    return nli_metrics(recorded.metrics, MODELS, [TEMPLATE, *KINDS])


def test_each_dataset_shows_the_control_that_was_chosen_on_it(metrics):
    rows = finest(metrics[(metrics["method"] == "control") & (metrics["slice"] == "all")])
    chosen = rows[rows["chosen"].eq(True) & (rows["kind_of_control"] == "like_for_like")]
    wanted = chosen.set_index("dataset")["model"]
    cells = cells_of(metrics)
    controls = cells[cells["method"] == "control"]
    assert (controls["model"] == controls["dataset"].map(wanted)).all()
    assert controls["series"].nunique() == 1 and controls["model"].nunique() > 2


def test_a_loss_is_within_one_method():
    same = {"series": "tiny", "scoring": "ternary", "held_out": "list"}
    same |= {"challenge_set": "temp_order"}
    values = {("train", "seen"): 0.9, ("train", "unseen"): 0.7}
    values |= {("hypothesis_only", "seen"): 0.5, ("hypothesis_only", "unseen"): 0.5}
    cells = [
        same
        | {"method": method, "part": part, "value": value}
        | {"ci_low": value - 0.01, "ci_high": value + 0.01}
        for (method, part), value in values.items()
    ]
    assert most_lost(pd.DataFrame(cells)) == (
        "The largest clear loss on unseen pairs: 20.0 points (tiny, list: weekdays)"
    )
