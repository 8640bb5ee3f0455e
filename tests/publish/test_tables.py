"""Tables and points of figures hold the numbers on record, beside those of the papers."""

import numpy as np
import pytest
import yaml

from scripts.data.tables import read_table
from tests.publish.recorded import Recorded

pytestmark = pytest.mark.slow  # many processes

# For each study: the preset, the cells that find one row of its table, and further cells of it.
ROWS = yaml.safe_load("""
strided_sop:
  - base
  - {Model: MPNet-base (all-mpnet-base-v2), Split: validation 1, Stride: '2', Experiment: activitynet_sop_base}
  - {Accuracy (%): '66.6', SD: '0.1', 95 % interval: 64.3–68.9, Peak (%): '68.1', Pairs: '1,206', Videos: '481', Seeds: '3',
     Training pairs: '2,998',
     'Beside: with more': 'search: words, from all captions of the corpus 66.9: −0.2 (−2.5 to +2.0), level (within 3 points) among 2 tests'}
temporal_nli:
  - small
  - {Method: hypothesis only, Challenge set: 'Set I: Temp-Order', Scoring: ternary}
  - {Accuracy (%): '52.00', 'Accuracy, 95 % interval': 50.14–53.86, F1 (%): '44.64', Pairs: '6,140', Templates: '16', Seeds: '1'}
mctaco:
  - base
  - {System: MPNet-base (all-mpnet-base-v2), Seeds: '3'}
  - {F1 (%): '68.9', F1 sd: '0.7', EM (%): '38.2', EM 95 % interval: 35.9–40.6, Questions: '1,332', Training pairs: '3,783',
     'Beside: like for like': 'search: one option, beside its text 30.6: +7.7 (+5.0 to +10.4), clearly above'}
timedial:
  - base
  - {Experiment: timedial_base_choices, Context: local, Paradigm: classification, 2-best (%): '74.0'}
  - {Seeds: '1', 2-best 95 % interval: 70.7–77.0, 2-best cut: 15 of 938, Not near: '887', '2-best, not near (%)': '73.5',
     Extras: '342', 1-best (%): '65.5', Training examples: '8,224', Learnt from: DailyDialog}
""")
# Of each study: rows of the papers alone (a cell that finds them), and their numbers.
PAPER = yaml.safe_load("""
mctaco: [System, Human (in the paper only), {F1 in the paper: '87.1', EM in the paper: '75.8', EM (%): ''}]
timedial: [Model, T5-large (in the paper only), {2-best in the paper: '74.8', 2-best (%): ''}]
""")
FIGURES = {
    "accuracy_by_stride": ("strided_sop", "base"),
    "temporal_nli_temp_order": ("temporal_nli", "small"),
    "mctaco_by_category": ("mctaco", "base"),
    "timedial_accuracy": ("timedial", "base"),
    "mctaco_training_size": ("mctaco", "base"),
}


SAMPLES = yaml.safe_load("""
{activitynet: sample_activitynet, event_templates: generated, mctaco: sample_mctaco, dailydialog: sample_dialogs}
""")


def as_samples(frame):
    """Return the rows as if they were measured on at most 200 items of samples."""
    frame = frame[frame["source"].isin(SAMPLES)]
    frame = frame.assign(source=frame["source"].map(SAMPLES), sample=True, limit=200)
    return frame.assign(measured_on="sample_challenge") if "measured_on" in frame else frame


@pytest.mark.parametrize("study", ROWS)
def test_a_table_holds_the_numbers_on_record_beside_those_of_the_paper(study, tmp_path, program):
    preset, wanted, cells = ROWS[study]
    recorded = Recorded(tmp_path, program, study, preset)
    recorded.call(f"{study}_table").checked()
    table = recorded.table(f"{study}_table")
    found = table[(table[list(wanted)] == list(wanted.values())).all(axis=1)]
    assert {name: set(found[name]) for name in cells} == {name: {cells[name]} for name in cells}
    tex = (tmp_path / f"tables/{study}_table.tex").read_text()
    number = next(iter(cells.values()))
    assert number in tex and "val_1" not in tex
    for column, name, numbers in [PAPER[study]] if study in PAPER else []:
        paper = table[table[column] == name]
        assert all(value in set(paper[cell]) for cell, value in numbers.items())


@pytest.mark.parametrize("study", ["strided_sop", "mctaco", "timedial"])
def test_samples_and_limits_are_marked_and_never_stand_beside_the_papers_numbers(
    study, tmp_path, program
):
    recorded = Recorded(tmp_path, program, study, ROWS[study][0], as_samples)
    recorded.call(f"{study}_table").checked()
    table = recorded.table(f"{study}_table")
    here = table[~table.apply(lambda row: "in the paper only" in " ".join(row), axis=1)]
    assert len(here) and here.iloc[:, 0].str.endswith("[sample data] [at most 200 items]").all()
    published = [name for name in table if "in the paper" in name or "published" in name]
    assert (here[published] == "").all(axis=None)
    text = (tmp_path / f"tables/{study}_table.md").read_text()
    assert "SAMPLE DATA where marked" in text and "AT MOST 200 ITEMS where marked" in text


@pytest.mark.parametrize("name", FIGURES)
def test_the_points_of_a_figure_are_the_metrics(name, tmp_path, program):
    recorded = Recorded(tmp_path, program, *FIGURES[name])
    recorded.call(name).checked()
    points, metrics = recorded.points(name), read_table(recorded.metrics).to_pandas()
    if "draws" in points:
        means = points[points["origin"] == "mean over draws"]
        for _, mean in means[means["draws"] > 1].iterrows():
            same = ["metric", "train_questions", "system"]
            draws = points[
                (points["origin"] == "one draw") & (points[same] == mean[same]).all(axis=1)
            ]
            assert mean["value"] == pytest.approx(draws["value"].mean())
    if "origin" in points:
        points = points[~points["origin"].isin(["published", "mean over draws"])]
    keys = "model method source dataset split slice metric scoring seed wording".split()
    keys = [key for key in keys if key in points and points[key].notna().any()]
    metrics = metrics[metrics["seed"].isna()] if "seed" not in keys else metrics
    both = points.merge(metrics, on=keys, how="left", suffixes=("", "_measured"))
    assert len(points) and both["value_measured"].notna().all()
    near = np.isclose(both["value"], both["value_measured"])
    assert both.assign(near=near).groupby(keys, dropna=False)["near"].any().all()


def test_the_control_beside_training_sizes_has_the_same_units(tmp_path, program):
    recorded = Recorded(tmp_path, program, *FIGURES["mctaco_training_size"])
    recorded.call("mctaco_training_size").checked()
    points = recorded.points("mctaco_training_size")
    is_control = points["model"].str.startswith("search_")
    assert is_control.any() and not points["unit_normalization"].any()


def test_released_predictions_stand_beside_the_control_with_the_same_units(tmp_path, program):
    recorded = Recorded(tmp_path, program, *FIGURES["mctaco_by_category"])
    recorded.call("mctaco_table").checked()
    table = recorded.table("mctaco_table").set_index("System")
    found = table.loc["BERT-base (released predictions) + unit normalization"]
    beside = found["Beside: like for like"]
    assert beside.startswith("search: one option, beside its text 30.7: +12.0 "), beside


@pytest.mark.parametrize("study", ["strided_sop", "timedial", "mctaco"])
def test_wordings_are_told_as_wordings_and_not_as_seeds(study, tmp_path, program):
    recorded = Recorded(tmp_path, program, study, "gemma")
    recorded.call(f"{study}_table").checked()
    table = recorded.table(f"{study}_table")
    asked = table[table["Wordings"] != ""]
    assert len(asked) and ("Seeds" not in table or (asked["Seeds"] == "").all())
    assert "wordings" in (tmp_path / f"tables/{study}_table.md").read_text()


def test_a_figure_without_its_numbers_is_one_sentence(tmp_path, program):
    others = Recorded(
        tmp_path, program, "strided_sop", "base", lambda frame: frame.assign(study="other")
    )
    others.call("accuracy_by_stride").refused("no rows of study strided_sop", lines=1)
    assert not (tmp_path / "figures").exists()
