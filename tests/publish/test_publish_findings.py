"""The findings on the first screen: the text of a line for any study, with or without models,
controls and limits.
"""

import numpy as np
import pandas as pd
import yaml

from scripts.publish.findings import AT_CAP, LEVEL_SAYS, NO_CONTROL, NO_MODEL, SAMPLE, findings_of
from scripts.publish.scorecard.cells import SYSTEM
from scripts.measure.comparisons import ABOVE, BELOW, LEVEL_WITH, LIKE, UNCLEAR, UNKNOWN
from scripts.measure.comparisons import MORE, SCHEMA, SHORTCUT
from tests.compared import compared, comparison
from tests.registers import MODELS, PUBLISHED, SOURCES, STUDIES
from tests.rows import each_row
from tests.publish.publish_inputs import metric_row, metric_rows, p_value_of

COLUMNS = [*SYSTEM, "measured_on", "wording", "limit", "seed", "kind_of_control", "chosen"]
Tables = tuple[pd.DataFrame, pd.DataFrame]


def table_of(rows: list[dict]) -> pd.DataFrame:
    """Return rows of metrics, like read_scores()."""
    metrics = pd.DataFrame(rows)
    return metrics.reindex(columns=list(dict.fromkeys([*metrics, *COLUMNS])))


def scores() -> Tables:
    """Return plain rows of two corpora at four strides, and their comparisons."""
    rows, comparisons = compared(metric_rows())
    return table_of(rows), pd.DataFrame(comparisons, columns=SCHEMA.names)


def found_in(tables: Tables) -> list[dict]:
    networks = {"minilm": ("encoders", 2e7)}
    return findings_of(*tables, STUDIES, SOURCES, MODELS, networks, PUBLISHED)


def of_nli(value: float, above: tuple[float, ...], kind: str = LIKE, **more) -> Tables:
    """Return a model's accuracy on set I and its difference to a bag of words."""
    same = yaml.safe_load("""
        {source: event_templates, dataset: temp_order, challenge_set: temp_order, held_out: template, scoring: ternary,
          method: train, model: minilm, metric: accuracy}
    """)
    row = metric_row("temporal_nli", value, seeds=more.get("seeds") or 3, **same)
    control = row | {"model": "bag_of_words", "method": "control", "value": value - above[0]}
    control |= {"kind_of_control": kind, "chosen": True}
    ended = above if pd.isna(above[1]) else (*above, p_value_of(*above))
    if pd.isna(above[1]):
        ended = (above[0], None, None)
    beside = comparison(row, "bag_of_words", ended, kind, **more)
    return table_of([row, control]), pd.DataFrame([beside], columns=SCHEMA.names)


def clause_in(tables: Tables) -> dict:
    """Return the first clause of the one finding in these tables."""
    [finding] = found_in(tables)
    return finding["clauses"][0]


def test_a_line_has_the_smallest_and_the_largest_stride_with_the_control():
    found = found_in(scores())
    assert [one["study"] for one in found] == ["strided_sop"]
    clause, *_ = found[0]["clauses"]
    assert (clause["corpus"], clause["said"]) == ("ActivityNet, validation 1", "57 → 72 %")
    assert clause["of"].endswith("from stride 0 to 3")
    assert clause["control"] == "like for like 54 → 54 (bag of words)"
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
    [(stated, _)] = found["clauses"][0]["verdicts"]
    assert stated == kind
    said = f"like for like {60 - 100 * above[0]:.0f} (bag of words)"
    assert found["clauses"][0]["control"] == said
    assert found["groups"][0]["rows"][0]["verdict"] == kind
    assert (LEVEL_SAYS in found["caveats"]) == (kind not in (ABOVE, UNCLEAR))


@each_row(
    "seeds, least, cap, above, words",
    """
        3 | 0.04 | false | [0.01, -0.02, 0.04] | not clear (a difference of 4.0 points would have been seen) among 3 tests
        3 | 0.08 | false | [0.01, -0.02, 0.04] | cannot tell (only a difference of 8.0 points would have been seen) among 3 tests
        2 | 0.04 | false | [0.05, 0.02, 0.08]  | above in these two runs among 3 tests
        1 | 0.04 | false | [0.05, 0.02, 0.08]  | above in this run among 3 tests
        3 | 0.04 | true  | [0.05, 0.02, 0.08]  | clearly above among 3 tests; stopped at its cap, not trained to the end
    """,
)
def test_the_line_says_what_could_have_been_seen_and_of_how_many_runs(
    seeds, least, cap, above, words
):
    tables = of_nli(0.6, above, seeds=seeds, least=least, cap=cap, family=3)
    assert clause_in(tables)["verdicts"][0][1] == words
    assert (AT_CAP in found_in(tables)[0]["caveats"]) == cap


def test_shortcuts_and_controls_with_more_stand_below_the_line():
    for kind, said in ((SHORTCUT, "Shortcut: bag of words"), (MORE, "With more: bag of words")):
        [finding] = found_in(of_nli(0.6, (-0.2, -0.25, -0.15), kind))
        assert finding["caveats"][0] == f"{said}, 80.0 %: clearly below."
        assert finding["clauses"][0]["verdicts"] == [(UNKNOWN, "no control like for like ran")]


def test_controls_without_a_model_and_a_model_without_controls_say_so():
    metrics, comparisons = scores()
    none = comparisons.iloc[:0]
    alone = found_in((metrics[metrics["method"] == "control"], none))[0]
    assert alone["clauses"][0]["alone"]
    assert "bag of words" in alone["clauses"][0]["control"]
    assert NO_MODEL in alone["caveats"]
    assert all(row["value"] is None and row["control"] == 54 for row in alone["groups"][0]["rows"])
    bare = found_in((metrics[metrics["method"] == "train"], none))[0]
    assert bare["clauses"][0]["control"] == ""
    assert bare["clauses"][0]["verdicts"][0][0] == UNKNOWN
    assert NO_CONTROL in bare["caveats"]
