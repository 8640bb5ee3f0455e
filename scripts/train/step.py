"""One training step: the gradient of a whole batch, for any number of processes and for any parts
that fit into memory.
"""

from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator

from scripts.running.program import log
from scripts.train.batches import Examples, collate, parts_of
from scripts.train.hardware import Hardware
from scripts.train.early_end import remedies
from scripts.train.work import TooLarge

SHARE = 0.7  # of a GPU's memory beside the weights: activations may take this share
# for each trained weight: its gradient and its two moments in 32 bit, and its copy in 16 bit
WEIGHT_BYTES = 18
FROZEN_BYTES = {torch.bfloat16: 2, torch.float32: 6}  # for each frozen weight, with its copy


def learning_rate(step: int, steps: int, training: dict) -> float:
    """Linear warm-up to the peak, then linear decay to zero; `step` counts from 0."""
    warm = max(1, round(training["warmup_ratio"] * steps))
    share = (step + 1) / warm if step < warm else (steps - step) / max(1, steps - warm)
    return training["learning_rate"] * share


def parameter_groups(network: torch.nn.Module, weight_decay: float) -> list[dict]:
    """Weight decay for matrices, none for biases and norms (they have one dimension)."""
    trained = [weight for weight in network.parameters() if weight.requires_grad]
    return [
        {
            "params": [weight for weight in trained if weight.dim() > 1],
            "weight_decay": weight_decay,
        },
        {"params": [weight for weight in trained if weight.dim() <= 1], "weight_decay": 0.0},
    ]


def seed_everything(*numbers: int) -> None:
    """Seed torch from several numbers (a run's seed, a step, a process). Zeros at the end do not
    count: fresh weights (s) and the first step (s, 0, 0, 0) share a seed (docs/numbers.md).
    """
    seed = int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
    # without a GPU, torch.manual_seed formats the whole stack for each kind of device, in each step
    gpu = torch.accelerator.is_available()
    (torch.manual_seed if gpu else torch.default_generator.manual_seed)(seed)


def tokens_that_fit(network: torch.nn.Module, hardware: Hardware, width: int) -> int | None:
    """How many tokens, in texts of `width`, one pass may read and keep for the gradient; None on a
    CPU or for an unknown shape.

    In 16 bit a layer keeps this many bytes a token (Korthikanti et al. 2022, Reducing Activation
    Recomputation in Large Transformer Models, equation 2):

        (34 + 5 · heads · width / hidden) · hidden

    With checkpointing a layer keeps its input, 2 · hidden, and one layer at a time keeps all. The
    limit follows from the memory that the GPU has, not from what is free now. The parts of a batch
    decide dropout, so they must be the same in every run on such a GPU.
    """
    config = getattr(network, "config", None)
    sizes: list = [
        getattr(config, name, None)
        for name in ("num_hidden_layers", "hidden_size", "num_attention_heads")
    ]
    if not hardware.cuda or not all(sizes):
        return None
    layers, hidden, heads = sizes
    a_layer = 34 * hidden + 5 * heads * width
    a_token = layers * a_layer
    if getattr(network, "is_activation_checkpointing", False):
        a_token = layers * 2 * hidden + a_layer
    a_token *= 1 if hardware.precision == "bf16" else 2
    beside_weights = hardware.memory - sum(
        weight.numel() * (WEIGHT_BYTES if weight.requires_grad else FROZEN_BYTES[weight.dtype])
        for weight in network.parameters()
    )
    return max(width, int(SHARE * beside_weights / a_token))


@dataclass
class Learner:
    """A network that learns: `step` takes one step with a batch."""

    accelerator: Accelerator
    paradigm: Any
    optimizer: Any
    network: torch.nn.Module
    training: dict
    seed: int
    steps: int
    precision: str
    micro_batch_tokens: int | None

    def __post_init__(self) -> None:
        self.compiled = bool(self.training.get("compile"))
        # A gradient in a graph's own memory would be overwritten by the gradient of the next part.
        if self.compiled:
            for weight in self.network.parameters():
                weight.grad = torch.zeros_like(weight) if weight.requires_grad else None

    def step(
        self, examples: Examples, rows: np.ndarray, epoch: int, step: int, number: int
    ) -> torch.Tensor:
        """Learn from a batch; returns (2,) float64, for this process's share: the sum of its losses
        and how many are right.

        epoch, step: the place of the batch; with the seed and the parts of the batch it decides
        dropout. number: the step's number over all epochs. Raises TooLarge if even one row at a
        time does not fit.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(number, self.steps, self.training)
        sums = None
        while sums is None:
            with suppress(torch.OutOfMemoryError):
                sums = self._gradient(examples, rows, (self.seed, epoch, step))
            if sums is None:  # only here, since the error holds the computed tensors
                self._less_at_once(examples.lengths[rows])
        self.accelerator.clip_grad_norm_(self.network.parameters(), self.training["gradient_clip"])
        try:
            self.optimizer.step()
        except torch.OutOfMemoryError:
            raise TooLarge(
                "the optimizer does not fit into the GPU's memory beside the model; "
                f"{remedies(self.training)}"
            ) from None
        return sums

    def _gradient(
        self, examples: Examples, rows: np.ndarray, seeds: tuple[int, ...]
    ) -> torch.Tensor:
        """Leave the gradient of a batch's mean loss in the weights; returns the sums of `step`."""
        accelerator, world = self.accelerator, self.accelerator.num_processes
        share = rows[accelerator.process_index :: world]
        counts = len(share) > 0
        if not counts:  # fewer examples than processes: every process must still take the step
            share = rows[:1]
        seed_everything(*seeds, accelerator.process_index)
        self.optimizer.zero_grad(set_to_none=not self.compiled)
        sums = torch.zeros(2, dtype=torch.float64, device=accelerator.device)
        parts = parts_of(examples.lengths, share, self.micro_batch_tokens)
        for place, part in enumerate(parts):
            batch = collate(
                examples,
                part,
                self.paradigm.padding,
                accelerator.device,
                most=self.training["max_length"] if self.compiled else None,
            )
            with accelerator.no_sync(self.network) if place + 1 < len(parts) else nullcontext():
                with torch.autocast(
                    accelerator.device.type, torch.bfloat16, enabled=self.precision == "bf16"
                ):
                    loss, right = self.paradigm.loss(self.network, batch)
                loss = loss * counts
                accelerator.backward(loss * world / len(rows))
            sums += torch.stack([loss.detach().double(), (right * counts).double()])
        return sums

    def _less_at_once(self, lengths: np.ndarray) -> None:
        """Halve the parts after the memory ran out. Raises TooLarge if that cannot help."""
        widest = int(lengths.max())
        now = min(self.micro_batch_tokens or widest * len(lengths), widest * len(lengths))
        if self.accelerator.num_processes > 1:  # the others wait for this one's gradient
            raise TooLarge(
                f"a step of {now} tokens does not fit into the GPU's memory; "
                f"{remedies(self.training)}"
            )
        if now <= widest:
            raise TooLarge(
                f"one text of {widest} tokens does not fit into the GPU's memory; "
                f"{remedies(self.training)}"
            )
        self.micro_batch_tokens = max(widest, now // 2)
        self.optimizer.zero_grad(set_to_none=not self.compiled)
        torch.cuda.empty_cache()
        log.warning(
            "out of memory: takes steps in parts of %d tokens from here on", self.micro_batch_tokens
        )
