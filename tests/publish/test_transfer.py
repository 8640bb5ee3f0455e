"""What can be compared in a plan, and the figures of it:
transfers, and a second objective by its weight.
"""

import numpy as np
import pytest
import yaml

from scripts.plan.comparable import objectives, transfers
from scripts.studies.mctaco.evaluate import SCHEMA as MCTACO_METRICS
from tests.publish.publish_inputs import Inputs, metric_row
from tests.plan.test_configuration import plan
from tests.plan.test_initial_configuration import MCTACO, SOP, configured
from tests.rows import rows_of

STUDIES = yaml.safe_load("""
mctaco: {title: MC-TACO, headline: exact_match}
strided_sop: {title: Order, headline: accuracy, learnt: 'sentence order, stride {stride}'}
""")
SOURCES = yaml.safe_load("""
sample_mctaco:
  title: Questions
  evaluate: [test]
sample_activitynet:
  title: Captions
  evaluate: [val_1]
""")


def test_a_transfer_has_its_twin():
    after = MCTACO | {"initial": {"experiment": "first", "stride": 3}}
    found = transfers(
        plan(
            configured(
                ["plain", "after", "other"],
                first=SOP,
                plain=MCTACO,
                after=after,
                other=after | {"training": {"epochs": 7}},
            )
        )
    )
    assert found == [
        {
            "study": "mctaco",
            "source": "sample_mctaco",
            "dataset": "default",
            "model": "tiny_bert",
            "method": "train",
            "experiment": "after",
            "without": "plain",
            "begun_with": found[0]["begun_with"],
        }
    ]
    assert found[0]["begun_with"]["data"]["stride"] == 3
    assert found[0]["begun_with"]["study"] == "strided_sop"


@pytest.mark.parametrize(
    "changed",
    yaml.safe_load("""
        - seeds: [2]
        - seeds: [1, 2]
        - training: {batch_size: 8}
        - data: {source: sample_mctaco, train_questions: 50}
    """),
)
def test_another_seed_or_setting_is_no_twin(changed):
    after = MCTACO | {"initial": {"experiment": "first", "stride": 3}}
    assert (
        transfers(
            plan(configured(["plain", "after"], first=SOP, plain=MCTACO | changed, after=after))
        )
        == []
    )


def test_weights_of_a_second_objective_stand_side_by_side():
    weights = {"alone": None, "little": {"sop": 1, "mlm": 0.1}, "twice": {"sop": 0.5, "mlm": 1}}
    experiments = {
        name: SOP | {"training": {"objectives": value}} for name, value in weights.items()
    }
    found = objectives(plan(configured([*weights], **experiments)))
    assert {(one["experiment"], one["dataset"], one["weight"]) for one in found} == {
        (name, dataset, weight)
        for name, weight in (("alone", 0.0), ("little", 0.1), ("twice", 2.0))
        for dataset in ("stride-0", "stride-3")
    }
    assert objectives(plan(configured(["alone"], alone=SOP))) == []


def measured_rows(
    study: str, metric: str, experiment: str, value: float, draws: np.ndarray, **more
) -> dict:
    facts = {"experiment": experiment, "model": "tiny_bert", "method": "train", "metric": metric}
    facts |= {"sd": 0.01, "seeds": 2, "draws": draws.astype(np.float32), "sample": True} | more
    return metric_row(study, value, **facts)


def compared_inputs(folder, program, study, schema, rows: list[dict], compared: list) -> Inputs:
    """What rules/publish.smk hands to the programs of figures that compare runs."""
    inputs = Inputs(folder, program, study, schema, rows)
    models = {"tiny_bert": {"title": "Tiny"}}
    inputs.write_resources(sources=SOURCES, models=models, studies=STUDIES, compared=compared)
    return inputs


def test_a_transfer_is_a_paired_difference(program, tmp_path, monkeypatch):
    draws = np.random.default_rng(1).normal(0.5, 0.04, 500)
    place = {"source": "sample_mctaco", "dataset": "default", "split": "test"}
    rows = [
        measured_rows("mctaco", "exact_match", name, value, draws + shift, **place)
        for name, value, shift in rows_of("""
            plain | 0.5  | 0.0
            after | 0.56 | 0.06
            coins | 0.52 | 0.02
            else  | 0.9  | 0.4
        """)
    ]
    compared = yaml.safe_load("""
        - study: mctaco
          source: sample_mctaco
          dataset: default
          model: tiny_bert
          method: train
          experiment: after
          without: plain
          begun_with:
            study: strided_sop
            source: sample_activitynet
            data: {stride: 3}
            method: train
    """)
    begun = compared[0]["begun_with"] | {"data": {"stride": 3, "train_labels": "coin"}}
    compared.append(compared[0] | {"experiment": "coins", "begun_with": begun})
    inputs = compared_inputs(tmp_path, program, "all", MCTACO_METRICS, rows, compared)
    point, control = inputs.draw_and_check("transfer", monkeypatch).to_dict("records")
    assert control["is_control"]
    assert control["value"] == pytest.approx(0.02)
    assert not point["is_control"]
    assert point["value"] == pytest.approx(0.06)
    assert point["begun"] == "after sentence order, stride 3, Captions"
    # The draws differ by the same everywhere: only seeds are left, of two each with an sd of 1
    # point.
    error = np.sqrt(2 * 0.01**2 / 2)
    assert 2 * error < point["value"] - point["ci_low"] < 15 * error
    assert point["ci_low"] + point["ci_high"] == pytest.approx(0.12)
    assert point["with_value"] == 0.56 and point["without_value"] == 0.5
    inputs.write_metrics(rows[:1])
    none = inputs.call("transfer", ok=False, output=tmp_path / "none")
    none.refused("no run beside one that begins with")
    assert not (tmp_path / "none.csv").exists()
