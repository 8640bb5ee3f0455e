"""Controls: the same numbers as with scikit-learn itself, no preference for an order, ranks,
refusals.
"""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from scripts.running.program import UserError
from scripts.running.project_version import project_version
from scripts.data.runs import facts_of
from scripts.data.tables import PREDICTIONS, read_table
from scripts.controls.simple import REGULARIZATION, at_random
from tests.rows import each_row
from tests.plan.test_configuration import STUDIES, default, plan

WORDS = "alpha beta gamma delta then finally cup pan pot stove knife".split()
METHOD, SETTINGS = yaml.safe_load("""
- {columns: {example_id: pair_id, group_id: video_id}, labels: [swapped, in_order], exchangeable: true,
   inputs: [text_a, text_b]}
- {study: s, source: c, dataset: d, data: {}, model: bag_of_words, method: control, training: {}, seed: 0}
""")


def pairs(rows: int, seed: int, learnable: bool = True) -> pd.DataFrame:
    """Make pairs of random sentences. If learnable, most later sentences contain `finally`."""
    draw = np.random.default_rng(seed)
    label = draw.integers(0, 2, rows)
    texts = [
        [" ".join(draw.choice(WORDS[:5] + WORDS[6:], 5)) for _ in range(2)] for _ in range(rows)
    ]
    for number in range(rows if learnable else 0):
        if draw.random() < 0.6:
            texts[number][label[number]] += " finally"
    first, second = zip(*texts)
    return pd.DataFrame(
        {
            "pair_id": [f"{seed}:{number}" for number in range(rows)],
            "video_id": [str(number // 4) for number in range(rows)],
            "text_a": first,
            "text_b": second,
            "label": label.astype(np.int8),
        }
    )


def run_controls(
    program,
    folder,
    train: pd.DataFrame,
    test: pd.DataFrame,
    controls: dict[str, dict],
    settings=(),
    files=(),
    **method,
):
    """Run controls in one process and return it. controls: by the name of the run, which is also
    its folder.

    settings, method: values that differ from those above. files: vectors, a file of word vectors;
    corpus, a file of captions; learns_from, the folder of another dataset.
    """
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    train.to_parquet(data / "train.parquet")
    test.to_parquet(data / "test.parquet")
    given = SETTINGS | dict(settings)
    shared = {"settings": given, "rung": "words", "method": METHOD | method, "data": str(data)}
    shared |= {"splits": ["train", "test"]}
    shared |= {name: str(file) for name, file in dict(files).items()}
    lines = [
        json.dumps(shared | {"run": run, "control": control}) for run, control in controls.items()
    ]
    return program(
        f"scripts.train.runs --folder {folder} --output {folder}/job.manifest.json",
        "<<<",
        "\n".join(lines),
    )


def run_control(program, folder, train: pd.DataFrame, test: pd.DataFrame, control: dict, **method):
    return run_controls(program, folder, train, test, {"run": control}, **method)


def scores_of(folder) -> np.ndarray:
    return np.stack(
        read_table(folder / "run/predictions.parquet", schema=PREDICTIONS)["score"].to_numpy()
    )


def by_scikit_learn(train: pd.DataFrame, test: pd.DataFrame, exchangeable: bool) -> np.ndarray:
    """Return the log-probabilities of a bag of words, implemented again with dense counts of words
    and bigrams.
    """
    counts = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b").fit(
        [*train["text_a"], *train["text_b"]]
    )

    def features(table: pd.DataFrame) -> np.ndarray:
        first, second = (
            counts.transform(table[side]).toarray().astype(float) for side in ("text_a", "text_b")
        )
        return second - first if exchangeable else np.hstack([first, second])

    kept = (features(train) != 0).sum(0) >= 2
    model = LogisticRegression(
        C=REGULARIZATION, fit_intercept=not exchangeable, max_iter=10_000, tol=1e-8
    )
    return model.fit(features(train)[:, kept], train["label"]).predict_log_proba(
        features(test)[:, kept]
    )


@pytest.mark.parametrize("exchangeable", [True, False])
def test_a_bag_of_words_is_that_of_scikit_learn(program, tmp_path, exchangeable):
    train, test = pairs(400, 1), pairs(120, 2)
    run_control(
        program, tmp_path, train, test, {"features": ["words"]}, exchangeable=exchangeable
    ).checked()
    found, wanted = scores_of(tmp_path), by_scikit_learn(train, test, exchangeable)
    np.testing.assert_allclose(np.exp(found), np.exp(wanted), atol=0.01)
    facts = facts_of(tmp_path / "run/run.json")
    assert facts["timestride"] == project_version(), "version and commit of the tree that made it"
    assert facts["train_examples"] == 400
    assert facts["method"] == "control"
    assert facts["labels"] == ["swapped", "in_order"]


def test_a_rule_of_order_prefers_no_stride(program, tmp_path):
    """Where strides are predicted, every control has a score for each of them."""
    train, test = (pairs(rows, rows).assign(label=np.arange(rows) % 4) for rows in (240, 80))
    train, test = (table.astype({"label": np.int8}) for table in (train, test))
    of_strides = {"labels": ["0", "1", "2", "3"], "exchangeable": False}
    control, settings = {"search": "rules"}, {"study": "strided_sop"}
    run_control(program, tmp_path, train, test, control, settings=settings, **of_strides).checked()
    found = scores_of(tmp_path)
    assert found.shape == (80, 4) and not np.ptp(found, axis=1).any()


def test_a_control_of_one_text_reads_this_text_alone(program, tmp_path):
    """Without the first text, scores are those of a pair whose first text is empty. The training
    columns that a study teaches are not taken for a text.
    """
    train, test = (pairs(rows, rows).assign(place=rows) for rows in (300, 80))
    one = {"inputs": ["text_b"], "teaches": ["place"], "exchangeable": False}
    for name, method in (("one", one), ("two", {"exchangeable": False})):
        empty = [table.assign(text_a="") for table in (train, test)]
        shown = (train, test) if name == "one" else empty
        run_control(program, tmp_path / name, *shown, {"features": ["words"]}, **method).checked()
    found = scores_of(tmp_path / "one")
    np.testing.assert_allclose(found, scores_of(tmp_path / "two"), atol=1e-6)
    assert (found.argmax(1) == test["label"]).mean() > 0.6


def test_a_further_control_is_measured_alone(program, tmp_path):
    """One process runs all controls. It takes finished controls unchanged, even if a later one was
    refused.
    """
    train, test = pairs(200, 1), pairs(60, 2)
    first = {"words": {"features": ["words"]}, "lengths": {"features": ["lengths"]}}
    assert run_controls(program, tmp_path, train, test, first).returncode == 0
    found = {name: (tmp_path / name / "predictions.parquet").read_bytes() for name in first}
    (tmp_path / "words/predictions.parquet").unlink()
    refused = {"cues": {"features": ["cue_words"]}, "no_masks": {"rank_by": ["in_context"]}}
    run_controls(program, tmp_path, train, test, {**first, **refused}).refused(
        "name another control"
    )
    done = run_controls(
        program, tmp_path, train, test, {**first, "cues": {"features": ["cue_words"]}}
    )
    assert done.returncode == 0 and done.stderr.count("already measured") == 3, done.stderr
    assert all(
        (tmp_path / name / "predictions.parquet").read_bytes() == before
        for name, before in found.items()
    )
    done = run_controls(program, tmp_path, train, test.assign(text_b=test["text_a"]), first)
    assert done.returncode == 0 and "already" not in done.stderr, "other data, other numbers"
    assert (tmp_path / "words/predictions.parquet").read_bytes() != found["words"]


def test_exchanged_texts_get_exchanged_scores(program, tmp_path):
    train, test = pairs(300, 1), pairs(80, 2)
    turned = test.rename(columns={"text_a": "text_b", "text_b": "text_a"})
    for name in ("words", "cue_words", "lengths"):
        scores = []
        for number, split in enumerate((test, turned)):
            folder = tmp_path / f"{name}-{number}"
            assert run_control(program, folder, train, split, {"features": [name]}).returncode == 0
            scores.append(scores_of(folder))
        np.testing.assert_allclose(scores[0], scores[1][:, ::-1], atol=1e-5)


def test_random_depends_on_the_id_alone_and_prefers_no_label():
    table = pd.DataFrame({"example_id": [str(number) for number in range(3000)]})
    predicted = at_random(3, False)(table).argmax(1)
    assert np.bincount(predicted).min() > 900
    np.testing.assert_array_equal(predicted[::-1], at_random(3, False)(table[::-1]).argmax(1))


@pytest.mark.parametrize(
    "control, sentence",
    [
        ({"rank_by": ["frequency"]}, "rank_by ranks the candidates"),
        ({"features": ["words_by_category"]}, "needs the category"),
        ({"search": "all_options"}, "strided_sop has no view all_options"),
    ],
)
def test_a_control_that_a_study_cannot_have_is_refused_in_one_sentence(
    program, tmp_path, control, sentence
):
    given = {"settings": {"study": "strided_sop"}}
    run_control(program, tmp_path, pairs(20, 1), pairs(10, 2), control, **given).refused(sentence)
    assert not (tmp_path / "run/predictions.parquet").exists()


# ---- which experiments have controls


def plan_of(**changed):
    experiment = {
        "study": "strided_sop",
        "data": {"source": "sample_activitynet", "stride": 0},
        "models": ["tiny_bert"],
    }
    return plan(
        default() | {"run": ["e"], "seeds": [1, 2], "experiments": {"e": experiment | changed}}
    )


DECLARED = STUDIES["strided_sop"]["controls"]
OF_STUDY = [name for name, how in DECLARED.items() if how.get("joins", True)]


@each_row(
    "changed, controls",
    [
        ({}, OF_STUDY),
        ({"controls": False}, []),
        ({"controls": ["random"]}, ["random"]),
        ({"models": ["tiny_bert", "random"]}, ["random", *OF_STUDY]),
    ],
)
def test_an_experiment_has_its_studys_controls_unless_it_says_otherwise(changed, controls):
    runs = plan_of(**changed).runs.values()
    found = Counter(run.model for run in runs)
    assert found == {"tiny_bert": 2, **dict.fromkeys(controls, 1)}
    assert all((run.method == "control") == (run.model != "tiny_bert") for run in runs)


@each_row(
    "changed, said",
    """
        {controls: [minilm]}      | minilm is not a control
        {controls: [bag_of_wrds]} | 'e.controls: no model bag_of_wrds; did you mean bag_of_words'
        {methods: [control]}      | has no method control
        {controls: [in_context]}  | ranks the candidates for one mask, which strided_sop does not have
    """,
)
def test_what_is_no_control_is_refused(changed, said):
    with pytest.raises(UserError) as error:
        plan_of(**changed)
    assert said in str(error.value)
