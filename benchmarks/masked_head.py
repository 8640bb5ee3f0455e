"""How much faster a masked language model learns and reads when its head gets only the places asked for, in one run.

The network is a BERT of MiniLM-L6's size, untrained, with BERT's vocabulary; 15 % of the tokens are asked for, as in the MLM
stage, and one of each text, as for a pseudo-log-likelihood.

    python -m benchmarks.masked_head
"""

import argparse
import time

import torch
from transformers import BertConfig, BertForMaskedLM

from scripts.train.fill import logits_at

ROWS, WIDTH, STEPS = 32, 96, 4


def everywhere(network, places: torch.Tensor, batch: dict) -> torch.Tensor:
    """The same logits as logits_at, from a head that reads every place."""
    return network(**batch).logits[places]


def seconds(read, network, places: torch.Tensor, batch: dict, learns: bool) -> float:
    """Time of a few steps."""
    begun = time.perf_counter()
    with torch.set_grad_enabled(learns), torch.autocast("cpu", torch.bfloat16):
        for _ in range(STEPS):
            loss = torch.log_softmax(read(network, places, batch).float(), -1)[:, 0].mean()
            if learns:
                loss.backward()
                network.zero_grad()
    return time.perf_counter() - begun


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    torch.manual_seed(0)
    network = BertForMaskedLM(BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536))
    batch = {"input_ids": torch.randint(1000, 30_000, (ROWS, WIDTH)), "attention_mask": torch.ones(ROWS, WIDTH, dtype=torch.long)}
    asked, one = torch.rand(ROWS, WIDTH) < 0.15, torch.zeros(ROWS, WIDTH, dtype=torch.bool)
    one[torch.arange(ROWS), torch.randint(WIDTH, (ROWS,))] = True
    for title, places, learns in (("learning, 15 % asked for", asked, True), ("reading, one a text", one, False)):
        seconds(logits_at, network, places, batch, learns)  # warm
        few, all_of_them = (seconds(read, network, places, batch, learns) for read in (logits_at, everywhere))
        print(f"{title}: {few:.1f} s, head at all places {all_of_them:.1f} s; ratio {all_of_them / few:.2f}")
