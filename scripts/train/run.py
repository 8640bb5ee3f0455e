"""Train one run, resume it, or hand out its finished result.

First this looks into <run>/work. If the same job is finished there, it copies the result out in a
second, without torch. Jobs are the same if the dataset's content, the model's files, the settings
and the code that changes numbers are the same. Otherwise the training loop (scripts/train/loop.py)
runs, in this process or in several through Accelerate's launcher. It continues from the checkpoint
if there is one. A second process for the same run waits for the first. SIGTERM and Ctrl-C save and
end.
"""

import argparse
import gc
import sys
from pathlib import Path

from scripts.plan.models import GENERATION, MADE_MODEL
from scripts.running.program import UserError
from scripts.train.given_run import GivenRun
from scripts.train.kept_weights import are_asked_for, can_score, kept_facts, place_of
from scripts.train.launch import Launch, become_launcher, check_tracker, devices, set_environment
from scripts.train.quantised import check_quantised
from scripts.train.work import (
    WEIGHTS_FOLDER,
    describe,
    files_of,
    finish,
    finished,
    hand_out,
    made_anew,
    model_view,
    work_of,
    write_json,
)

ALREADY = "trained from the same data, model, settings and code; no step taken"


def read_of_model(model: Path) -> list[Path]:
    """Return what stands for the files of a model: its folder, or the files that a run made."""
    made = [model.parent / name for name in MADE_MODEL]
    return [file for file in made if file.is_file()] or [model]


def are_learnt_weights_kept(keep: str, job: dict) -> bool:
    """Whether the weights that a job learns are kept (keep: best, last or none)."""
    return keep != "none" and job["learns"] and not job["makes_model"] and job["paradigm"] != "esim"


def hand_on_kept(place: Path, work: Path, job: dict, output: Path) -> None:
    """Finish a run by the weights that it kept in training, where another run now starts from
    them.
    """
    from scripts.train.weight_files import write_body  # late: torch, which no finished run needs

    write_body(place, work)
    finish(work, job, output)


def start(launch: Launch, gpus: list[str]) -> None:
    """Run the loop in this process; for several, this process becomes Accelerate's launcher."""
    if launch.processes > 1:
        become_launcher(launch, gpus)
    set_environment(gpus, launch.threads)
    is_first = "scripts.train.process" not in sys.modules
    if is_first:  # importing makes no garbage, and searching for it would take a tenth of the time
        gc.disable()
    from scripts.train.process import train_job  # late: it takes seconds, and reads the environment

    if is_first:
        gc.freeze()  # the search never looks at these objects later, either
        gc.enable()
    train_job(launch)


def train(run: GivenRun, given: argparse.Namespace) -> None:
    """Train a run, or score it with kept weights. given: the options of scripts/train/runs.py."""
    if not run.model:
        raise UserError(f"{run.name}: has no model; give the folder of one")
    with work_of(run.folder, [run.data, *read_of_model(run.model)]) as work:
        files = run.model_files or [one for one in files_of(run.model) if one != GENERATION]
        model = model_view(run.model, files, work)
        job = describe(run, model)
        keeps = are_learnt_weights_kept(given.keep, job)
        place = place_of(given.kept, job) if keeps else None
        facts = kept_facts(place, job) if place else None
        merges = given.merge_adapter or run.hands_on
        are_kept = are_asked_for(facts, job, given.keep, merges)
        if run.hands_on:
            place = place or work / WEIGHTS_FOLDER
            is_new = not (work / "result/model").exists()
            if are_kept and is_new and finished(work, job):
                hand_on_kept(place, work, job | {"hands_on": str(place)}, run.folder)
            job |= {"hands_on": str(place)}  # after the digest, because it changes no number
        if finished(work, job) and (are_kept or not keeps):
            return hand_out(work, job, run.folder, ALREADY)
        check_tracker(given.report_to)
        gpus = devices(given.device, given.devices, given.runs_per_gpu)
        check_quantised(model, gpus, run.settings["training"], job["learns"])
        processes = len(gpus) or given.devices
        keep = given.keep if keeps else "none"
        if run.hands_on and not keeps:
            keep = "best"
        launch = Launch(
            work=str(work),
            data=str(run.data),
            model=str(model),
            processes=processes,
            threads=max(1, given.threads // processes),
            cpu=not gpus,
            checkpoint_seconds=given.checkpoint_seconds,
            deterministic=not given.not_deterministic,
            micro_batch_tokens=given.micro_batch_tokens,
            runs_per_gpu=given.runs_per_gpu,
            report_to=given.report_to,
            tokens=given.tokens and str(given.tokens),
            keep=keep,
            merge_adapter=merges,
            kept=str(place) if place else None,
            is_kept=facts is not None and are_kept and can_score(facts),
            card=given.cards.get(run.name, {}),
            log=given.log and str(given.log),
        )
        with made_anew(work, job, given.attempt):
            write_json(job, work / "job.json")
            start(launch, gpus)
