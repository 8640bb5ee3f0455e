"""Examples a CPU second of our training loop against a plain one on the same texts, as ratios in one run.

The plain loop is that of transformers' run_glue example (benchmarks/peers.py). Both take their steps in turn, and CPU seconds of
this process are counted, so other work on the machine hardly matters. Scores of ours are in fp32 always.

    python -m benchmarks.throughput --model results/fetch/models/minilm --pairs results/build/strided_sop/activitynet/stride-0/train.parquet
    python -m benchmarks.throughput --model bert-base      # from configuration, lengths drawn
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator

from benchmarks.peers import MODELS, Model, Ours, Plain, examples_of, rate_of, rates
from scripts.train.batches import epoch_batches


def computed(lengths: np.ndarray, batches: list[np.ndarray]) -> int:
    """Tokens that batches compute, padding included."""
    return sum(int(lengths[rows].max()) * len(rows) for rows in batches)


def learning(model: Model, examples, precision: str, accelerator: Accelerator) -> str:
    """Both loops over one epoch."""
    loops = {"ours": Ours(model, examples, precision, accelerator), "plain": Plain(model, examples, precision, accelerator)}
    found = rates(loops, loops["ours"].steps, 1, accelerator.device)
    return (f"learning, {precision}: {found['ours']:.1f} examples a CPU second, plain {found['plain']:.1f}; "
            f"ratio {found['ours'] / found['plain']:.2f}")


def scoring(model: Model, examples, precision: str, accelerator: Accelerator) -> str:
    """Both over all examples; ours in fp32."""
    ours = rate_of(Ours(model, examples, "fp32", accelerator).score, len(examples), accelerator.device)
    plain = rate_of(Plain(model, examples, precision, accelerator).score, len(examples), accelerator.device)
    return f"scoring, fp32: {ours:.1f} examples a CPU second, plain in {precision} {plain:.1f}; ratio {ours / plain:.2f}"


def main(given: argparse.Namespace) -> None:
    torch.set_num_threads(given.threads)
    torch.set_float32_matmul_precision("highest")
    if given.model in MODELS:
        model = MODELS[given.model]
        model = Model(model.kind, model.options, given.batch_size, given.max_length)
    else:
        model = Model("", {}, given.batch_size, given.max_length, Path(given.model))
    accelerator = Accelerator(cpu=True)
    examples, source = examples_of(model, given.pairs, given.examples)
    plain = np.split(np.random.default_rng(0).permutation(len(examples)), range(given.batch_size, len(examples), given.batch_size))
    ours = epoch_batches(examples.lengths, given.batch_size, 0, 0)
    print(f"{given.model}, {len(examples)} examples of {examples.lengths.mean():.1f} tokens ({source}), batches of {given.batch_size}, "
          f"{given.threads} thread(s), torch {torch.__version__}")
    print(f"tokens computed, padding included: plain / ours {computed(examples.lengths, plain) / computed(examples.lengths, ours):.2f}")
    for measure in (learning, scoring):
        for precision in given.precisions:
            print(measure(model, examples, precision, accelerator), flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", default="bert-base", help=f"{', '.join(MODELS)}, or a model's folder; default: %(default)s")
    arguments.add_argument("--pairs", type=Path, help="Parquet with text_a and text_b; default: drawn lengths")
    arguments.add_argument("--examples", type=int, default=1600, help="default: %(default)s")
    arguments.add_argument("--batch-size", type=int, default=32, help="default: %(default)s")
    arguments.add_argument("--max-length", type=int, default=128, help="default: %(default)s")
    arguments.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    arguments.add_argument("--precisions", nargs="+", default=["fp32", "bf16"], choices=["fp32", "bf16"], help="default: both")
    chosen = arguments.parse_args()
    if chosen.model not in MODELS and not chosen.pairs:
        arguments.error("a model's folder reads texts: name a file with --pairs")
    main(chosen)
