"""The findings on the first screen: the text of a line for any study, with or without models,
controls and limits.
"""

import numpy as np
import pandas as pd
import yaml

from scripts.publish.findings import LEVEL_SAYS, NO_CONTROL, NO_MODEL, SAMPLE, findings_of
from scripts.publish.scorecard.cells import SYSTEM
from scripts.publish.verdicts import ABOVE, BELOW, LEVEL_WITH, UNCLEAR, UNKNOWN, WORDS
from tests.registers import MODELS, PUBLISHED, SOURCES, STUDIES
from tests.rows import each_row
from tests.publish.publish_inputs import metric_row, metric_rows, p_value_of

COLUMNS = [*SYSTEM, "measured_on", "wording", "limit", "control"]


def scores() -> pd.DataFrame:
    """Return plain rows of two corpora at four strides, like read_scores()."""
    metrics = pd.DataFrame(metric_rows())
    return metrics.reindex(columns=list(dict.fromkeys([*metrics, *COLUMNS])))


def found_in(metrics: pd.DataFrame) -> list[dict]:
    return findings_of(metrics, STUDIES, SOURCES, MODELS, {"minilm": ("encoders", 2e7)}, PUBLISHED)


def of_nli(value: float, above: tuple[float, float, float], seeds: int = 3) -> pd.DataFrame:
    """Return a model's accuracy on set I and its distance to a bag of words."""
    same = yaml.safe_load("""
        {source: event_templates, dataset: temp_order, challenge_set: temp_order, held_out: template, scoring: ternary,
          method: train, model: minilm, metric: accuracy}
    """)
    row = metric_row("temporal_nli", value, seeds=seeds, **same)
    rows = [
        row,
        row | {"model": "bag_of_words", "method": "control", "value": value - above[0]},
        row
        | {
            "metric": "accuracy_above_control",
            "control": "bag_of_words",
            "value": above[0],
            "ci_low": above[1],
            "ci_high": above[2],
            "p_value": p_value_of(*above),
        },
    ]
    columns = [*row, *COLUMNS, "seed", "p_value", "rung"]
    return pd.DataFrame(rows).reindex(columns=list(dict.fromkeys(columns)))


def clause_in(metrics: pd.DataFrame) -> dict:
    """Return the first clause of the one finding in these metrics."""
    [finding] = found_in(metrics)
    return finding["clauses"][0]


def test_a_line_has_the_smallest_and_the_largest_stride_with_the_control():
    found = found_in(scores())
    assert [one["study"] for one in found] == ["strided_sop"]
    clause, *_ = found[0]["clauses"]
    assert (clause["corpus"], clause["said"]) == ("ActivityNet, validation 1", "57 → 72 %")
    assert clause["of"].endswith("from stride 0 to 3")
    assert clause["control"] == "best control 54 → 54 (bag of words)"
    assert [row["title"] for row in found[0]["groups"][0]["rows"]] == ["stride 0", "stride 3"]
    assert found[0]["marks"] == ["sample data"] and SAMPLE in found[0]["caveats"]


@each_row(
    "above, kind",
    [
        ((0.05, 0.02, 0.08), ABOVE),
        ((0.01, -0.02, 0.04), UNCLEAR),
        ((0.01, -0.009, 0.029), LEVEL_WITH),
        ((-0.05, -0.08, -0.02), BELOW),
        ((0.05, np.nan, np.nan), UNKNOWN),
    ],
)
def test_the_line_itself_says_how_the_model_stands_to_the_control(above, kind):
    found = found_in(of_nli(0.6, above))[0]
    assert found["clauses"][0]["said"] == "60 %"
    [(stated, words)] = found["clauses"][0]["verdicts"]
    assert stated == kind and words.startswith(WORDS[kind])
    assert (
        found["clauses"][0]["control"] == f"best control {60 - 100 * above[0]:.0f} (bag of words)"
    )
    assert found["groups"][0]["rows"][0]["verdict"] == kind
    assert (LEVEL_SAYS in found["caveats"]) == (kind not in (ABOVE, UNCLEAR))


@each_row(
    "groups, seeds, above, words",
    """
        3   | 2 | [0.01, -0.02, 0.04] | too few templates (3) to tell in these two runs
        200 | 2 | [0.01, -0.02, 0.04] | too few seeds (2) to tell in these two runs
        200 | 3 | [0.01, -0.02, 0.04] | not clear, +1.0 (−2.0 to +4.0)
        200 | 2 | [0.05, 0.02, 0.08]  | clearly above the control in these two runs
        200 | 1 | [0.05, 0.02, 0.08]  | clearly above the control in this run
    """,
)
def test_the_line_says_why_nobody_can_tell_and_of_how_many_runs(groups, seeds, above, words):
    metrics = of_nli(0.6, above, seeds).assign(groups=groups)
    assert clause_in(metrics)["verdicts"][0][1] == words


def test_a_cell_is_clear_by_the_test_of_all_cells_of_its_study():
    near = (0.03, 0.001, 0.059)
    best, other = of_nli(0.7, near), of_nli(0.6, near).replace({"model": {"minilm": "bert_base"}})
    assert clause_in(best)["verdicts"][0][0] == ABOVE
    both = pd.concat([best, other[other["method"] == "train"]], ignore_index=True)
    [(stated, words)] = clause_in(both)["verdicts"]
    assert stated == UNCLEAR and "among 2 comparisons, +3.0 (+0.1 to +5.9)" in words


def test_controls_without_a_model_and_a_model_without_controls_say_so():
    metrics = scores()
    alone = found_in(metrics[metrics["method"] == "control"])[0]
    assert alone["clauses"][0]["alone"]
    assert "bag of words" in alone["clauses"][0]["control"]
    assert NO_MODEL in alone["caveats"]
    assert all(row["value"] is None and row["control"] == 54 for row in alone["groups"][0]["rows"])
    bare = found_in(
        metrics[(metrics["method"] == "train") & ~metrics["metric"].str.endswith("_above_control")]
    )[0]
    assert bare["clauses"][0]["control"] == ""
    assert bare["clauses"][0]["verdicts"][0][0] == UNKNOWN
    assert NO_CONTROL in bare["caveats"]
