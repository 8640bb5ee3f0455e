"""MC-TACO: the counts of the real files, exact match and F1 as the authors compute them, wrong
input.
"""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.data.counterparts import COUNTERPART
from scripts.data.tables import read_table
from scripts.studies.mctaco.evaluate import by_question, expected_at_random, ranked_values
from tests.clean.cleaned_dialogs import call as clean, counted
from tests.studies.programs import build as build_set, splits_in

AT = "raw.githubusercontent.com/CogComp/MCTACO/master"


def slow_scores(candidates: list[tuple[int, int]]) -> tuple[int, float]:
    """Return the exact match and F1 of one question, as section 4 defines them. candidates:
    (likely, accepted).
    """
    likely = sum(gold for gold, _ in candidates)
    accepted = sum(judged for _, judged in candidates)
    right = sum(gold and judged for gold, judged in candidates)
    precision = right / accepted if accepted else 1.0
    recall = right / likely if likely else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return int(all(gold == judged for gold, judged in candidates)), f1


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


SCORED = st.lists(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=1, max_size=5),
    min_size=1,
    max_size=6,
)


@settings(max_examples=50)
@given(SCORED)
def test_ranks_equal_a_slow_reference(questions):
    """A candidate is its label and its score. A question of one label alone has no rank."""
    rows = [(number, *one) for number, of in enumerate(questions) for one in of]
    answers = pd.DataFrame(rows, columns=["group_id", "label", "score"])
    found = ranked_values(answers, [answers["score"].to_numpy(float)])
    for number, of in enumerate(questions):
        likely, others = ([score for label, score in of if label == one] for one in (1, 0))
        pairs = [(one > other) + (one == other) / 2 for one in likely for other in others]
        right, area = found["ranked_right"][0, number], found["question_area"][0, number]
        if not pairs:
            assert np.isnan([right, area]).all()
        else:
            assert right == (min(likely) > max(others)) and area == pytest.approx(np.mean(pairs))


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=5), min_size=1, max_size=3))
@settings(max_examples=30)
def test_chance_is_the_mean_over_all_answers(questions):
    """The reference tries every set of accepted answers."""
    question = np.repeat(np.arange(len(questions)), [len(gold_labels) for gold_labels in questions])
    exact, f1 = expected_at_random(
        np.array([gold for gold_labels in questions for gold in gold_labels]), question
    )
    for place, gold_labels in enumerate(questions):
        ways = [
            [(number >> bit) & 1 for bit in range(len(gold_labels))]
            for number in range(2 ** len(gold_labels))
        ]
        scored = [slow_scores(list(zip(gold_labels, judged))) for judged in ways]
        assert exact[place] == pytest.approx(np.mean([one for one, _ in scored]))
        assert f1[place] == pytest.approx(np.mean([one for _, one in scored]))


@pytest.fixture(scope="session")
def cleaned(mirror, program, tmp_path_factory):
    fetched = mirror / AT / "dataset"
    return clean(program, "mctaco", fetched, tmp_path_factory.mktemp("mctaco"))


def test_the_real_files_are_counted(cleaned):
    counts = counted(cleaned)
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
    """Return a program's printed words about predictions, by metric and slice."""
    return {line[:52].strip(): line[52:].split() for line in text.splitlines() if len(line) > 52}


def test_the_released_predictions_score_as_published(mirror, program, build, tmp_path):
    """A file that accepts every answer is scored, too; a byte order mark is ignored."""
    (tmp_path / "yes.txt").write_text("\ufeff" + "yes\n" * 9442, encoding="utf-8")
    done = program(
        f"scripts.studies.mctaco.evaluate --dataset {build()} "
        f"--predictions {mirror}/{AT}/experiments/bert/bert.norm.output.txt {tmp_path}/yes.txt"
    )
    assert done.returncode == 0 and "byte order mark" in done.stderr, done.stderr
    released, always_yes = map(printed, done.stdout.split(f"{tmp_path / 'yes.txt'}"))
    exact, low, _, high, count = released["exact match"]
    assert (exact, count, released["f1"][0]) == ("42.72", "1,332", "69.93")
    assert float(low) < 42.72 < float(high)
    assert {line for line in released if line.startswith("exact match, ")} == {
        f"exact match, category={name}"
        for name in "duration ordering typical_time frequency stationarity".split()
    }
    assert [always_yes[name][0] for name in ("exact match", "f1")] == ["12.16", "49.84"]


def test_baselines_are_the_published_ones(cleaned):
    """Table 2 has F1 and EM of always yes 49.8 / 12.1, always no 17.4 / 17.4, random 36.2 / 8.1
    (one draw).
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


HUB = "Event Duration|Event Ordering|Frequency|Typical Time|Stationarity".split("|")


@pytest.mark.parametrize("form", ["header.tsv", "parquet"])
def test_copies_of_other_forms_and_names(program, tmp_path, form):
    """A header, labels of 0 and 1 and the hub's numbers of categories give the same tables."""
    rows = [
        (f"We met {n}.", "How long?", f'{m} "h"', "yes" if m % 2 else "no", name)
        for n, name in enumerate(HUB)
        for m in range(3)
    ]
    table = pd.DataFrame(rows, columns=HEADER.split())
    (tmp_path / "in").mkdir()
    (tmp_path / "other").mkdir()
    for name in ("dev_3783", "test_9442"):
        write_tsv(table, tmp_path / f"in/{name}.tsv", header=False)
    numbers = table.assign(
        label=(table["label"] == "yes").astype(int), category=table["category"].map(HUB.index)
    )
    for name in ("validation", "my-test-split"):
        place = tmp_path / f"other/{name}.{form}"
        if form == "header.tsv":
            write_tsv(numbers.assign(category=table["category"]), place, header=True)
        else:
            numbers.to_parquet(place)
    wanted = clean(program, "mctaco", tmp_path / "in", tmp_path / "wanted")
    found = clean(
        program, "mctaco", tmp_path / "other", tmp_path / "found", '{"sha256": {"o/": ""}}'
    )
    for split in ("train", "test"):
        tables = [read_table(place / f"{split}.parquet").to_pandas() for place in (wanted, found)]
        pd.testing.assert_frame_equal(*tables)


def write_tsv(table: pd.DataFrame, file, header: bool) -> None:
    """Write tab-separated cells without quoting."""
    lines = [*([table.columns] if header else []), *table.astype(str).to_numpy()]
    file.write_text("".join("\t".join(line) + "\n" for line in lines))


GOLD = (
    "We met.\tHow long?\t1 hour\tyes\tEvent Duration\n"
    'We met.\tHow long?\t1 "year\tno\tEvent Duration\n'
)


HEADER = "sentence\tquestion\tanswer\tlabel\tcategory\n"


@pytest.mark.parametrize(
    "files, said",
    [
        ({"dev.tsv": HEADER, "test.tsv": GOLD}, "dev.tsv: holds no answer, only a header"),
        (
            {"dev.tsv": GOLD.replace("1 hour", " "), "test.tsv": GOLD},
            "dev.tsv: line 1 lacks a text",
        ),
        (
            {"dev.tsv": GOLD, "test.tsv": HEADER + GOLD.replace('1 "year', "1 hour")},
            "test.tsv: line 3 repeats the answer of an earlier row",
        ),
        ({"train.csv": GOLD, "test.csv": GOLD}, "one has `test` in its name"),
    ],
)
def test_wrong_questions_are_refused(program, tmp_path, files, said):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert said in clean(program, "mctaco", tmp_path, tmp_path / "out", ok=False)


@pytest.fixture(scope="session")
def build(program, cleaned, tmp_path_factory):
    """Return a function that builds a dataset with these options once; it returns the folder, or
    the text of a refusal.
    """
    built = tmp_path_factory.mktemp("built")

    def call(ok=True, **options):
        given = {"unit_normalization": False, "train_questions": None, "draw": 0} | options
        output = built / json.dumps(given).replace('"', "").replace(" ", "")
        if output.exists():
            return output
        done = build_set(program, "mctaco", cleaned, output, "train test", given, ok=ok)
        return output if ok else done.stderr

    return call


@pytest.fixture
def built(build):
    """Return a function that returns the answers of a dataset with these options, by split."""

    return lambda **options: splits_in(build(**options), "train test")


def test_sub_samples_are_of_whole_questions_and_grow(build, built):
    whole, fifty, few = built(), built(train_questions=50), built(train_questions=2)
    ids = [set(tables["train"]["example_id"]) for tables in (few, fifty, whole)]
    assert ids[0] < ids[1] < ids[2] and fifty["train"]["group_id"].nunique() == 50
    sizes = [tables["train"].groupby("group_id").size() for tables in (fifty, whole)]
    assert sizes[0].equals(sizes[1][sizes[0].index])
    other = built(train_questions=50, draw=1)["train"]
    assert len(set(other["group_id"]) & set(fifty["train"]["group_id"])) < 20
    assert "train_questions asks for 999, but there are 561" in build(ok=False, train_questions=999)


def test_a_limit_keeps_contrast_pairs_together(built):
    questions = set(built(contrast="unit", limit=40)["test"]["group_id"])
    originals = {name for name in questions if not name.endswith(COUNTERPART)}
    assert len(originals) == 40
    assert questions == originals | {name + COUNTERPART for name in originals}


def test_a_train_limit_keeps_whole_questions_and_measures_all(built):
    whole, few, fewer = built(), built(train_limit=200), built(train_limit=50)
    assert few["test"].equals(whole["test"])
    kept = set(few["train"]["group_id"])
    assert few["train"].equals(
        whole["train"][whole["train"]["group_id"].isin(kept)].reset_index(drop=True)
    )
    assert 150 < len(few["train"]) <= 200 and set(fewer["train"]["group_id"]) < kept
