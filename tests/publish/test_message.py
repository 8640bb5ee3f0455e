"""The sentence over a figure is true of the drawn numbers."""

import pandas as pd
import pytest

from scripts.publish.message import message


def rows_of(*rows: tuple) -> pd.DataFrame:
    """Return rows of (model, method, metric, value, low, high, stride)."""
    names = ["model", "method", "metric", "value", "ci_low", "ci_high", "stride"]
    table = pd.DataFrame(rows, columns=names)
    return table.assign(seed=None, wording=None, series=table["model"] + " (a model), blue")


def of_model(value: float, above: float, low: float, high: float, stride: int = 0, model="Big"):
    return [
        (model, "train", "accuracy", value, value - 0.1, value + 0.1, stride),
        (model, "train", "accuracy_above_control", above, low, high, stride),
    ]


def control(value: float, stride: int = 0) -> tuple:
    return "bag", "control", "accuracy", value, None, None, stride


@pytest.mark.parametrize(
    "rows, said",
    [
        ([*of_model(0.6, 0.03, 0.01, 0.05)], "Big is 3.0 points above the best control (1.0 to 5.0)"),
        ([*of_model(0.6, -0.3, -0.4, -0.2)], "Big is 30.0 points below the best control (20.0 to 40.0)"),
        ([*of_model(0.6, 0.1, -0.1, 0.3)], "Big is not clearly above the best control (+10.0, −10.0 to +30.0)"),
        # the drawn control is better than that of the same dataset
        ([*of_model(0.6, 0.1, 0.05, 0.3), control(0.7)], "Big is not clearly above the best control (−10.0)"),
        (
            [*of_model(0.6, 0.1, 0.05, 0.3), *of_model(0.5, 0.1, 0.1, 0.1, model="Small")],
            "The best model, Big, is 10.0 points above the best control (5.0 to 30.0)",
        ),
        ([control(0.7)], ""),
        ([("human", "human", "accuracy", 0.9, None, None, 0), control(0.7)], ""),
    ],
)  # fmt: skip
def test_a_place(rows, said):
    assert message(rows_of(*rows), "accuracy", "series") == said


@pytest.mark.parametrize(
    "above, said",
    [
        ([0.1, 0.1], "Big is above the best control at every stride"),
        ([0.1, 0, 0], "Big is above the best control only at stride 0"),
        ([0, -0.1, -0.1], "Big is below the best control at strides 1 and 2"),
        ([0.1, 0, -0.1, -0.1], "Big is above the best control at stride 0, below it at strides 2 and 3"),
        ([0, 0], "Big is nowhere clearly above the best control"),
    ],
)  # fmt: skip
def test_several_places(above, said):
    rows = [of_model(0.6, x, x - 0.05, x + 0.05, stride) for stride, x in enumerate(above)]
    assert message(rows_of(*sum(rows, [])), "accuracy", "series", "stride") == said
