"""MC-TACO: the real files as they are counted, exact match and F1 as the authors score them,
wrong input.
"""

import itertools
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.data.tables import provenance_of, read_table
from scripts.studies.mctaco.evaluate import by_question, consistency, expected_at_random, one_range
from tests.conftest import ROOT
from tests.rows import each_row, rows_of
from tests.runs import write_run

AT = "raw.githubusercontent.com/CogComp/MCTACO/master"


def slow_scores(candidates: list[tuple[int, int]]) -> tuple[int, float]:
    """Exact match and F1 of one question, as section 4 words them;
    candidates: (likely, accepted).
    """
    likely = sum(gold for gold, _ in candidates)
    accepted = sum(told for _, told in candidates)
    right = sum(gold and told for gold, told in candidates)
    precision = right / accepted if accepted else 1.0
    recall = right / likely if likely else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return int(all(gold == told for gold, told in candidates)), f1


QUESTIONS = st.lists(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=6),
    min_size=1,
    max_size=8,
)


@given(QUESTIONS)
def test_metrics_equal_a_slow_reference(questions):
    question = np.repeat(np.arange(len(questions)), [len(pairs) for pairs in questions])
    label, accepted = (
        np.array(column) for column in zip(*(pair for pairs in questions for pair in pairs))
    )
    exact, f1 = by_question(label, accepted, question)
    wanted = [slow_scores(pairs) for pairs in questions]
    np.testing.assert_allclose(exact, [one for one, _ in wanted])
    np.testing.assert_allclose(f1, [one for _, one in wanted], atol=1e-12)


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=5), min_size=1, max_size=3))
@settings(max_examples=30)
def test_chance_is_the_mean_over_all_answers(questions):
    """Every way to accept or not, one by one."""
    question = np.repeat(np.arange(len(questions)), [len(gold_labels) for gold_labels in questions])
    exact, f1 = expected_at_random(
        np.array([gold for gold_labels in questions for gold in gold_labels]), question
    )
    for place, gold_labels in enumerate(questions):
        ways = [
            [(number >> bit) & 1 for bit in range(len(gold_labels))]
            for number in range(2 ** len(gold_labels))
        ]
        scored = [slow_scores(list(zip(gold_labels, told))) for told in ways]
        assert exact[place] == pytest.approx(np.mean([one for one, _ in scored]))
        assert f1[place] == pytest.approx(np.mean([one for _, one in scored]))


@each_row(
    "seconds, accepted, wanted",
    [
        *rows_of("""
            [1, 2, 3, 4] | [0, 1, 1, 0] | 1.0
            [1, 2, 3, 4] | [1, 0, 0, 1] | 0.0  # "1 hour" and "9 hours" without the hours between
            [4, 1, 3, 2] | [1, 0, 1, 1] | 1.0  # in any order
        """),
        ([1, 2, 3, 4], [0, 1, 0, 0], np.nan),  # nothing can lie between
        ([1, np.nan, 3, 4], [1, 0, 1, 0], 1.0),  # what has no quantity does not count
        ([1, 2, 2, 3], [1, 0, 1, 1], 1.0),  # one wording of the same quantity is enough
        ([1, 1, 5, 9], [1, 1, 0, 0], np.nan),  # two wordings of one quantity are one
    ],
)
def test_consistency(seconds, accepted, wanted):
    found = consistency(np.array(accepted), np.array(seconds, float), np.zeros(4, int))
    np.testing.assert_equal(found, [wanted])


@pytest.fixture(scope="session")
def cleaned(mirror, program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mctaco")
    program(
        f"scripts.clean.mctaco --source mctaco --fetched {mirror}/{AT}/dataset --output {folder}",
        "--provenance",
        "{}",
    ).checked()
    return folder


def test_the_real_files_are_counted(cleaned):
    counts = pd.read_csv(cleaned / "cleaning.csv").set_index("split unit action reason".split())[
        "count"
    ]
    kept = counts.xs("kept", level="action").droplevel("reason")
    assert kept["train", "answers"] == 3783 and kept["train", "questions"] == 561
    assert kept["test", "answers"] == 9442 and kept["test", "questions"] == 1332
    assert counts["train", "answers", "noted", 'a " in a text'] == 145
    assert counts["test", "answers", "noted", 'a " in a text'] == 680
    assert counts["test", "questions", "noted", "train has the question too"] == 0
    test = read_table(cleaned / "test.parquet").to_pandas()
    assert (test.groupby("question_id")["label"].sum() == 0).sum() == 232
    assert test.groupby("question_id").size().agg(["min", "max"]).tolist() == [1, 19]
    assert not test.groupby("question_id")["category"].nunique().max() > 1
    assert (
        test["answer"].str.contains("\u00ad").any() or test["sentence"].str.contains("\u00ad").any()
    )


def printed(text: str) -> dict[str, list[str]]:
    """What a program printed of predictions: by metric and slice the words behind."""
    return {line[:52].strip(): line[52:].split() for line in text.splitlines() if len(line) > 52}


def test_the_released_predictions_score_as_published(mirror, program, tmp_path):
    """Beside a file that accepts every answer; a byte order mark counts for nothing."""
    (tmp_path / "gold.tsv").write_bytes(
        b"\xef\xbb\xbf" + (mirror / AT / "dataset/test_9442.tsv").read_bytes()
    )
    (tmp_path / "yes.txt").write_text("yes\n" * 9442)
    done = program(
        f"scripts.studies.mctaco.evaluate --gold {tmp_path}/gold.tsv "
        f"--predictions {mirror}/{AT}/experiments/bert/bert.norm.output.txt {tmp_path}/yes.txt"
    )
    assert done.returncode == 0 and "1 byte order mark" in done.stderr, done.stderr
    released, always_yes = map(printed, done.stdout.split(f"{tmp_path / 'yes.txt'}"))
    exact, low, _, high, count = released["exact match"]
    assert (exact, count) == ("42.72", "1,332")
    assert [released[name][0] for name in ("f1", "exact match range", "f1 range")] == [
        "69.93",
        "43.62",
        "69.62",
    ]
    spread = 1.96 * np.sqrt(0.4272 * 0.5728 / 1332) * 100
    assert [float(low), float(high)] == pytest.approx([42.72 - spread, 42.72 + spread], abs=0.1)
    assert {line for line in released if line.startswith("exact match, ")} == {
        f"exact match, category={name}"
        for name in "duration ordering typical_time frequency stationarity".split()
    }
    assert [always_yes[name][0] for name in ("exact match", "f1")] == ["12.16", "49.84"]


def test_baselines_are_the_published_ones(cleaned):
    """Table 2: F1 and EM of always yes 49.8 / 12.1, always no 17.4 / 17.4,
    random 36.2 / 8.1 (one draw there).
    """
    test = read_table(cleaned / "test.parquet").to_pandas()
    label, question = test["label"].to_numpy(), pd.factorize(test["question_id"])[0]
    for accepted, exact, f1 in (
        (np.ones_like(label), 12.1, 49.8),
        (np.zeros_like(label), 17.4, 17.4),
    ):
        found = [values.mean() * 100 for values in by_question(label, accepted, question)]
        assert found == pytest.approx([exact, f1], abs=0.07)
    assert [values.mean() * 100 for values in expected_at_random(label, question)] == pytest.approx(
        [8.1, 36.2], abs=0.2
    )


GOLD = (
    "We met.\tHow long?\t1 hour\tyes\tEvent Duration\n"
    'We met.\tHow long?\t1 "year\tno\tEvent Duration\n'
)


@pytest.mark.parametrize(
    "gold, predictions, said",
    [
        (GOLD, "yes\n", "has 1 lines, but"),
        (GOLD, "yes\nno\nno\n", "line 3 is the first without its like"),
        (GOLD, "yes\nmaybe\n", "line 2 is 'maybe'; write yes or no"),
        (
            GOLD.replace("\tyes", "\tlikely"),
            "yes\nno\n",
            "line 1: label is 'likely', not one of yes, no",
        ),
        (
            GOLD.replace("Duration\nWe met.\t", "Duration\nWe met. "),
            "yes\nno\n",
            "line 2 has 4 columns, not 5",
        ),
        (
            GOLD.replace("Event Duration", "Event Length"),
            "yes\nno\n",
            "category is 'Event Length', not one of",
        ),
        (GOLD.encode("utf-16"), "yes\nno\n", "gold.tsv: not UTF-8 text at byte 0, but UTF-16"),
        (GOLD.encode("utf-16-le"), "yes\nno\n", "gold.tsv: byte 1 is NUL"),
        (GOLD.replace("\n", "\r"), "yes\nno\n", "gold.tsv: has carriage returns but no line feed"),
        (GOLD, b"yes\n\xff\n", "predictions: not UTF-8 text at byte 4"),
        ("", "yes\n", "gold.tsv: line 1 has 1 columns, not 5"),
        (GOLD, "", "predictions: line 1 is ''; write yes or no"),
    ],
)
def test_wrong_files_are_refused_with_the_line(program, tmp_path, gold, predictions, said):
    for name, content in (("gold.tsv", gold), ("predictions", predictions)):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    program(
        f"scripts.studies.mctaco.evaluate --gold {tmp_path}/gold.tsv "
        f"--predictions {tmp_path}/predictions"
    ).refused(said, lines=1)


def likeliest_range(margin: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """By trying every interval: the largest sum, then the most quantities, then the shortest
    times; no sum above 0: none.
    """
    different, best = np.unique(seconds[~np.isnan(seconds)]), (0.0, 0, 0)
    accepted = np.where(np.isnan(seconds), margin > 0, False)
    for first, last in itertools.combinations_with_replacement(range(len(different)), 2):
        inside = (seconds >= different[first]) & (seconds <= different[last])
        rank = (round(margin[inside].sum(), 9), last - first + 1, -first)
        if rank[0] > 0 and rank > best:
            best, accepted = rank, np.where(np.isnan(seconds), margin > 0, inside)
    return accepted.astype(int)


amounts = st.sampled_from([60.0, 3600.0, 7200.0, 86400.0, 604800.0, np.nan])
margins = st.one_of(
    st.sampled_from([-1.0, 1.0]), st.floats(-9, 9).map(lambda value: round(value, 3))
)


@settings(max_examples=3 * settings.default.max_examples // 2)
@given(st.lists(st.tuples(st.integers(0, 2), amounts, margins), min_size=1, max_size=15))
def test_one_range_is_the_likeliest_of_all(candidates):
    question, seconds, margin = (np.array(column) for column in zip(*candidates))
    found = one_range(margin, seconds, question)
    for number in np.unique(question):
        of = question == number
        assert found[of].tolist() == likeliest_range(margin[of], seconds[of]).tolist()


@pytest.fixture
def build(program, cleaned, tmp_path):
    def call(ok=True, **options):
        given = {"unit_normalization": False, "train_questions": None, "draw": 0} | options
        output = tmp_path / json.dumps(given).replace('"', "").replace(" ", "")
        done = program(
            f"scripts.studies.mctaco.build --cleaned {cleaned} --splits train test "
            f"--output {output}",
            "--options",
            json.dumps(given),
        ).checked(ok)
        return output if ok else done.stderr

    return call


def test_sub_samples_are_of_whole_questions_and_grow(build):
    tables = {
        size: read_table(build(train_questions=size) / "train.parquet").to_pandas()
        for size in (2, 50, 200)
    }
    assert [table["group_id"].nunique() for table in tables.values()] == [2, 50, 200]
    whole = read_table(build() / "train.parquet").to_pandas()
    assert set(tables[50]["example_id"]) < set(tables[200]["example_id"]) < set(whole["example_id"])
    assert (
        tables[200].groupby("group_id").size()
        == whole.groupby("group_id").size()[tables[200]["group_id"].unique()].sort_index()
    ).all()
    other = read_table(build(train_questions=50, draw=1) / "train.parquet").to_pandas()
    assert len(set(other["group_id"]) & set(tables[50]["group_id"])) < 20
    assert "train_questions is 999, but there are 561 questions" in build(
        ok=False, train_questions=999
    )


def test_a_limit_keeps_whole_questions_of_the_test_split(build):
    whole, ten, forty = (build(limit=limit) for limit in (None, 10, 40))
    assert read_table(whole / "train.parquet").equals(read_table(ten / "train.parquet"))
    test, few, more = (
        read_table(folder / "test.parquet").to_pandas() for folder in (whole, ten, forty)
    )
    assert few["group_id"].nunique() == 10
    assert more["group_id"].nunique() == 40
    assert set(few["group_id"]) < set(more["group_id"])
    assert few.equals(test[test["group_id"].isin(few["group_id"])].reset_index(drop=True))
    assert provenance_of(ten / "test.parquet")["limited"] == {
        "items": "questions",
        "kept": 10,
        "of": 1332,
    }


def test_an_experiment_is_measured(program, build, mirror, tmp_path):
    """Two seeds whose judgements are the labels, and their opposite;
    beside them what the authors released.
    """
    fetched = tmp_path / "fetch"
    (fetched / "mctaco").mkdir(parents=True)
    shutil.copy(mirror / AT / "experiments/bert/bert.norm.output.txt", fetched / "mctaco")
    output = build()
    folder = tmp_path / "build/mctaco/default"
    shutil.copytree(output, folder)
    test = read_table(folder / "test.parquet").to_pandas()
    for seed, accepted in ((1, test["label"]), (2, 1 - test["label"])):
        scores = np.where(np.arange(2) == accepted.to_numpy()[:, None], -0.1, -2.5)
        write_run(
            tmp_path,
            f"run-{seed}",
            [("test", "held_out", test, scores)],
            study="mctaco",
            source="mctaco",
            dataset="default",
            model="m",
            method="train",
            seed=seed,
            train_examples=3400,
            held_out_examples=383,
            data_options={"unit_normalization": False, "train_questions": None, "draw": 0},
        )
    program(
        "scripts.studies.mctaco.evaluate --experiment e --runs run-1 run-2 "
        f"--trained {tmp_path} --build {tmp_path}/build --fetched {fetched} "
        f"--sources {ROOT}/resources/sources.yaml --resamples 200 "
        f"--output {tmp_path}/metrics.parquet"
    ).checked()
    metrics = read_table(tmp_path / "metrics.parquet").to_pandas()
    rows = metrics[(metrics["model"] == "m") & (metrics["slice"] == "all")].set_index(
        ["metric", "seed"]
    )["value"]
    assert rows["exact_match", 1] == rows["f1", 1] == 1 and rows["exact_match", 2] == 0
    mean = metrics[
        (metrics["model"] == "m") & metrics["seed"].isna() & (metrics["slice"] == "all")
    ].set_index("metric")
    assert mean.loc["exact_match", "value"] == 0.5
    assert mean.loc["exact_match", "sd"] == pytest.approx(np.sqrt(0.5))
    assert (mean["n"]["exact_match"], mean["groups"]["f1"]) == (1332, 1332)
    gold = metrics[(metrics["model"] == "gold") & (metrics["metric"] == "consistency")].set_index(
        "slice"
    )
    assert {"category=duration", "category=frequency"} < set(gold.index)
    assert "category=ordering" not in gold.index
    assert 0.5 < gold.loc["category=duration", "value"] <= 1
    assert gold.loc["category=duration", "n"] > 30
    told = metrics[
        (metrics["model"] == "bert_unit_normalization_released") & (metrics["slice"] == "all")
    ].set_index("metric")
    assert (told["value"][["exact_match", "f1", "exact_match_range"]] * 100).round(2).tolist() == [
        42.72,
        69.93,
        43.62,
    ]
    assert set(told["method"]) == {"released"}
    assert told["unit_normalization"].all()
    assert told["seed"].isna().all()
    assert told.loc["f1_minus_exact_match", "value"] == pytest.approx(0.2721, abs=1e-4)
    assert set(
        "random always_yes always_no gold m bert_unit_normalization_released".split()
    ) == set(metrics["model"])
    ceiling = metrics[
        (metrics["model"] == "gold") & (metrics["metric"] == "exact_match_range")
    ].set_index("slice")["value"]
    assert 0.98 < ceiling["quantities=several"] <= ceiling["all"] < 1, (
        "nearly all questions have one range of right answers"
    )


def test_wrong_options_are_refused_with_what_they_may_be(program, tmp_path):
    for options, said in rows_of("""
        {train_questions: 1} | 'train_questions: 1 is less than the minimum of 2'
        {draw: true}         | 'draw: True is not of type ''integer'''
        {drew: 1}            | 'mctaco: unknown key drew'
    """):
        program(
            f"scripts.studies.mctaco.build --cleaned {tmp_path} --splits train "
            f"--output {tmp_path}/out",
            "--options",
            json.dumps(options),
        ).refused(said, lines=1, code=2)
