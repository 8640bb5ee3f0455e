"""Figures and tables of temporal-expression NLI: their content beside the published numbers, and
hostile text that stays text.
"""

import re

import numpy as np
import pandas as pd
import pytest

from scripts.data.tables import read_table
from scripts.publish.comparison import Comparison, Facts
from scripts.publish.names import method_title
from scripts.publish.table import ABOVE
from scripts.studies.temporal_nli.figures.metrics import SETS
from tests.registers import MODELS, SOURCES, STUDIES
from tests.files import read_json
from tests.publish.publish_inputs import points_of, table_of
from tests.studies.temporal_nli.publish_inputs_temporal_nli import NliStudy

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

FIGURE = "temporal_nli_temp_order"
ITEMS = [FIGURE, "temporal_nli_table"]
RESOURCES = {"sources": SOURCES, "models": MODELS, "studies": STUDIES}


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> NliStudy:
    """Make a study and its items once; test_figures.py draws all figures."""
    inputs = NliStudy(tmp_path_factory.mktemp("study"), program)
    for name in ITEMS:
        assert len(inputs.call(name).stderr.splitlines()) == 1
    return inputs


@pytest.fixture(scope="module")
def facts(study) -> Facts:
    metrics = read_table(study.metrics).to_pandas()
    runs = [read_json(file) for file in sorted(study.results.glob("train/*/*/run.json"))]
    cleaning = pd.concat(
        [
            pd.read_csv(file, keep_default_na=False)
            for file in sorted(study.results.glob("clean/*/cleaning.csv"))
        ]
    )
    return Facts(
        metrics[metrics["seed"].isna()], runs, cleaning, RESOURCES["sources"], RESOURCES["models"]
    )


def test_the_points_are_the_metrics(study):
    points = points_of(study, FIGURE)
    metrics = read_table(study.metrics).to_pandas()
    key = "source dataset model method scoring slice metric".split()
    metrics = metrics[metrics["seed"].isna()].set_index(key)
    same = metrics.loc[list(points[key].itertuples(index=False, name=None))]
    for column in ("value", "ci_low", "ci_high", "n"):
        np.testing.assert_allclose(points[column], same[column])
    place = list(points[[*key[:2], *key[4:]]].itertuples(index=False, name=None))
    # the better control over all pairs
    for method, model in (("majority", "majority"), ("control", "bag_of_words")):
        there = metrics.xs(method, level="method").xs(model, level="model")["value"]
        np.testing.assert_allclose(points[method], there.loc[place])
    assert not points.duplicated(key).any()
    assert not set(points["method"]) & {"control", "majority", "baseline"}


def test_the_table_holds_the_numbers_and_the_published_ones(study):
    table = table_of(study, "temporal_nli_table")
    assert len(table) == 2 * 14 + 4 * 2 * 4 - 1, (
        "ternary and binary, and binary alone of the model with two labels"
    )
    generated = table[table["Source"] == RESOURCES["sources"]["event_templates"]["title"]]
    row = generated[
        (generated["Challenge set"] == SETS["temp_order"])
        & (generated["Model"] == "RoBERTa-large (MNLI)")
        & (generated["Method"] == method_title("train"))
        & (generated["Scoring"] == "ternary")
    ].iloc[0]
    assert row["Accuracy (%)"] == "90.00 ± 1.00"
    assert row["Accuracy, 95 % interval"] == "87.00–93.00"
    assert row["Seeds"] == "3"
    assert row["Accuracy, published (%)"] == "99.81 ± 0.03"
    assert row["F1 (%)"] == "88.00 ± 1.00"
    assert row["Pairs"] == "6,140"
    assert re.fullmatch(r"bag of words: \+28\.0 \(\+[\d.]+ to \+[\d.]+\)", row[ABOVE])
    controls = table[table["Method"] == "control"]
    assert set(controls["Model"]) == {"bag of words", "second text alone"}
    assert len(controls) == 2 * 2 * 4
    assert (controls[ABOVE] == "").all()
    small = generated[generated["Model"].str.startswith("MiniLM")]
    assert len(small) == 6 and (small["Accuracy, published (%)"] == "").all()


def test_differences_sums_and_slices_beside_rows(facts):
    def beside(setting: str, **more) -> list[tuple[str, str]]:
        claim = {"model": "", "metric": "accuracy", "value": "1", "unit": "%", "note": ""}
        claim = pd.Series(claim | {"setting": setting} | more)
        return [(one["Here"], one["Difference"]) for one in Comparison(claim, facts).rows()]

    same = "source=event_templates; challenge_set=temp_order; scoring=ternary; "
    over = "points over model=majority; method=majority"
    model = {"model": "roberta_large_mnli", "value": "12"}
    [(here, difference)] = beside(f"{same}method=direct; slice=all", unit=over, **model)
    assert re.fullmatch(r"\+10\.0 \(\+9\.[67] to \+10\.[34]\)", here)
    assert re.fullmatch(r"−2\.0 \(−2\.[34] to −1\.[67]\)", difference)
    direct = f"{same}model=roberta_large_mnli; method=direct; "
    fixed = f"{direct}slice=premise_type=fixed"
    parts = beside(fixed, unit="points over slice=premise_type=interval")
    assert [here for here, _ in parts] == ["+16.0"], "parts of a split carry no draws"
    several = beside(f"{direct}slice=choice=date_my_*; premise_type=fixed", value="60")
    assert several == [("58.0", "−2.0")], "the mean over all examples of the slices"
    share = beside(fixed, metric="weighted_f1", unit="", value="0.5")
    assert share == [("0.56 (0.53 to 0.59)", "+0.06 (+0.03 to +0.09)")]
    values = beside(f"{same}slice=label=neutral; predicted=*", metric="confusion.sum")
    assert {here for here, _ in values} == {"25.0"}
    setting, metric = "source~temporal_nli_release; split=train", "cleaning.temp_order pairs"
    assert beside(setting, metric=metric, value="16980") == [("16,980", "0")]
