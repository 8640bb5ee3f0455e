"""Figures and tables of temporal-expression NLI: what they hold, beside what is published,
and hostile text stays text.
"""

import re

import numpy as np
import pandas as pd
import pytest

from scripts.running.job_files import has_options
from scripts.running.program import UserError
from scripts.data.tables import read_table
from scripts.publish.comparison import Comparison, Facts, published_claims
from scripts.publish.selection import selected
from scripts.publish.names import method_title
from scripts.publish.table import ABOVE
from scripts.studies.temporal_nli.figures.generalization import without
from scripts.studies.temporal_nli.figures.metrics import SETS, VALUES, data_title
from tests.registers import MODELS, PUBLISHED, SOURCES, STUDIES
from tests.publish.publish_inputs import HOSTILE
from tests.files import read_json
from tests.publish.publish_inputs import points_of, table_of
from tests.studies.temporal_nli.publish_inputs_temporal_nli import (
    CHOICES,
    NliStudy,
    held_out_rows,
    metric_rows,
)

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

FIGURES = (
    "temporal_nli_temp_order temporal_nli_temp_duration temporal_nli_cross_unit "
    "temporal_nli_generalization"
).split()
RESOURCES = {"sources": SOURCES, "models": MODELS, "studies": STUDIES}
CLAIMS = published_claims(PUBLISHED).query("study == 'temporal_nli'")


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> NliStudy:
    """A made-up study, every item made once."""
    inputs = NliStudy(tmp_path_factory.mktemp("study"), program)
    for item in inputs.items():
        assert len(inputs.call(item["name"]).stderr.splitlines()) == 1
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


def test_the_rows_of_each_set(study):
    """Every choice of times for both kinds of premise, every hypothesis and unit,
    every distance and size.
    """
    one, two, three = (points_of(study, name) for name in FIGURES[:3])
    chosen = (
        one[one["section"] == "How the two times are chosen"]
        .groupby("row")["series_name"]
        .apply(set)
    )
    assert set(chosen.index) == {"all", *(VALUES["choice"][name] for name in CHOICES["temp_order"])}
    assert all(series == set(VALUES["premise_type"].values()) for series in chosen)
    assert set(VALUES["hypothesis_type"].values()) | {
        VALUES["choice"][name] for name in CHOICES["temp_duration"]
    } <= set(two["row"])
    assert set(two.loc[two["section"] == "Distance of the two times", "series_name"]) == {
        VALUES["hypothesis_type"][name]
        for name in ("equal_gold", "equal_gold_plus_1", "less_than_gold")
    }
    by_unit = (
        three[three["row"].isin(VALUES["unit_pair"].values())]
        .groupby("row")["series_name"]
        .nunique()
    )
    assert by_unit.tolist() == [4] * 4
    assert set(VALUES["hypothesis_size"].values()) <= set(three["row"])


@pytest.mark.parametrize("name", FIGURES[:3])
def test_the_points_are_the_metrics(study, name):
    points = points_of(study, name)
    metrics = read_table(study.metrics).to_pandas()
    key = "source dataset model method scoring slice metric".split()
    metrics = metrics[metrics["seed"].isna()].set_index(key)
    same = metrics.loc[list(points[key].itertuples(index=False, name=None))]
    for column in ("value", "ci_low", "ci_high", "n"):
        np.testing.assert_allclose(points[column], same[column])
    place = list(points[[*key[:2], *key[4:]]].itertuples(index=False, name=None))
    # the control that is better over all pairs
    for method, model in (("majority", "majority"), ("control", "bag_of_words")):
        there = metrics.xs(method, level="method").xs(model, level="model")["value"]
        np.testing.assert_allclose(points[method], there.loc[place])
    assert not points.duplicated(key).any()
    assert not set(points["method"]) & {"control", "majority", "baseline"}


def test_what_was_held_out_stands_in_a_matrix(study):
    """Seen, unseen and learnt of each kind; other figures and the table are
    of whole templates alone.
    """
    cells = points_of(study, "temporal_nli_generalization")
    assert set(zip(cells["source"], cells["challenge_set"], cells["model"])) == {
        ("event_templates", "temp_order", "roberta_large_mnli")
    }
    values = cells.pivot(index="held_out", columns="part", values="value")
    assert values.loc["list", ["seen", "unseen", "learnt"]].tolist() == pytest.approx(
        [0.88, 0.6, 0.91]
    )
    assert values.loc["form", "unseen"] == pytest.approx(0.6)
    assert set(values.index) == {"template", "list", "form"}
    assert values.loc["template", "unseen"] == pytest.approx(0.9)
    assert np.isnan(values.loc["template", "learnt"])
    for name in FIGURES[:4]:
        assert not points_of(study, name)["dataset"].str.contains("list|form").any(), name


def test_a_changed_test_split_is_named_and_has_its_own_whole():
    whole = without("temp_order-list-balanced-True-times-limit-9", "list")
    assert whole == "temp_order-balanced-True-times-limit-9"
    title = data_title("event_templates", whole, {"event_templates": {"title": "Generated"}})
    assert title == "Generated, balanced, contrast pairs: times"


def test_what_holds_out_more_than_templates_alone_is_published(tmp_path, program):
    """Without a dataset that holds out whole templates only, which the figures of the sets and
    the main table are about.
    """
    study, options = (
        NliStudy(tmp_path, program),
        {"challenge_set": "temp_order", "held_out": "list"},
    )
    study.write_metrics([row for row in held_out_rows() if row["held_out"] == "list"])
    study.runs = study.runs[-1:]
    made = [item["name"] for item in study.items() if has_options(options, item.get("needs", {}))]
    assert "temporal_nli_generalization" in made and "temporal_nli_table" not in made
    for name in made:
        study.call(name)


def test_reductions_are_named_and_a_set_that_no_run_measured_stops_nothing(tmp_path, program):
    few, name = NliStudy(tmp_path, program), "temporal_nli_cross_unit"
    reduced = "-train_templates-6-test_templates-4"
    generated = [row for row in metric_rows() if row["source"] == "event_templates"]
    rows = [row for row in generated if row["model"] != "minilm"]
    few.write_metrics([row | {"dataset": f"{row['dataset']}{reduced}"} for row in rows])
    few.call(name)
    assert "train templates 6, test templates 4" in few.drawn(name)
    few.call("temporal_nli_table")
    source = table_of(few, "temporal_nli_table")["Source"]
    assert source.str.endswith("train templates 6, test templates 4").all()
    few.write_metrics([row for row in rows if row["challenge_set"] == "temp_order"])
    few.call(name)
    assert "No run of this study measured it." in few.drawn(name)


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
    assert (generated["Model"] == "rule-based reader").sum() == 2 * 3
    first = generated.iloc[:4]
    assert first["Model"].tolist()[:2] == ["majority"] * 2
    assert first["Scoring"].tolist()[:2] == ["ternary", "binary"]
    assert first["F1, published (%)"].tolist()[:2] == ["23.14", "51.46"]
    assert first["Seeds"].tolist()[:2] == ["", ""]
    assert re.fullmatch(r"bag of words: \+28\.0 \(\+[\d.]+ to \+[\d.]+\)", row[ABOVE])
    controls = table[table["Method"] == "control"]
    assert set(controls["Model"]) == {"bag of words", "second text alone"}
    assert len(controls) == 2 * 2 * 4
    assert (controls[ABOVE] == "").all()
    small = generated[generated["Model"].str.startswith("MiniLM")]
    assert len(small) == 6 and (small["Accuracy, published (%)"] == "").all()
    uds = generated[generated["Model"] == "UDS-NLI (order)"]
    assert uds["Scoring"].tolist() == ["binary"]
    assert uds["Accuracy, published (%)"].tolist() == ["56.36"]


def test_pairs_to_read_tell_who_was_wrong(study):
    table = table_of(study, "temporal_nli_errors")
    assert set(table["Dataset"]) == set(SETS.values())
    blind = table["Control"].str.contains(", hypothesis only, ")
    assert blind.any()
    assert (blind | (table["Control"] == "")).all()
    assert (blind == (table["Control right"] != "")).all()
    systems = [name for name in table if name.startswith("model: ")]
    number = table["Item"].str.rpartition(":")[2].astype(int)
    for name in systems:
        cells = table.loc[table[name] != "", name].str.extract(
            r"^(entailment|neutral|contradiction|not entailment) (\d\.\d\d)( ×)?$"
        )
        assert (cells[2].notna() == (number[cells.index] < 8)).all(), (
            "first seeds are wrong on pairs 0 to 7"
        )
        surely = np.where(number < 8, 0.6 + 0.04 * number, np.exp(-0.1))[cells.index]
        assert cells[1].tolist() == [f"{value:.2f}" for value in surely]
    assert (table["Model right"] == np.where(number < 8, "no", "yes")).all()
    assert (table["Premise"] == HOSTILE).all()
    cells = table.groupby(["Corpus", "Dataset", "Model right"]).size()
    assert (cells >= 3).all() and (cells.groupby(["Corpus", "Dataset"]).size() == 2).all()
    uds = next(name for name in systems if "UDS-NLI (order)" in name)
    binary = table[table[uds] != ""]
    right = ~binary[uds].str.endswith("×")
    assert ((binary["Gold"] == "entailment") == binary[uds].str.startswith("entailment"))[
        right
    ].all()


def test_selection_compares_as_text_and_knows_the_star():
    table = pd.DataFrame({"n": [1, 2, 10], "slice": ["choice=a; x=1", "choice=b; x=1", None]})
    assert selected(table, {"n": "1"})["n"].tolist() == [1]
    assert selected(table, {"slice": "choice=*", "x": "1"})["n"].tolist() == [1, 2], (
        "x is no column: a part of the slice"
    )
    assert selected(table, {"slice": "choice=a", "x": "1", "n": "1"})["n"].tolist() == [1]
    with pytest.raises(
        UserError, match="a setting names nn, which is no column; write one of n, slice"
    ):
        selected(table, {"nn": "1"})


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
