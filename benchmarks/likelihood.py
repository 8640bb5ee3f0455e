"""How much faster a decoder scores candidates when it reads their common beginning only one time.

The network has Gemma 3 270M's shape and vocabulary, untrained. Four candidates stand after each
context of 200 tokens and before 40 more; candidate and following tokens are scored, as in TimeDial.
`plain` reads each text whole, and its whole logits. `packed` reads each context one time and asks
the head only for the places that are scored. Both must find the same sums. CPU seconds.

    python -m benchmarks.likelihood
"""

import argparse

import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

from benchmarks.measure import in_turn, options_of, ratios
from scripts.train.paradigms.causal import scored_likelihoods

CONTEXT, CANDIDATE, AFTER, CANDIDATES = 200, 4, 40, 4
GEMMA = {
    "vocab_size": 262_144,
    "hidden_size": 640,
    "num_hidden_layers": 18,
    "head_dim": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "intermediate_size": 2048,
}
TINY = GEMMA | {"vocab_size": 1000, "hidden_size": 64, "num_hidden_layers": 2, "head_dim": 32}


def plainly(network, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """(rows,) sums of the log-likelihoods of the scored tokens, from the whole logits of a text."""
    found = []
    for ids, (first,) in zip(batch["input_ids"], batch["scored_from"].tolist()):
        logits = network(input_ids=ids[None], use_cache=False).logits[0].log_softmax(-1)
        found.append(logits[:-1].gather(1, ids[1:, None])[first - 1 :, 0].sum())
    return torch.stack(found)


def texts(vocabulary: int, contexts: int) -> dict[str, torch.Tensor]:
    """Texts of random tokens, the candidates for one context after each other."""
    rows, width = contexts * CANDIDATES, CONTEXT + CANDIDATE + AFTER
    ids = torch.randint(10, vocabulary, (rows, width))
    choices = torch.arange(contexts).repeat_interleave(CANDIDATES)
    for part in (slice(CONTEXT), slice(CONTEXT + CANDIDATE, width)):
        ids[:, part] = ids[choices * CANDIDATES, part]
    one = torch.ones(rows, 1, dtype=torch.long)
    return {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "choices": choices,
        "shared": one * (CONTEXT - 1),
        "scored_from": one * CONTEXT,
        "scored_to": one * width,
    }


def main(given: argparse.Namespace) -> None:
    torch.manual_seed(0)
    config = Gemma3TextConfig(**(TINY if given.smallest else GEMMA), sliding_window=512)
    network = Gemma3ForCausalLM(config).eval()
    batch = texts(config.vocab_size, given.contexts)
    ways = {
        "packed": lambda: scored_likelihoods(network, batch, None, []),
        "plain": lambda: plainly(network, batch),
    }
    with torch.inference_mode():
        packed, plain = [way() for way in ways.values()]
        difference = (packed - plain).abs().max().item()
        if difference > 0.05:  # of sums of 44 log-likelihoods
            raise SystemExit(f"the ways differ by {difference}")
        seconds = in_turn(ways, given.turns, warm=0)
    rates = ratios(seconds, len(packed) * given.turns)
    print(f"texts, {rates}; sums differ by {difference:.1e} at most")


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument("--contexts", type=int, default=2, help="of four candidates each")
    options.add_argument("--turns", type=int, default=2, help="how often each way is timed")
    options.add_argument(
        "--smallest", action="store_true", help="a tiny network: shows that it works"
    )
    main(options.parse_args())
