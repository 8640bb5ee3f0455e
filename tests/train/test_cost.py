"""What a study costs: the operations of a network, counted by hand."""

import pytest

from benchmarks.cost import Size, count
from tests.rows import each_row

SIZE = Size(1000, 0, 500, 20.0, 12.0, 0.25)
SHAPE = {
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 100,
}
MODELS = {
    "small": {"init": {"model_type": "bert"} | SHAPE},
    "made": {"mlm": {"model": "small", "experiment": "x"}},
    "unknown": {"hub": "a/b"},
}
TRAINING = {"epochs": 3, "held_out_fraction": 0.1, "batch_size": 32, "max_length": 64}
ONCE = 2 * 2 * (4 * 64 * 64 + 2 * 64 * 128) * 20 + 4 * 2 * 64 * 20**2  # one reading, by hand


def job(paradigm: str = "classify", learns: bool = True, **more) -> dict:
    return {
        "paradigm": paradigm,
        "learns": learns,
        "training": TRAINING | more.pop("training", {}),
    } | more


@each_row(
    "asked, learned, learning, scoring",
    [
        (job(), 2700, 2700 * 3 * ONCE, 3 * 600 * ONCE),
        (job(learns=False), 0, 0, 500 * ONCE),
        (job("symmetric"), 2700, 2700 * 6 * ONCE, 3 * 600 * 2 * ONCE),
        (job("fill"), 675, 675 * 3 * ONCE, 3 * 600 * ONCE),
        (job("pseudo_log_likelihood", False), 0, 0, 500 * 20 * ONCE),
        (
            job("likelihood", False, prompt={"texts": {"a": 1, "b": 2}, "domain": "d"}),
            0,
            0,
            500 * 4 * ONCE,
        ),
        (job(training={"held_out_fraction": 0}), 3000, 3000 * 3 * ONCE, 3 * 500 * ONCE),
    ],
)
def test_operations_are_counted_by_what_a_run_reads(asked, learned, learning, scoring):
    found = count(asked, SIZE, "small", MODELS)
    assert (found.learned, found.learning, found.scoring) == pytest.approx(
        (learned, learning, scoring)
    )
    assert count(asked, SIZE, "made", MODELS).learning == found.learning
