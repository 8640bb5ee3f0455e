"""How much faster a decoder scores candidates when what they begin with is read once and its head gets only the places asked for.

The network has Gemma 3 270M's shape and vocabulary, untrained; four candidates stand after each context of 200 tokens and before 40
more, and candidate and following tokens are scored, as for TimeDial. The plain way reads each text whole, and its whole logits. All
ways must find the same. CPU seconds of this process, whatever else the machine does; the ways take turns.

    python -m benchmarks.likelihood
"""

import argparse
import time

import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

from scripts.train.causal import scored_likelihoods

CONTEXT, CANDIDATE, AFTER, CANDIDATES = 200, 4, 40, 4
PLAIN, ASKED, ONCE = "plain", "places asked for", "and contexts once"


def plainly(network, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """(rows,) sums of the log-likelihoods of the scored tokens, from the whole logits of one text at a time."""
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
    first = choices * CANDIDATES
    ids[:, :CONTEXT], ids[:, CONTEXT + CANDIDATE :] = ids[first, :CONTEXT], ids[first, CONTEXT + CANDIDATE :]
    one = torch.ones(rows, 1, dtype=torch.long)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "choices": choices, "shared": one * (CONTEXT - 1),
            "scored_from": one * CONTEXT, "scored_to": one * width}


def main(given: argparse.Namespace) -> None:
    torch.manual_seed(0)
    network = Gemma3ForCausalLM(Gemma3TextConfig(
        vocab_size=262_144, hidden_size=640, num_hidden_layers=18, num_attention_heads=4, num_key_value_heads=1, head_dim=256,
        intermediate_size=2048, sliding_window=512)).eval()
    batch = texts(network.config.vocab_size, given.contexts)
    ways = {PLAIN: lambda: plainly(network, batch),
            ASKED: lambda: scored_likelihoods(network, batch | {"shared": batch["shared"] * 0}, None, []),
            ONCE: lambda: scored_likelihoods(network, batch, None, [])}
    seconds = dict.fromkeys(ways, 0.0)
    with torch.inference_mode():
        found = {way: score() for way, score in ways.items()}  # warm
        for _ in range(given.turns):
            for way, score in ways.items():
                begun = time.process_time()
                score()
                seconds[way] += time.process_time() - begun
    apart = max((found[way] - found[PLAIN]).abs().max().item() for way in ways)
    assert apart < 0.05, f"the ways differ by {apart}"  # of sums of 44 log-likelihoods
    print(", ".join(f"{way} {spent:.1f} CPU s" for way, spent in seconds.items())
          + f"; the head at the places asked for: {seconds[PLAIN] / seconds[ASKED]:.2f} times as fast; contexts read once besides: "
          f"{seconds[ASKED] / seconds[ONCE]:.2f} times; both: {seconds[PLAIN] / seconds[ONCE]:.2f} times; sums differ by {apart:.1e} at most")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--contexts", type=int, default=2, help="how many, of four candidates each (2)")
    options.add_argument("--turns", type=int, default=2, help="how often each way is timed (2)")
    main(options.parse_args())
