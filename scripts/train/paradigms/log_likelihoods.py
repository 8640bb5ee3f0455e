"""Log-likelihoods at the places that are asked for: only these pass the head, as wide as the
vocabulary, some at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

AT_ONCE = {"cpu": 2**25, "cuda": 2**28}  # places × vocabulary, so that memory stays bounded


@contextmanager
def saying(body: torch.nn.Module, output) -> Iterator[None]:
    """Within, a network's body says `output` whatever it is given, so that the rest of the
    network's own forward reads that.
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
    """(places,) log-probability of the wanted token at each place, in fp32; what caps or scales
    logits in the network counts.

    body: the part of the network that the head stands on, which said `output`; hidden: (places,
    width) of its last states, at the places that are asked for; given: what else the network's
    forward must be given.
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
    """(count,) sums of what was found at places, by the row of each."""
    return torch.zeros(count, device=found.device).index_add(0, rows, found)
