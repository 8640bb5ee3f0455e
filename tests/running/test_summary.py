"""The line that tells a study's best number, and how far it lies above the best control."""

import pyarrow as pa
import pytest
import yaml

from scripts.running.summary import headlines
from scripts.studies.mctaco.evaluate import SCHEMA as QUESTIONS
from scripts.studies.temporal_nli.evaluate import SCHEMA as PAIRS
from tests.files import write_rows

STUDIES = yaml.safe_load("""
temporal_nli: {title: Inference, headline: accuracy}
mctaco: {title: Questions, headline: exact_match}
""")
SCHEMA = pa.unify_schemas([PAIRS, QUESTIONS])


def row(value: float, **more) -> dict:
    """Accuracy of a trained model on all pairs of the test split, by three labels."""
    return {
        "experiment": "e",
        "study": "temporal_nli",
        "source": "made",
        "dataset": "d",
        "split": "test",
        "method": "train",
        "scoring": "ternary",
        "slice": "all",
        "metric": "accuracy",
        "model": "small",
        "value": value,
        "ci_low": value - 0.02,
        "ci_high": value + 0.03,
        "n": 90,
        "groups": 9,
        "effective_groups": 9.0,
        "seeds": 2,
        "sample": False,
    } | more


ABOVE = {"metric": "accuracy_above_control", "control": "bag_of_words"}
ROWS = [
    row(0.70),
    row(0.10, **ABOVE),
    row(0.66, method="hypothesis_only"),
    row(0.06, method="hypothesis_only", **ABOVE),
    row(0.80, scoring="binary"),
    row(-0.05, scoring="binary", **ABOVE | {"control": "second_text"}),
    row(0.85, scoring="binary", model="second_text", method="control"),
    row(0.99, slice="tense=past"),
    row(0.98, seed=3),
    row(0.30, study="mctaco", scoring=None, metric="exact_match", sample=True),
]


def told(folder, rows: list[dict], *given: list[str]) -> list[str]:
    file = folder / "metrics.parquet"
    write_rows(rows, file, SCHEMA)
    return headlines(file, STUDIES, *given)


def test_the_best_number_stands_beside_its_own_distance_to_the_best_control(tmp_path):
    """Of all pairs, over the seeds, of a model that may understand; scored on three labels where
    it was, since two are easier to guess.
    """
    assert told(tmp_path, ROWS, ["small"]) == [
        (
            "Inference: accuracy at best 70.0 % (68.0 % to 73.0 %), +10.0 points to the control "
            "bag_of_words (+8.0 to +13.0); small on made d test"
        ),
        (
            "Questions: exact match at best 30.0 % (28.0 % to 33.0 %), without a control; small on "
            "made d test, sample data"
        ),
    ]


@pytest.mark.parametrize(
    "rows, said",
    [
        (
            [
                row(0.8, scoring="binary"),
                row(-0.05, scoring="binary", **ABOVE | {"control": "second_text"}),
            ],
            (
                "80.0 % (78.0 % to 83.0 %), -5.0 points to the control second_text (-7.0 to -2.0); "
                "small"
            ),
        ),
        (
            [row(0.7), row(0.1, **ABOVE | {"ci_low": None, "ci_high": None})],
            "+10.0 points to the control bag_of_words (one group: no interval); small",
        ),
        (
            [row(0.7, ci_low=None, ci_high=None)],
            "70.0 % (one group: no interval), without a control; small",
        ),
    ],
)
def test_without_an_interval_or_a_control_the_line_says_so(tmp_path, rows, said):
    [line] = told(tmp_path, rows, ["small"])
    assert said in line


def test_experiments_are_not_mixed_and_models_that_begin_elsewhere_do_not_count(tmp_path):
    """What begins with other weights is measured on the same pairs by the same method: its
    distance to the control is its own.
    """
    after = {"experiment": "after"}
    rows = [row(0.7), row(0.1, **ABOVE), row(0.75, **after), row(0.15, **ABOVE, **after)]
    assert "75.0 % (73.0 % to 78.0 %), +15.0 points" in told(tmp_path, rows, ["small"])[0]
    assert (
        "70.0 % (68.0 % to 73.0 %), +10.0 points" in told(tmp_path, rows, ["small"], ["after"])[0]
    )
