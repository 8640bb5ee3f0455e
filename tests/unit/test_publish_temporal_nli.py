"""Figures and tables of temporal-expression NLI: what they hold, beside what is published, and hostile text stays text."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from scripts.common.handed import has_options
from scripts.common.program import UserError
from scripts.common.tables import NLI, read_table, write_table
from scripts.evaluate.temporal_nli import LABELS, SCHEMA, SLICES
from scripts.publish.comparison import Facts, found_of, paper_of, parts_of, published_claims, settings_of
from scripts.publish.selection import selected
from scripts.publish.names import details_of, method_title
from scripts.publish import style
from scripts.publish.style import lines_of
from scripts.publish.table import ABOVE
from scripts.publish.temporal_nli.metrics import METHODS, SCORINGS, SETS, VALUES, nli_metrics
from tests.conftest import ROOT
from tests.unit.publish_inputs import HOSTILE, Study, of_one_group
from tests.unit.publish_inputs_temporal_nli import CHOICES, NliStudy, held_out_rows, metric_rows

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

FIGURES = ["temporal_nli_temp_order", "temporal_nli_temp_duration", "temporal_nli_cross_unit", "temporal_nli_confusion",
           "temporal_nli_generalization"]
RESOURCES = {name: yaml.safe_load((ROOT / f"resources/{name}.yaml").read_text()) for name in ("sources", "models", "studies")}
CLAIMS = published_claims(ROOT / "resources/published.csv").query("study == 'temporal_nli'")


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> NliStudy:
    """A made-up study, every item made once."""
    inputs = NliStudy(tmp_path_factory.mktemp("study"), program)
    for item in inputs.items():
        done = inputs.call(item["name"])
        assert done.returncode == 0, done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
    return inputs


@pytest.fixture(scope="module")
def facts(study) -> Facts:
    metrics = read_table(study.metrics).to_pandas()
    runs = [json.loads(file.read_text()) for file in sorted(study.results.glob("train/*/*/run.json"))]
    cleaning = pd.concat([pd.read_csv(file, keep_default_na=False) for file in sorted(study.results.glob("clean/*/cleaning.csv"))])
    return Facts(metrics[metrics["seed"].isna()], runs, cleaning, RESOURCES["sources"], RESOURCES["models"])


def claim(**columns) -> pd.Series:
    return pd.Series({"model": "", "setting": "", "metric": "accuracy", "value": "1", "unit": "%", "note": ""} | columns)


def points_of(study, name: str) -> pd.DataFrame:
    return pd.read_csv(study.publish / f"figures/{name}.csv")


def table_of(study, name: str) -> pd.DataFrame:
    return pd.read_csv(study.publish / f"tables/{name}.csv", dtype=str, keep_default_na=False)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_comes_in_every_form(study, name):
    files = {suffix: (study.publish / f"figures/{name}.{suffix}").read_bytes() for suffix in ("svg", "png", "pdf", "csv")}
    assert files["png"][:4] == b"\x89PNG" and files["pdf"][:4] == b"%PDF" and b"SAMPLE DATA" not in files["svg"]


def test_a_figure_comes_again_as_the_same_bytes(study, tmp_path):
    assert study.call(FIGURES[3], output=tmp_path / FIGURES[3]).returncode == 0
    for suffix in ("svg", "png", "pdf", "csv"):
        assert (tmp_path / f"{FIGURES[3]}.{suffix}").read_bytes() == (study.publish / f"figures/{FIGURES[3]}.{suffix}").read_bytes()


def test_figure_1_has_every_choice_for_both_kinds_of_premise(study):
    points = points_of(study, "temporal_nli_temp_order")
    svg = (study.publish / "figures/temporal_nli_temp_order.svg").read_text()
    for _, panel in points.groupby(["source", "model", "method"]):
        chosen_times = panel[panel["section"] == "How the two times are chosen"]
        rows = chosen_times.groupby("row")["series_name"].apply(set)
        assert set(rows.index) == {"all", *(VALUES["choice"][name] for name in CHOICES["temp_order"])} and len(rows) == 16
        assert all(series == set(VALUES["premise_type"].values()) for series in rows)
    for name in CHOICES["temp_order"]:
        assert f">{VALUES['choice'][name]}<" in svg
    for words in (RESOURCES["sources"]["event_templates"]["title"], "UDS-NLI (order)", "direct evaluation, binary",
                  "fine-tuned", "majority baseline"):
        assert words in svg, words
    assert len(points.groupby(["source", "model", "method"])) == 6


def test_sets_two_and_three_have_every_hypothesis_choice_and_unit(study):
    two = points_of(study, "temporal_nli_temp_duration")
    assert set(VALUES["hypothesis_type"].values()) <= set(two["row"])
    assert {VALUES["choice"][name] for name in CHOICES["temp_duration"]} <= set(two.loc[two["series_name"] != "all", "row"])
    three = points_of(study, "temporal_nli_cross_unit")
    by = three[three["row"].isin(VALUES["unit_pair"].values())].groupby("row")["series_name"].apply(set)
    assert len(by) == 4 and all(len(series) == 4 for series in by)


@pytest.mark.parametrize("name", FIGURES[:3])
def test_the_points_are_the_metrics(study, name):
    points = points_of(study, name)
    metrics = read_table(study.metrics).to_pandas()
    key = ["source", "dataset", "model", "method", "scoring", "slice", "metric"]
    metrics = metrics[metrics["seed"].isna()].set_index(key)
    same = metrics.loc[list(points[key].itertuples(index=False, name=None))]
    for column in ("value", "ci_low", "ci_high", "n"):
        np.testing.assert_allclose(points[column], same[column])
    majority = metrics.xs("majority", level="model").xs("majority", level="method")["value"]
    np.testing.assert_allclose(points["majority"], majority.loc[list(points[[key[0], key[1], *key[4:]]].itertuples(index=False, name=None))])
    control = metrics.xs("control", level="method").xs("bag_of_words", level="model")["value"]  # the better one over all pairs
    np.testing.assert_allclose(points["control"], control.loc[list(points[[key[0], key[1], *key[4:]]].itertuples(index=False, name=None))])
    assert not points.duplicated(key).any() and not set(points["method"]) & {"control", "majority"}
    assert style.BEST_CONTROL in (study.publish / f"figures/{name}.svg").read_text()


def test_what_was_held_out_stands_in_a_matrix(study):
    """Seen, unseen and learnt of each kind; other figures and the table are of whole templates alone."""
    cells = points_of(study, "temporal_nli_generalization")
    assert set(zip(cells["source"], cells["challenge_set"], cells["model"])) == {("event_templates", "temp_order", "roberta_large_mnli")}
    values = cells.pivot(index="held_out", columns="part", values="value")
    assert values.loc["list", ["seen", "unseen", "learnt"]].tolist() == pytest.approx([0.88, 0.6, 0.91])
    assert values.loc["form", "unseen"] == pytest.approx(0.6) and set(values.index) == {"template", "list", "form"}
    assert values.loc["template", "unseen"] == pytest.approx(0.9) and np.isnan(values.loc["template", "learnt"])
    for name in FIGURES[:4]:
        assert not points_of(study, name)["dataset"].str.contains("list|form").any(), name
    svg = (study.publish / "figures/temporal_nli_generalization.svg").read_text()
    assert "list: weekdays" in svg and "560 of 6,140 pairs" in svg


def test_what_holds_out_more_than_templates_alone_is_published(tmp_path, program):
    """Without a dataset that holds out whole templates only, which the figures of the sets and the main table are about."""
    study, options = NliStudy(tmp_path, program), {"challenge_set": "temp_order", "held_out": "list"}
    study.write_metrics([row for row in held_out_rows() if row["held_out"] == "list"])
    study.runs = study.runs[-1:]
    made = [item["name"] for item in study.items() if has_options(options, item.get("needs", {}))]
    assert "temporal_nli_generalization" in made and "temporal_nli_table" not in made
    for name in made:
        done = study.call(name)
        assert done.returncode == 0, done.stderr


def test_the_size_of_the_difference_and_of_t2_is_shown(study):
    two, three = points_of(study, "temporal_nli_temp_duration"), points_of(study, "temporal_nli_cross_unit")
    apart = two[two["section"] == "Distance of the two times"]
    assert set(apart["series_name"]) == {VALUES["hypothesis_type"][name] for name in ("equal_gold", "equal_gold_plus_1", "less_than_gold")}
    sizes = three[three["section"] == "Size of T2, by its preposition"]
    assert set(sizes["row"]) == set(VALUES["hypothesis_size"].values()) and set(sizes["series_name"]) == {"hypothesis: before", "hypothesis: after"}


def test_sample_data_is_marked_and_reductions_are_named(study, tmp_path, program):
    few = NliStudy(tmp_path / "few", program)
    few.write_metrics([row | {"sample": True, "dataset": f"{row['dataset']}-train_templates-6-test_templates-4"}
                       for row in metric_rows() if row["source"] == "event_templates" and row["model"] != "minilm"])
    for name in ("temporal_nli_cross_unit", "temporal_nli_confusion"):
        assert few.call(name).returncode == 0
        svg = (few.publish / f"figures/{name}.svg").read_text()
        assert "SAMPLE DATA" in svg and "train templates 6, test templates 4" in svg
    assert few.call("temporal_nli_table").returncode == 0
    table = table_of(few, "temporal_nli_table")
    assert table["Source"].str.endswith("train templates 6, test templates 4 [sample data]").all()
    assert "SAMPLE DATA" in (few.publish / "tables/temporal_nli_table.md").read_text()
    few.write_metrics([row for row in metric_rows() if row["challenge_set"] == "temp_order" and row["model"] in ("majority", "uds_nli_order")])
    assert few.call("temporal_nli_cross_unit").returncode == 0, "a set that no run measured stops nothing"
    assert "not measured in this run" in (few.publish / "figures/temporal_nli_cross_unit.svg").read_text()


@pytest.mark.parametrize("name", ["temporal_nli_table", "temporal_nli_confusion", "temporal_nli_temp_order"])
def test_no_metrics_of_the_study_is_one_clear_sentence(study, tmp_path, name):
    empty = tmp_path / "metrics.parquet"
    write_table(pq.read_table(study.metrics).slice(0, 0), empty, SCHEMA, {})
    done = study.call(name, metrics=empty, output=tmp_path / name)
    assert done.returncode == 1 and "no rows of study temporal_nli" in done.stderr and len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [empty]


def test_one_template_has_no_interval(study, tmp_path):
    one = tmp_path / "metrics.parquet"
    write_table(pa.Table.from_pylist(of_one_group(metric_rows()), schema=SCHEMA), one, SCHEMA, {})
    for name in ("temporal_nli_table", "temporal_nli_temp_order"):
        done = study.call(name, metrics=one, output=tmp_path / name)
        assert done.returncode == 0, done.stderr
    assert set(pd.read_csv(tmp_path / "temporal_nli_table.csv", dtype=str, keep_default_na=False)["Accuracy, 95 % interval"]) <= {"one group", ""}


def test_an_output_that_names_no_set_is_refused(study, tmp_path):
    done = study.call("temporal_nli_temp_order", output=tmp_path / "temporal_nli_order")
    assert done.returncode == 1 and "write one of temporal_nli_temp_order" in done.stderr and len(done.stderr.splitlines()) == 1


def test_confusion_is_a_share_of_the_label(study):
    cells = points_of(study, "temporal_nli_confusion")
    matrices = cells.groupby(["source", "challenge_set", "model", "method"])
    assert len(matrices) == 14 and set(matrices.size()) == {4, 9}
    assert cells.groupby(["source", "challenge_set", "model", "method", "label"])["share_of_label"].sum().to_numpy() == pytest.approx(1)
    assert cells.loc[cells["label"] == cells["predicted"], "share_of_label"].to_numpy() == pytest.approx(0.6)


def test_the_table_holds_the_numbers_and_the_published_ones(study):
    table = table_of(study, "temporal_nli_table")
    assert len(table) == 2 * 14 + 3 * 2 * 4 - 1, "ternary and binary, and binary alone of the model with two labels"
    generated = table[table["Source"] == RESOURCES["sources"]["event_templates"]["title"]]
    row = generated[(generated["Challenge set"] == SETS["temp_order"]) & (generated["Model"] == "RoBERTa-large (MNLI)")
                    & (generated["Method"] == method_title("train")) & (generated["Scoring"] == "ternary")].iloc[0]
    assert row["Accuracy (%)"] == "90.00 ± 1.00" and row["Accuracy, 95 % interval"] == "87.00–93.00" and row["Seeds"] == "3"
    assert row["Accuracy, published (%)"] == "99.81 ± 0.03" and row["F1 (%)"] == "88.00 ± 1.00" and row["Pairs"] == "6,140"
    first = generated.iloc[:4]
    assert first["Model"].tolist()[:2] == ["majority"] * 2 and first["Scoring"].tolist()[:2] == SCORINGS
    assert first["F1, published (%)"].tolist()[:2] == ["23.14", "51.46"] and first["Seeds"].tolist()[:2] == ["", ""]
    assert re.fullmatch(r"bag of words: \+28\.0 \(\+[\d.]+ to \+[\d.]+\)", row[ABOVE])
    controls = table[table["Method"] == "control"]
    assert set(controls["Model"]) == {"bag of words", "second text alone"} and len(controls) == 2 * 2 * 4 and (controls[ABOVE] == "").all()
    small = generated[generated["Model"].str.startswith("MiniLM")]
    assert len(small) == 6 and (small["Accuracy, published (%)"] == "").all()
    assert not generated["Model"].str.contains("DeBERTa").any(), "what no run measured is not in the table"
    uds = generated[generated["Model"] == "UDS-NLI (order)"]
    assert uds["Scoring"].tolist() == ["binary"] and uds["Accuracy, published (%)"].tolist() == ["56.36"]
    tex = (study.publish / "tables/temporal_nli_table.tex").read_text()
    assert (
        r"90.00 $\pm$ 1.00" in tex
        and tex.count("\nternary & ") + tex.count(" ternary & ")
        >= (table["Scoring"] == "ternary").sum()
    )


def test_pairs_to_read_tell_who_was_wrong(study):
    table = table_of(study, "temporal_nli_errors")
    assert set(table["Dataset"]) == set(SETS.values())
    blind = table["Control"].str.contains(", hypothesis only, ")
    assert blind.any() and (blind | (table["Control"] == "")).all() and (blind == (table["Control right"] != "")).all()
    assert not any("hypothesis only" in name for name in table if name.startswith("model: "))
    systems = [name for name in table if name.startswith("model: ")]
    number = table["Item"].str.rpartition(":")[2].astype(int)
    for name in systems:
        told = table.loc[table[name] != "", name].str.extract(r"^(entailment|neutral|contradiction|not entailment) (\d\.\d\d)( ×)?$")
        assert (told[2].notna() == (number[told.index] < 8)).all(), "first seeds are wrong on pairs 0 to 7"
        surely = np.where(number < 8, 0.6 + 0.04 * number, np.exp(-0.1))[told.index]
        assert told[1].tolist() == [f"{value:.2f}" for value in surely]
    assert (table["Model right"] == np.where(number < 8, "no", "yes")).all()
    cells = table.groupby(["Corpus", "Dataset", "Model right"]).size()
    assert (cells >= 3).all() and (cells.groupby(["Corpus", "Dataset"]).size() == 2).all()
    uds = next(name for name in systems if "UDS-NLI (order)" in name)
    binary = table[table[uds] != ""]
    right = ~binary[uds].str.endswith("×")
    assert ((binary["Gold"] == "entailment") == binary[uds].str.startswith("entailment"))[right].all()
    assert table.loc[table["Dataset"] == SETS["cross_unit"], "slice: unit pair"].isin(VALUES["unit_pair"].values()).all()


def test_hostile_text_stays_text(study):
    table = table_of(study, "temporal_nli_errors")
    assert (table["Premise"] == HOSTILE).all()
    md, tex = ((study.publish / f"tables/temporal_nli_errors.{suffix}").read_text() for suffix in ("md", "tex"))
    assert "<script>" not in md.replace(r"\<script>", "") and r"\textless{}script\textgreater{}" in tex
    assert re.search(r"(?<!\\)&(?! )", tex.split(r"\midrule")[1].split(r"\bottomrule")[0]) is None


def test_predictions_of_other_pairs_are_refused(study):
    name = next(name for name in study.runs if "temp_order" in name)
    facts = json.loads((study.results / "train/temporal_nli" / name / "run.json").read_text())
    build = study.folder / "other"
    pairs = pq.read_table(study.results / "build/temporal_nli" / facts["source"] / "temp_order/test.parquet").to_pandas()
    pairs["example_id"] = "other:" + pairs["example_id"]
    write_table(pa.Table.from_pandas(pairs, preserve_index=False), build / facts["source"] / "temp_order/test.parquet", NLI, {})
    done = study.program("scripts.publish.temporal_nli.errors", "--metrics", study.metrics, "--sources", study.resources / "sources.yaml",
                         "--models", study.resources / "models.yaml", "--train", study.results / "train/temporal_nli", "--runs", name,
                         "--build", build, "--output", study.folder / "other/table")
    assert done.returncode == 1 and "are not of the pairs that were built; run it again" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("setting, wanted, printed", [
    ("source=a; split=b", {"source": "a", "split": "b"}, {}),
    ("source~a; method=train; slice=choice=year; premise_type=fixed",
     {"method": "train", "slice": "choice=year", "premise_type": "fixed"}, {"source": "a"}),
    ("slice=all", {"slice": "all"}, {}), ("", {}, {}),
])
def test_settings_are_read(setting, wanted, printed):
    assert settings_of(setting) == wanted and parts_of(setting, "~") == printed
    assert paper_of(claim(model="a; b", setting=setting)) == {"model": ["a", "b"]} | {key: [value] for key, value in printed.items()}


def test_selection_compares_as_text_and_knows_the_star():
    table = pd.DataFrame({"n": [1, 2, 10], "slice": ["choice=a; x=1", "choice=b; x=1", None]})
    assert selected(table, {"n": "1"})["n"].tolist() == [1]
    assert selected(table, {"slice": "choice=*", "x": "1"})["n"].tolist() == [1, 2], "x is no column: a part of the slice"
    assert selected(table, {"slice": "choice=a", "x": "1", "n": "1"})["n"].tolist() == [1]
    with pytest.raises(UserError, match="a setting names nn, which is no column; write one of n, slice"):
        selected(table, {"nn": "1"})


def test_every_published_row_names_what_there_is():
    """Settings name real columns, and values that the study knows; slices are slices of the set."""
    cleaning = {"source", "split", "unit", "action", "reason"}
    known = {"challenge_set": set(SETS), "method": set(METHODS), "scoring": set(SCORINGS), "split": {"train", "test"},
             "source": set(RESOURCES["sources"]), "model": {"majority", *RESOURCES["models"]}}
    assert len(CLAIMS) > 90
    for _, row in CLAIMS.iterrows():
        settings, printed = settings_of(row["setting"]), parts_of(row["setting"], "~")
        over = settings_of(row["unit"].removeprefix("points over ")) if row["unit"].startswith("points over ") else {}
        columns = cleaning if row["metric"].startswith("cleaning.") else set(SCHEMA.names)
        further = {column: settings.pop(column) for column in list(settings) if column not in columns and "slice" in settings}
        assert {*settings, *printed, *over} <= columns, row.tolist()
        assert all(value in known.get(column, {value}) for part in (settings, printed, over) for column, value in part.items())
        assert set(paper_of(row).get("model", [])) <= known["model"]
        slices = [(settings["slice"], further)] if settings.get("slice", "all") != "all" else []
        for name, more in slices + ([(over["slice"], {})] if "slice" in over else []):
            parts = parts_of(name, "=") | more
            if row["metric"] == "confusion.sum":
                assert set(parts) == {"label", "predicted"} and set(parts.values()) <= {"*", *LABELS}
                continue
            sliced = [{columns} if isinstance(columns, str) else set(columns) for columns in SLICES[settings["challenge_set"]]]
            assert set(parts) in sliced and all("*" in value or value in VALUES[column] for column, value in parts.items())
    tables = CLAIMS[CLAIMS["table"].str.startswith("Table")]
    assert tables.groupby("table").size().to_dict() == {"Table 5": 18, "Table 6": 16, "Table 7": 18}


def test_every_published_row_is_found_where_it_was_measured(facts):
    """On the made-up study: what was measured stands beside each row, the rest is empty; nothing fails."""
    found = {index: found_of(row, facts) for index, row in CLAIMS.iterrows()}
    assert all(found[index] for index, row in CLAIMS.iterrows() if row["table"] == "Table 5" and row["model"] == "majority")
    assert all(found[index] for index, row in CLAIMS.iterrows() if row["metric"].startswith("training."))
    assert sum(map(bool, found.values())) > 60


def test_the_papers_model_and_data_come_first(facts):
    """Where they ran, only they stand there, without a caveat; else what did, which says what differs."""
    row = CLAIMS[(CLAIMS["row"] == "RoBERTa (MNLI), direct evaluation") & (CLAIMS["table"] == "Table 5")].iloc[0]
    assert [(here.told, here.caveats) for here in found_of(row, facts)] == [("50.0 (47.0 to 53.0)", ())]
    generated = RESOURCES["sources"]["event_templates"]["title"]
    other = replace(facts, metrics=facts.metrics[facts.metrics["source"] == "event_templates"])
    assert [here.caveats for here in found_of(row, other)] == [(f"other data: {generated}",)]
    trained = CLAIMS[(CLAIMS["row"] == "RoBERTa (MNLI), train and evaluate") & (CLAIMS["table"] == "Table 5")].iloc[0]
    small = replace(facts, metrics=facts.metrics[facts.metrics["model"] == "minilm"])
    assert [here.caveats for here in found_of(trained, small)] == [("other model: MiniLM-L6 (a small model)", f"other data: {generated}")]
    assert not found_of(trained, small, {"minilm"}), "a model of the paper's table has rows of its own"


def test_differences_sums_and_slices_beside_rows(facts):
    same = "source=event_templates; model=roberta_large_mnli; challenge_set=temp_order; method=direct; scoring=ternary; "
    over = found_of(claim(setting=same.replace("model=roberta_large_mnli; ", "") + "slice=all", value="12", model="roberta_large_mnli",
                          unit="points over model=majority; method=majority"), facts)
    assert re.fullmatch(r"\+10\.0 \(\+9\.[67] to \+10\.[34]\)", over[0].told) and len(over) == 1
    assert re.fullmatch(r"−2\.0 \(−2\.[34] to −1\.[67]\)", over[0].difference)
    parts = found_of(claim(setting=same + "slice=premise_type=fixed", unit="points over slice=premise_type=interval"), facts)
    assert [here.told for here in parts] == ["+16.0"], "parts of a split carry no draws"
    several = found_of(claim(setting=same + "slice=choice=date_my_*; premise_type=fixed", value="60"), facts)
    assert [(here.told, here.difference) for here in several] == [("58.0", "−2.0")], "the mean over all examples of the slices"
    share = found_of(claim(setting=same + "slice=premise_type=fixed", metric="weighted_f1", unit="", value="0.5"), facts)
    assert [(here.told, here.difference) for here in share] == [("0.56 (0.53 to 0.59)", "+0.06 (+0.03 to +0.09)")]
    shares = found_of(claim(setting="source=event_templates; challenge_set=temp_order; scoring=ternary; slice=label=neutral; predicted=*",
                            metric="confusion.sum"), facts)
    assert {here.told for here in shares} == {"25.0"}
    counted = found_of(claim(setting="source~temporal_nli_release; split=train", metric="cleaning.temp_order pairs", value="16980"), facts)
    assert [(here.told, here.difference, here.caveats) for here in counted] == [("16,980", "0", ())]


def test_two_experiments_that_share_rows_stand_once(study, tmp_path):
    rows = [row for row in metric_rows() if row["held_out"] == "template"]
    two = tmp_path / "two.parquet"
    write_table(pa.Table.from_pylist(rows + [row | {"experiment": "again"} for row in rows], schema=SCHEMA), two, SCHEMA, {})
    assert len(nli_metrics(two, RESOURCES["models"])) == len(rows)
    other = [row | {"experiment": "again", "value": row["value"] + 0.01} for row in rows if row["model"] == "minilm"]
    write_table(pa.Table.from_pylist(rows + other, schema=SCHEMA), two, SCHEMA, {})
    assert {"MiniLM-L6 (a small model) (tried)", "MiniLM-L6 (a small model) (again)"} <= set(nli_metrics(two, RESOURCES["models"])["series"])


def test_small_helpers():
    assert details_of("temp_order-train_templates-6-dev_fraction-0.2", ["source"]) == ", train templates 6, dev fraction 0.2"
    assert details_of("stride-0-size_matched-3", ["stride", "size_matched"]) == "" and details_of("temp_order", []) == ""
    assert lines_of([[1, 2], [3, 4], [5]], 3) == [[1, 2], [3, 4, 5]] and lines_of([[1, 2, 3, 4]], 3) == [[1, 2, 3], [4]]


def test_the_page_holds_both_studies(study, tmp_path, program):
    """One page of two studies: the other one's table, all of this one, hostile text escaped, every link leading somewhere."""
    other = Study(tmp_path / "other", program)
    items = [*(item for item in other.items() if item["name"] == "strided_sop_table"), *study.items()]
    (other.folder / "resources/figures.yaml").write_text(yaml.safe_dump(items))
    assert other.call(items[0]).returncode == 0
    for kind in ("figures", "tables"):
        for file in (study.publish / kind).glob("temporal_nli_*"):
            place = other.publish / kind / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
    both = tmp_path / "both.parquet"
    done = program("scripts.evaluate.metrics", other.metrics, study.metrics, "--output", both)
    assert done.returncode == 0, done.stderr
    configuration = {"run": ["tried"], "experiments": {"tried": {"title": "Tried"}}}
    done = program("scripts.publish.site", "--metrics", both, "--resources", other.folder / "resources", "--publish", other.publish,
                   "--cleaning", *sorted(other.results.glob("clean/*/cleaning.csv")), *sorted(study.results.glob("clean/*/cleaning.csv")),
                   "--runs", *sorted(other.results.glob("train/*/*/run.json")), *sorted(study.results.glob("train/*/*/run.json")),
                   "--configuration", json.dumps(configuration), "--provenance", "{}", "--output", other.page)
    assert done.returncode == 0, done.stderr
    html = other.page.read_text()
    for item in items:
        assert f'id="{item["name"]}"' in html
    assert html.count("<script") == 1 and "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in html
    assert "99.81 ± 0.03" in html and "other data: " in html and "RoBERTa-large (MNLI), direct" in html
    group = f"<span>{RESOURCES['sources']['event_templates']['title']} · {SETS['temp_order']}</span>"
    assert group in html and '<td class="n">90.00 ± 1.00</td>' in html
    assert "templates.csv" in html, "the hash of a local source's file"
    for place in re.findall(r'href="(?!#|data:|https?:)([^"]+)"', html):
        assert (other.page.parent / place).is_file(), place
