"""Accuracy against an independent count; answers of people, and sheets for them."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from scripts.common.tables import PREDICTIONS, STRIDED_PAIRS, read_table, write_table
from scripts.common.csv_files import read_csv
from scripts.evaluate.human_answers import read_answers


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
        assert row["n"] == 120 and row["seeds"] == 2 and len(row["draws"]) == 300


def test_human_answers(program, trained):
    folder, _ = trained
    sheet = pd.DataFrame({"source": "sample_howto100m", "dataset": "stride-0", "split": "val",
                          "pair_id": [f"v{pair // 4}:0:{pair}" for pair in range(20)],
                          "answer": ["swapped", "in_order"] * 9 + ["in_order", "swapped"]})
    sheet.to_csv(folder / "human.csv", index=False)
    human = evaluate(program, folder, "--human", folder / "human.csv").query("metric == 'human_accuracy'")
    assert len(human) == 1 and human["value"].item() == pytest.approx(0.9) and human["n"].item() == 20
    # One file for several experiments: the answers on another one's dataset change nothing here.
    pd.concat([sheet, sheet.assign(dataset="stride-7")]).to_csv(folder / "human.csv", index=False)
    shared = evaluate(program, folder, "--human", folder / "human.csv", "--others", "sample_howto100m/stride-7")
    pd.testing.assert_frame_equal(shared.query("metric == 'human_accuracy'"), human)


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
    ({"dataset": "stride-9"}, "row 2: the study measures no dataset sample_howto100m stride-9"),
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
