"""Check and time a machine's GPU with one command, without network or weights; prints a list.

agreement   a reduced study of every paradigm (that of benchmarks/kills.py) trains twice and
            must give the same bytes; in fp32 without dropout its scores are compared with those of
            the CPU
throughput  our loop beside a plain loop and beside ours with compiled graphs
            (benchmarks/throughput.py), the share of the card's peak, and the memory
grid        figure 3 of Jain et al. on ActivityNet: an epoch of each stride, and all epochs

If a section fails, it prints one line, the others continue, and the exit code is 1. For killed and
resumed runs, call `python -m benchmarks.faults --only kills` on a machine with a GPU.

    python -m benchmarks.gpu > gpu.txt
    python -m benchmarks.gpu --tiny      # small, on the CPU: shows that it works, measures nothing
"""

import argparse
import sys
import tempfile
import traceback
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator

from benchmarks.cost import reading
from benchmarks.kills import differences, overlay
from benchmarks.measure import checkout, in_turn, options_of, ratios, workflow
from benchmarks.throughput import MODELS, Ours, clock_of, examples_of, network_of, seconds_of
from scripts.plan.expected import stated_size
from scripts.running.devices import processor
from scripts.data.tables import read_table
from scripts.train.hardware import precision_for, versions

# Dense bf16 teraFLOPs a second without sparsity, by a part of the card's name (NVIDIA's data
# sheets). The first part that the name contains counts.
PEAK = {"H200": 989, "H100": 989, "A100": 312}
EPOCHS, SEEDS = 10, 3  # as in the paper and in presets/paper.yaml
EXACT = {"precision": "fp32", "dropout": 0.0}


def trained(folder: Path, device: str, tiny: bool, training: dict) -> Path:
    """Train the runs of the reduced study in a new folder; tiny: only those of one experiment."""
    study = overlay(short=tiny) | {"name": "gpu", "device": device}
    if tiny:
        study["run"] = ["sample_sop"]
        study["experiments"]["sample_sop"]["controls"] = False
    for experiment in study["experiments"].values():
        experiment["training"] |= training
    workflow(checkout(folder), study, "train")
    return folder


def rounding(one: Path, other: Path) -> str:
    """Return the largest difference between the scores of the same runs in two folders."""
    differences = [0.0]
    for file in one.glob("results/train/*/*/predictions.parquet"):
        left, right = (
            np.stack(read_table(place)["score"].to_pylist())
            for place in (file, other / file.relative_to(one))
        )
        differences.append(np.abs(left - right).max())
    return f"scores of {len(differences) - 1} runs at most {max(differences):.1e} apart"


def agreement(given: argparse.Namespace, device: str) -> Iterator[str]:
    """Train the reduced study in several folders and compare the results."""
    with tempfile.TemporaryDirectory() as name:
        first, second = (trained(Path(name, one), device, given.tiny, {}) for one in "ab")
        if found := differences(first, second):
            raise RuntimeError(f"twice the same: {len(found)} files differ, {found[0]} first")
        yield "twice the same: equal, every byte"
        where = {device, "cpu"} if device != "cpu" else ()
        exact = [trained(Path(name, one), one, given.tiny, EXACT) for one in where]
        for one, other in pairwise(exact):
            yield f"GPU beside CPU, fp32, no dropout: {rounding(one, other)}"


def throughput(given: argparse.Namespace, device: str) -> Iterator[str]:
    """Yield the examples a second of each loop."""
    accelerator = Accelerator(cpu=device == "cpu")
    card = torch.cuda.get_device_name() if device == "gpu" else ""
    peak = next((peak for part, peak in PEAK.items() if part in card), None)
    torch.set_float32_matmul_precision("highest")
    for name in given.models:
        model, precision = MODELS[name], precision_for("auto", device == "cpu")
        found = seconds_of(model, given.examples, precision, accelerator, compiled=device == "gpu")
        for what, seconds in found.items():
            yield f"{name}, {what}: {ratios(seconds, given.examples)}"
        lengths, config = examples_of(model, given.examples).lengths, network_of(model).config
        learnt = 3 * sum(reading(config.to_dict(), length) for length in lengths.tolist())
        rate = learnt / next(iter(found.values()))["ours"] / 1e12
        share = f", {rate / peak:.0%} of the bf16 peak" if peak else ""
        memory = torch.cuda.max_memory_allocated() / 2**30 if device == "gpu" else 0
        yield f"{name}, learning: {rate:.3g} teraFLOPs/s{share}; {memory:.1f} GiB of all loops"


def grid(given: argparse.Namespace, device: str) -> Iterator[str]:
    """Yield the seconds to learn from, and to score, the pairs of each stride, for one epoch.

    The sizes are those of resources/sizes.yaml; the pairs are random tokens.
    """
    accelerator = Accelerator(cpu=device == "cpu")
    clock, model = clock_of(accelerator), MODELS["tiny" if given.tiny else "bert-base"]
    precision, total = precision_for("auto", device == "cpu"), 0.0
    for stride in range(4):
        size = stated_size("strided_sop", "activitynet", {"stride": stride}, 2)
        learned, scored = (24, 24) if given.tiny else (size.learned, size.scored)
        loop = Ours(model, examples_of(model, learned), precision, accelerator)
        reader = Ours(model, examples_of(model, scored), precision, accelerator)
        steps = -(-learned // model.batch_size)
        learn = in_turn({"": loop}, steps, 3, clock)[""]
        score = in_turn({"": reader.score}, 1, 1, clock)[""]
        total += EPOCHS * SEEDS * (learn + score)
        yield (
            f"stride {stride}: learns {learned:,} pairs in {learn:.2f} s, "
            f"scores {scored:,} in {score:.2f} s"
        )
    yield f"the figure, {EPOCHS} epochs of {SEEDS} seeds: {total / 60:.1f} minutes"


SECTIONS = {"agreement": agreement, "throughput": throughput, "grid": grid}


def main(given: argparse.Namespace) -> int:
    given.tiny = given.tiny or not torch.cuda.is_available()
    if given.tiny:
        given.models, given.examples = ["tiny"], 24
    device = "cpu" if given.tiny else "gpu"
    where = processor() if given.tiny else torch.cuda.get_device_name()
    numbers = ", ".join(f"{name} {version}" for name, version in versions().items())
    print(f"{'TINY, which measures nothing' if given.tiny else 'timestride'}: {where}, {numbers}")
    well = True
    for title in given.sections:
        print(f"{title}:", flush=True)
        try:
            for line in SECTIONS[title](given, device):
                print(f"    {line}", flush=True)
        except (Exception, SystemExit) as error:  # a failure must not stop the others
            print(traceback.format_exc(), file=sys.stderr)
            print(f"    FAILED, {type(error).__name__}: {error}", flush=True)
            well = False
    return 0 if well else 1


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument("--models", nargs="+", choices=MODELS, default=["bert-base", "bert-large"])
    options.add_argument("--examples", type=int, default=6400, help="default: %(default)s")
    options.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    options.add_argument(
        "--tiny", action="store_true", help="small, on the CPU; so without a GPU, too"
    )
    sys.exit(main(options.parse_args()))
