"""The training loop: epochs of steps over what is learnt from, a choice of the epoch, scores of what is measured.

What is learnt and how examples are scored is the paradigm's part (scripts/train/paradigm.py). After each epoch the held-out
groups (or the split that the study holds out) are scored, and the evaluation splits where the epoch is the best so far
(scripts/train/choice.py): its scores are reported, an honest choice. Where nothing is held out, those of the last epoch
are. Where the study reports the peak as well (Jain et al. 2020 do), each epoch scores the evaluation splits, and the one
best on that very split is reported besides. A method that does not learn scores the evaluation splits once, with the
model as it is.

The order of examples and every dropout mask follow from seed, epoch and step alone, so a run that was killed goes on
from its checkpoint to the same numbers. Processes share each batch; the gradient is that of the whole batch.

Started by scripts/train/run.py, in its own process or through Accelerate's launcher; not meant to be started by hand.
"""

import argparse
import fcntl
import importlib
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator

from scripts.common.locks import flock
from scripts.common.program import UserError, execute, log, log_to, parser
from scripts.train import adapter, checkpoint, keep
from scripts.train.batches import Examples, epoch_batches
from scripts.train.choice import chosen_epoch, held_out_losses, is_last
from scripts.train.hardware import Hardware, set_up
from scripts.train.launch import Launch, read_launch
from scripts.train.measure import measure, score_kept
from scripts.train.memory import TooLarge, ran_out, remedies
from scripts.train.progress import Progress
from scripts.train.result import write_result
from scripts.train.scoring import Scorer
from scripts.train.splits import read_examples, read_tables
from scripts.train.state import State
from scripts.train.step import Learner, parameter_groups, seed_everything, tokens_that_fit
from scripts.train.stop import Stop, Stopped
from scripts.train.work import fail, finish


# ---- one epoch

def train_epoch(state: State, learner: Learner, examples: Examples, job: dict, saver: "Saver", progress: Progress) -> None:
    """Take the steps of an epoch that are not taken; the state then holds its sums over all processes.

    Raises Stopped, once all is saved, when the run is told to end, and UserError for a loss that is not finite.
    """
    accelerator, training = learner.accelerator, job["settings"]["training"]
    batches = epoch_batches(examples.lengths, training["batch_size"], job["settings"]["seed"], state.epoch)
    # What the epoch has summed so far counts once: in the first process.
    sums = torch.tensor([state.loss, state.right] if accelerator.is_main_process else [0.0, 0.0],
                        dtype=torch.float64, device=accelerator.device)

    def gather() -> None:
        state.loss, state.right = accelerator.reduce(sums.clone(), "sum").tolist()

    for step in range(state.step, len(batches)):
        step_sums = learner.step(examples, batches[step], state.epoch, step, state.epoch * len(batches) + step)
        sums += step_sums
        state.step = step + 1
        state.tokens += int(examples.lengths[batches[step]].sum())
        progress.step(state.epoch + 1, step_sums, len(batches[step]))
        due, told = saver.due(step)
        if due or told:
            gather()
            saver.save(state)
            kept = [state.loss, state.right] if accelerator.is_main_process else [0.0, 0.0]
            sums.copy_(torch.tensor(kept, dtype=sums.dtype))  # in full, so that no number depends on when it was saved
        if told:
            raise saver.stop.stopped()
    gather()
    if not np.isfinite(state.loss):
        raise UserError(f"{job['run']}: the loss is not finite in epoch {state.epoch + 1}; lower learning_rate "
                        f"({training['learning_rate']}) or set precision: fp32")


def score_epoch(state: State, scorer: Scorer, examples: dict[str, Examples], job: dict, keeps: bool = False) -> list[dict]:
    """Score the epoch whose steps are taken, and end it: its rows of the history, also added to the state.

    Keeps the scores that are reported: of the chosen epoch so far (selection held_out; last where nothing is held out), and
    of the best one on the split itself (selection peak) where the study asks for it.
    """
    epoch = state.epoch + 1
    n = len(examples["learned"])
    rows = [{"run": job["run"], "epoch": epoch, "split": "train", "loss": state.loss / n, "accuracy": state.right / n, "n": n}]

    def score(split: str) -> dict:
        scores = scorer.scores(examples[split])
        loss, accuracy, count = scorer.paradigm.measure(scores, examples[split])
        rows.append({"run": job["run"], "epoch": epoch, "split": split, "loss": loss, "accuracy": accuracy, "n": count})
        return {"epoch": epoch, "accuracy": accuracy, "scores": scores}

    reported = {}  # of this epoch
    if "held_out" in examples:
        selection, reported["held_out"] = "held_out", score("held_out")
        better = chosen_epoch(held_out_losses(state.history + rows)) == epoch
    else:
        selection, better = "last", epoch == job["settings"]["training"]["epochs"]
    if better or job["peak"]:
        reported |= {split: score(split) for split in job["splits"][1:]}
    # Nothing of the state changes before all is scored: the run may be told to end while it scores.
    if better:
        state.kept[selection] = reported
        if job["makes_model"] or keeps:
            weights = adapter.trained_state(scorer.accelerator.unwrap_model(scorer.network))
            state.weights = {name: values.detach().cpu().clone() for name, values in weights.items()}
    if job["peak"]:
        peaks = state.kept.setdefault("peak", {})
        for split in job["splits"][1:]:
            if split not in peaks or reported[split]["accuracy"] > peaks[split]["accuracy"]:
                peaks[split] = reported[split]
    state.history += rows
    state.epoch, state.step, state.loss, state.right = epoch, 0, 0.0, 0.0
    return rows


class Saver:
    """Keeps the checkpoint of a run, in the first process, now and then and when the run is told to end."""

    def __init__(self, launch: Launch, job: dict, hardware: Hardware, stop: Stop):
        self.path, self.every = Path(launch.work) / "checkpoint.pt", launch.checkpoint_seconds
        self.digest, self.hardware, self.stop, self.learner = job["digest"], hardware, stop, None
        self.keeps_best = launch.keep == "best"
        self.last, self.took, self.started, self.before = time.time(), 0.0, time.time(), 0.0

    def load(self, network) -> tuple[State, dict | None]:
        """The state to go on from, and the optimizer's; the network gets its weights. A new state where there is none."""
        saved = checkpoint.load(self.path, self.digest, self.hardware.maker())
        if saved is None:
            return State(), None
        if self.keeps_best and saved["epoch"] and saved["weights"] is None:
            log.warning("%s does not hold the weights of the epoch to keep; the run starts anew", self.path)
            return State(), None
        self.hardware.use_threads(saved.pop("threads"))
        adapter.load_trained_state(network, saved.pop("network"))
        optimizer = saved.pop("optimizer")
        self.before = saved["seconds"]
        return State(**saved), optimizer

    def due(self, step: int) -> tuple[bool, bool]:
        """Whether to save now, and whether the run is told to end. A save may take a twentieth of the time at most."""
        due, told = time.time() - self.last > max(self.every, 20 * self.took), self.stop.asked()
        accelerator = self.learner.accelerator
        if accelerator.num_processes == 1:
            return due, told
        if accelerator.device.type == "cuda" and step % 10:  # all must agree; asking costs a GPU a synchronisation
            return False, False
        asked = accelerator.gather(torch.tensor([[due, told]], device=accelerator.device)).any(0)
        return bool(asked[0]), bool(asked[1])

    def save(self, state: State) -> None:
        """Write the checkpoint."""
        begun = time.time()
        state.seconds = self.before + begun - self.started
        state.micro_batch_tokens = self.learner.micro_batch_tokens
        accelerator = self.learner.accelerator
        if accelerator.is_main_process:
            network = accelerator.unwrap_model(self.learner.network)
            checkpoint.save(self.path, self.digest, self.hardware.maker(), vars(state) | {
                "threads": self.hardware.threads, "network": adapter.trained_state(network), "optimizer": self.learner.optimizer.state_dict()})
        self.last = time.time()
        self.took = self.last - begun


# ---- a whole run

def learn(job: dict, launch: Launch, accelerator: Accelerator, hardware: Hardware, paradigm, examples: dict[str, Examples],
          stop: Stop) -> State:
    """Train from the checkpoint, or from the start, to the last epoch."""
    settings, training, network = job["settings"], job["settings"]["training"], paradigm.network
    steps_an_epoch = -(-len(examples["learned"]) // training["batch_size"])
    steps = steps_an_epoch * training["epochs"]
    saver = Saver(launch, job, hardware, stop)
    state, optimizer_state = saver.load(network)
    optimizer = torch.optim.AdamW(parameter_groups(network, training["weight_decay"]), lr=training["learning_rate"], fused=True)
    network, optimizer = accelerator.prepare(network, optimizer)
    if optimizer_state:
        optimizer.load_state_dict(optimizer_state)
        log.info("%s: resumes in epoch %d after %d of %d steps", job["run"], state.epoch + 1, state.step, steps_an_epoch)
    network.train()
    fitting = launch.micro_batch_tokens or tokens_that_fit(accelerator.unwrap_model(network), hardware, training["max_length"])
    fitting = min(filter(None, (fitting, state.micro_batch_tokens)), default=None)  # a resumed run takes the same parts
    learner = Learner(accelerator, paradigm, optimizer, network, training, settings["seed"], steps, hardware.precision, fitting)
    saver.learner = learner
    scorer = Scorer(accelerator, network, paradigm, stop)
    progress = Progress(job["run"], steps, state.epoch * steps_an_epoch + state.step, accelerator)
    while not is_last(state.epoch, held_out_losses(state.history), training["epochs"], training.get("early_stopping_patience")):
        started, tokens_before = time.time(), state.tokens
        train_epoch(state, learner, examples["learned"], job, saver, progress)
        seconds = time.time() - started
        try:
            rows = score_epoch(state, scorer, examples, job, launch.keep == "best")
        except Stopped:
            saver.save(state)
            raise
        progress.epoch(state.epoch, training["epochs"], rows, (state.tokens - tokens_before) / max(seconds, 1e-9))
        saver.save(state)
    progress.close()
    if job["makes_model"]:
        adapter.load_trained_state(accelerator.unwrap_model(network), state.weights)
    return state


def train(job: dict, launch: Launch, accelerator: Accelerator, hardware: Hardware, stop: Stop) -> None:
    """Learn, or measure, and hand the result out."""
    seed_everything(job["settings"]["seed"])
    tables = read_tables(job, Path(launch.data))
    model = keep.model_folder(Path(launch.kept), Path(launch.model)) if launch.is_kept else Path(launch.model)
    # By name, so that a change of one paradigm trains none of the others anew.
    paradigm = importlib.import_module(f"scripts.train.{job['paradigm']}").Paradigm(model, job, tables)
    if job["learns"]:
        tables["learned"] = paradigm.learnable(tables["learned"])
    measured_only = not job["learns"] and not (job.get("prompt") or {}).get("threshold")  # of what is learnt from, shots at most are read
    examples = read_examples(job, {split: table for split, table in tables.items() if split != "learned" or not measured_only}, paradigm, launch)
    stop.check()
    if launch.is_kept:
        keep.take_up(paradigm.network, job["settings"]["training"], hardware, Path(launch.kept))
    elif job["learns"]:
        adapter.prepare(paradigm.network, job["settings"]["training"], hardware)
    hardware.prepare(paradigm.network, job["settings"]["training"])
    kept = keep.read_facts(Path(launch.kept)) if launch.is_kept else None
    if kept:
        state = score_kept(job, accelerator, paradigm, examples, kept, stop)
    elif job["learns"]:
        state = learn(job, launch, accelerator, hardware, paradigm, examples, stop)
    else:
        state = measure(job, accelerator, paradigm, tables, examples, stop)
    if accelerator.is_main_process:
        facts = write_result(job, state, tables, examples, paradigm, hardware, accelerator, Path(launch.work), Path(launch.model), kept)
        if launch.keep != "none" and not kept:
            keep.write(job, facts, state, paradigm, accelerator.unwrap_model(paradigm.network), Path(launch.kept), launch.keep,
                       launch.merge_adapter, launch.card | {"merged": launch.merge_adapter})
        finish(Path(launch.work), job, Path(launch.output))
        log.info("%s: epoch %d of %d is reported, %.0f s", job["run"], facts["best_epoch"], facts["epochs"], facts["seconds"])


def train_job(launch: Launch) -> None:
    """Train the job that <work>/job.json describes. Raises SystemExit when the run is told to end before it is done."""
    job = json.loads((Path(launch.work) / "job.json").read_text(encoding="utf-8"))
    stop = Stop(os.getppid() if launch.processes > 1 else None)
    accelerator, hardware = set_up(job, launch)
    if not accelerator.is_main_process:
        log.setLevel("ERROR")
    log.info("%s on %s, %d process(es) of %d thread(s), %s", job["run"], accelerator.device, accelerator.num_processes,
             hardware.threads, hardware.precision)
    try:
        train(job, launch, accelerator, hardware, stop)
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
    accelerator.end_training()


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
