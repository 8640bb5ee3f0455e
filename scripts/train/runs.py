"""Do the runs of a training job, one after the other in one process: train a model, ask it, measure
a control, or take a result from the record.

The runs come from standard input, a line of JSON each, as scripts/plan/training.py describes them:
  always      run (its name), settings, method, splits, data (the folder of the dataset)
  a model     model (its folder), model_files (its files, where another run made it), hands_on
              (whether other runs start from the weights)
  an API      api (its address, the model's name there, keys of each request)
  a control   control (its entry in resources/models.yaml), rung, vectors (a file of word vectors),
              corpus (a split of cleaned captions), learns_from (another dataset, whose training
              split it learns from)
  the record  cut (run, settings and data of the same control on cut splits); with --record

Imports are loaded once, and so is a model that no run changes. A run that is finished is not
trained again. A failed run is reported, and the others go on; the process then ends with exit 1.
The same command continues after the finished runs.

Reads  for each run <data>/<split>.parquet, the files that it names, and <record>/
Writes <folder>/<run>/ for each run, and MANIFEST, which lists the files of all runs

    python -m scripts.train.runs --folder results/train/mctaco --output MANIFEST < runs.jsonl
"""

import argparse
import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path

from scripts.data.manifest import write_manifest
from scripts.plan.models import ECHO
from scripts.plan.probe import ANSWER
from scripts.running.program import (
    UserError,
    execute,
    json_object,
    log,
    log_to,
    number,
    parser,
    sentence_of,
    whole_number,
)
from scripts.running.progress import Progress
from scripts.train.given_run import GivenRun, read_runs
from scripts.train.run import train
from scripts.train.work import forget, outputs_of

PAUSE = 2  # seconds between two lines of progress
UNEXPECTED = "an unexpected error, see the log"


def train_or_ask(one: GivenRun, given: argparse.Namespace) -> None:
    """Train, score or ask one model."""
    if one.method.get("paradigm") in (ANSWER, ECHO):
        # late, as each kind of run has imports of its own
        from scripts.train.asking.ask import ask

        ask(one, given)
    elif given.devices > 1:
        in_child(partial(train, one, given))
    else:
        train(one, given)


def in_child(work: Callable[[], None]) -> None:
    """Do a piece of work in a child, which may become another program (Accelerate's launcher).
    Signals to this process reach the child. Raises SystemExit if the child fails.
    """
    child = os.fork()
    if not child:
        try:
            work()
        except Exception as error:
            log.error("error: %s", sentence_of(error) or UNEXPECTED)
            sys.stderr.flush()
            os._exit(1)
        except SystemExit as end:
            os._exit(end.code if isinstance(end.code, int) else 1)
        os._exit(0)
    for end_signal in (signal.SIGTERM, signal.SIGINT):
        signal.signal(end_signal, lambda sent, _: os.kill(child, sent))
    _, status = os.waitpid(child, 0)
    for end_signal in (signal.SIGTERM, signal.SIGINT):
        signal.signal(end_signal, signal.SIG_DFL)
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(code if code > 0 else 128 - code)


def start_anew(runs: list[GivenRun]) -> None:
    """Forget what runs have finished, what they have learnt and which answers they have."""
    for one in runs:
        work = one.folder / "work"
        forget(work)
        for name in ("checkpoint.pt", "answers.jsonl"):
            (work / name).unlink(missing_ok=True)


def pieces_of(runs: list[GivenRun], given: argparse.Namespace) -> list[Callable[[], None]]:
    """Return the pieces of work of a job. If one fails, the others go on."""
    if given.record:
        from scripts.train.recorded import take  # late: pandas

        return [partial(take, one, given.record) for one in runs]
    pieces: list[Callable[[], None]] = []
    for data, of_data in groupby(runs, lambda one: one.control and one.data):
        together = list(of_data)
        if data:
            from scripts.controls.control import measure_controls  # late: sklearn

            pieces.append(partial(measure_controls, together))
        else:
            pieces += [partial(train_or_ask, one, given) for one in together]
    return pieces


def files_of(one: GivenRun, given: argparse.Namespace) -> list[str]:
    """Return the files of a run in the folder of all runs."""
    makes_model = one.method.get("makes_model", False)
    names = outputs_of({"makes_model": makes_model, "hands_on": one.hands_on})
    if given.record and makes_model:
        names = ["history.parquet", "run.json"]
    return [f"{one.folder.name}/{name}" for name in names]


def main(given: argparse.Namespace) -> None:
    if given.log:  # appended to: a job that finds its runs finished keeps the log of their work
        log_to(given.log, mode="a")
        log.info("---- %s, attempt %d", time.strftime("%Y-%m-%d %H:%M:%S"), given.attempt)
    runs = read_runs(sys.stdin.read().splitlines(), given.folder)
    if given.again and given.attempt == 1:
        start_anew(runs)
    pieces, failed = pieces_of(runs, given), []
    are_controls = all(one.control for one in runs)
    progress = Progress(len(pieces), "sets of controls" if are_controls else "runs", PAUSE)
    for do in pieces:
        try:
            do()
        except Exception as error:
            failed.append(sentence_of(error) or UNEXPECTED)
            log.info("failed: %s", failed[-1])
        gc.collect()  # free the GPU memory that the run held
        progress.end_piece()
    if failed:
        rest = "" if len(pieces) == 1 else f" ({len(failed)} of {len(pieces)} failed)"
        raise UserError(failed[0] + rest)
    files = [file for one in runs for file in files_of(one, given)]
    write_manifest(given.folder, files, given.output)


def add_hardware_options(options: argparse.ArgumentParser) -> None:
    """Add the options that say on what a run computes."""
    options.add_argument(
        "--device",
        choices=["auto", "cpu", "gpu"],
        default="auto",
        help="the device of the model; default: %(default)s",
    )
    for name, most, what in (
        ("--devices", 64, "the number of GPUs (or of CPU processes)"),
        ("--runs-per-gpu", 64, "the number of runs that share a GPU"),
        ("--threads", 10_000, "the number of CPU threads, over all processes"),
    ):
        said = f"{what}; default: %(default)s"
        options.add_argument(name, type=whole_number(1, most), default=1, help=said)
    options.add_argument(
        "--micro-batch-tokens",
        type=whole_number(8, 100_000_000),
        help="the most tokens of one forward pass, padding included; a larger batch is taken in "
        "parts; default: on a GPU what fits into its memory, on a CPU no limit",
    )
    options.add_argument(
        "--not-deterministic",
        action="store_true",
        help="allow GPU kernels whose results vary from run to run",
    )


def add_training_options(options: argparse.ArgumentParser) -> None:
    """Add the options that say how a run trains, and whether its weights stay."""
    options.add_argument(
        "--checkpoint-seconds",
        type=number(0, 1e6),
        default=60,
        help="the least time between two checkpoints; default: %(default)s",
    )
    options.add_argument(
        "--report-to",
        choices=["none", "tensorboard", "trackio", "wandb"],
        default="none",
        help="a tool that shows the training while it runs; default: %(default)s",
    )
    options.add_argument(
        "--tokens", type=Path, help="a folder for tokenized splits, which other runs use again"
    )
    options.add_argument(
        "--keep",
        choices=["none", "best", "last"],
        default="none",
        help=(
            "keep the trained weights of the reported epoch (best) or of the last epoch (last); "
            "they score a run that differs only in its evaluation, without training; "
            "default: %(default)s"
        ),
    )
    options.add_argument(
        "--kept",
        type=Path,
        default=Path("results/train/kept"),
        help="the folder for kept weights; default: %(default)s",
    )
    options.add_argument(
        "--merge-adapter",
        action="store_true",
        help="merge the trained adapter into the weights of the model that is kept",
    )


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "--folder", type=Path, required=True, help="the folder of the study's runs"
    )
    add_hardware_options(options)
    add_training_options(options)
    options.add_argument(
        "--attempt",
        type=whole_number(1, 1000),
        default=1,
        help="the number of this attempt of the workflow; default: %(default)s",
    )
    options.add_argument(
        "--cards",
        type=json_object,
        default={},
        help="JSON: by run, facts for the model card of kept weights (title, licence, hub, "
        "revision, sources)",
    )
    options.add_argument(
        "--key", metavar="VARIABLE", help="the environment variable that holds the API's key"
    )
    options.add_argument(
        "--again", action="store_true", help="do the runs again, also those that are finished"
    )
    options.add_argument("--record", type=Path, help="take the runs from docs/record/<study>")
    options.add_argument("--output", type=Path, required=True, help="the manifest to write")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args(), opens_log=True)
