"""The symmetric paradigm: a score does not depend on the order of the two texts."""

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml
from transformers import AutoModelForSequenceClassification

from scripts.running.program import UserError
from scripts.train.paradigms import symmetric
from scripts.train.batches import collate
from tests.models import fetched, job_of, pair_table

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Write a tiny BERT whose random weights are far from zero, so that order changes its scores."""
    folder = fetched(
        "tiny_bert", tmp_path_factory.mktemp("bert") / "bert", AutoModelForSequenceClassification
    )
    network = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        for weights in network.parameters():
            weights += 0.3 * torch.randn_like(weights)
    network.save_pretrained(folder)
    return folder


def pairs(number: int) -> pa.Table:
    """Draw pairs with texts of all lengths, some too long."""
    draw = np.random.default_rng(number)
    words = "the man cuts bread and opens doors".split()
    texts = [" ".join(draw.choice(words, draw.integers(1, 25))) for _ in range(2 * number)]
    return pair_table([*zip(texts[::2], texts[1::2])], [0] * number)


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
    paradigm = symmetric.Paradigm(bert, job_of(max_length=24), {})
    table = pairs(80)
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
    with pytest.raises(UserError, match="the method train reads two texts both ways"):
        symmetric.Paradigm(bert, job_of(**changed), {})
