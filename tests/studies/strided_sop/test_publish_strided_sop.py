"""Figures and tables of sentence order: every number, separate systems, pairs to read with the
models that were right, and weights of a second objective.
"""

import numpy as np
import pandas as pd
import pytest

from scripts.data.csv_files import read_csv
from scripts.data.tables import read_table
from tests.publish.publish_inputs import HOSTILE, Study, table_of

pytestmark = pytest.mark.slow  # many processes


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> Study:
    """A made-up study with its table of examples."""
    study = Study(tmp_path_factory.mktemp("study"), program)
    study.call("strided_sop_examples")
    return study


def test_pairs_to_read_are_as_they_were_met_from_each_cell_of_who_was_right(study):
    file = study.publish / "tables/strided_sop_examples.csv"
    table = read_csv(file)
    assert set(table["Shown first"]) | set(table["Shown second"]) >= {HOSTILE, "=then(7)\\u202e"}
    assert pd.read_csv(file)["Shown first"].str.startswith("'=then(").any(), (
        "a spreadsheet shows it as text"
    )
    assert table.groupby(["Corpus", "Dataset"]).size().tolist() == [5] * 8
    assert (table["Human right"] == "").all()
    pairs = table[table["Corpus"].str.startswith("ActivityNet") & (table["Dataset"] == "stride 0")]
    number = pairs["Item"].str.extract(r"v(\d+):0:1")[0].astype(int)
    # The probability of the right order is 0.02 + 0.08 n, one half for pair 6: a tie is wrong. The
    # control calls all pairs swapped.
    assert (pairs["Model right"] == np.where(number > 6, "yes", "no")).all()
    assert (pairs["Control right"] == np.where(number % 2 == 0, "yes", "no")).all()
    assert pairs.groupby(["Model right", "Control right"]).ngroups == 4
    assert (pairs["Gold"] == np.where(number % 2, "in order", "swapped")).all()
    surely = np.maximum(0.02 + 0.08 * number, 0.98 - 0.08 * number).map("{:.2f}".format)
    said = pairs[f"model: {HOSTILE}, seed 1"].str.extract(r"^(in order|swapped) (\d\.\d\d)( ×)?$")
    assert (said[1] == surely).all() and (said[2].notna() == (number <= 6)).all()
    assert set(table.loc[table["Dataset"] == "stride 1", "Control right"]) == {""}, (
        "where there is no control nobody was right"
    )


def test_a_control_that_declares_the_answer_is_no_best_control(tmp_path, program):
    study = Study(tmp_path, program)
    declared = {"learns": "declared"}
    study.change("studies", lambda of: of["strided_sop"]["controls"].update(bag_of_words=declared))
    study.call("strided_sop_examples")
    table = table_of(study, "strided_sop_examples")
    assert set(table["Control"]) == {""} and set(table["Model right"]) == {"yes", "no"}


def test_people_stand_beside_systems_on_their_own_pairs(tmp_path, program):
    """In the made-up metrics people answered pairs without size-matched training, of activitynet.
    At each stride they reach another share.
    """
    study = Study(tmp_path, program)
    rows = read_table(study.metrics).to_pylist()
    of_people = [row for row in rows if row["metric"] == "human_accuracy"]
    for row in of_people:
        row["value"] += row["stride"] / 10
    study.write_metrics(rows)
    study.call("strided_sop_table")
    table = table_of(study, "strided_sop_table")
    is_same = table["Model"].str.contains("size-matched")
    assert set(table.loc[is_same, "Human (%)"]) == {""}
    shown = table[table["Corpus"].str.startswith("ActivityNet") & ~is_same]
    reached = {str(stride): str(60.0 + 10 * stride) for stride in range(4)}
    assert dict(zip(shown["Stride"], shown["Human (%)"])) == reached
    study.call(study.item("strided_sop_ladder"))
    ladder = table_of(study, "strided_sop_ladder")
    beside = ladder[ladder["People"] != ""]
    assert len(beside) and not beside["Test"].str.contains("size_matched|=").any()
    strides = beside["Test"].str.extract(r"stride-(\d)")[0]
    assert (beside["People"] == strides.map(reached)).all() and strides.nunique() == 4
