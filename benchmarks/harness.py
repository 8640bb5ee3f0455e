"""Time the same likelihood requests in our own loop and in lm-evaluation-harness.

A decoder is asked all four studies on the sample corpora. Both programs read the same texts and
score the same tokens (tests/workflow/test_harness.py compares the scores). The result is CPU
seconds of the whole command. Our command starts from built datasets and ends with written scores;
theirs starts from written tasks.

    python -m benchmarks.harness --lm-eval lm_eval/bin/python --model FOLDER
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.measure import checkout, options_of, table, workflow

# by experiment: the study, its data, and methods that score whole texts, as the harness does
ASKED: dict[str, tuple[str, dict, list[str]]] = {
    "order": ("strided_sop", {"source": "sample_activitynet", "stride": 0}, ["likelihood"]),
    "nli": (
        "temporal_nli",
        {"source": "generated", "challenge_set": "temp_order"},
        ["likelihood", "likelihood_pmi"],
    ),
    "mctaco": ("mctaco", {"source": "sample_mctaco", "train_questions": 10}, ["verbalizer"]),
    "dialogs": (
        "timedial",
        {"source": "sample_dialogs", "max_dialogs": 100, "context_scope": "local"},
        ["likelihood"],
    ),
}
BATCH = 16  # the batch size of the harness


def configuration(model: Path, limit: int) -> dict:
    """Return a study that asks one model, to be laid over config.yaml."""
    experiments = {
        name: {
            "title": name,
            "study": study,
            "data": data | {"limit": limit},
            "models": ["asked"],
            "methods": methods,
            "controls": False,
            "seeds": [1],
            "training": {"max_length": 512, "precision": "fp32"},
        }
        for name, (study, data, methods) in ASKED.items()
    }
    entry = {"folder": str(model.resolve()), "licence": "as its folder says", "title": model.name}
    return {
        "name": "asked",
        "run": list(experiments),
        "experiments": experiments,
        "models": {"asked": entry},
    }


def by_the_harness(python: Path, model: Path, folder: Path) -> tuple[float, float]:
    """Run lm_eval on the tasks of a folder; return wall seconds and CPU seconds."""
    command = [python, "-m", "lm_eval", "--model", "hf", "--device", "cpu", "--log_samples"]
    command += ["--model_args", f"pretrained={model.resolve()},dtype=float32,max_length=512"]
    command += ["--include_path", "tasks", "--tasks", "timestride", "--batch_size", BATCH]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
    before, begun = os.times(), time.perf_counter()
    done = subprocess.run(
        [*map(str, command), "--output_path", "out"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"lm_eval failed: {done.stderr[-2000:]}")
    after = os.times()
    return time.perf_counter() - begun, sum(after[2:4]) - sum(before[2:4])


def main(given: argparse.Namespace) -> None:
    wanted = configuration(given.model, given.limit)
    with tempfile.TemporaryDirectory() as made:
        folder = checkout(Path(made))
        workflow(folder, wanted, "harness")
        tasks = folder / "results/harness/asked"
        requests = sum(len(file.read_text().splitlines()) for file in tasks.glob("tasks/*.jsonl"))
        workflow(folder, wanted, "build")
        rows = []
        for _ in range(given.turns):
            seconds, spent, _ = workflow(folder, wanted, "train", "--forcerun", "train_run")
            theirs, others = by_the_harness(given.lm_eval, given.model, tasks)
            rows.append([f"{requests:,}", f"{spent:.0f}", f"{others:.0f}", f"{others / spent:.2f}"])
            rows[-1] += [f"{theirs / seconds:.2f}"]
    print(table(["requests", "ours, CPU s", "lm_eval, CPU s", "ratio", "ratio by clock"], rows))


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument("--lm-eval", type=Path, required=True, help="a Python that has lm_eval")
    options.add_argument("--model", type=Path, required=True, help="a folder with a decoder")
    options.add_argument("--limit", type=int, default=20, help="examples of each test set")
    options.add_argument("--turns", type=int, default=1)
    main(options.parse_args())
