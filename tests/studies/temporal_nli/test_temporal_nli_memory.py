"""Which pairs of times occur in training, which models are right on them, and what a sentence says
about time, against a reader that knows only English times.
"""

import pandas as pd
import pytest

from scripts.studies.temporal_nli.figures.memory import PARTS
from tests.files import read_texts
from tests.publish.publish_inputs import metric_row, with_draws
from tests.studies.temporal_nli.test_additive_weights import NliStudy

pytestmark = pytest.mark.slow


def pairs(rows: list[tuple], split: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "example_id": f"{split}:{number}",
                "group_id": f"{split}{number // 2}",
                "text_a": first,
                "text_b": second,
                "label": label,
            }
            for number, (first, second, label) in enumerate(rows)
        ]
    )


def test_the_table_tells_models_and_what_is_known_by_heart(tmp_path, program):
    study = NliStudy(tmp_path, program)
    place = {"source": "event_templates", "dataset": "temp_order", "challenge_set": "temp_order"}
    place |= {"model": "minilm", "method": "train", "metric": "accuracy", "scoring": "ternary"}
    study.write_metrics(with_draws([metric_row("temporal_nli", 0.5, **place)]))
    labels = [number % 3 for number in range(12)]
    test = [
        ("Snow fell before May.", f"Snow fell after {1900 + number}.", label)
        for number, label in enumerate(labels)
    ]
    train = [
        *test[:6],
        test[0],
        (*test[0][:2], 1),
        *(("It rained before May.", f"It rained in {year}.", 0) for year in (1906, 1907)),
    ]
    train += [("It rained in May.", f"It rained after {year}.", 0) for year in (1906, 1907)]
    for split, rows in (("train", train), ("test", test)):
        table = pairs(rows, split)
        study.write_pairs("event_templates", "temp_order", split, table)
    for seed in (1, 2, 3):  # one seed of three is wrong on pairs 0 to 7
        study.make_run("event_templates", "temp_order", seed, table, wrong=8 * (seed == 1))
    study.call("temporal_nli_memory")
    table = read_texts(study.publish / "tables/temporal_nli_memory.csv")
    assert table[f"{PARTS[0]}: accuracy (%)"].str.fullmatch(r"\d+\.\d \(\d+\.\d–\d+\.\d\)|").all()
    assert (table[f"{PARTS[0]}: accuracy (%)"] != "").any()
    table = table.map(lambda cell: cell.split(" (")[0] if cell[:1].isdigit() else cell)
    rows = table[
        (table["Challenge set"] == "Set I: Temp-Order") & ~table["Source"].str.contains("released")
    ].set_index("Model")
    numbers = [f"{part}: {what}" for part in PARTS for what in ("pairs (%)", "accuracy (%)")]
    assert (
        rows.loc["by heart", ["Pairs", "Accuracy (%)", *numbers]].tolist()
        == "12 66.7 50.0 100.0 16.7 50.0 33.3 25.0".split()
    )
    (trained,) = [
        name
        for name in rows.index
        if "RoBERTa" in name
        and "fine" not in name
        and "hypothesis" not in name
        and "direct" not in name
    ]
    assert (
        rows.loc[trained, ["Pairs", *numbers]].tolist()
        == "12 50.0 66.7 16.7 66.7 33.3 100.0".split()
    )
