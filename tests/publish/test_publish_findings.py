"""The findings on the first screen: the text of a line for any study, with or without models,
controls and limits.
"""

import numpy as np
import pandas as pd
import yaml

from scripts.publish.findings import ALONE, AT_CAP, CAPPED, LEVEL_SAYS, NO_CONTROL, NO_MODEL
from scripts.publish.findings import NO_LIKE, SAMPLE, findings_of
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


def test_a_sentence_has_the_first_probe_and_the_figure_has_every_probe():
    found = found_in(scores())
    assert [one["study"] for one in found] == ["strided_sop"]
    said = found[0]["sentence"]
    assert (said["corpus"], said["said"]) == ("ActivityNet, validation 1", "56.5\u00a0%")
    assert said["of"].endswith("(stride 0)")
    assert (said["who"], said["control"]) == ("MiniLM-L6", "54.0\u00a0%")
    assert [row["title"] for row in found[0]["groups"][0]["rows"]] == ["stride 0", "stride 3"]
    assert [row["value"] for row in found[0]["groups"][0]["rows"]] == [56.5, 71.5]
    beside = [text.split(":")[0] for text in found[0]["beside"]]
    assert len(set(beside)) == len(beside) == 4, "each names its corpus"
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
    said = found["sentence"]
    assert (said["said"], said["verdict"]) == ("60.0\u00a0%", kind)
    assert said["control"] == f"{60 - 100 * above[0]:.1f}\u00a0%"
    assert found["groups"][0]["rows"][0]["verdict"] == kind
    assert (LEVEL_SAYS in found["caveats"]) == (kind in (LEVEL_WITH, BELOW))


@each_row(
    "seeds, least, cap, above, short, words",
    """
        3 | 0.04 | false | [0.01, -0.02, 0.04]   | not clear which is higher | not clear (a difference of 4.0 points would have been seen) among 3 tests
        3 | 0.04 | false | [0.02, 0.001, 0.039]  | not clear which is higher | not clear (a difference of 4.0 points would have been seen) among 3 tests; the interval is for one test
        3 | 0.08 | false | [0.01, -0.02, 0.04]   | too uncertain to tell which is higher | cannot tell (only a difference of 8.0 points would have been seen) among 3 tests
        2 | 0.04 | false | [0.05, 0.02, 0.08]    | above in these two runs   | above in these two runs among 3 tests
        1 | 0.04 | false | [0.05, 0.02, 0.08]    | above in this run         | above in this run among 3 tests
        3 | 0.04 | true  | [0.05, 0.02, 0.08]    | clearly above             | clearly above among 3 tests; stopped at its cap, not trained to the end
    """,
)
def test_the_sentence_is_short_and_the_fold_says_what_could_have_been_seen(
    seeds, least, cap, above, short, words
):
    tables = of_nli(0.6, above, seeds=seeds, least=least, cap=cap, family=3)
    [finding] = found_in(tables)
    assert finding["sentence"]["words"] == short
    assert finding["groups"][0]["rows"][0]["runs"] == (seeds if seeds < 3 else None)
    assert finding["beside"][0].endswith(f", {words}.")
    assert (AT_CAP in finding["caveats"]) == (CAPPED in finding["marks"]) == cap


def test_a_shortcut_that_is_higher_is_said_and_a_control_with_more_is_folded():
    for kind, said in ((SHORTCUT, "Shortcut"), (MORE, "With more")):
        [finding] = found_in(of_nli(0.6, (-0.2, -0.25, -0.15), kind))
        beside = f"{said}, set I: order: bag of words, 80.0 %. The model: −20.0 points"
        assert finding["beside"][0].startswith(beside)
        said = finding["sentence"]
        assert (said["verdict"], said["words"]) == (UNKNOWN, "no control like for like ran")
        assert NO_LIKE in finding["caveats"] and NO_CONTROL not in finding["caveats"]
        assert ("80.0\u00a0%" in said["shortcut"]) == (kind == SHORTCUT)


def test_controls_without_a_model_and_a_model_without_controls_say_so():
    metrics, comparisons = scores()
    none = comparisons.iloc[:0]
    alone = found_in((metrics[metrics["method"] == "control"], none))[0]
    assert (alone["sentence"]["who"], alone["sentence"]["verdict"]) == (ALONE, None)
    assert alone["sentence"]["said"] == "54.0\u00a0%" and "bag of words" in alone["who"]
    assert NO_MODEL in alone["caveats"]
    assert all(row["value"] is None and row["control"] == 54 for row in alone["groups"][0]["rows"])
    bare = found_in((metrics[metrics["method"] == "train"], none))[0]
    assert (bare["sentence"]["control"], bare["sentence"]["verdict"]) == ("", UNKNOWN)
    assert NO_CONTROL in bare["caveats"] and NO_LIKE not in bare["caveats"]


@each_row(
    "above, said",
    """
        [-0.01, -0.01] | the highest of 2 systems here
        [-0.05, 0.01]  | on average ahead of 1 of 1 others here
    """,
)
def test_the_best_is_counted_among_those_that_are_ranked(above, said):
    """Released predictions are not ranked, and are higher."""
    metrics, comparisons = scores()
    of_model = metrics[metrics["method"] == "train"]
    plus = of_model["stride"].map({0: above[0], 3: above[1]}).fillna(0)
    other = of_model.assign(model="mpnet", value=of_model["value"] + plus)
    theirs = of_model.assign(model="theirs", method="released", value=0.99)
    [found] = found_in((pd.concat([metrics, other, theirs]), comparisons))
    assert f", {said} · " in found["who"]
