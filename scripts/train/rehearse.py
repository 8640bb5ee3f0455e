"""Rehearse a study: one training step, and one batch of scores, for each kind of run, before
anything is fetched.

Models have the right architecture and random weights. Texts are made up, and as long as the run
reads them. Batches are full. So a job that does not fit into memory, or settings that do not fit
together, fail here and not after hours. Each kind is a job of scripts/train/runs.py in a separate
process. The program reports failed jobs at the end, and the exit code is then 1. The scores
themselves have no meaning.

Reads  STUDY, JSON of the workflow: jobs (run, experiments, model, settings, method, splits),
       models, vocabulary, scored (texts of a batch of scores); FILES, of scripts/fetch/reachable.py
Writes to standard output one line for each kind of run: parameters, peak memory, seconds a step;
       FOLDER is emptied at the end

    snakemake rehearse --cores all --configfile presets/paper.yaml
    # what that starts
    python -m scripts.train.rehearse --study rehearsal.json --files results/rehearse/paper.json
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.running.program import UserError, cut, execute, log, parser
from scripts.train.early_end import remedies
from scripts.train.runs import UNEXPECTED, add_hardware_options
from scripts.train.stand_in import write_data, write_model

RATE = re.compile(r"\((\d+) tokens/s\)")
READINGS = "pseudo_log_likelihood"  # reads a text once for each token, so a batch is one text


def rehearsed(job: dict) -> tuple[dict, dict]:
    """Settings and method of a run, changed to one step and one batch: one epoch,
    nothing held out.
    """
    training = {
        key: value
        for key, value in job["settings"]["training"].items()
        if key != "early_stopping_patience"
    }
    if job["method"]["learns"]:
        training |= {"epochs": 1, "held_out_fraction": 0}
    return job["settings"] | {"training": training}, job["method"] | {"held_out": None}


def size(number: float) -> str:
    """`1.2 GB`, `310 MB`."""
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"


def outcome(folder: Path, said: str, learns: bool) -> str:
    """The result of a job, in words."""
    facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    cost = facts["cost"]
    rate = RATE.findall(said)
    tokens, most = facts["tokens"], facts["micro_batch_tokens"]
    step = f"{facts['seconds']} s a batch of scores"
    if learns and rate:
        step = f"{tokens / max(int(rate[-1]), 1):.2f} s a step of {tokens:,} tokens"
    parts = f", in parts of {most:,} tokens" if most else ""
    gpu = f"{size(cost['gpu_peak_bytes'])} of the GPU, " if cost["gpu_peak_bytes"] else ""
    parameters, learnt = facts["parameters"], facts["trained_parameters"]
    trained = f" ({learnt:,} learn)" if 0 < learnt < parameters else ""
    return (
        f"{parameters:,} parameters{trained}, {gpu}{size(cost['peak_bytes'])} of memory, "
        f"{step}, {facts['hardware']['precision']}{parts}"
    )


def reason(code: int, said: str, training: dict, learns: bool) -> str:
    """Why a job failed, in a sentence."""
    if code < 0 or code == 137:  # the system kills a process that asks for too much memory
        return (
            f"was killed (signal {-code if code < 0 else 9}), most often since it does not fit "
            f"into the memory; {remedies(training, learns)}"
        )
    lines = [line for line in said.strip().splitlines() if UNEXPECTED not in line]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return errors[-1] if errors else cut((lines or ["it ended without an error message"])[-1], 300)


def rehearse(job: dict, study: dict, options: list[str], folder: Path) -> str:
    """Take one step and one batch of scores; returns the time and memory that they took. options:
    of scripts/train/runs.py. Raises UserError if the job fails.
    """
    settings, method = rehearsed(job)
    training, splits = settings["training"], [job["splits"][0], *job["splits"][1:2]]
    scored = 1 if method["paradigm"] == READINGS else study["scored"]
    model, data = folder / "model", folder / "data"
    write_model(job["model"], study, model)
    write_data(method, splits, training, scored, Path(study["vocabulary"]), data)
    files = [str(file.relative_to(model)) for file in sorted(model.rglob("*")) if file.is_file()]
    run = {"run": "rehearsal", "settings": settings, "method": method, "splits": splits}
    run |= {"data": str(data), "model": str(model), "model_files": files}
    command = [sys.executable, "-m", "scripts.train.runs", *options]
    done = subprocess.run(
        [*command, "--folder", str(folder), "--output", str(folder / "manifest.json")],
        input=json.dumps(run),
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise UserError(reason(done.returncode, done.stderr, training, method["learns"]))
    return outcome(folder / "rehearsal", done.stderr, method["learns"])


def options_of(given: argparse.Namespace) -> list[str]:
    """Return the options of scripts/train/runs.py that say on what a step runs."""
    numbers = ("device", "devices", "runs_per_gpu", "threads", "micro_batch_tokens")
    values = {name.replace("_", "-"): getattr(given, name) for name in numbers}
    options = [f"--{name}={value}" for name, value in values.items() if value is not None]
    return options + ["--not-deterministic"] * given.not_deterministic


def main(given: argparse.Namespace) -> None:
    study, files = (
        json.loads(file.read_text(encoding="utf-8")) for file in (given.study, given.files)
    )
    study |= {"configs": files["configs"]}
    options = options_of(given)
    failures = list(files["missing"])
    for number, job in enumerate(study["jobs"], 1):
        called = f"{', '.join(job['experiments'])}: {job['model']}, {job['settings']['method']}"
        folder = given.folder / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        try:
            print(f"{called}: {rehearse(job, study, options, folder)}", flush=True)
        except UserError as error:
            print(f"{called}: FAILED, {error}", flush=True)
            failures.append(f"{called}: {error}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    for failure in failures:
        log.error("%s", failure)
    if failures:
        given.files.unlink(missing_ok=True)  # so that the next rehearsal asks again
        raise UserError(
            f"{len(failures)} of {len(study['jobs'])} kinds of run and {len(study['models'])} "
            "models and corpora failed, as said above; mend these, then rehearse again"
        )
    log.info("all %d kinds of run take a step", len(study["jobs"]))


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    program.add_argument(
        "--study",
        type=Path,
        required=True,
        metavar="STUDY",
        help="the file that describes the study",
    )
    program.add_argument(
        "--files",
        type=Path,
        required=True,
        metavar="FILES",
        help="the file that scripts.fetch.reachable wrote",
    )
    program.add_argument(
        "--folder",
        type=Path,
        default=Path("results/rehearse"),
        metavar="DIR",
        help="the folder to work in; default: %(default)s",
    )
    add_hardware_options(program)
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
