"""The training loop: epochs of steps over the training examples, a choice of the epoch, and scores
of the evaluation splits.

The paradigm decides what is learnt and how examples are scored
(scripts/train/paradigms/paradigm.py). After each epoch the loop scores the held-out groups (or the
split that the study holds out). It keeps the weights of the best epoch so far
(scripts/train/epochs.py). At the end these weights score the evaluation splits. If nothing is
held out, the loop reports the last epoch.

Some studies report the peak as well (Jain et al. 2020 do). There each epoch scores the evaluation
splits, and the loop also reports the best epoch of each split, chosen on that split. A method that
does not learn only scores the evaluation splits, once.

The order of examples and every dropout mask depend on seed, epoch and step alone. So a killed run
continues from its checkpoint to the same numbers. Processes share each batch; the gradient is that
of the whole batch.

The function `train` decides a run's numbers. Checkpoints, progress, kept tokens and weights from an
earlier run should change none.
"""

import importlib
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from accelerate import Accelerator

from scripts.running.program import UserError, log
from scripts.train import adapter
from scripts.train.batches import Examples, epoch_batches
from scripts.train.checkpoint import Saver
from scripts.train.epochs import State, chosen_epoch, held_out_losses, is_last
from scripts.train.hardware import Hardware, set_up
from scripts.train.launch import Launch
from scripts.train.result import predictions_of, reported_epoch, selection_of
from scripts.train.scoring import Scorer, measure, score_by_kept, score_splits
from scripts.train.splits import read_tables
from scripts.train.step import Learner, parameter_groups, seed_everything, tokens_that_fit
from scripts.train.early_end import Stop, Stopped
from scripts.train.tokens import read_examples
from scripts.train.watch import Watch
from scripts.train.weight_files import KeptWeights


# ---- one epoch


def train_epoch(
    state: State, learner: Learner, examples: Examples, job: dict, saver: Saver, progress: Watch
) -> None:
    """Take the remaining steps of an epoch. Afterwards `state` holds the sums over all processes.
    Raises Stopped, after all is saved, if the run gets a signal to end. Raises UserError for a loss
    that is not finite.
    """
    accelerator, training = learner.accelerator, job["settings"]["training"]
    batches = epoch_batches(
        examples.lengths, training["batch_size"], job["settings"]["seed"], state.epoch
    )

    # the sums of the epoch so far count once: in the first process
    def whole_sums() -> torch.Tensor:
        return torch.tensor(
            [state.loss, state.right] if accelerator.is_main_process else [0.0, 0.0],
            dtype=torch.float64,
            device=accelerator.device,
        )

    sums = whole_sums()

    def gather() -> None:
        state.loss, state.right = accelerator.reduce(sums.clone(), "sum").tolist()

    for step in range(state.step, len(batches)):
        step_sums = learner.step(
            examples, batches[step], state.epoch, step, state.epoch * len(batches) + step
        )
        sums += step_sums
        state.step = step + 1
        state.tokens += int(examples.lengths[batches[step]].sum())
        progress.step(step_sums, len(batches[step]))
        is_due, must_stop = saver.due(step)
        if is_due or must_stop:
            gather()
            saver.save(state)
            sums.copy_(whole_sums())  # in full, so that no number depends on when it was saved
        if must_stop:
            raise saver.stop.exception()
    gather()
    if not np.isfinite(state.loss):
        raise UserError(
            f"{job['run']}: the loss is not finite in epoch {state.epoch + 1}; lower learning_rate "
            f"({training['learning_rate']}) or set precision: fp32"
        )


def copied(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Weights as they are now, in the CPU's memory."""
    return {name: values.detach().cpu().clone() for name, values in weights.items()}


def score_epoch(
    state: State,
    scorer: Scorer,
    examples: dict[str, Examples],
    job: dict,
    keeps_weights: bool = False,
) -> list[dict]:
    """Score the epoch whose steps are finished, and end it. Returns its rows of the history, which
    are also added to the state.

    Keeps the weights of the epoch that is reported: the best so far (selection held_out), or the
    last where nothing is held out. Where the study asks for the peak, this also scores the
    evaluation splits.
    """
    epoch, run = state.epoch + 1, job["run"]
    n = len(examples["learned"])
    learned = {"loss": state.loss / n, "accuracy": state.right / n, "n": n}
    rows = [{"run": run, "epoch": epoch, "split": "train", **learned}]
    selection = "held_out" if "held_out" in examples else "last"
    splits = ["held_out"] if "held_out" in examples else []
    splits += job["splits"][1:] if job["peak"] else []
    scored_rows, scored = score_splits(run, epoch, splits, scorer, examples)
    rows += scored_rows
    if "held_out" in examples:
        better = chosen_epoch(held_out_losses(state.history + rows)) == epoch
    else:
        better = epoch == job["settings"]["training"]["epochs"]
    # The state changes only after all is scored: the run may get a signal to end while it scores.
    if better:
        state.reported[selection] = scored
        if not job["peak"] or job["makes_model"] or keeps_weights:
            network = scorer.accelerator.unwrap_model(scorer.network)
            state.weights = copied(adapter.trained_state(network))
    if job["peak"]:
        peaks = state.reported.setdefault("peak", {})
        for split in job["splits"][1:]:
            if split not in peaks or scored[split]["accuracy"] > peaks[split]["accuracy"]:
                peaks[split] = scored[split]
    state.history += rows
    state.epoch, state.step, state.loss, state.right = epoch, 0, 0.0, 0.0
    return rows


def score_reported(
    state: State, scorer: Scorer, examples: dict[str, Examples], job: dict
) -> list[dict]:
    """Score the evaluation splits by the weights of the reported epoch, if that has not happened.
    Returns rows of the history, which are also added to the state.

    Afterwards the network has the weights of the last epoch again.
    """
    reported = state.reported[selection_of(state)]
    splits = [split for split in job["splits"][1:] if split not in reported]
    epoch, network = reported_epoch(state), scorer.accelerator.unwrap_model(scorer.network)
    last = None
    if splits and epoch < state.epoch:
        last = copied(adapter.trained_state(network))
        adapter.load_trained_state(network, state.weights)
    rows, scored = score_splits(job["run"], epoch, splits, scorer, examples)
    if last:
        adapter.load_trained_state(network, last)
    state.history += rows
    reported |= scored
    return rows


# ---- a whole run


def check_losses(losses: list[float], job: dict) -> None:
    """Raise UserError if no held-out loss is finite."""
    if losses and not np.isfinite(losses).any():
        rate = job["settings"]["training"]["learning_rate"]
        raise UserError(
            f"{job['run']}: the held-out loss is not finite in any epoch; lower learning_rate "
            f"({rate}), set precision: fp32, or get the right weights"
        )


def prepared(
    job: dict,
    launch: Launch,
    accelerator: Accelerator,
    hardware: Hardware,
    paradigm,
    steps: int,
    saver: Saver,
) -> tuple[State, Learner]:
    """Return the state of the checkpoint, or of the start, and the learner of a run. steps: the
    number of steps of all epochs.
    """
    settings, training, network = job["settings"], job["settings"]["training"], paradigm.network
    state, optimizer_state = saver.load(network)
    optimizer = torch.optim.AdamW(
        parameter_groups(network, training["weight_decay"]),
        lr=training["learning_rate"],
        fused=True,
    )
    network, optimizer = accelerator.prepare(network, optimizer)
    if optimizer_state:
        optimizer.load_state_dict(optimizer_state)
        log.info(
            "%s: resumes in epoch %d after %d of %d steps",
            job["run"],
            state.epoch + 1,
            state.step,
            steps // training["epochs"],
        )
    network.train()
    fitting = launch.micro_batch_tokens or tokens_that_fit(
        accelerator.unwrap_model(network), hardware, training["max_length"]
    )
    # a resumed run splits batches into the same parts
    fitting = min(filter(None, (fitting, state.micro_batch_tokens)), default=None)
    learner = Learner(
        accelerator,
        paradigm,
        optimizer,
        network,
        training,
        settings["seed"],
        steps,
        hardware.precision,
        fitting,
    )
    return state, learner


def learn(
    job: dict,
    launch: Launch,
    accelerator: Accelerator,
    hardware: Hardware,
    paradigm,
    examples: dict[str, Examples],
    stop: Stop,
) -> State:
    """Train from the checkpoint, or from the start, to the last epoch."""
    training = job["settings"]["training"]
    steps_an_epoch = -(-len(examples["learned"]) // training["batch_size"])
    steps = steps_an_epoch * training["epochs"]
    saver = Saver(launch, job, hardware, stop)
    state, learner = prepared(job, launch, accelerator, hardware, paradigm, steps, saver)
    saver.learner = learner
    scorer = Scorer(accelerator, learner.network, paradigm, stop)
    progress = Watch(job["run"], steps, state.epoch * steps_an_epoch + state.step, accelerator)
    while not is_last(
        state.epoch,
        held_out_losses(state.history),
        training["epochs"],
        training.get("early_stopping_patience"),
    ):
        started, tokens_before = time.time(), state.tokens
        train_epoch(state, learner, examples["learned"], job, saver, progress)
        seconds = time.time() - started
        try:
            rows = score_epoch(state, scorer, examples, job, launch.keep == "best")
        except Stopped:
            saver.save(state)
            raise
        rate = (state.tokens - tokens_before) / max(seconds, 1e-9)
        progress.measured(
            f"epoch {state.epoch} of {training['epochs']} ({rate:.0f} tokens/s)", rows
        )
        saver.save(state)
    check_losses(held_out_losses(state.history), job)
    rows = score_reported(state, scorer, examples, job)
    if rows:
        progress.measured(f"epoch {rows[0]['epoch']} is reported", rows)
    state.seconds = saver.seconds()
    if job["makes_model"]:
        made = accelerator.unwrap_model(learner.network)
        adapter.load_trained_state(made, state.weights)
        if training.get("adapter"):
            adapter.merge(made)
    return state


@dataclass
class Trained:
    """The result of a run: its state, its predictions (schema predictions; None if the run makes
    a model), and the objects that they were computed from.
    """

    state: State
    predictions: pa.Table | None
    paradigm: object
    tables: dict[str, pa.Table]
    examples: dict[str, Examples]
    hardware: Hardware
    accelerator: Accelerator
    # how many numbers the weights have, and how many were trained, before an adapter is merged
    sizes: tuple[int, int]
    kept: dict | None  # kept.json of the weights that scored the run, if it did not train them


def say_hardware(job: dict, accelerator: Accelerator, hardware: Hardware) -> None:
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


def train(job: dict, launch: Launch, stop: Stop) -> Trained:
    """Train, or only score: all that decides a run's numbers."""
    accelerator, hardware = set_up(job, launch)
    say_hardware(job, accelerator, hardware)
    seed_everything(job["settings"]["seed"])
    tables, model = read_tables(job, Path(launch.data)), Path(launch.model)
    weights = KeptWeights(Path(launch.kept)) if launch.kept and launch.is_kept else None
    module = importlib.import_module(f"scripts.train.paradigms.{job['paradigm']}")
    paradigm = module.Paradigm(weights.model_folder(model) if weights else model, job, tables)
    if job["learns"]:
        tables["learned"] = paradigm.learnable(tables["learned"])
    # such a run reads at most shots from the training examples
    measured_only = not job["learns"] and not (job.get("prompt") or {}).get("threshold")
    read = {
        split: table for split, table in tables.items() if split != "learned" or not measured_only
    }
    examples = read_examples(job, read, paradigm, Path(launch.tokens) if launch.tokens else None)
    stop.check()
    training = job["settings"]["training"]
    if weights:
        weights.take_up(paradigm.network, training, hardware)
    elif job["learns"]:
        adapter.prepare(paradigm.network, training, hardware)
    hardware.prepare(paradigm.network, training)
    sizes = adapter.sizes(paradigm.network)
    if weights:
        state = score_by_kept(job, accelerator, paradigm, examples, weights.facts, stop)
    elif job["learns"]:
        state = learn(job, launch, accelerator, hardware, paradigm, examples, stop)
    else:
        state = measure(job, accelerator, paradigm, tables, examples, stop)
    predictions = None if job["makes_model"] else predictions_of(job, state.reported, tables)
    kept = weights.facts if weights else None
    return Trained(
        state, predictions, paradigm, tables, examples, hardware, accelerator, sizes, kept
    )
