"""A process of a training run. It hands the loop the parts that change no number, and hands out the
run's result.

scripts/train/run.py starts it, in its own process or through Accelerate's launcher. It is not meant
to be started by hand.
"""

import argparse
import fcntl
import importlib
import json
import os
import sys
from functools import partial
from logging import INFO
from pathlib import Path

from accelerate import Accelerator

from scripts.running.locks import flock
from scripts.running.program import PROGRESS, UserError, execute, log, log_to, parser
from scripts.running.progress import Progress
from scripts.train import tokens, weight_files
from scripts.train.checkpoint import Saver
from scripts.train.hardware import Hardware
from scripts.train.launch import Launch, read_launch
from scripts.train.loop import Trained, train
from scripts.train.result import write_result
from scripts.train.early_end import Stop, Stopped, TooLarge, blames_files, ran_out, remedies
from scripts.train.work import fail, finish

EVERY = 20  # steps between two reads of the loss; each read costs a GPU a synchronisation


class Watch(Progress):
    """Says each minute how far a run is. steps: of the whole run; done: before this process."""

    def __init__(self, run: str, steps: int, done: int, accelerator: Accelerator):
        super().__init__(steps, f"steps of {run}", ended=done)
        self.run, self.accelerator = run, accelerator

    def step(self, sums, rows: int) -> None:
        """One step is done: `sums` holds the losses of this process's share of the rows
        and how many are right.
        """
        self.end_piece()
        if self.ended % EVERY == 0 and self.accelerator.trackers:
            loss = sums[0].item() * self.accelerator.num_processes / rows
            self.accelerator.log({"train/loss_of_a_step": loss}, step=self.ended)

    def measured(self, what: str, rows: list[dict]) -> None:
        """The measurements of an epoch, or of its evaluation splits, in one line."""
        numbers = ", ".join(
            f"{row['split']} loss {row['loss']:.3f} accuracy {row['accuracy']:.3f}" for row in rows
        )
        log.log(PROGRESS if self.is_due() else INFO, "%s: %s: %s", self.run, what, numbers)
        self.accelerator.log(
            {f"{row['split']}/{name}": row[name] for row in rows for name in ("loss", "accuracy")},
            step=self.ended,
        )


class Attendants:
    """The parts that the loop gets from its process: code that stops, saves and watches it,
    tokenized splits, and kept weights.
    """

    def __init__(self, launch: Launch):
        self.stop = Stop(os.getppid() if launch.processes > 1 else None)
        self.encode = partial(tokens.encoded, folder=Path(launch.tokens) if launch.tokens else None)
        self.weights = (
            weight_files.KeptWeights(Path(launch.kept)) if launch.kept and launch.is_kept else None
        )
        self.model = (
            self.weights.model_folder(Path(launch.model)) if self.weights else Path(launch.model)
        )
        self.progress = Watch

    def paradigm(self, name: str) -> type:
        """The paradigm of this name."""
        return importlib.import_module(f"scripts.train.paradigms.{name}").Paradigm

    def saver(self, job: dict, launch: Launch, hardware: Hardware) -> Saver:
        """The object that keeps the checkpoint."""
        return Saver(launch, job, hardware, self.stop)

    def begin(self, job: dict, accelerator: Accelerator, hardware: Hardware) -> None:
        """Log the hardware of the run; only the first process logs."""
        if not accelerator.is_main_process:
            log.setLevel("ERROR")
        log.info(
            "%s on %s, %d process(es) of %d thread(s), %s",
            job["run"],
            accelerator.device,
            accelerator.num_processes,
            hardware.threads,
            hardware.precision,
        )


def hand_out(
    job: dict, launch: Launch, trained: Trained, weights: weight_files.KeptWeights | None
) -> None:
    """Write the result of a run, and its weights where they are to be kept."""
    work = Path(launch.work)
    facts = write_result(job, trained, work, Path(launch.model), weights.facts if weights else None)
    if launch.keep != "none" and not weights:
        assert launch.kept, "run.py names the folder of weights that are kept"
        weight_files.write(
            job,
            facts,
            trained.state,
            trained.paradigm,
            Path(launch.kept),
            launch.keep,
            launch.merge_adapter,
            launch.card | {"merged": launch.merge_adapter},
        )
    if job.get("hands_on"):
        weight_files.write_body(Path(job["hands_on"]), work)
    finish(work, job, Path(launch.output))
    log.info(
        "%s: epoch %d of %d is reported, %.0f s",
        job["run"],
        facts["best_epoch"],
        facts["epochs"],
        facts["seconds"],
    )


def train_job(launch: Launch) -> None:
    """Train the job that <work>/job.json describes.

    Raises SystemExit if the run gets a signal to end before it has finished.
    """
    job = json.loads((Path(launch.work) / "job.json").read_text(encoding="utf-8"))
    attendants = Attendants(launch)
    try:
        with blames_files(Path(launch.model)):
            trained = train(job, launch, attendants)
        if trained.accelerator.is_main_process:
            hand_out(job, launch, trained, attendants.weights)
    except Stopped as stopped:
        log.error(
            "%s: %s; what was learnt is saved, and the same command goes on from there",
            job["run"],
            stopped,
        )
        sys.exit(stopped.exit_code)
    except UserError:
        raise
    except Exception as error:  # libraries report too little memory in many ways
        if ran_out(error):
            raise TooLarge(
                f"{job['run']}: the memory is too small for the model and what it computes; "
                f"{remedies(job['settings']['training'], job['learns'])}"
            ) from None
        if not isinstance(error, RuntimeError) or "deterministic" not in str(error):
            raise
        raise UserError(
            f"{job['run']}: {str(error).splitlines()[0]}; set `deterministic: false` in the "
            "configuration, which lets the numbers vary from run to run"
        ) from None
    finally:
        attendants.stop.end()
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
        fail(
            Path(launch.work),
            json.loads((Path(launch.work) / "job.json").read_text(encoding="utf-8")),
            str(error),
        )
        raise


def arguments() -> argparse.ArgumentParser:
    loop = parser(__doc__)
    loop.add_argument("--launch", type=Path, required=True, help="the run's work/launch.json")
    return loop


if __name__ == "__main__":
    execute(main, arguments().parse_args(), opens_log=True)
