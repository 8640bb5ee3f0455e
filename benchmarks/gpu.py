"""Check a machine's GPU with one command, without network or weights.

A reduced study of every paradigm (that of benchmarks/kills.py) trains twice and must give the same
bytes: else the exit code is 1. In fp32 without dropout its scores are compared with those of the
CPU. For killed and resumed runs, call `python -m benchmarks.faults --only kills` on a machine with
a GPU.

    python -m benchmarks.gpu
    python -m benchmarks.gpu --tiny      # one experiment on the CPU: shows that it works
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

from benchmarks.kills import differences, finished_study, overlay
from benchmarks.measure import options_of
from scripts.data.tables import read_table
from scripts.running.devices import processor
from scripts.train.hardware import versions

EXACT = {"precision": "fp32", "dropout": 0.0}


def trained(folder: Path, device: str, tiny: bool, training: dict) -> Path:
    """Train the runs of the reduced study in a new folder; tiny: only those of one experiment."""
    study = overlay(short=tiny) | {"name": "gpu", "device": device}
    if tiny:
        study["run"] = ["sample_sop"]
        study["experiments"]["sample_sop"]["controls"] = False
    for experiment in study["experiments"].values():
        experiment["training"] |= training
    return finished_study(folder, study, "train")


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


def main(given: argparse.Namespace) -> int:
    tiny = given.tiny or not torch.cuda.is_available()
    device, where = ("cpu", processor()) if tiny else ("gpu", torch.cuda.get_device_name())
    numbers = ", ".join(f"{name} {version}" for name, version in versions().items())
    print(f"{'TINY, without a GPU' if tiny else 'timestride'}: {where}, {numbers}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        first, second = (trained(Path(name, one), device, tiny, {}) for one in "ab")
        if found := differences(first, second):
            print(f"FAILED, twice the same: {len(found)} files differ, {found[0]} first")
            return 1
        print("twice the same: equal, every byte", flush=True)
        if not tiny:
            exact = [trained(Path(name, one), one, tiny, EXACT) for one in ("gpu", "cpu")]
            print(f"GPU beside CPU, fp32, no dropout: {rounding(*exact)}")
    return 0


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument(
        "--tiny", action="store_true", help="small, on the CPU; so without a GPU, too"
    )
    sys.exit(main(options.parse_args()))
