"""Numbers of a limited dataset carry their mark everywhere; wordings are told as wordings;
systems from elsewhere stand beside the rest.
"""

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.data.tables import read_table
from tests.publish.publish_inputs import table_of
from tests.publish import publish_inputs
from tests.studies.mctaco import publish_inputs_mctaco
from tests.studies.temporal_nli import publish_inputs_temporal_nli
from tests.studies.timedial import test_publish_timedial

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

WORDINGS = {"plain": -0.02, "then": 0.02}
MARK = "AT MOST 200 ITEMS"


def asked(rows: list[dict], method: str) -> list[dict]:
    """The means of some system as those of one that was asked in two wordings,
    with the row of each.
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
    """Rows of a study, all of datasets cut to 200 items, with the model asked by `method`, and
    with its predictions from elsewhere.
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


def check_table(study, name: str, source: str, systems: dict[str, tuple[str, str]]) -> pd.DataFrame:
    """Every source is marked, and the seeds and wordings
    of the systems (a part of their names) are those.
    """
    table = table_of(study, name)
    assert table[source].str.endswith("[at most 200 items]").all()
    for system, counts in systems.items():
        rows = table[
            table.apply(lambda row, system=system: " ".join(row).find(system) >= 0, axis=1)
        ]
        assert len(rows) and set(zip(rows["Seeds"], rows["Wordings"])) == {counts}, system
    caption = (study.publish / f"tables/{name}.md").read_text()
    assert f"{MARK} where marked" in caption and "wordings" in caption
    return table


def test_strided_sop(tmp_path, program):
    study = publish_inputs.Study(tmp_path, program)
    rows = publish_inputs.metric_rows() + publish_inputs.slice_rows()
    plain = [
        row
        for row in rows
        if row["size_matched"] is None and row["metric"] in ("accuracy", "accuracy_above_control")
    ]
    study.write_metrics(extended(plain, "minilm", "likelihood"))
    study.make_page().checked()
    for item in study.items():
        if item["kind"] == "figure":
            # Histories tell the limit of their run themselves.
            assert (MARK in (study.publish / f"figures/{item['name']}.svg").read_text()) == (
                item["program"] != "scripts.studies.strided_sop.figures.training_curves"
            )
    drawn = (study.publish / "figures/accuracy_by_stride.svg").read_text()
    assert "one seed or wording" in drawn and "theirs, from elsewhere" in drawn
    table = check_table(
        study, "strided_sop_table", "Corpus", {", likelihood": ("", "2"), "theirs": ("", "")}
    )
    assert set(table.loc[table["Model"].str.endswith("likelihood"), "SD"]) == {"2.8"}
    html = study.page.read_text()
    assert "<strong>At most 200 items.</strong>" in html
    assert "ActivityNet, at most 200 items" in html
    points = pd.read_csv(study.publish / "figures/accuracy_by_stride.csv")
    assert set(points["wording"].dropna()) == set(WORDINGS) and set(points["limit"]) == {200}


def check_figures(study, *names: str) -> None:
    for name in names:
        study.call(name).checked()
        assert MARK in (study.publish / f"figures/{name}.svg").read_text()


def test_temporal_nli(tmp_path, program):
    study = publish_inputs_temporal_nli.NliStudy(tmp_path, program)
    rows = publish_inputs_temporal_nli.metric_rows()
    shown = [
        row
        for row in rows
        if row["method"] in ("direct", "majority", "control")
        and row["source"] == "event_templates"
        or row["held_out"] != "template"
        or row["slice"].startswith("withheld")
    ]
    study.write_metrics(
        [
            row | {"dataset": f"{row['dataset']}-limit-200"}
            for row in extended(shown, "roberta_large_mnli", "likelihood_pmi")
        ]
    )
    check_figures(
        study, "temporal_nli_temp_order", "temporal_nli_confusion", "temporal_nli_generalization"
    )
    assert study.call("temporal_nli_table").returncode == 0
    check_table(
        study,
        "temporal_nli_table",
        "Source",
        {"likelihood, PMI": ("", "2"), "from elsewhere": ("", "")},
    )


def test_mctaco(tmp_path, program):
    inputs = publish_inputs_mctaco
    study = inputs.Study(
        tmp_path, program, extended(inputs.metric_rows(curve=False), "bert_base", "verbalizer")
    )
    check_figures(
        study,
        "mctaco_by_category",
        "mctaco_em_against_f1",
        "mctaco_consistency",
        "mctaco_ranges",
        "mctaco_training_size",
    )
    assert study.call("mctaco_table").returncode == 0
    table = check_table(
        study,
        "mctaco_table",
        "Corpus",
        {"yes or no": ("", "2"), "theirs, from elsewhere": ("", "")},
    )
    others = table[table["System"].str.contains("yes or no|elsewhere")]
    assert (others[["F1 in the paper", "EM in the paper"]] == "").all(axis=None), (
        "the paper's BERT was fine-tuned"
    )


def test_timedial(tmp_path, program):
    study = test_publish_timedial.Study(
        tmp_path,
        program,
        {
            ("dailydialog", "full", "bert_base", "fill"): 8,
            ("dailydialog", "full", "bert_base", "fill_zero_shot"): 4,
        },
        [1],
    )
    rows = read_table(study.metrics).to_pylist()
    shot = [row for row in rows if row["method"] == "fill_zero_shot"]
    rows = [row for row in rows if row["method"] != "fill_zero_shot"] + asked(
        shot, "likelihood_token"
    )
    rows += [row | {"model": "theirs", "method": "external", "domain": "external"} for row in shot]
    study.write([row | {"limit": 200} for row in rows])
    check_figures(study, "timedial_accuracy", "timedial_by_kind", "timedial_errors_by_rule")
    assert study.call("timedial_table").returncode == 0
    table = table_of(study, "timedial_table")
    here = table[~table["Model"].str.contains("in the paper only")]
    assert here["Corpus"].str.endswith("[at most 200 items]").all()
    counts = here.set_index("Paradigm")[["Seeds", "Wordings"]]
    assert counts.loc["likelihood of candidate and what follows, per token"].tolist() == ["", "2"]
    assert counts.loc["predictions from elsewhere"].tolist() == ["", ""]


@pytest.mark.parametrize("limits", [(200, None), (200, 2000)])
def test_datasets_of_several_limits_are_told_apart(tmp_path, program, limits):
    rows = [
        row
        for row in publish_inputs.metric_rows()
        if row["source"] == "activitynet" and row["size_matched"] is None
    ]
    study = publish_inputs.Study(tmp_path, program)
    study.write_metrics(
        [
            row | {"limit": limit, "value": row["value"] + lift}
            for limit, lift in zip(limits, (0, 0.01))
            for row in rows
        ]
    )
    [item] = [item for item in study.items() if item["name"] == "strided_sop_table"]
    assert study.call(item).returncode == 0
    models = yaml.safe_load((study.folder / "resources/models.yaml").read_text())
    named = {
        f"{models['minilm']['title']}" + (f", at most {limit:,} items" if limit else "")
        for limit in limits
    }
    assert named <= set(table_of(study, "strided_sop_table")["Model"])
