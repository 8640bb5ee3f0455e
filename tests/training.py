"""Training runs for tests: arguments, data, and a process that a test kills."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml

from scripts.data.tables import write_table
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.train import runs
from scripts.train.given_run import given_run
from tests.conftest import ROOT, here_string

METHOD = yaml.safe_load("""
{columns: {example_id: pair_id, group_id: video_id}, labels: [swapped, in_order], merged_labels: null, held_out: null,
  peak: true, paradigm: classify, learns: true, makes_model: false, inputs: [text_a, text_b]}
""")
TRAINING = yaml.safe_load("""
{epochs: 3, learning_rate: 0.001, batch_size: 32, weight_decay: 0.01, warmup_ratio: 0.1, gradient_clip: 1.0,
  early_stopping_patience: 3, held_out_fraction: 0.2, max_length: 32, dropout: null, precision: fp32}
""")
SETTINGS = yaml.safe_load("""
{study: strided_sop, source: s, dataset: d, data: {}, model: m, method: train, seed: 1}
""")


def line_of(run: str, data: Path, model: Path, splits, training, method, settings, **more) -> str:
    """Return the line of JSON of a run, as arguments() says; more: further keys."""
    known = {
        "run": run,
        "settings": SETTINGS | {"training": TRAINING | dict(training)} | dict(settings),
        "method": METHOD | dict(method),
        "splits": [*splits],
        "data": str(data),
        "model": str(model),
    }
    return json.dumps(known | more)


def arguments(
    output: Path,
    data: Path,
    model: Path,
    splits=("train", "val"),
    training=(),
    method=(),
    settings=(),
    hands_on=False,
    **options,
) -> list[str]:
    """Return the arguments of a job of one run, whose name and folder are `output`. training,
    method, settings: values that differ from the above; options: further options by name.
    """
    given = {
        "folder": output.parent,
        "output": output.parent / f"{output.name}.manifest.json",
        "device": "cpu",
        **options,
    }
    more = {"hands_on": True} if hands_on else {}
    line = line_of(output.name, data, model, splits, training, method, settings, **more)
    written = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
    return [*written, "<<<", line]


def in_shell(given: list[str], *more: str) -> list[str]:
    """Return the command of a shell that becomes the program with these arguments."""
    options, line = here_string([*given])
    program = shlex.join([sys.executable, "-m", "scripts.train.runs", *options])
    return ["bash", "-c", f"exec {program} <<< {shlex.quote(line)}", *more]


def done_here(work: Callable, given: list[str]) -> None:
    """Do a run in this process. work: train() or ask(); given: from arguments()."""
    options, line = here_string([*given])
    chosen = runs.arguments().parse_args(options)
    work(given_run(json.loads(line), chosen.folder), chosen)


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
        in_shell(given), cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    while not (output / "work/checkpoint.pt").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)
    return process


def kill(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it was done before it was killed"
