"""Numbers of a limited dataset are marked everywhere, wordings are called wordings, and predictions
from elsewhere are shown beside the rest.
"""

import numpy as np
import pytest

from scripts.data.tables import read_table
from tests.publish import publish_inputs
from tests.publish.publish_inputs import points_of, table_of
from tests.studies.timedial import test_publish_timedial

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

WORDINGS = {"plain": -0.02, "then": 0.02}


def asked(rows: list[dict], method: str) -> list[dict]:
    """Turn the means of a system into those of a model that was asked in two wordings; add a row
    for each wording.
    """
    means = [row | {"method": method} for row in rows if row["seed"] is None]
    single = [
        row
        | {
            "seed": 0,
            "wording": wording,
            "value": row["value"] + lift,
            "sd": None,
            "seeds": 1,
            "draws": None,
        }
        for row in means
        for wording, lift in WORDINGS.items()
        if row["metric"] != "confusion"
    ]
    return single + [
        row | {"sd": float(np.std(list(WORDINGS.values()), ddof=1)), "seeds": 2} for row in means
    ]


def extended(rows: list[dict], model: str, method: str) -> list[dict]:
    """Return rows of a study on datasets cut to 200 items. The model is also asked by `method`, and
    has predictions from elsewhere.
    """
    of_model = [row for row in rows if row["model"] == model and row["method"] != "untrained"]
    every = (
        rows
        + asked(of_model, method)
        + [
            row | {"model": "theirs", "method": "external", "sd": None, "seeds": 0}
            for row in of_model
            if row["seed"] is None
        ]
    )
    return [row | {"limit": 200} for row in every]


def strided(folder, program):
    study = publish_inputs.Study(folder, program)
    rows = publish_inputs.metric_rows() + publish_inputs.slice_rows()
    shown = ("accuracy", "accuracy_above_control")
    plain = [row for row in rows if row["size_matched"] is None and row["metric"] in shown]
    study.write_metrics(extended(plain, "minilm", "likelihood"))
    return study


def timedial(folder, program):
    systems = {
        ("dailydialog", "full", "bert_base", "fill"): 8,
        ("dailydialog", "full", "bert_base", "fill_zero_shot"): 4,
    }
    study = test_publish_timedial.Study(folder, program, systems, [1])
    rows = read_table(study.metrics).to_pylist()
    shot = [row for row in rows if row["method"] == "fill_zero_shot"]
    rows = [row for row in rows if row["method"] != "fill_zero_shot"]
    rows += asked(shot, "likelihood_token")
    rows += [row | {"model": "theirs", "method": "external", "domain": "external"} for row in shot]
    study.write_metrics(rows)
    return study


# For each study, parts of the names of the asked model and of the predictions from elsewhere.
MADE = {strided: (", likelihood", "theirs"), timedial: ("per token", "predictions from elsewhere")}


@pytest.mark.parametrize("make", MADE)
def test_wordings_are_told_as_wordings_and_what_comes_from_elsewhere_has_no_seeds(
    make, tmp_path, program
):
    study = make(tmp_path, program)
    name = f"{study.study}_table"
    study.call(name)
    table = table_of(study, name)
    for system, wordings in zip(MADE[make], ("2", "")):
        rows = table[[system in " ".join(row) for row in table.to_numpy()]]
        assert set(zip(rows["Seeds"], rows["Wordings"])) == {("", wordings)}, system
        published = [column for column in table if "in the paper" in column]
        assert (rows[published] == "").all(axis=None), "the paper's model was asked otherwise"
    assert "wordings" in (study.publish / f"tables/{name}.md").read_text()


def test_the_page_tells_of_limits_and_wordings(tmp_path, program):
    study = strided(tmp_path, program)
    study.make_page()
    drawn = study.drawn("accuracy_by_stride")
    assert "one seed or wording" in drawn and "theirs, from elsewhere" in drawn
    table = table_of(study, "strided_sop_table")
    assert set(table.loc[table["Model"].str.endswith("likelihood"), "SD"]) == {"2.8"}
    html = study.page.read_text()
    assert "<strong>At most 200 items.</strong>" in html
    assert '<span class="tag">at most 200 items</span>' in html
    points = points_of(study, "accuracy_by_stride")
    assert set(points["wording"].dropna()) == set(WORDINGS) and set(points["limit"]) == {200}
