"""MC-TACO: the counts of the real files, exact match and F1 as the authors compute them, wrong
input.
"""

import json
import shutil
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.data.counterparts import COUNTERPART
from scripts.data.tables import read_table
from scripts.studies.mctaco.evaluate import (
    by_question,
    expected_at_random,
    question_values,
    questions_of,
    ranked_values,
    rows_of as metric_rows_of,
)
from tests.clean.cleaned_dialogs import call as clean, counted
from tests.conftest import ROOT
from tests.runs import write_run

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
    assert (exact, count) == ("42.72", "1,332")
    assert released["f1"][0] == "69.93"
    gold = mirror / AT / "dataset/test_9442.tsv"
    answers = pd.read_csv(gold, sep="\t", header=None, quoting=3)
    judged = (mirror / AT / "experiments/bert/bert.norm.output.txt").read_text().split()
    wrong = (answers[3] != judged).groupby([answers[0], answers[1]]).sum()
    residuals = ((wrong == 0) - 0.4272).groupby(level=0).sum()  # of each sentence (clustered)
    assert len(residuals) == 355
    spread = 1.967 * np.sqrt((residuals**2).sum()) / 1332 * 100
    assert [float(low), float(high)] == pytest.approx([42.72 - spread, 42.72 + spread], abs=0.15)
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


@pytest.mark.parametrize("form", ["header.tsv", "jsonl", "parquet"])
def test_copies_of_other_forms_and_names(program, tmp_path, form):
    """A header, labels of 0 and 1 and the hub's numbers of categories give the same tables."""
    table = pd.DataFrame(
        [
            (f"We met {n}.", "How long?", f'{m} "h"', "yes" if m % 2 else "no", name)
            for n, name in enumerate(HUB)
            for m in range(3)
        ],
        columns=["sentence", "question", "answer", "label", "category"],
    )
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
        elif form == "jsonl":
            numbers.to_json(place, orient="records", lines=True)
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
        ({"train.tsv": GOLD, "dev.tsv": GOLD}, "one has `test` in its name"),
    ],
)
def test_wrong_questions_are_refused(program, tmp_path, files, said):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    program(
        f"scripts.clean.mctaco --source mine --fetched {tmp_path} --output {tmp_path}/out "
        "--provenance {}"
    ).refused(said, lines=1)


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
        done = program(
            f"scripts.studies.mctaco.build --cleaned {cleaned} --splits train test "
            f"--output {output}",
            "--options",
            json.dumps(given),
        ).checked(ok)
        return output if ok else done.stderr

    return call


@pytest.fixture
def built(build):
    """Return a function that returns the answers of a dataset with these options, by split."""

    def call(**options) -> dict[str, pd.DataFrame]:
        folder = build(**options)
        return {
            split: read_table(folder / f"{split}.parquet").to_pandas()
            for split in ("train", "test")
        }

    return call


def test_sub_samples_are_of_whole_questions_and_grow(build, built):
    tables = {size: built(train_questions=size)["train"] for size in (2, 50, 200)}
    assert [table["group_id"].nunique() for table in tables.values()] == [2, 50, 200]
    whole = built()["train"]
    assert set(tables[50]["example_id"]) < set(tables[200]["example_id"]) < set(whole["example_id"])
    assert (
        tables[200].groupby("group_id").size()
        == whole.groupby("group_id").size()[tables[200]["group_id"].unique()].sort_index()
    ).all()
    other = built(train_questions=50, draw=1)["train"]
    assert len(set(other["group_id"]) & set(tables[50]["group_id"])) < 20
    assert "train_questions asks for 999, but there are 561" in build(ok=False, train_questions=999)


NUMBERS = dict(zip("one two three four five six seven eight nine ten eleven".split(), range(1, 12)))
NUMBERS |= {"fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "half": 0.5, "other": 2}
SIZES = {
    unit: (kind, size)
    for kind, sizes in (
        ("seconds", {"sec": 1, "min": 60, "hour": 3600, "hr": 3600, "day": 86400, "week": 604800}),
        ("months", {"month": 1, "year": 12, "decade": 120, "centur": 1200}),
    )
    for unit, size in sizes.items()
}


def read_by_hand(answer: str) -> tuple[list[str], str, Fraction]:
    """Return the words around a quantity, and its value in seconds or in months."""
    *words, unit = answer.lower().replace(",", "").replace(" . ", ".").split()
    [(kind, size)] = [SIZES[name] for name in SIZES if unit.startswith(name)]
    number, around = Fraction(0), []
    for word in words:
        if word in ("hundred", "thousand"):
            number *= {"hundred": 100, "thousand": 1000}[word]
        elif word in NUMBERS or word[0].isdigit():
            number += Fraction(str(NUMBERS.get(word, word)))
        elif word not in ("a", "an", "and", "every", "each", "per"):
            around.append(word)
    return around, kind, (number or 1) * size


def test_counterparts_say_the_same_in_another_unit(built):
    contrasted, plain = built(contrast="unit"), built()
    assert contrasted["train"].equals(plain["train"])
    rows, whole = contrasted["test"], plain["test"]
    is_counterpart = rows["example_id"].str.endswith(COUNTERPART)
    originals, counterparts = (
        rows[part].reset_index(drop=True) for part in (~is_counterpart, is_counterpart)
    )
    chosen = whole[whole["group_id"].isin(originals["group_id"])].reset_index(drop=True)
    assert originals.equals(chosen)
    for name in ("example_id", "group_id"):
        assert (counterparts[name] == originals[name] + COUNTERPART).all()
    same = ["sentence_id", "text_a", "label", "category"]
    assert counterparts[same].equals(originals[same])
    assert (counterparts["text_b"] == counterparts["answer"]).all()
    changed = counterparts["answer"] != originals["answer"]
    assert changed.groupby(originals["group_id"]).any().all()
    pairs = set(zip(originals["answer"][changed], counterparts["answer"][changed]))
    assert len(pairs) > 300
    assert [pair for pair in pairs if read_by_hand(pair[0]) != read_by_hand(pair[1])] == []


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


def split_of(questions: list[list[tuple]], sentence: list[str]) -> pd.DataFrame:
    """Return the answers to questions with (label, …) candidates."""
    return pd.DataFrame(
        {
            "group_id": f"q{number}",
            "sentence_id": sentence[number],
            "label": label,
            "category": "duration",
            "answer": "an hour",
        }
        for number, candidates in enumerate(questions)
        for label, *_ in candidates
    )


def measured(answers: pd.DataFrame, accepted: list[int]) -> pd.DataFrame:
    """Return the metrics of judgements, by metric and slice."""
    values = question_values(answers, [np.array(accepted)])
    rows = metric_rows_of(values, questions_of(answers, 200))
    return pd.DataFrame(rows).set_index(["metric", "slice"])


BIT = st.integers(0, 1)
BOTH = st.lists(st.lists(st.tuples(BIT, BIT, BIT), min_size=1, max_size=3), min_size=1, max_size=6)


@settings(max_examples=30)
@given(BOTH)
def test_contrast_exact_match_is_of_both_versions(questions):
    """A candidate is its label, its judgement in the original, and its judgement in the
    counterpart.
    """
    originals = split_of(questions, [str(number // 2) for number in range(len(questions))])
    answers = pd.concat(
        [originals.assign(group_id=originals["group_id"] + COUNTERPART), originals],
        ignore_index=True,
    )
    candidates = [one for question in questions for one in question]
    rows = measured(answers, [one[2] for one in candidates] + [one[1] for one in candidates])
    right = [
        [all(one[0] == one[place] for one in question) for place in (1, 2)]
        for question in questions
    ]
    wanted = {
        ("contrast_exact_match", "all"): np.mean([all(both) for both in right]),
        ("exact_match", "contrast=original"): np.mean([both[0] for both in right]),
        ("exact_match", "contrast=counterpart"): np.mean([both[1] for both in right]),
        ("exact_match", "all"): np.mean(right),
    }
    assert {name: rows.loc[name, "value"] for name in wanted} == pytest.approx(wanted)
    assert rows.loc[("contrast_exact_match", "all"), "n"] == len(questions)


def test_questions_about_one_sentence_go_together():
    """For 40 sentences with four questions each, a model is right on all questions of a sentence or
    on none.
    """
    questions, accepted = [[(1,)] for _ in range(160)], [(number // 4) % 2 for number in range(160)]
    by_sentence = [f"s{number // 4}" for number in range(160)]
    together, single = (
        measured(split_of(questions, names), accepted).loc[("exact_match", "all")]
        for names in (by_sentence, [f"s{number}" for number in range(160)])
    )
    assert together["value"] == single["value"] == 0.5
    assert (together["n"], together["groups"], single["groups"]) == (160, 40, 160)
    widths = [row["ci_high"] - row["ci_low"] for row in (together, single)]
    assert widths[0] / widths[1] == pytest.approx(2, abs=0.3)  # the root of four


def test_an_experiment_is_measured(program, build, mirror, tmp_path):
    """The judgements of one seed are the labels, those of the other the opposite; the authors'
    released judgements are measured, too.
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
        "--contest scripts/studies/mctaco/study.yaml "
        f"--sources {ROOT}/resources/sources.yaml --resamples 200 "
        f"--output {tmp_path}/metrics.parquet"
    ).checked()
    metrics = read_table(tmp_path / "metrics.parquet").to_pandas()
    metrics = metrics[metrics["method"] != "train_ensemble"]
    rows = metrics[(metrics["model"] == "m") & (metrics["slice"] == "all")].set_index(
        ["metric", "seed"]
    )["value"]
    assert rows["exact_match", 1] == rows["f1", 1] == 1 and rows["exact_match", 2] == 0
    mean = metrics[
        (metrics["model"] == "m") & metrics["seed"].isna() & (metrics["slice"] == "all")
    ].set_index("metric")
    assert mean.loc["exact_match", "value"] == 0.5
    assert mean.loc["exact_match", "sd"] == pytest.approx(np.sqrt(0.5))
    assert (mean["n"]["exact_match"], mean["groups"]["f1"]) == (1332, 355)
    rows = metrics[
        (metrics["model"] == "bert_unit_normalization_released") & (metrics["slice"] == "all")
    ].set_index("metric")
    assert (rows["value"][["exact_match", "f1"]] * 100).round(2).tolist() == [42.72, 69.93]
    assert set(rows["method"]) == {"released"}
    assert rows["unit_normalization"].all()
    assert rows["seed"].isna().all()
    assert rows.loc["f1_minus_exact_match", "value"] == pytest.approx(0.2721, abs=1e-4)
    assert set(
        "random always_yes always_no gold m bert_unit_normalization_released".split()
    ) == set(metrics["model"])
