"""One training step and the scoring of a batch give the same numbers whole and in parts, with
enough memory and with too little.
"""

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    AutoModelForSequenceClassification,
    BertConfig,
    BertForSequenceClassification,
    ConvBertConfig,
    FNetConfig,
    NystromformerConfig,
    YosoConfig,
)

from scripts.running.program import UserError
from scripts.train.paradigms import classify
from scripts.train.batches import Examples, Ragged, collate, sorted_batches
from scripts.train.labels import Head
from scripts.train.scoring import Scorer
from scripts.train.step import Learner, learning_rate, parameter_groups
from scripts.train.early_end import Stop

pytestmark = pytest.mark.models
TRAINING = {
    "learning_rate": 1e-3,
    "warmup_ratio": 0.1,
    "weight_decay": 0.01,
    "gradient_clip": 1e6,
    "max_length": 40,
}
ROWS = np.arange(12)


class Pairs(classify.Paradigm):
    """Classification of given tokens by a tiny BERT. A pass over more than `room` tokens runs out
    of memory.
    """

    def __init__(self, dropout: float, room: int | None = None, kind=None):
        torch.manual_seed(1)
        self.head, self.width, self.padding, self.room, self.passes = (
            Head(["a", "b"], [0, 1], None),
            2,
            {"input_ids": 0},
            room,
            [],
        )
        sizes = {
            "vocab_size": 50,
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 32,
            "num_labels": 2,
            "hidden_dropout_prob": dropout,
            "attention_probs_dropout_prob": dropout,
            "max_position_embeddings": 40,
        }
        if kind:
            config = kind(**sizes, initializer_range=0.5)
            self.network = AutoModelForSequenceClassification.from_config(config)
        else:
            self.network = BertForSequenceClassification(BertConfig(**sizes))

    def scores(self, network, batch):
        rows, width = batch["input_ids"].shape
        if self.room and rows * width > self.room:
            raise torch.OutOfMemoryError("too much at once")
        self.passes.append(batch["choices"].tolist())
        return super().scores(network, batch)

    def plain_scores(self, network, batch):
        return super().scores(network, batch)


def examples_of(lengths: list[int], choices: list[int] | None = None) -> Examples:
    sizes = np.array(lengths)
    tokens = np.random.default_rng(0).integers(5, 50, sizes.sum())
    return Examples(
        {"input_ids": Ragged.of(tokens, sizes)},
        sizes % 2,
        np.array(choices or range(len(sizes))),
        0,
    )


EXAMPLES = examples_of([5, 12, 7, 30, 9, 9, 21, 5, 6, 17, 30, 8])


def learner_of(paradigm, micro_batch_tokens: int | None = None, **training) -> Learner:
    network = paradigm.network.train()
    optimizer = torch.optim.AdamW(parameter_groups(network, 0.01), lr=1e-3, fused=True)
    accelerator = Accelerator(cpu=True)
    return Learner(
        accelerator,
        paradigm,
        accelerator.prepare(optimizer),
        network,
        TRAINING | training,
        7,
        10,
        "fp32",
        micro_batch_tokens,
    )


def scores(paradigm, examples: Examples) -> torch.Tensor:
    """Score a split like the training loop."""
    scorer = Scorer(Accelerator(cpu=True), paradigm.network, paradigm, Stop(None))
    return scorer.scores(examples)


def gradient(learner: Learner) -> torch.Tensor:
    return torch.cat([weight.grad.flatten() for weight in learner.network.parameters()])


def weights(learner: Learner) -> torch.Tensor:
    return torch.cat([weight.detach().flatten() for weight in learner.network.parameters()])


# ---- a step


# compile: static widths, and gradients of their own memory
@pytest.mark.parametrize("training", [{}, {"compile": True}])
@pytest.mark.parametrize("tokens", [30, 64, 100, 359])
def test_the_gradient_of_a_batch_is_that_of_its_parts(tokens, training):
    whole, parts = learner_of(Pairs(0.0)), learner_of(Pairs(0.0), tokens, **training)
    for number in range(2):  # the second step finds the gradient of the first
        sums = [learner.step(EXAMPLES, ROWS, 0, number, number) for learner in (whole, parts)]
        assert len(whole.paradigm.passes) == number + 1 < len(parts.paradigm.passes)
        torch.testing.assert_close(*sums, rtol=1e-6, atol=1e-5)
        torch.testing.assert_close(gradient(whole), gradient(parts), rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(weights(whole), weights(parts), rtol=0, atol=1e-5)


def test_the_gradient_is_that_of_the_mean_loss_and_is_clipped():
    learner = learner_of(Pairs(0.0), gradient_clip=0.01)
    batch = collate(EXAMPLES, ROWS, {"input_ids": 0}, "cpu")
    loss = torch.nn.functional.cross_entropy(
        learner.network(**{key: batch[key] for key in ("input_ids", "attention_mask")}).logits,
        batch["labels"],
    )
    loss.backward()
    expected = gradient(learner).clone()
    sums = learner.step(EXAMPLES, ROWS, 0, 0, 0)
    assert sums[0].item() == pytest.approx(12 * loss.item(), rel=1e-5)
    torch.testing.assert_close(
        gradient(learner), expected * 0.01 / expected.norm(), rtol=1e-3, atol=1e-7
    )


def test_a_step_depends_on_seed_and_place_alone():
    """With dropout, a step is bit by bit the same after other work; another step has
    another mask.
    """
    first, second = (learner_of(Pairs(0.3), 100) for _ in range(2))
    torch.randn(5)
    assert first.step(EXAMPLES, ROWS, 0, 0, 0).equal(second.step(EXAMPLES, ROWS, 0, 0, 0))
    assert weights(first).equal(weights(second))
    assert not first.step(EXAMPLES, ROWS, 0, 1, 1).equal(second.step(EXAMPLES, ROWS, 0, 2, 1))


def test_after_running_out_of_memory_a_step_is_taken_in_halves_to_the_same_numbers():
    enough, short = learner_of(Pairs(0.0)), learner_of(Pairs(0.0, room=100))
    sums = [learner.step(EXAMPLES, ROWS, 0, 0, 0) for learner in (enough, short)]
    torch.testing.assert_close(*sums, rtol=1e-6, atol=1e-5)
    torch.testing.assert_close(weights(enough), weights(short), rtol=0, atol=1e-5)
    assert short.micro_batch_tokens == 90  # 12 texts of 30 tokens, halved twice
    assert sorted(sum(short.paradigm.passes, [])) == list(range(12)), "each text counts once"
    with pytest.raises(UserError, match="one text of 30 tokens does not fit into the GPU's memory"):
        learner_of(Pairs(0.0, room=29)).step(EXAMPLES, ROWS, 0, 0, 0)
    # With dropout, it equals bit by bit a step that uses such parts from the start.
    halved, limited = learner_of(Pairs(0.3, room=100)), learner_of(Pairs(0.3), 90)
    assert halved.step(EXAMPLES, ROWS, 0, 0, 0).equal(limited.step(EXAMPLES, ROWS, 0, 0, 0))
    assert weights(halved).equal(weights(limited))


@given(st.integers(1, 300), st.sampled_from([0.0, 0.06, 0.1, 0.5, 1.0]))
def test_the_learning_rate_rises_to_its_peak_and_falls_towards_zero(steps, warmup):
    rates = np.array(
        [
            learning_rate(number, steps, {"warmup_ratio": warmup, "learning_rate": 2.0})
            for number in range(steps)
        ]
    )
    warm = max(1, round(warmup * steps))
    assert (rates > 0).all() and rates[warm - 1] == rates.max() == 2.0
    np.testing.assert_allclose(np.diff(rates[:warm]), 2.0 / warm, rtol=1e-6)
    if steps > warm + 1:
        np.testing.assert_allclose(np.diff(rates[warm:]), -2.0 / (steps - warm), rtol=1e-6)
        assert rates[-1] == pytest.approx(2.0 / (steps - warm))


# ---- batches


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), min_size=1, max_size=60),
    st.integers(1, 12),
    st.none() | st.integers(1, 300),
)
def test_candidates_for_one_place_stay_in_one_batch_longest_first(rows, size, tokens):
    lengths, choices = map(np.array, zip(*rows))
    batches = sorted_batches(lengths, choices, size, tokens)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(rows)))
    assert sum(len(set(choices[batch])) for batch in batches) == len(set(choices))
    longest = [lengths[batch].max() for batch in batches]
    assert longest == sorted(longest, reverse=True)
    for batch in batches if tokens else ():
        assert len(set(choices[batch])) == 1 or len(batch) * max(1, lengths[batch].max()) <= tokens


# ---- scoring


def test_scores_are_the_same_in_halves_and_candidates_for_one_place_stay_together():
    examples = examples_of(
        [9, 9, 9, 30, 12, 12, 12, 4, 5, 6, 7, 8], [5, 5, 5, 1, 3, 3, 3, 3, 2, 2, 2, 2]
    )
    paradigms = [Pairs(0.3, room) for room in (None, 130)]
    found = [scores(paradigm, examples) for paradigm in paradigms]
    passes = [paradigm.passes for paradigm in paradigms]
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-6)
    assert len(passes[0]) < len(passes[1])
    assert [sum(place in batch for batch in passes[1]) for place in (5, 1, 3, 2)] == [1, 1, 1, 1]
    big = examples_of([40, 40, 40], [1, 1, 1])  # three candidates of one place do not fit
    with pytest.raises(UserError, match="3 texts of 40 tokens do not fit"):
        scores(Pairs(0.3, 100), big)


@pytest.mark.parametrize(
    "kind, reads_padding",
    [
        (BertConfig, False),
        (ConvBertConfig, True),
        (FNetConfig, True),
        (NystromformerConfig, True),
        (YosoConfig, True),
    ],
)
def test_a_score_does_not_depend_on_the_texts_beside_it(kind, reads_padding, caplog):
    """The reference reads one text at a time, by the network's own forward."""
    paradigm = Pairs(0.0, kind=kind)
    network, flat = paradigm.network.eval(), EXAMPLES.fields["input_ids"]
    expected = []
    for start, length in zip(flat.starts, flat.lengths):
        ids = torch.tensor(flat.flat[start : start + length].tolist())[None]
        with torch.no_grad():
            expected.append(network(input_ids=ids).logits[0].log_softmax(-1))
    with caplog.at_level("WARNING", logger="timestride"):
        found = scores(paradigm, EXAMPLES)
    torch.testing.assert_close(found, torch.stack(expected), rtol=1e-3, atol=1e-4)
    assert ("such a batch are read alone" in caplog.text) == reads_padding
