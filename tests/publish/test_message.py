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


TO = "beside the best control:"


@pytest.mark.parametrize(
    "rows, said",
    [
        ([*of_model(0.6, 0.03, 0.01, 0.05)], f"Big, {TO} +3.0 points (+1.0 to +5.0)"),
        ([*of_model(0.6, -0.3, -0.4, -0.2)], f"Big, {TO} −30.0 points (−40.0 to −20.0)"),
        # the drawn control is better than that of the same dataset
        ([*of_model(0.6, 0.1, 0.05, 0.3), control(0.7)], f"Big, {TO} −10.0 points"),
        (
            [*of_model(0.6, 0.1, 0.05, 0.3), *of_model(0.5, 0.1, 0.1, 0.1, model="Small")],
            f"Best model: Big, {TO} +10.0 points (+5.0 to +30.0)",
        ),
        ([control(0.7)], ""),
        ([("human", "human", "accuracy", 0.9, None, None, 0), control(0.7)], ""),
    ],
)  # fmt: skip
def test_a_place(rows, said):
    assert message(rows_of(*rows), "accuracy", "series") == said


def test_several_places():
    rows = [of_model(0.6, x, x - 0.05, x + 0.05, stride) for stride, x in enumerate((0.1, 0, -0.2))]
    said = f"Big, {TO} +10.0 points at stride 0, −20.0 at stride 2"
    assert message(rows_of(*sum(rows, [])), "accuracy", "series", "stride") == said
