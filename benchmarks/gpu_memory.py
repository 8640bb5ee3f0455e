"""A batch that does not fit into the memory: the stage takes it in halves, to the same numbers."""

import dataclasses

import torch
from accelerate import Accelerator

from benchmarks.peers import Classifies, Model, Ours, network_of
from scripts.train.batches import Examples

NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


class Cramped(Classifies):
    """On a CPU: a pass over more than `room` tokens is out of memory."""

    room = 0

    def scores(self, network, batch):
        if batch["input_ids"].numel() > self.room:
            raise torch.OutOfMemoryError("too much at once")
        return super().scores(network, batch)


def in_halves(model: Model, examples: Examples, accelerator: Accelerator) -> str:
    """One step with the memory that there is, one with about 0.6 of what its activations took; how far the losses are apart."""
    model = dataclasses.replace(model, options=model.options | NO_DROPOUT)
    whole, device = int(examples.lengths.max()) * len(examples), accelerator.device
    if device.type == "cpu":
        enough, cramped = Ours(model, examples, "fp32", accelerator), Cramped(network_of(model))
        enough()
        cramped.room = whole * 3 // 5
        short = Ours(model, examples, "fp32", accelerator, paradigm=cramped)
        short()
        return told(enough.sums, short, whole)
    enough = Ours(model, examples, "fp32", accelerator, micro_batch_tokens=whole)
    enough()  # the optimizer's state lies from here on
    kept = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    enough.taken = 0
    enough()
    room = kept + 0.6 * (torch.cuda.max_memory_allocated(device) - kept)
    del enough
    reference = Ours(model, examples, "fp32", accelerator, micro_batch_tokens=whole)
    reference()
    sums = reference.sums
    del reference
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(device).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, room / total), device)
    try:
        short = Ours(model, examples, "fp32", accelerator, micro_batch_tokens=whole)
        short()
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, device)
    return told(sums, short, whole)


def told(sums: torch.Tensor, short: Ours, whole: int) -> str:
    """Raises RuntimeError where the memory did not run out, or the losses are apart."""
    parts, apart = short.learner.micro_batch_tokens, abs(sums[0] - short.sums[0]).item() / len(short.examples)
    if parts is None or parts >= whole:
        raise RuntimeError("the memory did not run out")
    if apart > 1e-3:
        raise RuntimeError(f"the losses are {apart:.1e} apart")
    return f"in parts of {parts} of {whole} tokens, mean losses {apart:.1e} apart"
