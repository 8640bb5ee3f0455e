"""Train one run, resume it, or hand out its finished result.

The program first looks into <output>/work. If the same job is finished there, it copies the result
out in a second, without torch. Jobs are the same if the dataset's content, the model's files, the
settings and the code that changes numbers are the same. Otherwise the training loop
(scripts/train/loop.py) runs, in this process or in several through Accelerate's launcher. It
continues from the checkpoint if there is one. A second process for the same run waits for the
first. SIGTERM and Ctrl-C save and end.

Reads  <data>/<split>.parquet, <model>/ (config.json, tokenizer.json, model.safetensors unless from
       scratch)
Writes <output>/predictions.parquet (or the model's files, where the method makes a model),
       history.parquet, run.json

    python -m scripts.train.run --run NAME --settings "$(cat settings.json)" \\
        --method "$(cat method.json)" --splits train val_1 \\
        --data results/build/strided_sop/activitynet/stride-0 --model results/fetch/models/minilm \\
        --output results/train/strided_sop/NAME
"""

import argparse
import fcntl
import gc
import os
import sys
from pathlib import Path
from typing import IO

from scripts.running.devices import processor
from scripts.running.locks import flock
from scripts.data.manifest import check_made, files_in
from scripts.plan.models import DEFAULT_FILES, GENERATION, MADE_MODEL, TEMPLATE
from scripts.running.program import (
    UserError,
    execute,
    json_object,
    json_object_with,
    log,
    log_to,
    number,
    parser,
    whole_number,
)
from scripts.train.kept_weights import are_asked_for, can_score, kept_facts, place_of
from scripts.train.launch import Launch, check_tracker, devices, start
from scripts.train.early_end import TooLarge
from scripts.train.quantised import check_quantised
from scripts.train.work import (
    WEIGHTS_FOLDER,
    describe,
    fail,
    finish,
    finished,
    forget,
    hand_out,
    model_view,
    refuse_again,
    sweep,
    write_json,
)

SETTINGS = ("study", "source", "dataset", "data", "model", "method", "training", "seed")
METHOD = (
    "columns",
    "labels",
    "merged_labels",
    "held_out",
    "peak",
    "paradigm",
    "learns",
    "inputs",
    "makes_model",
)
# A lock ends when its object is collected: these objects are held until the process ends.
LOCKS: list[IO] = []


def lock(work: Path) -> None:
    """Hold the run's lock until this process (or the launcher that it becomes) ends. Wait while
    another process holds it.

    On a file system without locks it continues with a warning: one Snakemake never starts a run
    twice.
    """
    held = open(work / "lock", "a")
    try:
        locked = flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.info("waits for another process that works on %s", work)
        locked = flock(held, fcntl.LOCK_EX)
    if not locked:
        log.warning(
            "warning: %s: its file system has no locks, so nothing stops a second process from "
            "training this run at the same time; give one command at a time, or put results/ on a "
            "disk that has locks",
            work,
        )
    os.set_inheritable(held.fileno(), True)  # Accelerate's launcher keeps the lock
    LOCKS.append(held)


def wait_for_orphans(work: Path) -> None:
    """Wait until no process of a killed launcher is still training: each holds a shared lock on
    work/trainers.
    """
    with open(work / "trainers", "w") as opened:
        try:
            flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("waits for the processes of a killed launcher to end")
            flock(opened, fcntl.LOCK_EX)


def files_of(model: Path) -> list[str]:
    """The files of a model's folder: those in its manifest or, without a manifest, those that a
    model usually has.
    """
    manifest = model / "manifest.json"
    return (
        sorted(files_in(manifest))
        if manifest.exists()
        else sorted(
            {file for file in (*DEFAULT_FILES, TEMPLATE, GENERATION) if (model / file).exists()}
            | {file.name for file in model.glob("model*.safetensors*")}  # shards and their index
        )
    )


def read_of_model(model: Path) -> list[Path]:
    """Return what stands for the files of a model: its folder, or the files that a run made."""
    made = [model.parent / name for name in MADE_MODEL]
    return [file for file in made if file.is_file()] or [model]


def train_here(launch: Launch) -> None:
    """Train in this process."""
    is_first = "scripts.train.process" not in sys.modules
    if is_first:  # importing makes no garbage, and searching for it would take a tenth of the time
        gc.disable()
    from scripts.train.process import train_job  # late: it takes seconds, and reads the environment

    if is_first:
        gc.freeze()  # the search never looks at these objects later, either
        gc.enable()
    train_job(launch)


def work_of(given: argparse.Namespace, read: list[Path]) -> Path:
    """Return the folder of a run's work, which this process holds, without half-written files. Wait
    while another process works on the run. Raises UserError for files (read) that nobody made.
    """
    work = given.output / "work"
    work.mkdir(parents=True, exist_ok=True)
    lock(work)
    if given.log and given.opens_log:
        log_to(given.log)  # only now: the process that we waited for was writing it
    check_made(read)
    wait_for_orphans(work)
    sweep(work, given.output, work / "result")
    return work


def are_learnt_weights_kept(keep: str, job: dict) -> bool:
    """Whether the weights that a job learns are kept (keep: best, last or none)."""
    return keep != "none" and job["learns"] and not job["makes_model"] and job["paradigm"] != "esim"


def launch_of(given: argparse.Namespace, gpus: list[str], model: Path, **kept) -> Launch:
    """Return the launch of a run's training. kept: what becomes of its weights."""
    processes = len(gpus) or given.devices
    return Launch(
        work=str(given.output / "work"),
        data=str(given.data),
        model=str(model),
        output=str(given.output),
        processes=processes,
        threads=max(1, given.threads // processes),
        cpu=not gpus,
        checkpoint_seconds=given.checkpoint_seconds,
        deterministic=not given.not_deterministic,
        micro_batch_tokens=given.micro_batch_tokens,
        runs_per_gpu=given.runs_per_gpu,
        report_to=given.report_to,
        card=given.card,
        tokens=given.tokens and str(given.tokens),
        log=given.log and str(given.log),
        processor=processor(),
        **kept,
    )


def main(given: argparse.Namespace) -> None:
    work = work_of(given, [given.data, *read_of_model(given.model)])
    files = given.model_files or [one for one in files_of(given.model) if one != GENERATION]
    model = model_view(given.model, files, work)
    job = describe(given.run, given.settings, given.method, given.splits, given.data, model)
    keeps = are_learnt_weights_kept(given.keep, job)
    place = place_of(given.kept, job) if keeps else None
    facts = kept_facts(place, job) if place else None
    merges = given.merge_adapter or given.hands_on
    are_kept = are_asked_for(facts, job, given.keep, merges)
    if given.hands_on:
        place = place or work / WEIGHTS_FOLDER
        job |= {"hands_on": str(place)}  # after the digest, because it changes no number
        if (
            are_kept
            and not (work / "result/model").exists()
            and finished(work, job | {"hands_on": None})
        ):
            # late: it imports torch, which a finished run does not need
            from scripts.train.weight_files import write_body

            write_body(place, work)
            finish(work, job, given.output)  # by the weights that the run kept in training
    if finished(work, job) and (are_kept or not keeps):
        hand_out(work, job, given.output)
        log.info(
            "%s: already trained from the same data, model, settings and code; no step taken",
            given.run,
        )
        return
    refuse_again(work, job, given.attempt)
    check_tracker(given.report_to)
    forget(work)
    write_json(job, work / "job.json")
    gpus = devices(given.device, given.devices, given.runs_per_gpu)
    check_quantised(model, gpus, given.settings["training"], job["learns"])
    handed_on = "best" if given.hands_on else "none"
    launch = launch_of(
        given,
        gpus,
        model,
        keep=given.keep if keeps else handed_on,
        merge_adapter=merges,
        kept=str(place) if place else None,
        is_kept=facts is not None and are_kept and can_score(facts),
    )
    try:
        start(launch, gpus, train_here)
    except UserError as error:
        if not isinstance(error, TooLarge):
            fail(work, job, str(error))
        raise


def add_run_options(
    options: argparse.ArgumentParser, method: tuple[str, ...], of_method: str, splits: str
) -> None:
    """Add the options that say what a run is. method: the keys of --method; of_method and splits:
    what --method and --splits hold, for --help.
    """
    options.add_argument("--run", required=True, help="the run's name")
    options.add_argument(
        "--settings",
        type=json_object_with(*SETTINGS),
        required=True,
        help=f"JSON with the keys {', '.join(SETTINGS)}",
    )
    options.add_argument(
        "--method", type=json_object_with(*method), required=True, help=f"JSON: {of_method}"
    )
    options.add_argument("--splits", nargs="+", required=True, help=splits)
    options.add_argument("--data", type=Path, required=True, help="the folder of the dataset")
    options.add_argument("--output", type=Path, required=True, help="the run's folder")
    options.set_defaults(opens_log=True)


def add_device_options(options: argparse.ArgumentParser) -> None:
    """Add the options that say where a run computes."""
    options.add_argument(
        "--device",
        choices=["auto", "cpu", "gpu"],
        default="auto",
        help="the device of the model; default: %(default)s",
    )
    options.add_argument(
        "--runs-per-gpu",
        type=whole_number(1, 64),
        default=1,
        help="the number of runs that share a GPU; default: %(default)s",
    )
    options.add_argument(
        "--threads",
        type=whole_number(1, 10_000),
        default=1,
        help="the number of CPU threads, over all processes; default: %(default)s",
    )
    options.add_argument(
        "--attempt",
        type=whole_number(1, 1000),
        default=1,
        help="the number of this attempt of the workflow; default: %(default)s",
    )


def add_training_options(training: argparse.ArgumentParser) -> None:
    """Add the options that say where and how fast a run trains, and whether its weights stay."""
    add_device_options(training)
    training.add_argument(
        "--devices",
        type=whole_number(1, 64),
        default=1,
        help="the number of GPUs (or of CPU processes); default: %(default)s",
    )
    training.add_argument(
        "--checkpoint-seconds",
        type=number(0, 1e6),
        default=60,
        help="the least time between two checkpoints; default: %(default)s",
    )
    training.add_argument(
        "--micro-batch-tokens",
        type=whole_number(8, 100_000_000),
        help="the most tokens of one forward pass, padding included; a larger batch is taken in "
        "parts; default: on a GPU what fits into its memory, on a CPU no limit",
    )
    training.add_argument(
        "--not-deterministic",
        action="store_true",
        help="allow GPU kernels whose results vary from run to run",
    )
    training.add_argument(
        "--report-to",
        choices=["none", "tensorboard", "trackio", "wandb"],
        default="none",
        help="a tool that shows the training while it runs; default: %(default)s",
    )
    training.add_argument(
        "--tokens", type=Path, help="a folder for tokenized splits, which other runs use again"
    )
    training.add_argument(
        "--keep",
        choices=["none", "best", "last"],
        default="none",
        help=(
            "keep the trained weights of the reported epoch (best) or of the last epoch (last); "
            "they score a run that differs only in its evaluation, without training; "
            "default: %(default)s"
        ),
    )
    training.add_argument(
        "--kept",
        type=Path,
        default=Path("results/train/kept"),
        help="the folder for kept weights; default: %(default)s",
    )
    training.add_argument(
        "--merge-adapter",
        action="store_true",
        help="merge the trained adapter into the weights of the model that is kept",
    )


def arguments() -> argparse.ArgumentParser:
    training = parser(__doc__)
    add_run_options(
        training,
        METHOD,
        "columns, labels, merged_labels, held_out and peak of the study; paradigm, learns, inputs "
        "and makes_model of the method (study.yaml)",
        "the training split, then the evaluation splits",
    )
    training.add_argument("--model", type=Path, required=True, help="the folder of the model")
    training.add_argument(
        "--model-files",
        nargs="*",
        help="the files of the model to read; default: the files that its manifest.json lists; "
        "without manifest.json, the usual files of a model",
    )
    add_training_options(training)
    training.add_argument(
        "--hands-on",
        action="store_true",
        help="also write the trained weights without their head, for runs that start from them; "
        "the epoch is the one that --keep names, or the reported one",
    )
    training.add_argument(
        "--card",
        type=json_object,
        default={},
        help="JSON for the model card of kept weights: title, licence, hub, revision, sources",
    )
    return training


if __name__ == "__main__":
    execute(main, arguments().parse_args(), opens_log=True)
