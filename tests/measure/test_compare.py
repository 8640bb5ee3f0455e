"""Compare two systems: the numbers equal the rows of their study and a slow reference; wrong input
is refused.
"""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import t

from scripts.data.tables import read_table, write_table
from tests.measure.orders import FACTS, evaluate, scores_of, write_split
from tests.rows import texts_of
from tests.runs import write_run
from tests.studies.strided_sop.test_evaluate_strided_sop import scored_pair


def numbers(text: str, title: str) -> list[float]:
    """Return the numbers of the first line with this title: A, B, A - B, both ends, p, n."""
    line = next(line for line in text.splitlines() if line.startswith(title))
    cells = re.sub(r"(?<=\d),(?=\d)", "", line.removeprefix(title)).replace("<", "")
    return [float(cell) for cell in cells.split() if cell != "to"]


@pytest.fixture(scope="module")
def study(tmp_path_factory, program):
    """Write a dataset of 30 videos, metrics of a model and a control on it, and the same scores as
    files a.csv and b.csv; return also the right answers of each, (120,) booleans.
    """
    folder = tmp_path_factory.mktemp("compared")
    pairs, rights = [scored_pair(pair) for pair in range(120)], []
    write_split(pairs[:4], folder, "one")
    examples = write_split(pairs, folder)
    for number, (name, method, share) in enumerate(
        [("model", "train", 0.8), ("control", "control", 0.6)]
    ):
        rights.append(np.random.default_rng(number).random(120) < share)
        scores = scores_of(examples["label"], rights[-1])
        facts = {"model": name, "method": method, "seed": 1}
        write_run(folder, name, [("val", "direct", examples, scores)], **FACTS, **facts)
        file = pd.DataFrame(scores, columns=["swapped", "in_order"])
        file = file.assign(example_id=examples["example_id"])
        file.to_csv(folder / f"{'ab'[number]}.csv", index=False)
        file[:4].to_csv(folder / f"{'ab'[number]}-one.csv", index=False)
    evaluate(program, folder, ["model", "control"], "--resamples", 2000)
    return folder, rights


def test_the_difference_is_that_of_the_study_and_of_a_slow_reference(program, study):
    folder, (one, other) = study
    rows = read_table(folder / "comparisons.parquet").to_pandas()
    above = rows[(rows["metric"] == "accuracy") & (rows["kind"] == "like_for_like")].iloc[0]
    call = "scripts.measure.compare"
    said = program(f"{call} model/train e/control/control --metrics {folder}/metrics.parquet")
    a, b, gap, low, high, p_value, n = numbers(said.checked().stdout, "accuracy")
    found = above[["difference", "ci_low", "ci_high"]].to_numpy(float) * 100
    assert np.allclose([gap, low, high], found, atol=0.006)
    assert abs(p_value - max(above["p_value"], 1e-4)) < 1e-4
    assert np.allclose([a, b, n], [one.mean() * 100, other.mean() * 100, 120], atol=0.006)

    dataset = folder / "results/build/strided_sop/sample_howto100m/stride-0"
    files = f"{folder}/a.csv {folder}/b.csv --dataset {dataset} --split val"
    said = program(f"{call} {files}").checked().stdout
    assert said.startswith("strided_sop, sample_howto100m, stride-0, val\n")
    assert numbers(said, "accuracy")[:3] == [a, b, gap]
    # The interval is over videos of four pairs each, from the variance of their differences.
    videos = (one.astype(float) - other).reshape(30, 4).mean(1)
    half = t.ppf(0.975, 29) * videos.std(ddof=1) / np.sqrt(30) * 100
    low, high = numbers(said, "accuracy")[3:5]
    assert abs((high - low) / 2 / half - 1) < 0.1
    back = f"{folder}/b.csv {folder}/a.csv --dataset {dataset} --split val"
    swapped = numbers(program(f"{call} {back}").stdout, "accuracy")
    assert swapped[2:5] == [-gap, -high, -low]


def test_what_cannot_be_compared_is_refused_in_one_sentence(program, study, tmp_path):
    folder, _ = study
    table = read_table(folder / "metrics.parquet")
    rows = table.to_pandas()
    rows = rows[rows["draws"].notna()]
    elsewhere = rows[rows["model"] == "model"].assign(model="far", dataset="stride-1")
    other = rows[rows["model"] == "model"].assign(model="f1", metric="f1")
    again = rows[rows["model"] == "model"].assign(experiment="f", value=0.1)
    mixed = pd.concat([rows, elsewhere, other, again])
    mixed = pa.Table.from_pandas(mixed, schema=table.schema, preserve_index=False)
    write_table(mixed, tmp_path / "metrics.parquet", table.schema, {})
    names = f"--metrics {tmp_path}/metrics.parquet"
    one = f"--split val --dataset {folder}/results/build/strided_sop/sample_howto100m/one"
    for given, said in texts_of(f"""
        modle/train control/control {names} | no system modle/train; did you mean model/train?
        model/train control/control {names} | differs between e, f; write EXPERIMENT/model/train
        far/train control/control {names} | (the first has strided_sop/sample_howto100m/stride-1/
        f1/train control/control {names} | (the first has f1; the second has accuracy)
        {folder}/a-one.csv {folder}/b-one.csv {one} | has one group, and an interval needs two
    """):
        program(f"scripts.measure.compare {given}").refused(said, lines=1)
    program("scripts.measure.compare a b").refused("--metrics --dataset is required", code=2)
