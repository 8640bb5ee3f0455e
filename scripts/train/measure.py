"""Scores of a model that does not learn, or no longer: as it is, or by weights that were kept."""

import time

from accelerate import Accelerator

from scripts.running.program import log
from scripts.train.batches import Examples
from scripts.train.scoring import Scorer
from scripts.train.state import State
from scripts.train.stop import Stop


def measure(job: dict, accelerator: Accelerator, paradigm, tables: dict, examples: dict[str, Examples], stop: Stop) -> State:
    """Score the evaluation splits with the model as it is.

    Where the examples are texts of a prompt, several to a row of their table, the paradigm makes one score of these at the end.
    """
    state, started = State(), time.time()
    scorer = Scorer(accelerator, accelerator.prepare(paradigm.network), paradigm, stop)
    state.kept["direct"] = {}
    scored = {split: (scorer.scores(examples[split]), examples[split]) for split in examples}
    if job.get("prompt"):
        scored = paradigm.finished({split: scores for split, (scores, _) in scored.items()}, tables)
        state.tokens = sum(int(examples[split].lengths.sum()) for split in examples)
    for split in job["splits"][1:]:
        scores, rows = scored[split]
        loss, accuracy, n = paradigm.measure(scores, rows)
        state.history.append({"run": job["run"], "epoch": 0, "split": split, "loss": loss, "accuracy": accuracy, "n": n})
        state.kept["direct"][split] = {"epoch": 0, "accuracy": accuracy, "scores": scores}
        log.info("%s: %s loss %.3f accuracy %.3f", job["run"], split, loss, accuracy)
    state.seconds = time.time() - started
    return state


def score_kept(job: dict, accelerator: Accelerator, paradigm, examples: dict[str, Examples], kept: dict, stop: Stop) -> State:
    """Score the held-out groups and the evaluation splits by weights that were kept; what it took to learn them is told again."""
    scorer = Scorer(accelerator, accelerator.prepare(paradigm.network), paradigm, stop)
    told, epoch = kept["run"], kept["epoch"]
    state = State(epoch=told["epochs"], seconds=told["seconds"], tokens=told["tokens"], micro_batch_tokens=told["micro_batch_tokens"])
    state.history = [row | {"run": job["run"]} for row in kept["history"]]
    reported = state.kept[kept["selection"]] = {}
    for split in [*(["held_out"] if "held_out" in examples else []), *job["splits"][1:]]:
        scores = scorer.scores(examples[split])
        loss, accuracy, n = paradigm.measure(scores, examples[split])
        reported[split] = {"epoch": epoch, "accuracy": accuracy, "scores": scores}
        if split != "held_out":  # whose row was written when its epoch was
            state.history.append({"run": job["run"], "epoch": epoch, "split": split, "loss": loss, "accuracy": accuracy, "n": n})
    if job["peak"]:
        log.warning("warning: %s: by kept weights the accuracy of the reported epoch is measured, and no peak over epochs", job["run"])
    return state
