"""A process of a training run: it hands the loop what attends it without changing a number, and hands its result out.

Started by scripts/train/run.py, in its own process or through Accelerate's launcher; not meant to be started by hand.
"""

import argparse
import fcntl
import importlib
import json
import os
import sys
from functools import partial
from pathlib import Path

from accelerate import Accelerator

from scripts.running.locks import flock
from scripts.running.program import UserError, execute, log, log_to, parser
from scripts.train import keep, tokens
from scripts.train.checkpoint import Saver
from scripts.train.hardware import Hardware
from scripts.train.launch import Launch, read_launch
from scripts.train.loop import Trained, train
from scripts.train.memory import TooLarge, ran_out, remedies
from scripts.train.progress import Progress
from scripts.train.result import write_result
from scripts.train.stop import Stop, Stopped
from scripts.train.work import fail, finish


class Attendants:
    """What the loop is handed: how it is stopped, saved and watched, tokenized splits, and weights that were kept."""

    def __init__(self, launch: Launch):
        self.stop = Stop(os.getppid() if launch.processes > 1 else None)
        self.encode = partial(tokens.encoded, folder=launch.tokens and Path(launch.tokens))
        self.weights = keep.KeptWeights(Path(launch.kept)) if launch.is_kept else None
        self.model = self.weights.model_folder(Path(launch.model)) if self.weights else Path(launch.model)
        self.progress = Progress

    def paradigm(self, name: str) -> type:
        """The paradigm of this name; its code is a part of a run's identity beside the loop's."""
        return importlib.import_module(f"scripts.train.paradigms.{name}").Paradigm

    def saver(self, job: dict, launch: Launch, hardware: Hardware) -> Saver:
        """What keeps the checkpoint."""
        return Saver(launch, job, hardware, self.stop)

    def begin(self, job: dict, accelerator: Accelerator, hardware: Hardware) -> None:
        """Say on what the run is computed; the first process alone says anything."""
        if not accelerator.is_main_process:
            log.setLevel("ERROR")
        log.info("%s on %s, %d process(es) of %d thread(s), %s", job["run"], accelerator.device, accelerator.num_processes,
                 hardware.threads, hardware.precision)


def hand_out(job: dict, launch: Launch, trained: Trained, weights: keep.KeptWeights | None) -> None:
    """Write what the run has found, and its weights where they are to be kept."""
    facts = write_result(job, trained, Path(launch.work), Path(launch.model), weights and weights.facts)
    if launch.keep != "none" and not weights:
        network = trained.accelerator.unwrap_model(trained.paradigm.network)
        keep.write(job, facts, trained.state, trained.paradigm, network, Path(launch.kept), launch.keep, launch.merge_adapter,
                   launch.card | {"merged": launch.merge_adapter})
    finish(Path(launch.work), job, Path(launch.output))
    log.info("%s: epoch %d of %d is reported, %.0f s", job["run"], facts["best_epoch"], facts["epochs"], facts["seconds"])


def train_job(launch: Launch) -> None:
    """Train the job that <work>/job.json describes. Raises SystemExit when the run is told to end before it is done."""
    job = json.loads((Path(launch.work) / "job.json").read_text(encoding="utf-8"))
    attendants = Attendants(launch)
    try:
        trained = train(job, launch, attendants)
        if trained.accelerator.is_main_process:
            hand_out(job, launch, trained, attendants.weights)
    except Stopped as stopped:
        log.error("%s: %s; what was learnt is saved, and the same command goes on from there", job["run"], stopped)
        sys.exit(stopped.exit_code)
    except UserError:
        raise
    except Exception as error:  # libraries tell of too little memory in many ways
        if ran_out(error):
            raise TooLarge(f"{job['run']}: the memory is too small for the model and what it computes; "
                           f"{remedies(job['settings']['training'], job['learns'])}") from None
        if not isinstance(error, RuntimeError) or "deterministic" not in str(error):
            raise
        raise UserError(f"{job['run']}: {str(error).splitlines()[0]}; set `deterministic: false` in the configuration, which lets "
                        "the numbers vary from run to run") from None
    trained.accelerator.end_training()


def main(given: argparse.Namespace) -> None:
    """One of several processes: holds work/trainers while it lives, and ends with the launcher."""
    launch = read_launch(given.launch)
    if launch.log and os.environ["RANK"] == "0":  # one process writes the log
        log_to(Path(launch.log), mode="a")
    opened = open(Path(launch.work) / "trainers")
    flock(opened, fcntl.LOCK_SH)
    if os.getppid() != int(os.environ["TIMESTRIDE_LAUNCHER"]):
        raise UserError("the launcher of this process is gone; give the same command again")
    try:
        train_job(launch)
    except UserError as error:
        if isinstance(error, TooLarge):
            raise
        fail(Path(launch.work), json.loads((Path(launch.work) / "job.json").read_text(encoding="utf-8")), str(error))
        raise


def arguments() -> argparse.ArgumentParser:
    loop = parser(__doc__)
    loop.add_argument("--launch", type=Path, required=True, help="the run's work/launch.json")
    return loop


if __name__ == "__main__":
    execute(main, arguments().parse_args(), opens_log=True)
