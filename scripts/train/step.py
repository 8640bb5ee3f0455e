"""One step of learning: the gradient of a whole batch, whatever the number of processes and of parts that fit into memory."""

from contextlib import nullcontext

import numpy as np
import torch
from accelerate import Accelerator

from scripts.common.program import UserError, log
from scripts.train.batches import Examples, collate, parts_of

SHARE = 0.7  # of the free memory of a GPU that activations may take


def learning_rate(step: int, steps: int, training: dict) -> float:
    """Linear warm-up to the peak, then linear decay to zero; `step` counts from 0."""
    warm = max(1, round(training["warmup_ratio"] * steps))
    share = (step + 1) / warm if step < warm else (steps - step) / max(1, steps - warm)
    return training["learning_rate"] * share


def parameter_groups(network, weight_decay: float) -> list[dict]:
    """Weight decay for matrices, none for biases and norms (they have one dimension)."""
    trained = [weight for weight in network.parameters() if weight.requires_grad]
    return [{"params": [weight for weight in trained if weight.dim() > 1], "weight_decay": weight_decay},
            {"params": [weight for weight in trained if weight.dim() <= 1], "weight_decay": 0.0}]


def seed_everything(*numbers: int) -> None:
    """Seed torch from several numbers (a run's seed, a step, a process)."""
    torch.manual_seed(int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1)))


def tokens_that_fit(network, free_bytes: int, width: int, number_bytes: int) -> int | None:
    """How many tokens, in texts of `width`, one pass may read and keep for the gradient; None for an unknown shape.

    A layer keeps (34 + 5 · heads · width / hidden) · hidden bytes a token in 16 bit (Korthikanti et al. 2022, Reducing
    Activation Recomputation in Large Transformer Models, equation 2).
    """
    config = getattr(network, "config", None)
    sizes = [getattr(config, name, None) for name in ("num_hidden_layers", "hidden_size", "num_attention_heads")]
    if not all(sizes):
        return None
    layers, hidden, heads = sizes
    a_token = layers * (34 * hidden + 5 * heads * width) * number_bytes / 2
    return max(width, int(SHARE * free_bytes / a_token))


class Learner:
    """A network that learns: `step` takes one step with a batch."""

    def __init__(self, accelerator: Accelerator, paradigm, optimizer, network, training: dict, seed: int, steps: int,
                 precision: str, micro_batch_tokens: int | None, max_width: int):
        self.accelerator, self.paradigm, self.optimizer, self.network = accelerator, paradigm, optimizer, network
        self.training, self.seed, self.steps, self.precision = training, seed, steps, precision
        self.compiled = bool(training.get("compile"))
        self.micro_batch_tokens = micro_batch_tokens
        if micro_batch_tokens is None and accelerator.device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(accelerator.device)
            self.micro_batch_tokens = tokens_that_fit(accelerator.unwrap_model(network), free, max_width, 2 if precision == "bf16" else 4)

    def step(self, examples: Examples, rows: np.ndarray, epoch: int, step: int, number: int) -> torch.Tensor:
        """Learn from a batch; returns the sum of its losses and how many are right, of this process's share: (2,) float64.

        epoch, step: the place of the batch, which with the seed decides dropout; number: the step's over all epochs.
        """
        while True:
            try:
                return self._step(examples, rows, epoch, step, number)
            except torch.OutOfMemoryError:
                self._less_at_once(examples.lengths[rows])

    def _step(self, examples: Examples, rows: np.ndarray, epoch: int, step: int, number: int) -> torch.Tensor:
        accelerator, world = self.accelerator, self.accelerator.num_processes
        share = rows[accelerator.process_index :: world]
        counts = len(share) > 0
        if not counts:  # fewer examples than processes: every process must still take the step
            share = rows[:1]
        seed_everything(self.seed, epoch, step, accelerator.process_index)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(number, self.steps, self.training)
        self.optimizer.zero_grad()
        sums = torch.zeros(2, dtype=torch.float64, device=accelerator.device)
        parts = parts_of(examples.lengths, share, self.micro_batch_tokens)
        for place, part in enumerate(parts):
            batch = collate(examples, part, self.paradigm.padding, accelerator.device, static=self.compiled)
            with accelerator.no_sync(self.network) if place + 1 < len(parts) else nullcontext():
                with torch.autocast(accelerator.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
                    loss, right = self.paradigm.loss(self.network, batch)
                loss = loss * counts
                accelerator.backward(loss * world / len(rows))
            sums += torch.stack([loss.detach().double(), (right * counts).double()])
        accelerator.clip_grad_norm_(self.network.parameters(), self.training["gradient_clip"])
        self.optimizer.step()
        return sums

    def _less_at_once(self, lengths: np.ndarray) -> None:
        """Halve the parts after the memory ran out. Raises UserError where that cannot help."""
        widest = int(lengths.max())
        now = min(self.micro_batch_tokens or widest * len(lengths), widest * len(lengths))
        remedy = "set micro_batch_tokens lower, lower max_length, or take a GPU with more memory"
        if self.accelerator.num_processes > 1:  # the others wait for this one's gradient
            raise UserError(f"a step of {now} tokens does not fit into the GPU's memory; {remedy}") from None
        if now <= widest:
            raise UserError(f"one text of {widest} tokens does not fit into the GPU's memory; {remedy}") from None
        self.micro_batch_tokens = max(widest, now // 2)
        self.optimizer.zero_grad()
        torch.cuda.empty_cache()
        log.warning("out of memory: takes steps in parts of %d tokens from here on", self.micro_batch_tokens)
