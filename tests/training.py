"""Training runs for tests: arguments, data, and a process that a test kills."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml

from scripts.data.tables import write_table
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from tests.conftest import ROOT

METHOD = yaml.safe_load("""
columns: {example_id: pair_id, group_id: video_id}
labels: [swapped, in_order]
merged_labels: null
held_out: null
peak: true
paradigm: classify
learns: true
makes_model: false
inputs: [text_a, text_b]
""")
TRAINING = yaml.safe_load("""
{epochs: 3, learning_rate: 0.001, batch_size: 32, weight_decay: 0.01, warmup_ratio: 0.1, gradient_clip: 1.0,
  early_stopping_patience: 3, held_out_fraction: 0.2, max_length: 32, dropout: null, precision: fp32}
""")
SETTINGS = yaml.safe_load("""
study: strided_sop
source: s
dataset: d
data: {}
model: m
method: train
seed: 1
""")


def arguments(
    output: Path,
    data: Path,
    model: Path,
    splits=("train", "val"),
    training=(),
    method=(),
    settings=(),
    **options,
) -> list[str]:
    """Return the program's arguments. training, method, settings: values that differ from the
    above; options: further options by name.
    """
    objects = {
        "settings": SETTINGS | {"training": TRAINING | dict(training)} | dict(settings),
        "method": METHOD | dict(method),
    }
    given = {
        "run": "run-1",
        **{name: json.dumps(value) for name, value in objects.items()},
        "data": data,
        "model": model,
        "output": output,
        "device": "cpu",
        **options,
    }
    return [
        "--splits",
        *splits,
        *(
            str(part)
            for name, value in given.items()
            for part in (f"--{name.replace('_', '-')}", value)
        ),
    ]


def pairs(videos: int, seed: int, positions: int = 4, words: int = 3) -> pa.Table:
    """Make pairs whose order can be learnt: `first` words come before `last` words, with noise.
    Each video has `positions` sentences.
    """
    draw = np.random.default_rng(seed)
    first, last = (text.split() for text in ("open take start man", "close eat end man"))
    rows = []
    for video in range(videos):
        for position in range(positions):
            label = int(draw.random() < 0.5)
            texts = [" ".join(draw.choice(known, words)) for known in (first, last)]
            rows.append(
                {
                    "pair_id": f"v{seed}-{video}:0:{position}",
                    "video_id": f"v{seed}-{video}",
                    "stride": 0,
                    "first_position": position,
                    "second_position": position + 1,
                    "text_a": texts[1 - label],
                    "text_b": texts[label],
                    "label": label,
                }
            )
    return pa.Table.from_pylist(rows, schema=STRIDED_PAIRS)


def write_pairs(folder: Path, videos: dict[str, int], seed: int = 0, **sizes: int) -> None:
    """Write a dataset of such pairs; videos: the number of videos by split."""
    for number, (split, many) in enumerate(videos.items(), seed):
        table = pairs(many, number, **sizes)
        write_table(table, folder / f"{split}.parquet", STRIDED_PAIRS, {})


def started(output: Path, given: list[str]) -> subprocess.Popen:
    """Start the program with these arguments in its own session; return once it has a
    checkpoint.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "scripts.train.run", *map(str, given)],
        cwd=ROOT,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (output / "work/checkpoint.pt").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)
    return process


def kill(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it was done before it was killed"
