"""Train one run, resume it, or hand out its finished result.

First looks into <output>/work: if the same job (the dataset's content, the model's files, the settings, the code
that changes numbers) is finished there, its result is copied out in a second, without torch. Otherwise the training
loop (scripts/train/loop.py) is started through `accelerate launch`, and goes on from the checkpoint if there is one.
A second process for the same run waits for the first.

Reads  <data>/<split>.parquet, <model>/ (config.json, tokenizer.json, model.safetensors unless from scratch)
Writes <output>/predictions.parquet (or the model's files, where the method makes a model), history.parquet, run.json

    python -m scripts.train.run --run NAME --settings "$(cat settings.json)" --method "$(cat method.json)" \\
        --splits train val_1 --data results/build/strided_sop/activitynet/stride-0 \\
        --model results/fetch/models/minilm --output results/train/strided_sop/NAME
"""

import argparse
import contextlib
import json
import os
import sys
from pathlib import Path

from filelock import FileLock, Timeout

from scripts.common.devices import claim_gpus, visible_gpus
from scripts.common.program import UserError, log, parser, run
from scripts.train.work import describe, finished, hand_out, write_json


def lock(path: Path, wait: bool) -> bool:
    """Lock a file until this process (or the one it becomes) ends; False when it is held and we do not wait."""
    held = FileLock(path, thread_local=False)
    try:
        held.acquire(blocking=False)
    except Timeout:
        if not wait:
            return False
        log.info("waits for another process that works on %s", path.parent)
        held.acquire()
    os.set_inheritable(held._context.lock_file_fd, True)  # the lock lives on in `accelerate launch`
    LOCKS.append(held)
    return True


LOCKS: list[FileLock] = []  # a lock is let go when its object is collected


def launch(given: argparse.Namespace, work: Path) -> None:
    """Become `accelerate launch` of the training loop, on GPUs or on CPU processes."""
    gpus = [] if given.device == "cpu" else visible_gpus()
    if given.device == "gpu" and len(gpus) < given.devices:
        raise UserError(f"device: gpu asks for {given.devices} GPU(s), but {len(gpus)} are visible here; "
                        "set device: auto, or run on a machine that has them")
    environment = dict(os.environ, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", CUBLAS_WORKSPACE_CONFIG=":4096:8")
    if gpus:
        gpus = claim_gpus(gpus, given.devices)
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    else:
        environment["ACCELERATE_USE_CPU"] = "true"  # for several processes, which take no --cpu
    processes = len(gpus) or given.devices
    threads = int(os.environ.get("SLURM_CPUS_PER_TASK", given.threads))
    environment["OMP_NUM_THREADS"] = str(max(1, threads // processes))
    # --multi_gpu starts several processes on CPUs as well, where --cpu would silently start one.
    kind = ["--multi_gpu", "--main_process_port", "0"] if processes > 1 else [] if gpus else ["--cpu"]
    loop = ["scripts.train.loop", "--work", work, "--data", given.data, "--model", given.model, "--output", given.output,
            "--processes", processes, "--checkpoint-seconds", given.checkpoint_seconds]
    if not gpus:
        loop += ["--cpu"]
    if given.log:
        loop += ["--log", given.log]
    command = [sys.executable, "-m", "accelerate.commands.launch", *kind, "--num_processes", processes,
               "--num_machines", 1, "--mixed_precision", "no", "--dynamo_backend", "no", "--quiet", "--module", *loop]
    sys.stderr.flush()
    os.execvpe(sys.executable, list(map(str, command)), environment)


def main(given: argparse.Namespace) -> None:
    work = given.output / "work"
    work.mkdir(parents=True, exist_ok=True)
    lock(work / "lock", wait=True)
    job = describe(given.run, json.loads(given.settings), json.loads(given.method), given.splits, given.data, given.model)
    if finished(work, job["digest"]):
        hand_out(work, job, given.output)
        log.info("%s: already trained from the same data, model, settings and code; no step taken", given.run)
        return
    with contextlib.suppress(FileNotFoundError):
        (work / "finished.json").unlink()
    write_json(job, work / "job.json")
    launch(given, work)


def arguments() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--run", required=True, help="the run's name")
    made.add_argument("--settings", required=True, help="JSON: study, source, dataset, data, model, method, training, seed")
    made.add_argument("--method", required=True, help="JSON: columns, labels, merged_labels, held_out, peak of the study, "
                      "paradigm, learns, inputs, makes_model of the method (resources/studies.yaml)")
    made.add_argument("--splits", nargs="+", required=True, help="the split to learn from, then those to measure on")
    made.add_argument("--data", type=Path, required=True, help="the folder of the dataset")
    made.add_argument("--model", type=Path, required=True, help="the folder of the model")
    made.add_argument("--device", choices=["auto", "cpu", "gpu"], default="auto", help="default: %(default)s")
    made.add_argument("--devices", type=int, default=1, help="GPUs, or CPU processes; default: %(default)s")
    made.add_argument("--threads", type=int, default=1, help="CPU threads, over all processes; default: %(default)s")
    made.add_argument("--checkpoint-seconds", type=float, default=60, help="least time between two; default: %(default)s")
    made.add_argument("--output", type=Path, required=True, help="the run's folder")
    return made


if __name__ == "__main__":
    run(main, arguments().parse_args())
