"""The sentence over a figure is true of the drawn numbers."""

import pandas as pd

from scripts.measure.comparisons import LIKE
from scripts.publish.message import message
from tests.rows import each_row


def rows_of(*rows: tuple) -> pd.DataFrame:
    """Return rows of (model, method, metric, value, difference, low, high, stride)."""
    names = ["model", "method", "metric", "value"]
    names += [f"{LIKE}_{name}" for name in ("difference", "ci_low", "ci_high")] + ["stride"]
    table = pd.DataFrame(rows, columns=names)
    return table.assign(seed=None, wording=None, series=table["model"] + " (a model), blue")


def of_model(value: float, above: float, low: float, high: float, stride: int = 0, model="Big"):
    return (model, "train", "accuracy", value, above, low, high, stride)


CONTROL = "bag", "control", "accuracy", 0.7, None, None, None, 0
TO = "beside the control like for like:"


@each_row(
    "models, control, said",
    """
        [[0.6, 0.03, 0.01, 0.05]]  | []    | 'Big, TO +3.0 points (+1.0 to +5.0)'
        [[0.6, -0.3, -0.4, -0.2]]  | []    | 'Big, TO −30.0 points (−40.0 to −20.0)'
        [[0.6, 0.1, 0.05, 0.3]]    | [bag] | 'Big, TO +10.0 points (+5.0 to +30.0)'  # a control of another dataset changes nothing
        [[0.6, 0.1, 0.05, 0.3], [0.5, 0.1, 0.1, 0.1, 0, Small]] | [] | 'Best model: Big, TO +10.0 points (+5.0 to +30.0)'
        []                         | [bag] | ''
    """,
)
def test_a_place(models, control, said):
    rows = [of_model(*model) for model in models] + [CONTROL] * len(control)
    assert message(rows_of(*rows), "accuracy", "series") == said.replace("TO", TO)


def test_several_places():
    rows = [of_model(0.6, x, x - 0.05, x + 0.05, stride) for stride, x in enumerate((0.1, 0, -0.2))]
    ends = "+10.0 points (+5.0 to +15.0) at stride\u00a00, −20.0 (−25.0 to −15.0) at stride\u00a02"
    said = f"Big, {TO} {ends}"
    assert message(rows_of(*rows), "accuracy", "series", "stride") == said


@each_row(
    "systems, said",
    """
        [[Big, train, '', 0.6], [Big, train, ', size-matched', 0.5]]                  | Big
        [[Big, train, '', 0.5], [Big, train, ', size-matched', 0.6]]                  | Big, size-matched
        [[Big, train, ', matched, long', 0.6], [Big, train, ', matched', 0.5]]        | Big, long
        [[Big, fill, ' after a stage, long', 0.6], [Big, train, ', long', 0.5]] | Big after a stage
        [[Big, train, ', matched', 0.5]]                                              | Big
        [[Big, train, ', from scratch', 0.5]]                                         | Big, from scratch
        [[Big, released, '', 0.6], [Small, train, '', 0.5]]                           | 'Best model: Big (released predictions)'
        [[Big, released, ' + units', 0.5], [Small, train, '', 0.6]]                   | 'Best model: Small'
        [[Big, train, ', matched', 0.6, 99], [Big, train, '', 0.5], [Old, train, '', 0.4]] | 'Best model: Big'  # on another test
    """,
)
def test_the_name_keeps_what_distinguishes_systems(systems, said):
    rows = rows_of(
        *(
            (model, method, "accuracy", value, 0.1, 0, 0.2, 0)
            for model, method, _, value, *_ in systems
        )
    )
    names = [f"{model} (a model){more}" for model, _, more, *_ in systems]
    rows = rows.assign(series=names, n=[(*one, 500)[4] for one in systems])
    assert message(rows, "accuracy", "series").split(f", {TO}")[0] == said
