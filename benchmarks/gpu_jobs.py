"""Training jobs of benchmarks/gpu.py: each is `python -m scripts.train.run` on its own dataset and model, and what it left.

With `quick` a job is a fork of a server that has imported torch already, for machines whose start-up is dearer than the job.
"""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml

from scripts.common.tables import STRIDED_PAIRS, read_table, write_table

ROOT = Path(__file__).parents[1]
METHOD = {"columns": {"example_id": "pair_id", "group_id": "video_id"}, "labels": ["swapped", "in_order"], "merged_labels": None,
          "held_out": None, "peak": True, "paradigm": "classify", "learns": True, "makes_model": False, "inputs": ["text_a", "text_b"]}
TRAINING = {"epochs": 2, "learning_rate": 1e-4, "batch_size": 32, "weight_decay": 0.01, "warmup_ratio": 0.1, "gradient_clip": 1.0,
            "early_stopping_patience": 3, "held_out_fraction": 0.1, "max_length": 128, "dropout": None, "precision": "auto",
            "compile": False}
SMALL = {"model_type": "bert", "num_hidden_layers": 6, "hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536,
         "max_position_embeddings": 128}
TINY = SMALL | {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 2, "intermediate_size": 128}


def words() -> list[str]:
    """The words that a tokenizer of the project knows."""
    listed = (ROOT / "resources/sample_vocabulary.txt").read_text(encoding="utf-8").split()
    return [word for word in listed if word.isalpha()]


def pairs(n: int, first: np.ndarray, second: np.ndarray, seed: int) -> pa.Table:
    """Pairs of so many random words each, a word of one half of the vocabulary more often in the text that comes first."""
    draw, known = np.random.default_rng(seed), np.array(words())
    labels, rows = draw.integers(0, 2, n), []
    for number in range(n):
        halves = known[: len(known) // 2], known[len(known) // 2 :]
        texts = [" ".join(draw.choice(halves[side] if draw.random() < 0.7 else known, size))
                 for side, size in ((0, first[number]), (1, second[number]))]
        rows.append({"pair_id": f"{seed}:{number}", "video_id": f"{seed}:{number // 4}", "stride": 0, "first_position": 0,
                     "second_position": 1, "text_a": texts[1 - labels[number]], "text_b": texts[labels[number]], "label": int(labels[number])})
    return pa.Table.from_pylist(rows, schema=STRIDED_PAIRS)


def prepare(folder: Path, learned: int, scored: int, lengths: tuple[np.ndarray, np.ndarray], tiny: bool) -> None:
    """Write folder/data and folder/model."""
    for seed, (split, n) in enumerate({"train": learned, "val_1": scored}.items()):
        write_table(pairs(n, *(sizes[:n] for sizes in lengths), seed), folder / f"data/{split}.parquet", STRIDED_PAIRS, {})
    entry = {"title": "a small BERT", "licence": "none", "init": TINY if tiny else SMALL,
             "vocabulary": str(ROOT / "resources/sample_vocabulary.txt")}
    (folder / "models.yaml").write_text(yaml.safe_dump({"small": entry}))
    fetched = subprocess.run([sys.executable, "-m", "scripts.fetch.model", "--model", "small", "--models", folder / "models.yaml",
                              "--output", folder / "model"], cwd=ROOT, capture_output=True, text=True)
    if fetched.returncode:
        raise RuntimeError(fetched.stderr.strip()[-400:])


def arguments(folder: Path, output: Path, device: str, training: dict, seed: int = 1, **options) -> list[str]:
    """The command line of a job, without the interpreter."""
    settings = {"study": "strided_sop", "source": "drawn", "dataset": "drawn", "data": {"stride": 0}, "model": "small", "method": "train",
                "seed": seed, "training": TRAINING | training}
    given = {"run": output.name, "settings": json.dumps(settings), "method": json.dumps(METHOD), "data": folder / "data",
             "model": folder / "model", "output": output, "device": device, "tokens": folder / "tokens", **options}
    return ["--splits", "train", "val_1", *(str(part) for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value))]


def run_here(command: list[str], said: Path) -> None:
    """Become the program, with its text in a file and a group of its own."""
    import runpy

    os.setsid()
    opened = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(opened, 1)
    os.dup2(opened, 2)
    sys.argv = ["run", *command]
    runpy.run_module("scripts.train.run", run_name="__main__")


class Jobs:
    """Starts jobs and reads what they left. `quick`: forks of a server that has imported torch."""

    def __init__(self, folder: Path, quick: bool):
        self.folder, self.server = folder, None
        if quick:
            self.server = multiprocessing.get_context("forkserver")
            self.server.set_forkserver_preload(["scripts.train.loop", "scripts.train.classify", "benchmarks.gpu_jobs"])

    def start(self, output: Path, device: str, training: dict, **options):
        """A started job."""
        command, said = arguments(self.folder, output, device, training, **options), output.with_suffix(".txt")
        if self.server:
            job = self.server.Process(target=run_here, args=(command, said))
            job.start()
            return job
        with open(said, "w") as text:
            return subprocess.Popen([sys.executable, "-m", "scripts.train.run", *command], cwd=ROOT, start_new_session=True,
                                    stdout=text, stderr=text)

    def alive(self, job) -> bool:
        return job.is_alive() if self.server else job.poll() is None

    def wait(self, job, output: Path) -> Path:
        """The output of a job once it ends. Raises RuntimeError with its last words where it failed."""
        code = (job.join() or job.exitcode) if self.server else job.wait()
        if code:
            raise RuntimeError(" ".join(output.with_suffix(".txt").read_text().strip().splitlines()[-1:]) or f"the job ended with {code}")
        return output

    def run(self, name: str, device: str, training: dict | None = None, **options) -> Path:
        """Run a job to its end; its output."""
        output = self.folder / name
        return self.wait(self.start(output, device, training or {}, **options), output)

    def run_killed(self, name: str, device: str, training: dict | None = None) -> Path:
        """Kill a job once it has saved, then run it to its end; a job that was faster than the kill is started anew."""
        for _ in range(5):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            self.kill_once(name, device, training)
            if not (self.folder / name / "predictions.parquet").exists():
                break
        self.run(name, device, training)
        if "resumes in epoch" not in (self.folder / name).with_suffix(".txt").read_text():
            raise RuntimeError("no killed job resumed")
        return self.folder / name

    def kill_once(self, name: str, device: str, training: dict | None) -> None:
        """Start a job and kill it once it has saved."""
        output = self.folder / name
        job = self.start(output, device, training or {}, checkpoint_seconds=0.05)
        until = time.monotonic() + 300
        while self.alive(job) and time.monotonic() < until and not (output / "work/checkpoint.pt").exists():
            time.sleep(0.005)
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.join() if self.server else job.wait()


def scores_of(output: Path) -> tuple[np.ndarray, np.ndarray]:
    """(n, labels) scores of a job's last selection and split, and the losses of its history."""
    predictions = read_table(output / "predictions.parquet").to_pandas()
    predictions = predictions[predictions["selection"] == "held_out"]
    return np.stack(predictions["score"]), read_table(output / "history.parquet")["loss"].to_numpy()


def facts_of(output: Path) -> dict:
    return json.loads((output / "run.json").read_text())


def equal(one: Path, other: Path) -> str:
    """Whether two jobs say the same: every number of history and predictions, but for the name of the run."""
    for name in ("history.parquet", "predictions.parquet"):
        left, right = (read_table(output / name).drop_columns("run") for output in (one, other))
        if not left.equals(right):
            return f"DIFFER ({difference(one, other)})"
    return "equal, every bit"


def difference(one: Path, other: Path) -> str:
    """How far two jobs are apart: losses, scores, the order of examples by the score of the first label."""
    (left, left_losses), (right, right_losses) = scores_of(one), scores_of(other)
    if left.shape != right.shape or left_losses.shape != right_losses.shape:
        return "another number of epochs or examples"
    ranks = [scores[:, 0].argsort().argsort() for scores in (left, right)]
    return (f"losses {np.abs(left_losses - right_losses).max():.1e}, scores {np.abs(left - right).max():.1e}, "
            f"labels {(left.argmax(1) == right.argmax(1)).mean():.2%} alike, ranks' correlation {np.corrcoef(*ranks)[0, 1]:.6f}")
