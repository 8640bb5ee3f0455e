"""A process of a training run: it runs the loop, and hands out the run's result.

scripts/train/run.py calls it, or starts it through Accelerate's launcher. It is not meant to be
started by hand.
"""

import argparse
import fcntl
import json
import os
import sys
from pathlib import Path

from scripts.running.locks import flock
from scripts.running.program import UserError, execute, log, log_to, parser, ran_out
from scripts.train import weight_files
from scripts.train.launch import Launch
from scripts.train.loop import Trained, train
from scripts.train.result import write_result
from scripts.train.early_end import Stop, Stopped, blames_files, remedies
from scripts.train.work import TooLarge, finish, remembers_refusal


def hand_out(job: dict, launch: Launch, trained: Trained) -> None:
    """Write the result of a run, and its weights where they are to be kept."""
    work = Path(launch.work)
    facts = write_result(job, trained, work, Path(launch.model))
    if launch.keep != "none" and not launch.is_kept:
        weight_files.write(job, facts, trained, launch)
    if job.get("hands_on"):
        weight_files.write_body(Path(job["hands_on"]), work)
    finish(work, job, work.parent)
    log.info(
        "%s: epoch %d of %d is reported, %.0f s",
        job["run"],
        facts["best_epoch"],
        facts["epochs"],
        facts["seconds"],
    )


def read_job(launch: Launch) -> dict:
    return json.loads((Path(launch.work) / "job.json").read_text(encoding="utf-8"))


def train_job(launch: Launch) -> None:
    """Train the job that <work>/job.json describes. Raises SystemExit if the run gets a signal to
    end before it has finished.
    """
    job = read_job(launch)
    stop = Stop(os.getppid() if launch.processes > 1 else None)
    try:
        with blames_files(Path(launch.model)):
            trained = train(job, launch, stop)
        if trained.accelerator.is_main_process:
            hand_out(job, launch, trained)
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
        stop.end()
    trained.accelerator.end_training()


def main(given: argparse.Namespace) -> None:
    """One of several processes: holds work/trainers while it lives, and ends with the launcher."""
    launch = Launch(**json.loads(given.launch.read_text(encoding="utf-8")))
    if launch.log and os.environ["RANK"] == "0":  # one process writes the log
        log_to(Path(launch.log), mode="a")
    opened = open(Path(launch.work) / "trainers")
    flock(opened, fcntl.LOCK_SH)
    if os.getppid() != int(os.environ["TIMESTRIDE_LAUNCHER"]):
        raise UserError("the launcher of this process is gone; give the same command again")
    with remembers_refusal(Path(launch.work), read_job(launch)):
        train_job(launch)


def arguments() -> argparse.ArgumentParser:
    loop = parser(__doc__)
    loop.add_argument("--launch", type=Path, required=True, help="the run's work/launch.json")
    return loop


if __name__ == "__main__":
    execute(main, arguments().parse_args(), opens_log=True)
