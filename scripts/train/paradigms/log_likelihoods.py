"""Log-likelihoods at the wanted places. Only these places pass through the head, some at a time,
because the head is as wide as the vocabulary.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

AT_ONCE = {"cpu": 2**25, "cuda": 2**28}  # places × vocabulary, so that memory stays bounded


@contextmanager
def saying(body: torch.nn.Module, output) -> Iterator[None]:
    """Inside this context a network's body returns `output` for any input. So the rest of the
    network's own forward reads that output.
    """
    body.forward = lambda *given, **named: output
    try:
        yield
    finally:
        del body.forward


def log_likelihoods(
    network: torch.nn.Module,
    body: torch.nn.Module,
    output,
    hidden: torch.Tensor,
    wanted: torch.Tensor,
    given: dict,
) -> torch.Tensor:
    """(places,) log-probability of the wanted token at each place, in fp32. If the network caps or
    scales its logits, this counts.

    body: the part of the network below the head, which returned `output`; hidden: (places, width)
    its last states, at the places that are asked for; given: what else the network's forward must
    be given.
    """
    step = max(1, AT_ONCE[hidden.device.type] // network.config.get_text_config().vocab_size)
    found = []
    for start in range(0, len(hidden), step):
        output["last_hidden_state"] = hidden[None, start : start + step]
        with saying(body, output):
            logits = network(**given).logits[0].float()
        found.append(
            logits.gather(1, wanted[start : start + step, None])[:, 0] - logits.logsumexp(1)
        )
    return torch.cat(found)


def summed(found: torch.Tensor, rows: torch.Tensor, count: int) -> torch.Tensor:
    """(count,) sums of the values at places, by the row of each place."""
    return torch.zeros(count, device=found.device).index_add(0, rows, found)
