"""Accuracy against an independent count, intervals against a slow reference and against theory."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.common.tables import PREDICTIONS, STRIDED_PAIRS, read_table, write_table
from scripts.common.csv_files import read_csv
from scripts.evaluate.human_answers import read_answers
from scripts.evaluate.tally import Tally, draws_of, metric_rows, share, sums_by_group


def grouped_interval(values: np.ndarray, groups: np.ndarray, resamples: int) -> tuple[float, float]:
    """The interval of the mean of one seed's values, as a study's table has it."""
    tally = Tally("all", {"accuracy": share}, sums_by_group([values], groups, groups.max() + 1), np.bincount(groups))
    row, = metric_rows([tally], [], resamples)
    assert row["value"] == pytest.approx(values.mean()) and (row["n"], row["seed"]) == (len(values), None)
    return row["ci_low"], row["ci_high"]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40))
@settings(deadline=None, max_examples=50)
def test_interval_equals_a_slow_reference(examples):
    """Draw the same groups, then collect their examples one by one."""
    codes = np.unique([group for group, _ in examples], return_inverse=True)[1]
    values = np.array([float(right) for _, right in examples])
    members = [values[codes == group] for group in range(codes.max() + 1)]
    chosen = np.random.default_rng(0).integers(0, len(members), (150, len(members)))
    means = [np.concatenate([members[group] for group in row]).mean() for row in chosen]
    wanted = np.quantile(means, [0.025, 0.975])
    np.testing.assert_allclose(grouped_interval(values, codes, 150), wanted, atol=1e-12)


def test_interval_width_follows_the_groups():
    """Independent examples: the binomial interval. Wholly dependent ones: as wide as their groups are few."""
    right = np.random.default_rng(0).random(4000) < 0.7
    low, high = grouped_interval(right.astype(float), np.arange(4000), 2000)
    assert (high - low) / 2 == pytest.approx(1.96 * np.sqrt(0.7 * 0.3 / 4000), rel=0.1)
    low, high = grouped_interval(np.repeat(right[:100], 40).astype(float), np.repeat(np.arange(100), 40), 2000)
    assert (high - low) / 2 == pytest.approx(1.96 * np.sqrt(0.7 * 0.3 / 100), rel=0.2)


def test_interval_of_many_groups_is_the_same_in_chunks(monkeypatch):
    values, groups = np.random.default_rng(1).random(500), np.arange(500) // 3
    whole = grouped_interval(values, groups, 300)
    monkeypatch.setattr("scripts.evaluate.bootstrap.CHUNK", 1000)
    assert grouped_interval(values, groups, 300) == whole


def test_the_mean_over_seeds_and_systems_on_the_same_groups():
    """Both systems draw the same groups, so that their difference is paired: here it never varies."""
    right = np.random.default_rng(2).random((3, 200)) < 0.6
    groups = np.arange(200) // 4
    counts = np.bincount(groups)
    one, other = (Tally("all", {"accuracy": share}, sums_by_group(values, groups, 50), counts)
                  for values in (right.astype(float), right + 0.25))
    rows = metric_rows([one], [7, 8, 9], 200)
    assert [row["seed"] for row in rows] == [7, 8, 9, None] and rows[-1]["value"] == pytest.approx(right.mean())
    assert rows[-1]["sd"] == pytest.approx(np.std([row["value"] for row in rows[:3]], ddof=1))
    drawn = draws_of(one, 200)["accuracy"].mean(0)
    assert (rows[-1]["ci_low"], rows[-1]["ci_high"]) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    np.testing.assert_allclose(draws_of(other, 200)["accuracy"] - draws_of(one, 200)["accuracy"], 0.25, atol=1e-12)


def test_groups_without_examples_take_no_part():
    sums, counts = np.array([[1.0, 0.0, 2.0]]), np.array([2, 0, 2])
    with_empty, without = (metric_rows([Tally("kind=date", {"accuracy": share}, *parts)], [1], 100)
                           for parts in ((sums, counts), (sums[:, [0, 2]], counts[[0, 2]])))
    assert with_empty == without and with_empty[0]["groups"] == 2 and with_empty[0]["value"] == 0.75
    assert metric_rows([Tally("none", {"accuracy": share}, sums, np.zeros(3, int))], [1], 100) == []


@pytest.fixture
def trained(tmp_path):
    """Two seeds of one dataset: 30 videos of 4 pairs; the right answers are known."""
    right = {}
    for seed in (1, 2):
        folder = tmp_path / f"run-{seed}"
        draw = np.random.default_rng(seed)
        rows = []
        for selection, epoch in (("held_out", 1), ("peak", 2)):
            for pair in range(120):
                label, is_right = pair % 2, bool(draw.random() < 0.8)
                score = [-2.0, -0.1] if (label == 1) == is_right else [-0.1, -2.0]
                right.setdefault((seed, selection), []).append(is_right)
                rows.append({"run": folder.name, "split": "val", "selection": selection, "epoch": epoch,
                             "example_id": f"v{pair // 4}:0:{pair}", "group_id": f"v{pair // 4}", "label": label, "score": score})
        rows += [row | {"split": "held_out"} for row in rows if row["selection"] == "held_out"]
        write_table(pa.Table.from_pylist(rows, schema=PREDICTIONS), folder / "predictions.parquet", PREDICTIONS, {})
        (folder / "run.json").write_text(json.dumps({
            "study": "strided_sop", "source": "sample_howto100m", "dataset": "stride-0", "model": "m", "method": "train", "seed": seed,
            "labels": ["swapped", "in_order"], "data_options": {"stride": 0, "size_matched": None}}))
    return tmp_path, right


def evaluate(program, trained, *more, ok=True):
    output = trained / "metrics.parquet"
    done = program("scripts.evaluate.strided_sop", "--experiment", "e", "--runs", "run-1", "run-2", "--trained", trained,
                   "--sources", "resources/sources.yaml", "--resamples", 300, "--output", output, *more)
    assert (done.returncode == 0) == ok, done.stderr
    return read_table(output).to_pandas() if ok else done.stderr


def test_every_number(program, trained):
    folder, right = trained
    metrics = evaluate(program, folder)
    assert set(metrics["split"]) == {"val"} and metrics["sample"].all() and (metrics["stride"] == 0).all()
    for (seed, selection), answers in right.items():
        name = {"held_out": "accuracy", "peak": "peak_accuracy"}[selection]
        row = metrics[(metrics["seed"] == seed) & (metrics["metric"] == name)].iloc[0]
        assert row["value"] == pytest.approx(sum(answers) / 120) and (row["n"], row["groups"]) == (120, 30)
        assert row["ci_low"] <= row["value"] <= row["ci_high"]
    for selection, name in (("held_out", "accuracy"), ("peak", "peak_accuracy")):
        row = metrics[metrics["seed"].isna() & (metrics["metric"] == name)].iloc[0]
        values = [np.mean(right[seed, selection]) for seed in (1, 2)]
        assert row["value"] == pytest.approx(np.mean(values)) and row["sd"] == pytest.approx(np.std(values, ddof=1))
        assert row["n"] == 120


def test_human_answers(program, trained):
    folder, _ = trained
    sheet = pd.DataFrame({"source": "sample_howto100m", "dataset": "stride-0", "split": "val",
                          "pair_id": [f"v{pair // 4}:0:{pair}" for pair in range(20)],
                          "answer": ["swapped", "in_order"] * 9 + ["in_order", "swapped"]})
    sheet.to_csv(folder / "human.csv", index=False)
    human = evaluate(program, folder, "--human", folder / "human.csv").query("metric == 'human_accuracy'")
    assert len(human) == 1 and human["value"].item() == pytest.approx(0.9) and human["n"].item() == 20


@pytest.fixture
def dataset(tmp_path):
    """30 pairs, with ids and texts that a spreadsheet would take for formulas."""
    rows = [{"pair_id": f"-v{number}:0:1", "video_id": f"-v{number}", "stride": 0, "first_position": 0, "second_position": 1,
             "text_a": "=SUM(A1)", "text_b": "@cook", "label": number % 2} for number in range(30)]
    folder = tmp_path / "build/sample_howto100m/stride-0"
    write_table(pa.Table.from_pylist(rows, schema=STRIDED_PAIRS), folder / "val.parquet", STRIDED_PAIRS, {})
    return folder


def test_a_sheet_for_people_holds_no_formula_and_reads_as_what_it_was(program, dataset, tmp_path):
    sheet = tmp_path / "sheet.csv"
    done = program("scripts.build.annotation_sheet", "--dataset", dataset, "--split", "val", "--pairs", 7, "--output", sheet)
    assert done.returncode == 0, done.stderr
    cells = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    assert len(cells) == 7 and (cells["answer"] == "").all() and not cells.stack().str.match(r"[=+@-]").any()
    cells.assign(answer=["swapped"] * 5 + [""] * 2).to_csv(sheet, index=False)
    answers = read_answers(sheet, {("sample_howto100m", "stride-0")}, ["swapped", "in_order"])
    assert len(answers) == 5 and answers["pair_id"].str.match(r"-v\d+:0:1$").all()
    assert set(read_csv(sheet)["text_a"]) == {"=SUM(A1)"}


@pytest.mark.parametrize("pairs", ["-1", "0", "2.5"])
def test_a_sheet_of_no_pairs_is_refused(program, dataset, tmp_path, pairs):
    sheet = tmp_path / "sheet.csv"
    done = program("scripts.build.annotation_sheet", "--dataset", dataset, "--split", "val", f"--pairs={pairs}", "--output", sheet)
    assert done.returncode == 2 and "is not a whole number from 1" in done.stderr and not sheet.exists()


@pytest.mark.parametrize("content", [b"", b"source,dataset\xff", b'a,"b\n'])
def test_human_answers_that_are_no_csv_are_refused(program, trained, content):
    folder, _ = trained
    (folder / "human.csv").write_bytes(content)
    said = evaluate(program, folder, "--human", folder / "human.csv", ok=False)
    assert "human.csv: " in said and "Traceback" not in said and len(said.splitlines()) == 1


@pytest.mark.parametrize(("change", "said"), [
    ({"answer": "inorder"}, "row 2: answers 'inorder'; write swapped or in_order"),
    ({"pair_id": "v99:0:1"}, "pair v99:0:1 is not in split val"),
    ({"dataset": "stride-9"}, "row 2: the experiment measures no dataset sample_howto100m stride-9"),
])
def test_wrong_human_answers(program, trained, change, said):
    folder, _ = trained
    row = {"source": "sample_howto100m", "dataset": "stride-0", "split": "val", "pair_id": "v0:0:0", "answer": "swapped"}
    pd.DataFrame([row | change]).to_csv(folder / "human.csv", index=False)
    assert said in evaluate(program, folder, "--human", folder / "human.csv", ok=False)


def test_a_pair_that_was_answered_twice_is_refused(program, trained):
    folder, _ = trained
    row = {"source": "sample_howto100m", "dataset": "stride-0", "split": "val", "pair_id": "v0:0:0", "answer": "swapped"}
    pd.DataFrame([row, row | {"answer": ""}, row | {"pair_id": "v0:0:1"}, row]).to_csv(folder / "human.csv", index=False)
    said = evaluate(program, folder, "--human", folder / "human.csv", ok=False)
    assert "row 5: pair v0:0:0 of sample_howto100m stride-0 val has an answer above; keep one of them" in said
