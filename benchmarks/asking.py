"""Time the ways to ask a decoder, as ratios in one run. Not a program: benchmarks/gpu.py uses it.

The decoder has the shape of SmolLM2-135M and random weights, and the texts are random words. Each
dialog has as many candidates as one of TimeDial. The decoder reads the beginning of a dialog once
for all candidates, or again for each one. It answers questions in batches, or one by one.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from accelerate import Accelerator

from benchmarks.measure import ROOT, in_turn, ratios
from benchmarks.throughput import clock_of
from scripts.plan.models import CONFIG
from scripts.train.asking.local_model import LocalModel
from scripts.train.batches import Examples
from scripts.train.early_end import Stop
from scripts.train.paradigms import likelihood
from scripts.train.scoring import Scorer
from scripts.train.stand_in import CANDIDATES, words_of, write_model, write_weights

VOCABULARY = ROOT / "resources/sample_vocabulary.txt"
WORDS = 150  # in a dialog
DECODER = {
    "model_type": "llama",
    "num_hidden_layers": 30,
    "hidden_size": 576,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "intermediate_size": 1536,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
}
TINY = DECODER | {"num_hidden_layers": 2, "hidden_size": 72, "intermediate_size": 128}
TRAINING = {"max_length": 512, "chat_template": "none", "answer_tokens": 8, "shots": 0}
WORDING = {
    "texts": {"candidate": "{left}|{candidate}{right}"},
    "score": "token",
    "domain": None,
    "threshold": False,
}


def write_decoder(options: dict, folder: Path) -> None:
    """Write a decoder's folder: random weights, and as many tokens as SmolLM2 has."""
    entry = {"init": options, "vocabulary": str(VOCABULARY)}
    write_model("decoder", {"models": {"decoder": entry}, "vocabulary": VOCABULARY}, folder)
    config = json.loads((folder / CONFIG).read_text()) | {"vocab_size": 49_152}
    (folder / CONFIG).write_text(json.dumps(config))
    write_weights(folder, config, masked=False)


def dialogs(n: int) -> pa.Table:
    """Draw n dialogs with a mask in the last quarter, one row for each candidate."""
    draw, known = np.random.default_rng(0), np.array(words_of(VOCABULARY))
    place, mask = np.arange(n).repeat(CANDIDATES), WORDS * 3 // 4
    texts = draw.choice(known, (n, WORDS)).tolist()
    contexts = [" ".join([*words[:mask], "<MASK>", *words[mask:]]) for words in texts]
    return pa.table(
        {
            "example_id": [str(number) for number in range(len(place))],
            "choice": place,
            "context": [contexts[one] for one in place],
            "candidate": [" ".join(words) for words in draw.choice(known, (len(place), 2))],
            "label": np.arange(len(place)) % CANDIDATES == 0,
        }
    )


def paradigm_of(folder: Path, precision: str) -> likelihood.Paradigm:
    """Return the paradigm that scores the candidates of dialogs."""
    settings = {"training": TRAINING | {"precision": precision}, "seed": 1}
    job = {"settings": settings, "prompt": WORDING, "labels": ["wrong", "right"]}
    return likelihood.Paradigm(folder, job | {"inputs": ["context", "candidate"]}, {})


def alone(examples: Examples) -> Examples:
    """Return the same texts, but none shares its beginning with another."""
    return Examples(examples.fields, examples.labels, np.arange(len(examples)), 0)


def reader(
    folder: Path, precision: str, table: pa.Table, accelerator: Accelerator
) -> tuple[Examples, Callable[[Examples], torch.Tensor]]:
    """Return the encoded texts of a table, and the function that scores texts."""
    paradigm = paradigm_of(folder, precision)
    scorer = Scorer(accelerator, accelerator.prepare(paradigm.network), paradigm, Stop(None))

    def scores(read: Examples) -> torch.Tensor:
        paradigm.sums_by_batch.clear()  # earlier turns must not help
        return scorer.scores(read)[:, 0]

    return paradigm.encode(table), scores


def asked(n: int, options: dict, folder: Path, accelerator: Accelerator) -> Iterator[str]:
    """Yield the cost of each way for n dialogs, in sentences."""
    write_decoder(options, folder)
    clock, table = clock_of(accelerator), dialogs(n)
    begun = clock()
    examples, scores = reader(folder, "fp32", table, accelerator)
    yield f"loading the model: {clock() - begun:.2f} s, once for all runs of a study"
    single = alone(examples)
    ways = {"together": lambda: scores(examples), "alone": lambda: scores(single)}
    found = in_turn(ways, 1, 1, clock)
    yield f"candidates, the beginning read {ratios(found, len(table))}"
    exact = scores(examples).reshape(n, -1)
    _, scores = reader(folder, "bf16", table, accelerator)
    rounded = scores(examples).reshape(n, -1)
    other, error = (exact.argmax(1) != rounded.argmax(1)).sum(), (exact - rounded).abs().max()
    yield f"bf16 beside fp32: {other} of {n} dialogs choose another candidate; error {error:.1e}"
    writer = LocalModel(folder, TRAINING | {"precision": "fp32"}, torch.get_num_threads())
    questions = list(dict.fromkeys(table["context"].to_pylist()))
    ways = {
        "in batches": lambda: list(writer.answers(questions)),
        "one by one": lambda: [list(writer.answers([one])) for one in questions],
    }
    yield f"answers of 8 tokens: {ratios(in_turn(ways, 1, 1, clock), n)}"
