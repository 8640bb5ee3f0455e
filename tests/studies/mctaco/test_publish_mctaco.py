"""Figures and tables of MC-TACO: their content, with each program run as the rule runs it; hostile
text stays text.
"""

import re

import numpy as np
import pytest

from scripts.publish.table import ABOVE
from tests.publish.publish_inputs import points_of, table_of
from tests.studies.mctaco.publish_inputs_mctaco import (
    QUESTIONS,
    Study,
    make_run,
    metric_rows,
    released_rows,
    untrained_rows,
)

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

FIGURES = ("mctaco_by_category mctaco_training_size").split()
SMALL = {("hostile", False): (0.55, 0.3), ("hostile", True): (0.56, 0.31)}


@pytest.fixture(scope="module")
def study(tmp_path_factory, program) -> Study:
    """Make Table 2 on the paper's corpus with the curve, and a sample corpus with a model that has
    a hostile name; run all programs.
    """
    inputs = Study(
        tmp_path_factory.mktemp("study"),
        program,
        metric_rows() + untrained_rows() + metric_rows("sample_mctaco", SMALL, [1], False),
    )
    for name in [*FIGURES, "mctaco_table"]:
        assert len(inputs.call(name).stderr.splitlines()) == 1
    return inputs


def test_the_table_holds_table_2_beside_the_published_numbers(study):
    rows = table_of(study, "mctaco_table")
    real = rows[rows["Corpus"] == "MC-TACO"].set_index("System")
    controls = [
        f"{name}{way}"
        for name in ("bag of words", "answer and category")
        for way in ("", " + unit normalization")
    ]
    assert list(real.index) == [
        "random",
        "always yes",
        "always no",
        *controls,
        "ESIM (GloVe)",
        "ESIM (frozen BERT)",
        "BERT-base",
        "BERT-base + unit normalization",
        "RoBERTa-base",
        "Human (in the paper only)",
    ]
    bert = real.loc["BERT-base + unit normalization"]
    assert bert[["Questions", "Training pairs", "Seeds"]].tolist() == ["1,332", "3,783", "3"]
    assert (
        bert[["F1 (%)", "F1 sd", "F1 95 % interval", "F1 in the paper"]].tolist()
        == "68.8 0.8 66.2–71.4 69.9".split()
    )
    assert (
        bert[["EM (%)", "EM sd", "EM 95 % interval", "EM in the paper"]].tolist()
        == "42.1 0.8 39.5–44.7 42.7".split()
    )
    assert re.fullmatch(r"answer and category: −2\.9 \(−[\d.]+ to \+[\d.]+\)", bert[ABOVE]), (
        "on its own dataset, the best control is better"
    )
    assert real.loc[controls, "EM (%)"].tolist() == "20.0 20.0 45.0 45.0".split()
    assert (real.loc[[*controls, "random"], ABOVE] == "").all()
    human = real.loc["Human (in the paper only)"]
    assert human[["F1 (%)", "F1 in the paper", "EM in the paper"]].tolist() == ["", "87.1", "75.8"]


def test_sample_numbers_never_stand_beside_published_ones(study):
    rows = table_of(study, "mctaco_table")
    sample = rows[rows["Corpus"].str.contains("sample data")]
    assert len(sample) == 5 + 4
    assert (sample[["F1 in the paper", "EM in the paper"]] == "").all(axis=None)
    published = points_of(study, "mctaco_by_category").query("origin == 'published'")
    assert len(published) == 5 and set(published["source"]) == {"mctaco"}


def test_the_curve_has_its_draws_their_mean_and_zero(study):
    drawn = points_of(study, "mctaco_training_size")
    mean = drawn[(drawn["origin"] == "mean over draws") & (drawn["metric"] == "f1")]
    assert set(mean["system"]) == {"BERT-base"}, "systems of one size are no curve"
    assert mean["train_pairs"].tolist() == [0, 169, 338, 676, 1350, 2495, 3783]
    assert mean["draws"].tolist() == [1, *[5] * 5, 1]
    assert mean["value"].iloc[0] == pytest.approx(0.31), (
        "measured without training, not random's expected value"
    )
    single = drawn[
        (drawn["origin"] == "one draw")
        & (drawn["metric"] == "f1")
        & (drawn["train_questions"] == 100)
        & drawn["seed"].isna()
    ]
    assert len(single) == 5
    at = mean[mean["train_questions"] == 100].iloc[0]
    for column in ("value", "train_pairs"):
        assert at[column] == pytest.approx(single[column].mean())
    # Five draws are 0.012 apart. The interval uses t with the variance of questions and draws
    # together, and is at least as wide as with questions alone.
    error = np.sqrt(0.0133**2 + single["value"].var() / 5)
    assert (at["ci_high"] - at["ci_low"]) / 2 == pytest.approx(1.97 * error, rel=0.15)
    assert error > 0.015
    last = mean[mean["draws"] == 1].iloc[0]
    assert last["ci_high"] - last["ci_low"] == pytest.approx(0.052), "of one draw, its own"


@pytest.fixture(scope="module")
def with_released(tmp_path_factory, program) -> Study:
    """Make Table 2 with judgements released with the corpus, which have the highest exact match."""
    inputs = Study(
        tmp_path_factory.mktemp("released"), program, metric_rows(curve=False) + released_rows(0.5)
    )
    inputs.runs = [make_run(inputs.results, "bert_base", 1)]
    inputs.write_released(
        ["yes"] * sum(len(candidates) for _, _, candidates, *_ in QUESTIONS.values())
    )
    return inputs


def test_released_judgements_are_a_system_beside_the_papers_number(with_released):
    for name in (*FIGURES, "mctaco_table"):
        with_released.call(name)
    row = (
        table_of(with_released, "mctaco_table")
        .set_index("System")
        .loc["BERT-base (released predictions) + unit normalization"]
    )
    assert row[["F1 (%)", "EM (%)", "F1 in the paper", "EM in the paper", "Seeds"]].tolist() == [
        "69.9",
        "50.0",
        "69.9",
        "42.7",
        "",
    ]
    for name in set(FIGURES) - {"mctaco_training_size"}:
        assert "told" in set(points_of(with_released, name)["model"]), name
    drawn = points_of(with_released, "mctaco_by_category")
    assert not (drawn["origin"] == "published").any(), "the same judgements do not stand twice"


def test_statistics_stand_beside_table_1(tmp_path, program):
    inputs = Study(tmp_path, program, metric_rows(curve=False))
    inputs.write_cleaned()
    inputs.call("mctaco_statistics")
    rows = table_of(inputs, "mctaco_statistics").set_index(["Of", "Number"])
    assert (
        rows.loc[("all", "questions"), ["All", "test", "train", "In the paper"]].tolist()
        == "7 5 2 1,893".split()
    )
    candidates = rows.loc[("duration", "candidates of a question"), ["All", "In the paper"]]
    assert candidates.tolist() == "3.5 9.4".split()
    assert rows.loc[("all", "words of a sentence"), "All"] == "5.0"
