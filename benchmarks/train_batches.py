"""How many fewer tokens are computed with batches of like length, and how much faster an epoch is, in one run.

The lengths are those of a cleaned corpus's pairs under a word count; the network is a two-layer BERT.

    python -m benchmarks.train_batches results/build/strided_sop/activitynet/stride-0/train.parquet
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification

from scripts.common.tables import read_table
from scripts.train.batches import Examples, Ragged, collate, epoch_batches

BATCH = 64


def seconds(network, examples: Examples, batches: list[np.ndarray]) -> tuple[float, int]:
    """Time of forward and backward over the batches, and the tokens computed, padding included."""
    tokens, begun = 0, time.perf_counter()
    for rows in batches:
        batch = collate(examples, rows, {"input_ids": 0}, "cpu")
        tokens += batch["input_ids"].numel()
        network(**{name: batch[name] for name in ("input_ids", "attention_mask", "labels")}).loss.backward()
        network.zero_grad()
    return time.perf_counter() - begun, tokens


if __name__ == "__main__":
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("pairs", type=Path)
    pairs = read_table(made.parse_args().pairs, ["text_a", "text_b"]).to_pandas()
    lengths = ((pairs["text_a"].str.count(r"\w+|[^\w\s]") + pairs["text_b"].str.count(r"\w+|[^\w\s]")) + 3).to_numpy()[:4000]
    flat = np.random.default_rng(0).integers(5, 1000, lengths.sum()).astype(np.int32)
    examples = Examples({"input_ids": Ragged.of(flat, lengths)}, lengths % 2, np.arange(len(lengths)), 0)
    torch.manual_seed(0)
    network = BertForSequenceClassification(BertConfig(vocab_size=1000, hidden_size=256, num_hidden_layers=2,
                                                       num_attention_heads=4, intermediate_size=1024))
    bucketed = epoch_batches(lengths, BATCH, 0, 0)
    order = np.random.default_rng(0).permutation(len(lengths))
    plain = np.split(order, range(BATCH, len(order), BATCH))
    seconds(network, examples, plain[:5])
    (fast, few), (slow, many) = seconds(network, examples, bucketed), seconds(network, examples, plain)
    print(f"{len(lengths)} pairs: like lengths {few} tokens in {fast:.1f} s, any lengths {many} tokens in {slow:.1f} s; "
          f"ratio of tokens {many / few:.2f}, of time {slow / fast:.2f}")
