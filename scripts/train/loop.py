"""The training loop, started by scripts/train/run.py through `accelerate launch`; not meant to be started by hand.

What is learnt and how examples are scored is the paradigm's part (scripts/train/paradigm.py). One epoch follows another
over the training groups that are not held out; after each the held-out groups (or the split that the study holds out) are
scored, and the evaluation splits where the epoch is the best so far: its scores are reported, an honest choice. Where
nothing is held out, those of the last epoch are. Where the study reports the peak as well (Jain et al. 2020 do), each epoch
scores the evaluation splits, and the one best on that very split is reported besides. A method that does not learn scores the
evaluation splits once, with the model as it is.

The order of examples and every dropout mask follow from seed, epoch and step alone, so a run that was killed goes on
from its checkpoint to the same numbers. Processes share each batch; the gradient is that of the whole batch.
"""

import argparse
import importlib
import json
import math
import os
import platform
import shutil
import sys
import time
from pathlib import Path

import accelerate
import numpy as np
import pyarrow as pa
import tokenizers
import torch
import transformers
from accelerate import Accelerator

from scripts.common.files import whole
from scripts.common.keyed import keyed_uniform
from scripts.common.program import UserError, log, parser, run
from scripts.common.tables import HISTORY, PREDICTIONS, read_table, write_table
from scripts.train.batches import Examples, collate, epoch_batches, sorted_batches
from scripts.train.progress import Progress
from scripts.train.work import finish, write_json

HELD_OUT = 17  # marks the draw of held-out groups: the same for every seed, stride and model
EVALUATION_BATCH = 128


def precision(setting: str, cpu: bool) -> str:
    """bf16 or fp32 for a setting; `auto` takes bf16 on hardware made for it."""
    if setting != "auto":
        return setting
    if not cpu:
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    capabilities = getattr(torch.cpu, "get_capabilities", dict)()
    return "bf16" if capabilities.get("avx512_bf16") or capabilities.get("amx_bf16") else "fp32"


def learning_rate(step: int, steps: int, training: dict) -> float:
    """Linear warm-up to the peak, then linear decay to zero; `step` counts from 0."""
    warm = max(1, round(training["warmup_ratio"] * steps))
    share = (step + 1) / warm if step < warm else (steps - step) / max(1, steps - warm)
    return training["learning_rate"] * share


def parameter_groups(network, weight_decay: float) -> list[dict]:
    """Weight decay for matrices, none for biases and norms (they have one dimension)."""
    trained = [weight for weight in network.parameters() if weight.requires_grad]
    return [{"params": [weight for weight in trained if weight.dim() > 1], "weight_decay": weight_decay},
            {"params": [weight for weight in trained if weight.dim() <= 1], "weight_decay": 0.0}]


class Scorer:
    """Scores examples with the network, the batches shared among the processes."""

    def __init__(self, accelerator: Accelerator, network, paradigm):
        self.accelerator, self.network, self.paradigm = accelerator, network, paradigm

    def scores(self, examples: Examples) -> torch.Tensor:
        """(n, width) scores on the CPU, in the order of the examples."""
        network = self.accelerator.unwrap_model(self.network)
        network.eval()
        scores = torch.zeros(len(examples), self.paradigm.width, device=self.accelerator.device)
        batches = sorted_batches(examples.lengths, examples.choices, EVALUATION_BATCH)
        with torch.inference_mode(), self.accelerator.autocast():
            for rows in batches[self.accelerator.process_index :: self.accelerator.num_processes]:
                batch = collate(examples, rows, self.paradigm.padding, self.accelerator.device)
                scores[torch.from_numpy(rows).to(scores.device)] = self.paradigm.scores(network, batch)
        network.train()
        return self.accelerator.reduce(scores, "sum").cpu()


def seed_everything(*numbers: int) -> None:
    """Seed torch from several numbers (a run's seed, a step, a process)."""
    torch.manual_seed(int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1)))


def read_split(data: Path, split: str, job: dict) -> pa.Table:
    """One split: example_id, group_id, the texts, label, and choice where the study has a choice_id.

    Raises UserError when it is empty or a label is unknown.
    """
    ids = {name: job["columns"][name] for name in ("example_id", "group_id", "choice_id") if name in job["columns"]}
    table = read_table(data / f"{split}.parquet", [*dict.fromkeys([*ids.values(), *job["inputs"], "label"])])
    if len(table) == 0:
        raise UserError(f"{data / split}.parquet: no examples; the log of its build says why")
    labels = table["label"].to_numpy()
    if labels.min() < 0 or labels.max() >= len(job["labels"]):
        raise UserError(f"{data / split}.parquet: label {labels.max()} is not one of {len(job['labels'])} labels")
    named = {name: table[column] for name, column in ids.items()} | {name: table[name] for name in (*job["inputs"], "label")}
    if "choice_id" in named:
        named["choice"] = pa.array(named.pop("choice_id").to_pandas().factorize()[0].astype(np.int64))
    return pa.table(named)


def read_tables(job: dict, data: Path) -> dict[str, pa.Table]:
    """The splits by name: learned, held_out (unless the share to hold out is 0) and each evaluation split.

    The training split is `learned` without its held-out groups; a method that does not learn has evaluation splits only.
    """
    training, (train_split, *evaluation) = job["settings"]["training"], job["splits"]
    tables = {split: read_split(data, split, job) for split in evaluation}
    if job["learns"] and job["held_out"]:
        tables |= {"learned": read_split(data, train_split, job), "held_out": read_split(data, job["held_out"], job)}
    elif job["learns"]:
        table = read_split(data, train_split, job)
        groups = table["group_id"].to_pandas()
        held_out = keyed_uniform(groups, HELD_OUT) < training["held_out_fraction"]
        if training["held_out_fraction"] == 0:
            return tables | {"learned": table}
        if held_out.all() or not held_out.any():
            raise UserError(f"{data / train_split}.parquet: {groups.nunique()} groups are too few to hold "
                            f"{training['held_out_fraction']:.0%} of them out; use more data or another held_out_fraction")
        tables |= {"learned": table.filter(pa.array(~held_out)), "held_out": table.filter(pa.array(held_out))}
    return tables


def encoded(tables: dict[str, pa.Table], paradigm, max_length: int) -> dict[str, Examples]:
    """The splits as tokenized examples."""
    examples = {}
    for split, table in tables.items():
        some = examples[split] = paradigm.encode(table)
        log.info("%s: %d examples, %.1f tokens on average, %d cut to %d", split, len(some), some.lengths.mean(),
                 some.truncated, max_length)
    return examples


def train(job: dict, data: Path, model: Path, work: Path, accelerator: Accelerator, checkpoint_seconds: float) -> None:
    """Train the run of a job and write work/result/; resumes from work/checkpoint.pt when it is this job's."""
    settings, training, seed = job["settings"], job["settings"]["training"], job["settings"]["seed"]
    first, world, rank = accelerator.is_main_process, accelerator.num_processes, accelerator.process_index
    parent, started = os.getppid(), time.time()

    seed_everything(seed)
    tables = read_tables(job, data)
    # By name, so that a change of one paradigm trains none of the others anew.
    paradigm = importlib.import_module(f"scripts.train.{job['paradigm']}").Paradigm(model, job, tables)
    if job["learns"]:
        tables["learned"] = paradigm.learnable(tables["learned"])
    examples, network = encoded(tables, paradigm, training["max_length"]), paradigm.network
    state = {"digest": job["digest"], "epoch": 0, "step": 0, "loss": 0.0, "right": 0.0, "history": [], "kept": {},
             "best": None, "waited": 0, "seconds": 0.0, "tokens": 0}
    if not job["learns"]:
        scorer = Scorer(accelerator, accelerator.prepare(network), paradigm)
        state["kept"]["direct"] = {}
        for split, some in examples.items():
            scores = scorer.scores(some)
            loss, accuracy, n = paradigm.measure(scores, some)
            state["history"].append({"run": job["run"], "epoch": 0, "split": split, "loss": loss, "accuracy": accuracy, "n": n})
            state["kept"]["direct"][split] = {"epoch": 0, "accuracy": accuracy, "scores": scores}
        state["seconds"] = time.time() - started
        if first:
            write_result(job, state, tables, paradigm, model, accelerator, work, examples)
        return

    learned = examples["learned"]
    # In this order: what is held out says whether the epoch is to be reported. Where nothing is, the last one is.
    scored = {split: examples[split] for split in ("held_out", *job["splits"][1:]) if split in examples}
    selection = "held_out" if "held_out" in scored else "last"
    steps_an_epoch = -(-len(learned) // training["batch_size"])
    steps = steps_an_epoch * training["epochs"]
    optimizer = torch.optim.AdamW(parameter_groups(network, training["weight_decay"]),
                                  lr=training["learning_rate"], fused=True)
    checkpoint = work / "checkpoint.pt"
    saved = None
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location="cpu", weights_only=True)
        if saved["digest"] == job["digest"]:
            network.load_state_dict(saved.pop("network"))
            state, optimizer_state = saved, saved.pop("optimizer")
        else:
            saved = None
    network, optimizer = accelerator.prepare(network, optimizer)
    network.train()
    if saved:
        optimizer.load_state_dict(optimizer_state)
        log.info("resumes in epoch %d after %d of %d steps", state["epoch"] + 1, state["step"], steps_an_epoch)
    scorer = Scorer(accelerator, network, paradigm)
    progress = Progress(job["run"], steps, state["epoch"] * steps_an_epoch + state["step"], first)
    before, last_save, save_took = state["seconds"], time.time(), 0.0

    def save() -> None:
        nonlocal last_save, save_took
        begun = time.time()
        state["seconds"] = before + begun - started
        if first:
            with whole(checkpoint) as beside:
                torch.save(state | {"network": accelerator.unwrap_model(network).state_dict(),
                                    "optimizer": optimizer.state_dict()}, beside)
        accelerator.wait_for_everyone()
        last_save = time.time()
        save_took = last_save - begun

    while state["epoch"] < training["epochs"] and state["waited"] < training.get("early_stopping_patience", math.inf):
        epoch = state["epoch"]
        batches = epoch_batches(learned.lengths, training["batch_size"], seed, epoch)
        epoch_started, tokens_before = time.time(), state["tokens"]
        # What the epoch has summed so far counts once: in the first process.
        loss_sum = torch.tensor(state["loss"] if first else 0.0, dtype=torch.float64, device=accelerator.device)
        right = torch.tensor(state["right"] if first else 0.0, dtype=torch.float64, device=accelerator.device)
        for step in range(state["step"], len(batches)):
            if os.getppid() != parent:
                sys.exit("error: the process that started this one is gone; the run resumes when it is started again")
            rows = batches[step][rank::world]
            share = len(rows)
            if share == 0:  # fewer examples than processes: every process must still take the step
                rows = batches[step][:1]
            seed_everything(seed, epoch, step, rank)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(epoch * steps_an_epoch + step, steps, training)
            batch = collate(learned, rows, paradigm.padding, accelerator.device)
            loss, right_now = paradigm.loss(network, batch)
            loss = loss * (1 if share else 0)
            accelerator.backward(loss * world / len(batches[step]))
            accelerator.clip_grad_norm_(network.parameters(), training["gradient_clip"])
            optimizer.step()
            optimizer.zero_grad()
            loss_sum += loss.detach()
            right += right_now * (1 if share else 0)
            state["tokens"] += int(learned.lengths[batches[step]].sum())
            progress.step(epoch + 1, loss.item() / max(share, 1) if step % 20 == 0 else None)
            # A save may take a twentieth of the time at most.
            due = time.time() - last_save > max(checkpoint_seconds, 20 * save_took)
            if world > 1:  # all must agree; asking costs a synchronisation, so it is done now and then
                due = step % 10 == 0 and accelerator.gather(torch.tensor([due], device=accelerator.device)).any()
            if due:
                totals = accelerator.reduce(torch.stack([loss_sum, right]), "sum").tolist()
                state |= {"step": step + 1, "loss": totals[0], "right": totals[1]}
                loss_sum.fill_(state["loss"] if first else 0)
                right.fill_(state["right"] if first else 0)
                save()
        totals = accelerator.reduce(torch.stack([loss_sum, right]), "sum").tolist()
        if not np.isfinite(totals[0]):
            raise UserError(f"{job['run']}: the loss is not finite in epoch {epoch + 1}; lower learning_rate "
                            f"({training['learning_rate']}) or set precision: fp32")
        trained_seconds = time.time() - epoch_started
        rows = [{"split": "train", "loss": totals[0] / len(learned), "accuracy": totals[1] / len(learned), "n": len(learned)}]
        better = selection == "last" and epoch + 1 == training["epochs"]
        for split, some in scored.items():
            if split != "held_out" and not better and not job["peak"]:
                continue  # only the chosen epoch is reported
            scores = scorer.scores(some)
            loss, accuracy, n = paradigm.measure(scores, some)
            rows.append({"split": split, "loss": loss, "accuracy": accuracy, "n": n})
            scored_now = {"epoch": epoch + 1, "accuracy": accuracy, "scores": scores}
            if split == "held_out":
                better = state["best"] is None or (accuracy, -loss) > tuple(state["best"])
                if better:
                    state["best"], state["waited"] = [accuracy, -loss], 0
                    state["kept"]["held_out"] = {"held_out": scored_now}
                else:
                    state["waited"] += 1
            else:
                if better:
                    state["kept"].setdefault(selection, {})[split] = scored_now
                peaks = state["kept"].setdefault("peak", {}) if job["peak"] else {}
                if split not in peaks or accuracy > peaks[split]["accuracy"]:
                    peaks[split] = scored_now
        state["history"] += [{"run": job["run"], "epoch": epoch + 1} | row for row in rows]
        state |= {"epoch": epoch + 1, "step": 0, "loss": 0.0, "right": 0.0}
        progress.epoch(epoch + 1, training["epochs"], rows,
                       (state["tokens"] - tokens_before) / max(trained_seconds, 1e-9))
        save()
    progress.close()
    if first:
        write_result(job, state, tables, paradigm, model, accelerator, work, examples)


def predictions_of(job: dict, state: dict, tables: dict[str, pa.Table]) -> pa.Table:
    """The kept scores of every split and selection (schema predictions)."""
    predictions = []
    for selection, chosen in sorted(state["kept"].items()):
        for split, held in sorted(chosen.items()):
            table, scores = tables[split], held["scores"].numpy()
            predictions.append(pa.table({
                "run": pa.array([job["run"]] * len(table)), "split": pa.array([split] * len(table)),
                "selection": pa.array([selection] * len(table)),
                "epoch": pa.array(np.full(len(table), held["epoch"], np.int32)),
                "example_id": table["example_id"], "group_id": table["group_id"],
                "label": table["label"].cast(pa.int8()),
                "score": pa.FixedSizeListArray.from_arrays(scores.ravel(), scores.shape[1]).cast(pa.list_(pa.float32())),
            }))
    return pa.concat_tables(predictions)


def write_result(job: dict, state: dict, tables: dict[str, pa.Table], paradigm, model: Path, accelerator: Accelerator,
                 work: Path, examples: dict[str, Examples]) -> None:
    """Write predictions, or the model that was made, with history and run.json, to work/result/."""
    provenance = {"run": job["run"], "digest": job["digest"], "settings": job["settings"]}
    if job["makes_model"]:
        accelerator.unwrap_model(paradigm.network, keep_fp32_wrapper=False).save_pretrained(work / "result" / "model")
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copyfile(model / name, work / "result" / "model" / name)
    else:
        write_table(predictions_of(job, state, tables), work / "result" / "predictions.parquet", PREDICTIONS, provenance)
    history = pa.Table.from_pylist(state["history"], schema=HISTORY)
    write_table(history, work / "result" / "history.parquet", HISTORY, provenance)
    seconds = max(state["seconds"], 1e-9)
    cuda = accelerator.device.type == "cuda"
    write_json({
        **{key: job[key] for key in ("run", "digest", "data", "model_files", "code", "splits")},
        **{key: job["settings"][key] for key in ("study", "source", "dataset", "model", "method", "seed")},
        # The names of the score columns, and which of them stands for each label of the dataset.
        "labels": paradigm.score_names, "label_columns": job["head"]["columns"] if job["head"] else [],
        "data_options": job["settings"]["data"], "training": job["settings"]["training"],
        "train_examples": len(examples.get("learned", [])), "held_out_examples": len(examples.get("held_out", [])),
        "truncated_examples": examples["learned"].truncated if job["learns"] else 0,
        "epochs": state["epoch"],
        "best_epoch": next(iter(next(chosen for name, chosen in state["kept"].items() if name != "peak").values()))["epoch"],
        "seconds": round(seconds, 1), "tokens": state["tokens"], "tokens_per_second": round(state["tokens"] / seconds, 1),
        "hardware": {
            "device": torch.cuda.get_device_name() if cuda else (platform.processor() or platform.machine()),
            "processes": accelerator.num_processes, "threads": torch.get_num_threads(),
            "precision": accelerator.mixed_precision.replace("no", "fp32"),
        },
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "accelerate": accelerate.__version__,
                     "transformers": transformers.__version__, "tokenizers": tokenizers.__version__},
    }, work / "result" / "run.json")


def main(given: argparse.Namespace) -> None:
    job = json.loads((given.work / "job.json").read_text())
    chosen = precision(job["settings"]["training"]["precision"], given.cpu)
    torch.use_deterministic_algorithms(True, warn_only=True)
    accelerator = Accelerator(mixed_precision="no" if chosen == "fp32" else chosen, cpu=given.cpu)
    if not accelerator.is_main_process:
        log.setLevel("ERROR")
    if accelerator.num_processes != given.processes:
        raise UserError(f"{accelerator.num_processes} processes were started where {given.processes} were asked for; "
                        "check the launcher's environment (ACCELERATE_*)")
    log.info("%s on %s, %d process(es), %s", job["run"], accelerator.device, accelerator.num_processes, chosen)
    train(job, given.data, given.model, given.work, accelerator, given.checkpoint_seconds)
    if accelerator.is_main_process:
        finish(given.work, job, given.output)
        result = json.loads((given.output / "run.json").read_text())
        log.info("%s: best epoch %d of %d, %.0f s", job["run"], result["best_epoch"], result["epochs"], result["seconds"])
    accelerator.end_training()


def arguments() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--work", type=Path, required=True, help="the run's work folder, with job.json")
    made.add_argument("--data", type=Path, required=True, help="the folder of the dataset")
    made.add_argument("--model", type=Path, required=True, help="the folder of the model")
    made.add_argument("--output", type=Path, required=True, help="where the result is handed out")
    made.add_argument("--processes", type=int, required=True, help="how many processes must have been started")
    made.add_argument("--cpu", action="store_true", help="train on the CPU")
    made.add_argument("--checkpoint-seconds", type=float, required=True, help="least time between two checkpoints")
    return made


if __name__ == "__main__":
    given = arguments().parse_args()
    if os.environ.get("RANK", "0") != "0":
        given.log = None  # one process writes the log
    run(main, given)
