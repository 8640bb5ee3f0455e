"""The place where a run keeps its work, and whether that work is finished.

results/train/<study>/<run>/work/ holds job.json (the job and its digest), checkpoint.pt, result/
and finished.json. It is no declared output, so Snakemake never deletes it. A killed run resumes
there. A run whose job has the same digest as the finished one is not trained again.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa

from scripts.data.files import sha256_of, whole
from scripts.data.manifest import check_made, files_in
from scripts.plan.models import DEFAULT_FILES, GENERATION, TEMPLATE, files_of_run
from scripts.data.plain_json import as_json
from scripts.running.code_lock import identity, known_as
from scripts.running.locks import flock
from scripts.running.program import UserError, log
from scripts.running.project_version import project_version
from scripts.data.tables import PREDICTIONS, content_digest
from scripts.train.cost import cost_of
from scripts.train.given_run import GivenRun
from scripts.train.labels import head_of

if TYPE_CHECKING:
    import pandas as pd

WEIGHTS_FOLDER = "weights"  # of the work: weights that are kept only until they are handed on
# what run.json says where no step was taken
NO_STEPS = dict.fromkeys(
    "held_out_examples truncated_examples epochs best_epoch tokens tokens_per_second".split(), 0
) | {"threshold": None, "micro_batch_tokens": None}

OF_METHOD = "columns labels held_out peak paradigm learns inputs makes_model".split()


def code_of(paradigm: str) -> str:
    """The identity of the code of a paradigm: of the loop with the paradigm, or of
      control, left_out, search/<study>   the code that fits the controls
      answer                    the code that asks in words
      echo                      the code that asks for likelihoods through an API

    Raises UserError for an unknown paradigm.
    """
    return identity(f"train/{paradigm}")


def with_digest(job: dict) -> dict:
    """Return the job with its digest, and the digests that earlier releases gave the same job. A
    run that finished with one of these digests is not trained again.
    """
    digests = [
        hashlib.sha256(as_json(job | {"code": code}).encode()).hexdigest()
        for code in known_as(job["code"].partition("@")[0])
    ]
    return job | {"digest": digests[0], "earlier_digests": digests[1:]}


def facts_of_job(job: dict) -> dict:
    """The facts of run.json that stand in the job."""
    settings = job["settings"]
    named = {key: job[key] for key in ("run", "digest", "data", "code", "splits")}
    named |= {key: settings[key] for key in ("study", "source", "dataset", "model", "method")}
    return named | {
        "seed": settings["seed"],
        "data_options": settings["data"],
        "training": settings["training"],
        "wording": settings.get("wording"),
        "model_files": job.get("model_files", {}),
        "timestride": project_version(),
    }


def predictions_on(
    split: str,
    table: "pa.Table | pd.DataFrame",
    scores: np.ndarray,
    run: str,
    selection: str,
    epoch: int = 0,
) -> pa.Table:
    """The (n, labels) scores of a split as rows of the schema predictions."""
    values = pa.FixedSizeListArray.from_arrays(scores.astype(np.float32).ravel(), scores.shape[1])
    columns = {
        "run": [run] * len(table),
        "split": [split] * len(table),
        "selection": [selection] * len(table),
        "epoch": np.full(len(table), epoch, np.int32),
        "example_id": table["example_id"],
        "group_id": table["group_id"],
        "label": np.asarray(table["label"], np.int8),
        "score": values.cast(pa.list_(pa.float32())),
    }
    return pa.table({name: columns[name] for name in PREDICTIONS.names}, PREDICTIONS)


def reads_training(prompt: dict | None, training: dict) -> bool:
    """Whether a method that does not learn reads the training split: for a threshold,
    or for examples in its prompt.
    """
    return bool(prompt and (prompt["threshold"] or training.get("shots", 0)))


def describe(run: GivenRun, model: Path) -> dict:
    """The job: everything that decides a run's numbers except the hardware, and its digest.

    The run's method has of the study: columns, labels, merged_labels, held_out and peak; of the
    method (study.yaml): paradigm, learns, fresh_head, inputs and makes_model; and prompt, of the
    run's wording (scripts/plan/prompts.py). Raises UserError for a model whose labels are not those
    of the study.
    """
    method, splits, head = run.method, run.splits, None
    if method["paradigm"] in ("classify", "objectives", "symmetric", "esim"):
        is_new = method["learns"] or method.get("fresh_head", False)
        head = vars(head_of(model, method["labels"], method["merged_labels"], is_new))
    columns = columns_of(method)
    held_out = [method["held_out"]] if method["held_out"] else []
    if method["makes_model"]:
        splits = splits[:1]
    read = [splits[0], *held_out, *splits[1:]] if method["learns"] else splits[1:]
    prompt = method.get("prompt")  # of a method that puts its examples into words
    if reads_training(prompt, run.settings["training"]):
        read = splits
    job = {
        "run": run.name,
        "settings": run.settings,
        "splits": splits,
        "head": head,
        **{key: method[key] for key in OF_METHOD},
        **({"prompt": prompt} if prompt else {}),
        "data": {split: content_digest(run.data / f"{split}.parquet", columns) for split in read},
        "model_files": hashes_of(model),
        "code": code_of(method["paradigm"]),
    }
    return with_digest(job)


def columns_of(method: dict) -> list[str]:
    """The columns of a dataset that a run reads."""
    return list(dict.fromkeys([*method["columns"].values(), *method["inputs"], "label"]))


def hashes_of(model: Path) -> dict[str, str]:
    """The sha256 of each file of a model's folder, by its path there."""
    return {
        str(file.relative_to(model)): hash_of_weights(file.resolve(), file.stat().st_mtime_ns)
        for file in sorted(model.rglob("*"))
        if file.is_file()
    }


@cache
def hash_of_weights(file: Path, changed: int) -> str:
    """The sha256 of a model's file, computed once for all runs of a process. changed: the time of
    its last change.
    """
    return sha256_of(file)


def files_of(model: Path) -> list[str]:
    """The files of a model's folder: those in its manifest or, without a manifest, those that a
    model usually has.
    """
    manifest = model / "manifest.json"
    if manifest.exists():
        return sorted(files_in(manifest))
    shards = {file.name for file in model.glob("model*.safetensors*")}  # and their index
    usual = (*DEFAULT_FILES, TEMPLATE, GENERATION)
    return sorted(shards | {file for file in usual if (model / file).exists()})


def model_view(model: Path, files: list[str], work: Path) -> Path:
    """A folder, work/model, of links to the named files of a model's folder. Other files of that
    folder are not read and do not count. Raises UserError for a file that is missing.
    """
    view = work / "model"
    shutil.rmtree(view, ignore_errors=True)
    for file in files:
        if not (model / file).is_file():
            raise UserError(
                f"{model / file}: no such file; fetch the model again with `snakemake --forcerun "
                "fetch_model`"
            )
        (view / file).parent.mkdir(parents=True, exist_ok=True)
        (view / file).symlink_to((model / file).resolve())
    return view


def outputs_of(job: dict) -> list[str]:
    """The files that a finished job hands out."""
    return files_of_run(job["makes_model"], bool(job.get("hands_on")))


def write_json(value, path: Path) -> None:
    """Write JSON whole."""
    with whole(path) as beside:
        beside.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")


# ---- one process works on a run


def hold(lock: IO, work: Path) -> None:
    """Hold the run's lock until its file is closed. Wait while another process holds it.

    On a file system without locks it continues with a warning: one Snakemake never starts a run
    twice.
    """
    try:
        locked = flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.info("waits for another process that works on %s", work)
        locked = flock(lock, fcntl.LOCK_EX)
    if not locked:
        log.warning(
            "warning: %s: its file system has no locks, so nothing stops a second process from "
            "training this run at the same time; give one command at a time, or put results/ on a "
            "disk that has locks",
            work,
        )
    os.set_inheritable(lock.fileno(), True)  # Accelerate's launcher keeps the lock


def wait_for_orphans(work: Path) -> None:
    """Wait until no process of a killed launcher is still training: each holds a shared lock on
    work/trainers.
    """
    with open(work / "trainers", "w") as opened:
        try:
            flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("waits for the processes of a killed launcher to end")
            flock(opened, fcntl.LOCK_EX)


def sweep(*folders: Path) -> None:
    """Remove half-written files of killed processes from a run's folders."""
    for folder in folders:
        for left in folder.glob(".*-[0-9]*.*"):
            log.info("removes %s, left by a killed process", left)
            shutil.rmtree(left) if left.is_dir() else left.unlink()


@contextmanager
def work_of(folder: Path, read: list[Path]) -> Iterator[Path]:
    """Hold the work of a run's folder, without half-written files. Wait while another process works
    on the run. Raises UserError for files (read) that nobody made.
    """
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "lock", "a") as lock:
        hold(lock, work)
        check_made(read)
        wait_for_orphans(work)
        sweep(work, folder, work / "result")
        yield work


# ---- a job is finished, or was refused


def finished(work: Path, job: dict) -> bool:
    """Whether the work holds the whole result of the job, each file as it was written. A damaged
    result is logged.
    """
    try:
        mark = json.loads((work / "finished.json").read_text(encoding="utf-8"))
        if mark["digest"] not in (job["digest"], *job.get("earlier_digests", [])):
            return False
        for name in outputs_of(job):
            if name not in mark["sha256"]:
                log.info(
                    "%s: was trained before other runs started from it, and its weights were not "
                    "kept; they are learnt again",
                    work,
                )
                return False
            if sha256_of(work / "result" / name) != mark["sha256"][name]:
                log.warning(
                    "warning: %s has changed since it was written; the run starts anew",
                    work / "result" / name,
                )
                return False
        return True
    except FileNotFoundError:
        return False
    except (ValueError, TypeError, KeyError):
        log.warning("warning: %s is damaged; the run starts anew", work / "finished.json")
        return False


class TooLarge(UserError):
    """The job does not fit into memory. With more memory, which the workflow's next attempt asks
    for, it may.
    """


@contextmanager
def remembers_refusal(work: Path, job: dict) -> Iterator[None]:
    """Remember why the block refuses this job, unless another attempt may do it."""
    try:
        yield
    except UserError as error:
        if not isinstance(error, TooLarge):
            refusal = {"digest": job["digest"], "sentence": str(error)}
            write_json(refusal, work / "failed.json")
        raise


def refuse_again(work: Path, job: dict, attempt: int) -> None:
    """Raise UserError at once if an earlier attempt of the workflow failed for a reason that
    another attempt cannot change.
    """
    try:
        failure = json.loads((work / "failed.json").read_text(encoding="utf-8"))
        if attempt > 1 and failure["digest"] == job["digest"]:
            raise UserError(
                f"{failure['sentence']} (the previous attempt failed for the same reason)"
            )
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        pass
    (work / "failed.json").unlink(missing_ok=True)


def forget(work: Path) -> None:
    """Remove the mark that the work is finished, and the result of an earlier job."""
    (work / "finished.json").unlink(missing_ok=True)
    shutil.rmtree(work / "result", ignore_errors=True)


@contextmanager
def made_anew(work: Path, job: dict, attempt: int, remembers: bool = True) -> Iterator[None]:
    """Forget the result of an earlier job, and let the block make that of this one. attempt: of the
    workflow; remembers: whether a refusal also ends the next attempts.
    """
    refuse_again(work, job, attempt)
    forget(work)
    with remembers_refusal(work, job) if remembers else nullcontext():
        yield


def mark_finished(work: Path, job: dict) -> None:
    """Mark the result as whole."""
    hashes = {name: sha256_of(work / "result" / name) for name in outputs_of(job)}
    write_json({"digest": job["digest"], "sha256": hashes}, work / "finished.json")


def finish(work: Path, job: dict, output: Path) -> None:
    """Write the cost of the run to run.json, mark the result as whole, drop the checkpoint and hand
    the result out.

    Weights that were kept in the work itself, to be handed on, are dropped as well.
    """
    facts = json.loads((work / "result/run.json").read_text(encoding="utf-8"))
    write_json(facts | {"cost": cost_of(facts)}, work / "result/run.json")
    mark_finished(work, job)
    (work / "checkpoint.pt").unlink(missing_ok=True)
    shutil.rmtree(work / WEIGHTS_FOLDER, ignore_errors=True)
    hand_out(work, job, output)


def hand_out(work: Path, job: dict, output: Path, already: str = "") -> None:
    """Copy the result to the declared outputs (no links: Snakemake touches outputs). already: what
    to log of a job that was finished before.
    """
    for name in outputs_of(job):
        (output / name).parent.mkdir(exist_ok=True)
        with whole(output / name) as beside:
            shutil.copyfile(work / "result" / name, beside)
    if already:
        log.info("%s: already %s", job["run"], already)
