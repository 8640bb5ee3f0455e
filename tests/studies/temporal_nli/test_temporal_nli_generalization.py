"""The matrices of temporal-expression NLI about a rule or memory, from the numbers on record."""

import pytest

from scripts.data.tables import read_table
from scripts.studies.temporal_nli.figures.generalization import KINDS, TEMPLATE, cells_of
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
