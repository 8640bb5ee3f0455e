"""Transfers: which runs of a plan stand beside one another, and their figure."""

import numpy as np
import pytest
import yaml

from scripts.plan.comparable import transfers
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


def measured_rows(
    study: str, metric: str, experiment: str, value: float, draws: np.ndarray, **more
) -> dict:
    facts = {"experiment": experiment, "model": "tiny_bert", "method": "train", "metric": metric}
    facts |= {"sd": 0.01, "seeds": 2, "draws": draws.astype(np.float32), "sample": True} | more
    return metric_row(study, value, **facts)


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
    inputs = Inputs(tmp_path, program, "all", MCTACO_METRICS, rows)
    models = {"tiny_bert": {"title": "Tiny"}}
    inputs.write_resources(sources=SOURCES, models=models, studies=STUDIES, compared=compared)
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
