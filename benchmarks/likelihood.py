"""How much faster a decoder scores candidates when what they begin with is read once and its head gets only the places asked for.

The network has Gemma 3 270M's shape and vocabulary, untrained; four candidates stand after each context of 200 tokens and before 40
more, and candidate and following tokens are scored, as for TimeDial. The plain way reads each text whole, and its whole logits. All
ways must find the same; their times are taken by turns.

    python -m benchmarks.likelihood
"""

import argparse
import time

import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

from scripts.train.causal import scored_likelihoods

CONTEXT, CANDIDATE, AFTER, CONTEXTS, CANDIDATES, TURNS = 200, 4, 40, 2, 4, 2


def plainly(network, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """(rows,) sums of the log-likelihoods of the scored tokens, from the whole logits of one text at a time."""
    found = []
    for ids, (first,) in zip(batch["input_ids"], batch["scored_from"].tolist()):
        logits = network(input_ids=ids[None], use_cache=False).logits[0].log_softmax(-1)
        found.append(logits[:-1].gather(1, ids[1:, None])[first - 1 :, 0].sum())
    return torch.stack(found)


def texts(vocabulary: int) -> dict[str, torch.Tensor]:
    """Texts of random tokens, the candidates for one context after each other."""
    rows, width = CONTEXTS * CANDIDATES, CONTEXT + CANDIDATE + AFTER
    ids = torch.randint(10, vocabulary, (rows, width))
    choices = torch.arange(CONTEXTS).repeat_interleave(CANDIDATES)
    first = torch.arange(CONTEXTS).repeat_interleave(CANDIDATES) * CANDIDATES
    ids[:, :CONTEXT], ids[:, CONTEXT + CANDIDATE :] = ids[first, :CONTEXT], ids[first, CONTEXT + CANDIDATE :]
    one = torch.ones(rows, 1, dtype=torch.long)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "choices": choices, "shared": one * (CONTEXT - 1),
            "scored_from": one * CONTEXT, "scored_to": one * width}


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    torch.manual_seed(0)
    network = Gemma3ForCausalLM(Gemma3TextConfig(
        vocab_size=262_144, hidden_size=640, num_hidden_layers=18, num_attention_heads=4, num_key_value_heads=1, head_dim=256,
        intermediate_size=2048, sliding_window=512)).eval()
    batch = texts(network.config.vocab_size)
    ways = {"plain": lambda: plainly(network, batch),
            "places asked for": lambda: scored_likelihoods(network, batch | {"shared": batch["shared"] * 0}, None, []),
            "and contexts once": lambda: scored_likelihoods(network, batch, None, [])}
    seconds = dict.fromkeys(ways, 0.0)
    with torch.inference_mode():
        found = {way: score() for way, score in ways.items()}  # warm
        for _ in range(TURNS):
            for way, score in ways.items():
                begun = time.perf_counter()
                score()
                seconds[way] += time.perf_counter() - begun
    apart = max((found[way] - found["plain"]).abs().max().item() for way in ways)
    assert apart < 0.05, f"the ways differ by {apart}"  # of sums of 44 log-likelihoods
    print(", ".join(f"{way} {spent:.1f} s" for way, spent in seconds.items()) + f"; {seconds['plain'] / seconds['places asked for']:.2f} and "
          f"{seconds['plain'] / seconds['and contexts once']:.2f} times as fast as plain; sums differ by {apart:.1e} at most")
