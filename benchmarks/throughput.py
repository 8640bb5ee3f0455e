"""Compare our training loop with a plain one over the same texts, as ratios in one run.

The plain loop is the recipe of transformers' run_glue example. Its batches are in random order, and
a collator in a DataLoader pads each to its longest text. It has fused AdamW, clipped gradients and
autocast, but no deterministic mode. It scores in the order of the file. Our loop is
scripts/train/{step,scoring}.py as the stage uses them; it always scores in fp32.

Models are built from configuration, untrained. Texts are random tokens, as many as ActivityNet's
pairs have words. The loops take turns. On a CPU, the clock counts CPU seconds of this process.
Not a program: benchmarks/gpu.py uses it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
import torch
from accelerate import Accelerator
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification

from benchmarks.measure import in_turn
from scripts.train.paradigms import classify
from scripts.train.batches import Examples, Ragged, epoch_batches
from scripts.train.hardware import Hardware
from scripts.train.labels import Head
from scripts.train.scoring import Scorer
from scripts.train.step import Learner, parameter_groups, tokens_that_fit
from scripts.train.early_end import Stop

TRAINING = {"learning_rate": 2e-5, "warmup_ratio": 0.1, "weight_decay": 0.01, "gradient_clip": 1.0}
SEED = 1
STEPS = 1_000_000  # of the schedule: so many that the learning rate is nearly constant
PADDING = {"input_ids": 0, "token_type_ids": 0}


def shape(layers: int, hidden: int, heads: int, **others) -> dict:
    """Return the options of an encoder's configuration."""
    return {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden,
    } | others


@dataclass(frozen=True)
class Model:
    """A model from configuration; its batches and longest text are those of a paper or preset."""

    options: dict
    batch_size: int
    max_length: int = 128


MODELS = {
    "bert-base": Model(shape(12, 768, 12), 64),  # Jain et al. 2020
    "bert-large": Model(shape(24, 1024, 16), 16),  # as RoBERTa-large: Thukral et al. 2021
    "tiny": Model(shape(2, 64, 2, vocab_size=1000), 8, 64),
}


def network_of(model: Model):
    """Build the network, untrained: the cost of a step does not depend on the weights."""
    torch.manual_seed(SEED)
    return BertForSequenceClassification(BertConfig(**model.options))


def examples_of(model: Model, n: int) -> Examples:
    """Draw n pairs of random tokens, as long as ActivityNet's (log-normal, median 14 words)."""
    draw = np.random.default_rng(0)
    words = np.exp(draw.normal(np.log(14), 0.40, (2, n))).round().astype(int).clip(1)
    lengths = (words.sum(0) + 3).clip(max=model.max_length)  # three special tokens are added
    vocabulary = model.options.get("vocab_size", 30_522)
    tokens = Ragged.of(draw.integers(5, vocabulary, lengths.sum()), lengths)
    return Examples({"input_ids": tokens}, draw.integers(0, 2, n), np.arange(n), 0)


class Classifies(classify.Paradigm):
    """The paradigm classify over a given network and given tokens."""

    def __init__(self, network):
        self.network, self.width, self.padding = network, 2, PADDING
        self.head = Head(["a", "b"], [0, 1], None)


class Ours:
    """Our loop, step by step: a call takes one step of learning."""

    def __init__(
        self,
        model: Model,
        examples: Examples,
        precision: str,
        accelerator: Accelerator,
        compiled: bool = False,
    ):
        self.examples, self.size, self.taken = examples, model.batch_size, 0
        network, device = network_of(model), accelerator.device
        paradigm, cuda = Classifies(network), device.type == "cuda"
        memory = torch.cuda.get_device_properties(device).total_memory if cuda else 0
        hardware = Hardware("", 1, torch.get_num_threads(), precision, True, cuda, memory)
        training = TRAINING | {"compile": compiled, "max_length": model.max_length}
        hardware.prepare(network, training)
        groups = parameter_groups(network, training["weight_decay"])
        optimizer = torch.optim.AdamW(groups, lr=1e-5, fused=True)
        fits = tokens_that_fit(network, hardware, model.max_length)
        network, optimizer = accelerator.prepare(network, optimizer)
        self.learner = Learner(
            accelerator,
            paradigm,
            optimizer,
            network.train(),
            training,
            SEED,
            STEPS,
            precision,
            fits,
        )
        self.scorer = Scorer(accelerator, network, paradigm, Stop(None))

    def __call__(self) -> None:
        set_modes(deterministic=True)
        epoch, step = divmod(self.taken, -(-len(self.examples) // self.size))
        if step == 0:
            self.batches = epoch_batches(self.examples.lengths, self.size, SEED, epoch)
        self.learner.step(self.examples, self.batches[step], epoch, step, self.taken)
        self.taken += 1

    def score(self) -> None:
        """Score all examples."""
        set_modes(deterministic=True)
        self.scorer.scores(self.examples)


class Plain:
    """The plain loop, step by step, over the same examples."""

    def __init__(self, model: Model, examples: Examples, precision: str, accelerator: Accelerator):
        self.device, self.precision = accelerator.device, precision
        self.network = network_of(model).to(self.device).train()
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=2e-5, fused=True)
        tokens = examples.fields["input_ids"]
        ids = [
            torch.from_numpy(tokens.flat[start : start + length]).long()
            for start, length in zip(tokens.starts, tokens.lengths)
        ]
        rows = list(zip(ids, examples.labels.tolist()))
        options = {
            "batch_size": model.batch_size,
            "collate_fn": collate,
            "pin_memory": self.device.type == "cuda",
        }
        self.in_order = DataLoader(rows, **options)
        self.batches = chain.from_iterable(repeat(DataLoader(rows, shuffle=True, **options)))

    def forward(self, batch: dict[str, torch.Tensor]):
        """Return the network's output for a batch."""
        batch = {name: part.to(self.device, non_blocking=True) for name, part in batch.items()}
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            return self.network(**batch)

    def __call__(self) -> None:
        set_modes(deterministic=False)
        self.forward(next(self.batches)).loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), TRAINING["gradient_clip"])
        self.optimizer.step()
        self.optimizer.zero_grad()

    def score(self) -> None:
        """Score all examples and move the logits to the CPU."""
        set_modes(deterministic=False)
        self.network.eval()
        with torch.inference_mode():
            for batch in self.in_order:
                self.forward(batch).logits.float().cpu()
        self.network.train()


def collate(rows: list[tuple[torch.Tensor, int]]) -> dict[str, torch.Tensor]:
    """Pad rows to the longest row; no token has the id 0."""
    ids, labels = zip(*rows)
    padded = pad_sequence(ids, batch_first=True)
    return {
        "input_ids": padded,
        "attention_mask": (padded > 0).long(),
        "labels": torch.tensor(labels),
    }


def set_modes(deterministic: bool) -> None:
    """Set the modes of scripts/train/hardware.py, or torch's own."""
    torch.use_deterministic_algorithms(deterministic)
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cuda.enable_cudnn_sdp(not deterministic)


def clock_of(accelerator: Accelerator) -> Callable[[], float]:
    """Return a clock: CPU seconds of this process; on a GPU, wall time after its work is done."""

    def seconds() -> float:
        torch.cuda.synchronize()
        return time.perf_counter()

    return seconds if accelerator.device.type == "cuda" else time.process_time


def seconds_of(
    model: Model, n: int, precision: str, accelerator: Accelerator, compiled: bool = False
) -> dict[str, dict[str, float]]:
    """Return the seconds of each loop to learn from n examples, and to score them.

    compiled: also time our loop with compiled graphs, which one epoch before the timing compiles.
    """
    examples, clock, steps = examples_of(model, n), clock_of(accelerator), -(-n // model.batch_size)
    loops = {
        "ours": Ours(model, examples, precision, accelerator),
        "plain": Plain(model, examples, precision, accelerator),
    }
    readers = {name: loop.score for name, loop in loops.items()}
    if compiled:
        loops["compiled"] = Ours(model, examples, precision, accelerator, compiled=True)
    learnt = in_turn(loops, steps, steps if compiled else 1, clock)
    return {
        f"learning, {precision}": learnt,
        f"scoring, ours in fp32, plain in {precision}": in_turn(readers, 1, 1, clock),
    }
