"""Scores of examples, always in fp32, also after training in 16 bit, so that rounding does not
decide a rank.
"""

import time
from contextlib import suppress
from functools import partial

import numpy as np
import torch
from accelerate import Accelerator
from torch.nn.attention import SDPBackend, sdpa_kernel

from scripts.running.program import UserError, log
from scripts.running.progress import Progress
from scripts.train.adapter import in_fp32
from scripts.train.batches import Batch, Examples, collate, sorted_batches
from scripts.train.early_end import Stop
from scripts.train.epochs import State
from scripts.train.plain import checked

ROWS = 128  # of a batch on a CPU, where larger batches are no faster
GPU_TOKENS = 65_536  # of a batch on a GPU, padding included; halved when memory runs out


class Scorer:
    """Scores examples with the current network; the processes share the batches.

    Some networks (ConvBERT, FNet, Nystromformer, XLNet, YOSO) read padding. Then the texts of a
    batch are read alone (scripts/train/plain.py), so that no score depends on the texts beside it.
    """

    def __init__(self, accelerator: Accelerator, network: torch.nn.Module, paradigm, stop: Stop):
        self.accelerator, self.network = accelerator, network
        self.paradigm, self.stop = paradigm, stop
        self.tokens = GPU_TOKENS if accelerator.device.type == "cuda" else None
        self.has_warned = False

    def scores(self, examples: Examples) -> torch.Tensor:
        """(n, width) scores on the CPU, in the order of the examples. Raises Stopped if the run
        gets a signal to end.
        """
        network = self.accelerator.unwrap_model(self.network)
        with in_fp32(network):
            return self._in_eval_mode(network, examples)

    def _in_eval_mode(self, network: torch.nn.Module, examples: Examples) -> torch.Tensor:
        """The scores by a network whose weights are in 32 bit."""
        network.eval()
        scores = torch.zeros(len(examples), self.paradigm.width, device=self.accelerator.device)
        # Without compiled graphs: these are made for the few shapes of training, and scoring is
        # busy enough without them.
        with torch.inference_mode(), torch.compiler.set_stance("force_eager"):
            batches = sorted_batches(examples.lengths, examples.choices, ROWS, self.tokens)
            share = batches[self.accelerator.process_index :: self.accelerator.num_processes]
            progress = Progress(len(share), "batches to score")
            plain, dtype = partial(self._alone, network, examples), dtype_of(network)
            for rows in share:
                self.stop.check()
                of_batch = self._of(network, examples, rows)
                found, off = checked(of_batch, rows, examples.lengths[rows], plain, dtype)
                scores[torch.from_numpy(rows).to(scores.device)] = found
                self._warn(off)
                progress.end_piece()
        network.train()
        return self.accelerator.reduce(scores, "sum").cpu()

    def _warn(self, off: float) -> None:
        """Warn once of batches whose scores are off."""
        if off and not self.has_warned:
            self.has_warned = True
            log.warning(
                "warning: a text's score in a batch is %.2g off, so all texts of such a batch are "
                "read alone",
                off,
            )

    def _batch(self, examples: Examples, rows: np.ndarray) -> Batch:
        return collate(examples, rows, self.paradigm.padding, self.accelerator.device)

    def _alone(
        self, network: torch.nn.Module, examples: Examples, rows: np.ndarray
    ) -> torch.Tensor:
        """The plain scores of texts, each read alone, without a fused kernel of attention."""
        batches = (self._batch(examples, row) for row in np.split(rows, len(rows)))
        with sdpa_kernel(SDPBackend.MATH):
            return torch.cat([self.paradigm.plain_scores(network, batch) for batch in batches])

    def _of(self, network: torch.nn.Module, examples: Examples, rows: np.ndarray) -> torch.Tensor:
        """The scores of one batch; in halves where it does not fit into the GPU's memory."""
        with suppress(torch.OutOfMemoryError):
            return self.paradigm.scores(network, self._batch(examples, rows))
        torch.cuda.empty_cache()  # only here, since the error holds the computed tensors
        middle = halves_at(examples.choices[rows])
        if middle is None:
            raise UserError(
                f"{len(rows)} texts of {examples.lengths[rows].max()} tokens do not fit into the "
                "GPU's memory; lower max_length, or take a GPU with more"
            )
        log.warning("out of memory: scores %d rows in two parts", len(rows))
        return torch.cat(
            [self._of(network, examples, rows[:middle]), self._of(network, examples, rows[middle:])]
        )


def dtype_of(network: torch.nn.Module) -> torch.dtype:
    """The type of a network's weights."""
    return next(network.parameters()).dtype


def halves_at(choices: np.ndarray) -> int | None:
    """Where to cut a batch: as near its middle as possible, without separating candidates for one
    place. None for a batch of one place.
    """
    cuts = np.flatnonzero(np.diff(choices)) + 1
    return int(cuts[np.abs(cuts - len(choices) / 2).argmin()]) if len(cuts) else None


# ---- scores as a run reports them


def measured(
    run: str, epoch: int, split: str, paradigm, scores: torch.Tensor, examples: Examples
) -> tuple[dict, dict]:
    """The report of a run on the scores of a split: a row of the history, and epoch, accuracy and
    scores.
    """
    loss, accuracy, n = paradigm.measure(scores, examples)
    return (
        {"run": run, "epoch": epoch, "split": split, "loss": loss, "accuracy": accuracy, "n": n},
        {"epoch": epoch, "accuracy": accuracy, "scores": scores},
    )


def score_splits(
    run: str, epoch: int, splits: list[str], scorer: Scorer, examples: dict[str, Examples]
) -> tuple[list[dict], dict[str, dict]]:
    """Score splits with the current network: their rows of the history, and by split the reported
    values.
    """
    rows, reported = [], {}
    for split in splits:
        row, reported[split] = measured(
            run, epoch, split, scorer.paradigm, scorer.scores(examples[split]), examples[split]
        )
        rows.append(row)
    return rows, reported


def measure(
    job: dict,
    accelerator: Accelerator,
    paradigm,
    tables: dict,
    examples: dict[str, Examples],
    stop: Stop,
) -> State:
    """Score the evaluation splits without training the model.

    Examples may be texts of a prompt, several for one row of their table. Then the paradigm makes
    one score from these at the end.
    """
    state, started = State(), time.time()
    scorer = Scorer(accelerator, accelerator.prepare(paradigm.network), paradigm, stop)
    scored = {split: (scorer.scores(examples[split]), examples[split]) for split in examples}
    if job.get("prompt"):
        scored = paradigm.finished({split: scores for split, (scores, _) in scored.items()}, tables)
        state.tokens = sum(int(examples[split].lengths.sum()) for split in examples)
    reported = state.reported["direct"] = {}
    for split in job["splits"][1:]:
        if lost := int(scored[split][0].isnan().any(1).sum()):
            raise UserError(
                f"{job['run']}: {lost} examples of {split} have no number as a score; write "
                "`training: {precision: fp32}`, or take a model whose weights are numbers"
            )
        row, reported[split] = measured(job["run"], 0, split, paradigm, *scored[split])
        state.history.append(row)
        log.info("%s: %s loss %.3f accuracy %.3f", job["run"], split, row["loss"], row["accuracy"])
    state.seconds = time.time() - started
    return state


def score_by_kept(
    job: dict,
    accelerator: Accelerator,
    paradigm,
    examples: dict[str, Examples],
    facts: dict,
    stop: Stop,
) -> State:
    """Score the held-out groups and the evaluation splits by kept weights.

    facts: their kept.json, which has the cost of training them.
    """
    scorer = Scorer(accelerator, accelerator.prepare(paradigm.network), paradigm, stop)
    state = State(
        epoch=facts["run"]["epochs"],
        **{name: facts["run"][name] for name in ("seconds", "tokens", "micro_batch_tokens")},
    )
    state.history = [row | {"run": job["run"]} for row in facts["history"]]
    held_out = ["held_out"] if "held_out" in examples else []
    rows, state.reported[facts["selection"]] = score_splits(
        job["run"], facts["epoch"], [*held_out, *job["splits"][1:]], scorer, examples
    )
    # the row of the held-out groups was written at its epoch
    state.history += rows[len(held_out) :]
    if job["peak"]:
        log.warning(
            "warning: %s: kept weights give the accuracy of the reported epoch, and no peak over "
            "epochs",
            job["run"],
        )
    return state
