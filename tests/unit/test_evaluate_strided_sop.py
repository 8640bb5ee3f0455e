"""Accuracy of strided pairs against an independent count."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from scripts.common.tables import PREDICTIONS, STRIDED_PAIRS, read_table, write_table


def told(pair: int) -> dict:
    """A pair of the dataset, at the borders of the slices."""
    return {"pair_id": f"v{pair // 4}:0:{pair}", "video_id": f"v{pair // 4}", "stride": 0, "first_position": 1, "second_position": 2,
            "text_a": "a", "text_b": "b", "label": pair % 2, "overlap": [0.0, 0.2, 0.999, 1.0][pair % 4], "same_start": pair % 3 == 0,
            "relative_position": [0.1, 0.34, 0.5, 0.66, 0.67][pair % 5], "sentences": [5, 7, 10, 20, 100][pair % 5],
            "words_a": pair % 20 + 1, "words_b": pair % 7 + 1, "seconds_apart": 2.0 + pair, "category": [None, "Food", "Cars"][pair // 4 % 3]}


# By slice, whether a pair is in it: written anew, from the meaning of the names.
SLICES = {
    "overlap=none": lambda pair: pair["overlap"] == 0, "overlap=partial": lambda pair: 0 < pair["overlap"] < 1,
    "overlap=contained": lambda pair: pair["overlap"] == 1,
    "same_start=false": lambda pair: not pair["same_start"], "same_start=true": lambda pair: pair["same_start"],
    "position=first_third": lambda pair: pair["relative_position"] <= 1 / 3,
    "position=middle_third": lambda pair: 1 / 3 < pair["relative_position"] <= 2 / 3,
    "position=last_third": lambda pair: pair["relative_position"] > 2 / 3,
    "sentences=5-6": lambda pair: pair["sentences"] in (5, 6), "sentences=7-9": lambda pair: pair["sentences"] in range(7, 10),
    "sentences=10-19": lambda pair: pair["sentences"] in range(10, 20), "sentences=20-99": lambda pair: pair["sentences"] in range(20, 100),
    "sentences=100+": lambda pair: pair["sentences"] >= 100,
    "words=1-10": lambda pair: pair["words_a"] + pair["words_b"] <= 10,
    "words=11-20": lambda pair: pair["words_a"] + pair["words_b"] in range(11, 21),
    "words=21-30": lambda pair: pair["words_a"] + pair["words_b"] in range(21, 31),
    "category=unknown": lambda pair: pair["category"] is None, "category=Food": lambda pair: pair["category"] == "Food",
    "category=Cars": lambda pair: pair["category"] == "Cars",
}


@pytest.fixture
def trained(tmp_path):
    """Two seeds of one dataset: 30 videos of 4 pairs; the right answers are known."""
    write_table(pa.Table.from_pylist([told(pair) for pair in range(120)], schema=STRIDED_PAIRS),
                tmp_path / "build/sample_howto100m/stride-0/val.parquet", STRIDED_PAIRS, {})
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
            "labels": ["swapped", "in_order"], "train_examples": 900, "training": {}, "data_options": {"stride": 0, "size_matched": None, "same_videos": None, "hard": False}}))
    return tmp_path, right


def evaluate(program, trained, *more, ok=True):
    output = trained / "metrics.parquet"
    done = program("scripts.evaluate.strided_sop", "--experiment", "e", "--runs", "run-1", "run-2", "--trained", trained,
                   "--build", trained / "build", "--sources", "resources/sources.yaml", "--resamples", 300, "--output", output, *more)
    assert (done.returncode == 0) == ok, done.stderr
    return read_table(output).to_pandas() if ok else done.stderr


def test_every_number(program, trained):
    folder, right = trained
    metrics = evaluate(program, folder)
    assert set(metrics["split"]) == {"val"} and metrics["sample"].all() and (metrics["stride"] == 0).all()
    assert (metrics["seconds_apart"] == np.median([2.0 + pair for pair in range(120)])).all() and metrics["context"].isna().all()
    metrics = metrics[metrics["slice"] == "all"]
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


def change_facts(folder, run: str, **changed) -> None:
    facts = json.loads((folder / run / "run.json").read_text())
    (folder / run / "run.json").write_text(json.dumps(facts | changed))


def test_wordings_are_replicates_as_seeds_are(program, trained):
    folder, right = trained
    for run, wording in (("run-1", "plain"), ("run-2", "then")):
        change_facts(folder, run, seed=0, wording=wording, train_examples=0, method="likelihood")
    metrics = evaluate(program, folder)
    rows = metrics[(metrics["slice"] == "all") & (metrics["metric"] == "accuracy")]
    assert rows["method"].eq("likelihood").all() and rows["limit"].isna().all()
    values = {wording: np.mean(right[seed, "held_out"]) for seed, wording in ((1, "plain"), (2, "then"))}
    for wording, value in values.items():
        row = rows[rows["wording"] == wording].iloc[0]
        assert (row["seed"], row["seeds"]) == (0, 1) and row["value"] == pytest.approx(value)
    mean = rows[rows["seed"].isna()].iloc[0]
    assert pd.isna(mean["wording"]) and mean["seeds"] == 2 and mean["value"] == pytest.approx(np.mean(list(values.values())))
    assert mean["sd"] == pytest.approx(np.std(list(values.values()), ddof=1)) and len(rows) == 3
    # Few-shot examples by seed, in two wordings: as many replicates as there are runs.
    for run, wording in (("run-1", "plain"), ("run-2", "then")):
        change_facts(folder, run, seed=7, wording=wording, shots=4)
    rows = evaluate(program, folder).query("slice == 'all' and metric == 'accuracy'")
    assert set(zip(rows["seed"].fillna(-1), rows["wording"].fillna(""))) == {(7, "plain"), (7, "then"), (-1, "")}


def test_one_wording_is_told_too(program, trained):
    folder, _ = trained
    change_facts(folder, "run-1", seed=0, wording="plain", train_examples=0, model="asked")
    metrics = evaluate(program, folder).query("slice == 'all' and metric == 'accuracy' and model == 'asked'")
    assert metrics["wording"].fillna("").tolist() == ["plain", ""] and metrics["seeds"].tolist() == [1, 1] and metrics["sd"].isna().all()


@pytest.mark.parametrize("wording", [5, ["plain"], "a/b", ""])
def test_a_wording_that_is_no_name_is_refused(program, trained, wording):
    folder, _ = trained
    change_facts(folder, "run-1", wording=wording)
    said = evaluate(program, folder, ok=False)
    assert "run-1/run.json: wording is " in said and len(said.splitlines()) == 1


def test_every_slice_and_their_n_add_up_to_all(program, trained):
    folder, right = trained
    metrics = evaluate(program, folder)
    assert set(metrics.loc[metrics["metric"] == "peak_accuracy", "slice"]) == {"all"}
    metrics = metrics[metrics["metric"] == "accuracy"]
    assert set(metrics["slice"]) == {"all", *SLICES}
    for seed in (1, 2):
        of_seed = metrics[metrics["seed"] == seed].set_index("slice")
        for name, holds in SLICES.items():
            inside = [answer for pair, answer in enumerate(right[seed, "held_out"]) if holds(told(pair))]
            assert (of_seed["n"][name], of_seed["value"][name]) == (len(inside), pytest.approx(np.mean(inside))), name
        partitions = of_seed.drop("all")["n"].groupby(lambda name: name.split("=")[0]).sum()
        assert (partitions == 120).all() and of_seed["n"]["all"] == 120


def test_both_orders_alike_are_half_right_whatever_the_labels(program, trained):
    """A tie says nothing, so a split with more pairs of one label must not make it better or worse than chance."""
    folder = trained[0]
    for run in ("run-1", "run-2"):
        file = folder / run / "predictions.parquet"
        rows = read_table(file).to_pylist()
        for row in rows:
            row["score"], row["label"] = [-0.7, -0.7], int(row["example_id"].endswith("1"))
        write_table(pa.Table.from_pylist(rows, schema=PREDICTIONS), file, PREDICTIONS, {})
    metrics = evaluate(program, folder)
    assert metrics.loc[metrics["metric"] == "accuracy", "value"].eq(0.5).all()


def test_a_corpus_without_categories_has_no_slice_of_them(program, trained):
    folder, _ = trained
    place = folder / "build/sample_howto100m/stride-0/val.parquet"
    pairs = [told(pair) | {"category": None} for pair in range(120)]
    write_table(pa.Table.from_pylist(pairs, schema=STRIDED_PAIRS), place, STRIDED_PAIRS, {})
    assert not evaluate(program, folder)["slice"].str.startswith("category").any()


@pytest.mark.parametrize(("changed", "said"), [
    (lambda pairs: pairs[:-1], "not of the pairs that were built; run it again"),
    (lambda pairs: [pairs[0] | {"overlap": None}, *pairs[1:]], "val.parquet: "),
])
def test_a_dataset_that_does_not_fit_is_refused(program, trained, changed, said):
    folder, _ = trained
    place = folder / "build/sample_howto100m/stride-0/val.parquet"
    pairs = changed([told(pair) for pair in range(120)])
    write_table(pa.Table.from_pylist(pairs, schema=STRIDED_PAIRS), place, STRIDED_PAIRS, {})
    error = evaluate(program, folder, ok=False)
    assert said in error and len(error.splitlines()) == 1 and not (folder / "metrics.parquet").exists()
