"""The training loop, started by scripts/train/run.py through `accelerate launch`; not meant to be started by hand.

One epoch follows another over the training groups that are not held out; after each the held-out groups (or the split
that the study holds out) and the evaluation splits are scored. Two epochs are reported: the one best on the held-out
groups (an honest choice), and for each evaluation split the one best on that very split (the peak that Jain et al.
2020 report). A method that does not learn scores the evaluation splits once, with the model as it is.

The order of examples and every dropout mask follow from seed, epoch and step alone, so a run that was killed goes on
from its checkpoint to the same numbers. Processes share each batch; the gradient is that of the whole batch.
"""

import argparse
import json
import os
import platform
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
from scripts.train.batches import Examples, collate, epoch_batches, select, sorted_batches, tokenize
from scripts.train.classify import load, log_probabilities
from scripts.train.labels import Head
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

    def __init__(self, accelerator: Accelerator, network, head: Head, padding: dict[str, int]):
        self.accelerator, self.network, self.head, self.padding = accelerator, network, head, padding

    def scores(self, examples: Examples) -> torch.Tensor:
        """(n, labels) log-probabilities on the CPU, in the order of the examples."""
        network = self.accelerator.unwrap_model(self.network)
        network.eval()
        scores = torch.zeros(len(examples), len(self.head.labels), device=self.accelerator.device)
        batches = sorted_batches(examples.lengths, EVALUATION_BATCH)
        with torch.inference_mode():
            for rows in batches[self.accelerator.process_index :: self.accelerator.num_processes]:
                batch = collate(examples, rows, self.padding, self.accelerator.device)
                scores[torch.from_numpy(rows).to(scores.device)] = log_probabilities(network, self.head, batch)
        network.train()
        return self.accelerator.reduce(scores, "sum").cpu()


def measure(scores: torch.Tensor, labels: np.ndarray) -> tuple[float, float]:
    """Mean cross-entropy and accuracy of (n, labels) log-probabilities."""
    gold = torch.from_numpy(labels)
    return (-scores[torch.arange(len(gold)), gold].mean().item(),
            (scores.argmax(1) == gold).float().mean().item())


def seed_everything(*numbers: int) -> None:
    """Seed torch from several numbers (a run's seed, a step, a process)."""
    torch.manual_seed(int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1)))


def read_split(data: Path, split: str, job: dict) -> pa.Table:
    """One split: example_id, group_id, the texts and label. Raises UserError when it is empty or a label is unknown."""
    names = [job["columns"]["example_id"], job["columns"]["group_id"], *job["inputs"], "label"]
    table = read_table(data / f"{split}.parquet", names).rename_columns(["example_id", "group_id", *names[2:]])
    if len(table) == 0:
        raise UserError(f"{data / split}.parquet: no examples; the log of its build says why")
    labels = table["label"].to_numpy()
    if labels.min() < 0 or labels.max() >= len(job["labels"]):
        raise UserError(f"{data / split}.parquet: label {labels.max()} is not one of {len(job['labels'])} labels")
    return table


def read_examples(job: dict, data: Path, head: Head, tokenizer) -> tuple[dict[str, pa.Table], dict[str, Examples]]:
    """The splits as tables and as tokenized examples, by name: learned, held_out and each evaluation split.

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
        if held_out.all() or not held_out.any():
            raise UserError(f"{data / train_split}.parquet: {groups.nunique()} groups are too few to hold "
                            f"{training['held_out_fraction']:.0%} of them out; use more data or another held_out_fraction")
        tables |= {"learned": table.filter(pa.array(~held_out)), "held_out": table.filter(pa.array(held_out))}
    examples, columns = {}, np.array(head.columns)
    for split, table in tables.items():
        texts = [table[name].to_pylist() for name in job["inputs"]]
        examples[split] = tokenize(tokenizer, texts, columns[table["label"].to_numpy()], training["max_length"])
        log.info("%s: %d examples, %.1f tokens on average, %d cut to %d", split, len(examples[split]),
                 examples[split].lengths.mean(), examples[split].truncated, training["max_length"])
    return tables, examples


def train(job: dict, data: Path, model: Path, work: Path, accelerator: Accelerator, checkpoint_seconds: float) -> None:
    """Train the run of a job and write work/result/; resumes from work/checkpoint.pt when it is this job's."""
    settings, training, seed = job["settings"], job["settings"]["training"], job["settings"]["seed"]
    first, world, rank = accelerator.is_main_process, accelerator.num_processes, accelerator.process_index
    parent, started = os.getppid(), time.time()

    seed_everything(seed)
    head = Head(**job["head"])
    tokenizer, network = load(model, head, training)
    tables, examples = read_examples(job, data, head, tokenizer)
    padding = {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id}
    state = {"digest": job["digest"], "epoch": 0, "step": 0, "loss": 0.0, "right": 0, "history": [], "kept": {},
             "best": None, "waited": 0, "seconds": 0.0, "tokens": 0}
    if not job["learns"]:
        scorer = Scorer(accelerator, accelerator.prepare(network), head, padding)
        state["kept"]["direct"] = {}
        for split, some in examples.items():
            scores = scorer.scores(some)
            loss, accuracy = measure(scores, some.labels)
            state["history"].append({"run": job["run"], "epoch": 0, "split": split, "loss": loss, "accuracy": accuracy,
                                     "n": len(some)})
            state["kept"]["direct"][split] = {"epoch": 0, "accuracy": accuracy, "scores": scores}
        state["seconds"] = time.time() - started
        if first:
            write_result(job, state, tables, accelerator, work, examples)
        return

    learned = examples["learned"]
    scored = {"held_out": examples["held_out"]} | {split: examples[split] for split in job["splits"][1:]}
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
    scorer = Scorer(accelerator, network, head, padding)
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

    while state["epoch"] < training["epochs"] and state["waited"] < training["early_stopping_patience"]:
        epoch = state["epoch"]
        batches = epoch_batches(learned.lengths, training["batch_size"], seed, epoch)
        epoch_started, tokens_before = time.time(), state["tokens"]
        # What the epoch has summed so far counts once: in the first process.
        loss_sum = torch.tensor(state["loss"] if first else 0.0, dtype=torch.float64, device=accelerator.device)
        right = torch.tensor(state["right"] if first else 0, device=accelerator.device)
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
            batch = collate(learned, rows, padding, accelerator.device)
            scores = log_probabilities(network, head, batch)
            loss = torch.nn.functional.nll_loss(scores, batch["labels"], reduction="sum") * (1 if share else 0)
            accelerator.backward(loss * world / len(batches[step]))
            accelerator.clip_grad_norm_(network.parameters(), training["gradient_clip"])
            optimizer.step()
            optimizer.zero_grad()
            loss_sum += loss.detach()
            right += (scores.argmax(1) == batch["labels"]).sum() * (1 if share else 0)
            state["tokens"] += int(learned.lengths[batches[step]].sum())
            progress.step(epoch + 1, loss.item() / max(share, 1) if step % 20 == 0 else None)
            # A save may take a twentieth of the time at most.
            due = time.time() - last_save > max(checkpoint_seconds, 20 * save_took)
            if world > 1:  # all must agree; asking costs a synchronisation, so it is done now and then
                due = step % 10 == 0 and accelerator.gather(torch.tensor([due], device=accelerator.device)).any()
            if due:
                totals = accelerator.reduce(torch.stack([loss_sum, right.double()]), "sum").tolist()
                state |= {"step": step + 1, "loss": totals[0], "right": int(totals[1])}
                loss_sum.fill_(state["loss"] if first else 0)
                right.fill_(state["right"] if first else 0)
                save()
        totals = accelerator.reduce(torch.stack([loss_sum, right.double()]), "sum").tolist()
        if not np.isfinite(totals[0]):
            raise UserError(f"{job['run']}: the loss is not finite in epoch {epoch + 1}; lower learning_rate "
                            f"({training['learning_rate']}) or set precision: fp32")
        trained_seconds = time.time() - epoch_started
        rows = [{"split": "train", "loss": totals[0] / len(learned), "accuracy": totals[1] / len(learned), "n": len(learned)}]
        for split, some in scored.items():
            scores = scorer.scores(some)
            loss, accuracy = measure(scores, some.labels)
            rows.append({"split": split, "loss": loss, "accuracy": accuracy, "n": len(some)})
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
                    state["kept"]["held_out"][split] = scored_now
                peaks = state["kept"].setdefault("peak", {})
                if split not in peaks or accuracy > peaks[split]["accuracy"]:
                    peaks[split] = scored_now
        state["history"] += [{"run": job["run"], "epoch": epoch + 1} | row for row in rows]
        state |= {"epoch": epoch + 1, "step": 0, "loss": 0.0, "right": 0}
        progress.epoch(epoch + 1, training["epochs"], rows,
                       (state["tokens"] - tokens_before) / max(trained_seconds, 1e-9))
        save()
    progress.close()
    if first:
        write_result(job, state, tables, accelerator, work, examples)


def write_result(job: dict, state: dict, tables: dict[str, pa.Table], accelerator: Accelerator, work: Path,
                 examples: dict[str, Examples]) -> None:
    """Write predictions, history and run.json to work/result/."""
    provenance = {"run": job["run"], "digest": job["digest"], "settings": job["settings"]}
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
    write_table(pa.concat_tables(predictions), work / "result" / "predictions.parquet", PREDICTIONS, provenance)
    history = pa.Table.from_pylist(state["history"], schema=HISTORY)
    write_table(history, work / "result" / "history.parquet", HISTORY, provenance)
    seconds = max(state["seconds"], 1e-9)
    cuda = accelerator.device.type == "cuda"
    write_json({
        **{key: job[key] for key in ("run", "digest", "data", "model_files", "code", "splits")},
        **{key: job["settings"][key] for key in ("study", "source", "dataset", "model", "method", "seed")},
        # The names of the score columns, and which of them stands for each label of the dataset.
        "labels": job["head"]["labels"], "label_columns": job["head"]["columns"],
        "data_options": job["settings"]["data"], "training": job["settings"]["training"],
        "train_examples": len(examples.get("learned", [])), "held_out_examples": len(examples.get("held_out", [])),
        "truncated_examples": examples["learned"].truncated if job["learns"] else 0,
        "epochs": state["epoch"],
        "best_epoch": state["kept"]["held_out"]["held_out"]["epoch"] if job["learns"] else 0,
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
        finish(given.work, job["digest"], given.output)
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
