"""The symmetric paradigm trains on both orders, and a score does not depend on the order of the two
texts.
"""

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml
from transformers import AutoModelForSequenceClassification

from scripts.running.program import UserError
from scripts.data.tables import read_table, write_table
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.train.paradigms import symmetric
from scripts.train.batches import collate
from tests.files import read_json
from tests.models import fetched
from tests.training import arguments

pytestmark = pytest.mark.models


def job(inputs=("text_a", "text_b"), labels=("swapped", "in_order")) -> dict:
    return {
        "inputs": list(inputs),
        "labels": list(labels),
        "head": {"labels": list(labels), "columns": [0, 1], "order": None},
        "settings": {"method": "train_symmetric", "training": {"max_length": 24, "dropout": None}},
    }


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Write a tiny BERT whose random weights are far from zero, so that order changes its scores;
    and in `untrained` one without weights.
    """
    folder = fetched(
        "tiny_bert", tmp_path_factory.mktemp("bert") / "bert", AutoModelForSequenceClassification
    )
    fetched("tiny_bert", folder / "untrained")
    network = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        for weights in network.parameters():
            weights += 0.3 * torch.randn_like(weights)
    network.save_pretrained(folder)
    return folder


def pairs(videos: int) -> pa.Table:
    """Draw four pairs for each video, with texts of all lengths, some too long."""
    draw = np.random.default_rng(videos)
    words = "the man cuts bread and opens doors".split()
    texts = [" ".join(draw.choice(words, draw.integers(1, 25))) for _ in range(8 * videos)]
    rows = [
        {
            "pair_id": f"v{row // 4}:0:{row}",
            "video_id": f"v{row // 4}",
            "stride": 0,
            "first_position": 1,
            "second_position": 2,
            "text_a": texts[2 * row],
            "text_b": texts[2 * row + 1],
            "label": int(draw.random() < 0.5),
        }
        for row in range(4 * videos)
    ]
    return pa.Table.from_pylist(rows, schema=STRIDED_PAIRS)


def given(table: pa.Table) -> pa.Table:
    """Return a table as the loop gives it to a paradigm."""
    return table.select("pair_id video_id text_a text_b label".split()).rename_columns(
        "example_id group_id text_a text_b label".split()
    )


def scores_of(paradigm, table: pa.Table, way) -> np.ndarray:
    examples = paradigm.encode(table)
    paradigm.network.eval()
    with torch.no_grad():
        return (
            way(
                paradigm.network,
                collate(examples, np.arange(len(examples)), paradigm.padding, "cpu"),
            )
            .double()
            .numpy()
        )


def test_a_score_of_a_pair_is_exactly_minus_that_of_the_pair_turned_round(bert):
    paradigm = symmetric.Paradigm(bert, job(), {})
    table = given(pairs(20))
    other = table.set_column(2, "text_a", table["text_b"]).set_column(3, "text_b", table["text_a"])
    there, back = (scores_of(paradigm, each, paradigm.scores) for each in (table, other))
    assert np.array_equal(there[:, 1], back[:, 0]) and np.array_equal(there[:, 0], back[:, 1])
    np.testing.assert_allclose(np.exp(there).sum(1), 1, atol=1e-6)
    plain = super(symmetric.Paradigm, paradigm).scores
    alone, turned = (np.diff(scores_of(paradigm, each, plain))[:, 0] for each in (table, other))
    assert np.abs(alone + turned).max() > 0.1, (
        "without it, the order that is read is a habit: the test must see one"
    )
    np.testing.assert_allclose(there[:, 1] - there[:, 0], (alone - turned) / 2, atol=1e-4)


@pytest.mark.parametrize(
    "changed",
    yaml.safe_load("""
        - inputs: [text_a]
        - inputs: [context, candidate]
        - labels: [a, b, c]
    """),
)
def test_what_cannot_be_turned_round_is_refused(bert, changed):
    with pytest.raises(UserError, match="train_symmetric reads two texts both ways"):
        symmetric.Paradigm(bert, job(**changed), {})


def test_a_run_learns_twice_as_much_and_holds_the_same_videos_out(program, bert, tmp_path):
    """The training program reports the groups held out, the training examples and the scores."""
    for split, videos in (("train", 40), ("val", 10)):
        write_table(pairs(videos), tmp_path / f"data/{split}.parquet", STRIDED_PAIRS, {})
    found = {}
    for paradigm in ("classify", "symmetric"):
        program(
            "scripts.train.run",
            *arguments(
                tmp_path / paradigm,
                tmp_path / "data",
                bert / "untrained",
                training={"epochs": 2},
                method={"paradigm": paradigm},
            ),
        ).checked()
        facts = read_json(tmp_path / paradigm / "run.json")
        predictions = read_table(tmp_path / paradigm / "predictions.parquet").to_pandas()
        found[paradigm] = (
            facts,
            predictions,
            set(predictions.loc[predictions["split"] == "held_out", "group_id"]),
        )
    (plain, _, held), (both, predictions, also_held) = found["classify"], found["symmetric"]
    assert both["train_examples"] == 2 * plain["train_examples"]
    assert both["held_out_examples"] == plain["held_out_examples"]
    assert held == also_held and both["train_examples"] / 2 + both["held_out_examples"] == 160
    assert (
        predictions.groupby(["split", "selection"]).size() == [both["held_out_examples"], 40, 40]
    ).all()
    np.testing.assert_allclose(np.exp(np.stack(predictions["score"])).sum(1), 1, atol=1e-5)
