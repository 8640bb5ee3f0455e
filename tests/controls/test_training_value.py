"""The value of a control on the training split, by which the best of a rung is chosen: the same
folds and the same measure for every kind of control, and no label of what is measured.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from scripts.data.runs import facts_of
from scripts.controls.folds import FOLDS, fold_of
from tests.controls.test_controls import pairs, run_controls
from tests.controls.test_search import answers, dialogs

pytestmark = pytest.mark.slow  # it trains many times

LENGTHS = {"features": ["lengths"]}


def facts_by_run(program, folder, train, test, controls, **given) -> dict[str, dict]:
    run_controls(program, folder, train, test, controls, **given).checked()
    return {name: facts_of(folder / name / "run.json") for name in controls}


def test_the_value_of_a_control_is_that_of_the_other_folds(program, tmp_path):
    """The reference fits the same regression by hand, fold by fold."""
    train = pairs(300, 1)
    train["text_a"] += " and" * 3 * (train["label"] == 0).astype(int).to_numpy(object)
    controls = {"lengths": LENGTHS, "random": {"predicts": "random"}}
    facts = facts_by_run(program, tmp_path, train, pairs(60, 2), controls)
    sizes = [
        np.log1p(train[text].str.split().str.len() if words else train[text].str.len())
        for words in (True, False)
        for text in ("text_a", "text_b")
    ]
    features = np.column_stack([sizes[1] - sizes[0], sizes[3] - sizes[2]])
    fold = fold_of(train.rename(columns={"video_id": "group_id"}))
    assert len(np.unique(fold)) == FOLDS
    right = np.zeros(len(train))
    for number in range(FOLDS):
        model = LogisticRegression(C=0.1, fit_intercept=False).fit(
            features[fold != number], train["label"][fold != number]
        )
        rows = fold == number
        right[rows] = model.predict(features[rows]) == train["label"][rows]
    assert facts["lengths"]["training_value"] == pytest.approx(right.mean(), abs=0.01)
    assert right.mean() > 0.7
    assert facts["random"]["training_value"] == pytest.approx(0.5, abs=0.1)
    assert [one["sees_all"] for one in facts.values()] == [False, False]
    assert [one["rung"] for one in facts.values()] == ["words", "words"], "as it is given"


def test_a_choice_counts_once_and_ties_are_shared(program, tmp_path):
    """The right option is one of three; only one control reads what shows it."""
    options = [["three hours"], ["ten minutes", "two days"]]
    train = dialogs(1, 120, options)
    train = train.assign(label=(train["second"] == "three hours").astype(int))
    controls = {
        "random": {"predicts": "random"},
        "words": {"features": ["second_words"]},
        "said": {"rank_by": ["in_context"]},
        "often": {"rank_by": ["frequency"]},
        "nearest": {"search": "all_options"},
    }
    facts = facts_by_run(
        program,
        tmp_path,
        train,
        dialogs(2, 30, options),
        controls,
        settings={"study": "timedial"},
        columns={"example_id": "example_id", "group_id": "group_id", "choice_id": "choice_id"},
        inputs=["first", "second"],
        exchangeable=False,
    )
    values = {name: round(one["training_value"], 2) for name, one in facts.items()}
    assert values | {"nearest": 0} == {
        "random": 0.33, "said": 0.33, "words": 1.0, "often": 1.0, "nearest": 0
    }  # fmt: skip
    assert facts["nearest"]["sees_all"] and facts["nearest"]["rung"] == "rules", "nothing is learnt"


def test_whole_groups_count_where_the_study_says_so(program, tmp_path):
    train = answers(1, 100)
    given = {
        "columns": {"example_id": "example_id", "group_id": "group_id"},
        "inputs": ["first", "second", "category"],
        "exchangeable": False,
        "settings": {"study": "mctaco"},
    }
    controls = {"words": {"features": ["second_words"]}, "all": {"search": "all_options"}}
    found = {}
    for whole in (False, True):
        (folder := tmp_path / str(whole)).mkdir()
        found[whole] = facts_by_run(
            program, folder, train, answers(2, 30), controls, whole_groups=whole, **given
        )
    assert found[True]["words"]["training_value"] < 0.3 < found[False]["words"]["training_value"]
    assert found[True]["all"]["training_value"] > 0.9
    assert found[True]["all"]["sees_all"] and not found[True]["words"]["sees_all"]


def test_a_training_split_of_one_group_has_no_value(program, tmp_path):
    train = pairs(40, 1).assign(video_id="one")
    controls = {"lengths": LENGTHS, "search": {"search": "both_texts"}}
    facts = facts_by_run(
        program, tmp_path, train, pairs(10, 2), controls, settings={"study": "strided_sop"}
    )
    assert [one["training_value"] for one in facts.values()] == [None, None]


def test_folds_keep_groups_together():
    table = pd.DataFrame({"group_id": [str(number // 5) for number in range(500)]})
    fold = pd.Series(fold_of(table))
    assert fold.groupby(table["group_id"]).nunique().eq(1).all()
    assert fold.value_counts().min() > 50
