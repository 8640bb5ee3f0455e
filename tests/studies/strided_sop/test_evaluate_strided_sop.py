"""Accuracy of strided pairs against an independent count."""

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.files import read_json, write_json, write_rows
from tests.measure import orders
from tests.runs import write_run
from scripts.data.tables import PREDICTIONS, read_table


def scored_pair(pair: int) -> dict:
    """Make a pair of the dataset, at the borders of the slices."""
    return {
        "pair_id": f"v{pair // 4}:0:{pair}",
        "video_id": f"v{pair // 4}",
        "stride": 0,
        "first_position": 1,
        "second_position": 2,
        "text_a": "a",
        "text_b": "b",
        "label": pair % 2,
        "overlap": [0.0, 0.2, 0.999, 1.0][pair % 4],
        "same_start": pair % 3 == 0,
        "relative_position": [0.1, 0.34, 0.5, 0.66, 0.67][pair % 5],
        "sentences": [5, 7, 10, 20, 100][pair % 5],
        "words_a": pair % 20 + 1,
        "words_b": pair % 7 + 1,
        "seconds_apart": 2.0 + pair,
        "category": [None, "Food", "Cars"][pair // 4 % 3],
    }


# For each slice, whether a pair is in it: an independent rule from the meaning of its name.
SLICES = yaml.safe_load("""
overlap=none: overlap == 0
overlap=partial: 0 < overlap < 1
overlap=contained: overlap == 1
same_start=false: not same_start
same_start=true: same_start
position=first_third: relative_position <= 1 / 3
position=middle_third: 1 / 3 < relative_position <= 2 / 3
position=last_third: relative_position > 2 / 3
sentences=5-6: 5 <= sentences <= 6
sentences=7-9: 7 <= sentences <= 9
sentences=10-19: 10 <= sentences <= 19
sentences=20-99: 20 <= sentences <= 99
sentences=100+: sentences >= 100
words=1-10: words_a + words_b <= 10
words=11-20: 11 <= words_a + words_b <= 20
words=21-30: 21 <= words_a + words_b <= 30
category=unknown: category.isna()
category=Food: category == 'Food'
category=Cars: category == 'Cars'
""")


@pytest.fixture
def trained(tmp_path):
    """Write two seeds of one dataset (30 videos of 4 pairs) with known right answers."""
    pairs = [scored_pair(pair) for pair in range(120)]
    examples, right = orders.write_split(pairs, tmp_path), {}
    for seed in (1, 2):
        draw, parts = np.random.default_rng(seed), []
        for selection in ("held_out", "peak"):
            is_right = right[seed, selection] = draw.random(120) < 0.8
            scores = orders.scores_of(examples["label"], is_right)
            splits = ["val", "held_out"] if selection == "held_out" else ["val"]
            parts += [(split, selection, examples, scores) for split in splits]
        facts = orders.FACTS | {"model": "m", "method": "train", "seed": seed}
        write_run(tmp_path, f"run-{seed}", parts, **facts)
    return tmp_path, right


def evaluate(program, trained, *more, ok=True):
    found = orders.evaluate(program, trained, ["run-1", "run-2"], *more, ok=ok)
    return found[0] if ok else found


def change_facts(folder, run: str, **changed) -> None:
    facts = read_json(folder / run / "run.json")
    write_json(folder / run / "run.json", facts | changed)


def test_wordings_are_replicates_as_seeds_are(program, trained):
    folder, right = trained
    for run, wording in (("run-1", "plain"), ("run-2", "then")):
        change_facts(folder, run, seed=0, wording=wording, train_examples=0, method="likelihood")
    metrics = evaluate(program, folder)
    rows = metrics[(metrics["slice"] == "all") & (metrics["metric"] == "accuracy")]
    assert rows["method"].eq("likelihood").all() and rows["limit"].isna().all()
    values = [np.mean(right[seed, "held_out"]) for seed in (1, 2)]
    of_wordings = rows.dropna(subset="wording").set_index("wording")
    assert of_wordings["value"].to_dict() == pytest.approx(dict(zip(("plain", "then"), values)))
    assert set(of_wordings["seed"]) == {0}
    [mean] = rows[rows["seed"].isna()].to_dict("records")
    assert pd.isna(mean["wording"]) and mean["seeds"] == 1 and len(rows) == 3
    assert mean["value"] == pytest.approx(np.mean(values))
    assert mean["sd"] == pytest.approx(np.std(values, ddof=1))


def test_every_slice_and_their_n_add_up_to_all(program, trained):
    folder, right = trained
    metrics = evaluate(program, folder)
    assert set(metrics.loc[metrics["metric"] == "peak_accuracy", "slice"]) == {"all"}
    metrics = metrics[metrics["metric"] == "accuracy"]
    assert set(metrics["slice"]) == {"all", *SLICES}
    pairs = pd.DataFrame(map(scored_pair, range(120))).join(
        pd.DataFrame({seed: right[seed, "held_out"] for seed in (1, 2)})
    )
    for seed in (1, 2):
        of_seed = metrics[metrics["seed"] == seed].set_index("slice")
        for name, holds in SLICES.items():
            inside = pairs.query(holds, engine="python")[seed]
            assert (of_seed["n"][name], of_seed["value"][name]) == (
                len(inside),
                pytest.approx(np.mean(inside)),
            ), name
        partitions = of_seed.drop("all")["n"].groupby(lambda name: name.split("=")[0]).sum()
        assert (partitions == 120).all() and of_seed["n"]["all"] == 120


def test_both_orders_alike_are_half_right_whatever_the_labels(program, trained):
    """A tie shows no choice. A split with more pairs of one label must not make it better or worse
    than chance.
    """
    folder = trained[0]
    for run in ("run-1", "run-2"):
        file = folder / run / "predictions.parquet"
        rows = read_table(file).to_pylist()
        for row in rows:
            row["score"], row["label"] = [-0.7, -0.7], int(row["example_id"].endswith("1"))
        write_rows(rows, file, PREDICTIONS)
    metrics = evaluate(program, folder)
    assert metrics.loc[metrics["metric"] == "accuracy", "value"].eq(0.5).all()


@pytest.mark.parametrize(
    "changed, said",
    [
        (lambda pairs: pairs[:-1], "belong to other pairs than the dataset's; run it again"),
        (lambda pairs: [pairs[0] | {"overlap": None}, *pairs[1:]], "val.parquet: "),
    ],
)
def test_a_dataset_that_does_not_fit_is_refused(program, trained, changed, said):
    folder, _ = trained
    orders.write_split(changed([scored_pair(pair) for pair in range(120)]), folder)
    error = evaluate(program, folder, ok=False)
    assert said in error
    assert len(error.splitlines()) == 1
    assert not (folder / "metrics.parquet").exists()
