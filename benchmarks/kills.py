"""Run a reduced study undisturbed in one checkout and killed in another; compare the results.

Not a program: benchmarks/faults.py, benchmarks/gpu.py and tests/workflow/test_faults.py use it.

The comparison leaves out how long a run took (`seconds`, `tokens_per_second`, `cost` in run.json,
and the page's table of runs). Logs, timings, Snakemake's records and the working folders of runs
are not results.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from benchmarks.measure import checkout

STAGES = "fetch clean build train evaluate publish".split()
KILLED = "train fetch clean build evaluate publish".split()
VICTIMS = ["group", "group", "snakemake", "program", "launcher"]
LONGEST = 1800  # the most seconds that a command may take, on a busy machine
# The log that a job's program writes shows its stage: studies have programs of several stages.
LOG = re.compile(rf"results/logs/({'|'.join(STAGES)})/")

MINI = {"max_dialogs": 40}
DATA = {
    "sample_sop": {"source": ["sample_activitynet"], "stride": [0, 2]},
    "sample_nli": {"challenge_set": ["temp_order"], "train_templates": 4, "test_templates": 2},
    "sample_mctaco": {"unit_normalization": True},
    "sample_dialogs_mlm": MINI,
    "sample_dialogs_classify": MINI,
    "sample_dialogs_fill": MINI | {"context_scope": "target"},
    "sample_dialogs_generate": MINI,
    "sample_dialogs_whole": MINI,
}
# The short form has two experiments of one dataset each, with few controls: a plain run, and a run
# that starts from an MLM stage.
SHORT = {
    "sample_sop": {
        "data": {"source": ["sample_activitynet"], "stride": [0]},
        "controls": ["bag_of_words", "first_text"],
    },
    "sample_dialogs_fill": {"methods": ["fill"], "controls": ["random", "numeral_overlap"]},
}

NOT_RESULTS = re.compile(r"(^|/)\.|^logs/|^benchmarks/|^train/[^/]+/[^/]+/work/")
TIMES = {"seconds", "tokens_per_second", "cost"}
LEADERBOARD_TIMES = re.compile(
    r'(?<="date": )\d+|(?<="evaluation_timestamp": ")\d+|(?<="retrieved_timestamp": ")\d+'
    r'|(?<=/)\d+(?=",\n)'
)
RUN_TIMES = re.compile(
    r'<td class="n">[\d.]+</td><td class="n">[\d,]+</td>(?=<td>[^<]* threads)'
    r'|<dd class="measured">[^<]*</dd>'
)


# ---- the study and the comparison


def overlay(short: bool) -> dict:
    """Return the configuration of the reduced study, to be laid over config.yaml."""
    experiments = {
        name: {"data": data, "seeds": [1], "training": {"epochs": 2}} for name, data in DATA.items()
    }
    for name in SHORT if short else []:
        experiments[name] |= SHORT[name]
    run = list(SHORT) if short else [name for name in DATA if name != "sample_dialogs_mlm"]
    return {
        "run": run,
        "seeds": [1],
        "checkpoint_seconds": 0.05,
        "bootstrap_resamples": 100,
        "experiments": experiments,
    }


def results(folder: Path) -> dict[str, Path]:
    """Return the files of results/ that must be the same, by their path there."""
    place = folder / "results"
    files = {str(file.relative_to(place)): file for file in place.rglob("*") if file.is_file()}
    return {name: file for name, file in files.items() if not NOT_RESULTS.search(name)}


def promised(file: Path) -> object:
    """Return the part of a result that must be the same in both runs: its content without times."""
    if file.name == "run.json":
        facts = json.loads(file.read_text())
        return {key: value for key, value in facts.items() if key not in TIMES}
    if file.name.endswith(".manifest.json"):  # of controls: it has the hash of each run.json
        listed = json.loads(file.read_text())["files"]
        return {name: not name.endswith("/run.json") and facts for name, facts in listed.items()}
    if file.parent.name in ("leaderboard", "every_eval_ever"):
        return LEADERBOARD_TIMES.sub("", file.read_text())
    if file.name == "index.html":
        return RUN_TIMES.sub("", file.read_text())
    return file.read_bytes()


def differences(undisturbed: Path, disturbed: Path) -> list[str]:
    """Return the differences between the results of two folders, one sentence for each file."""
    one, other = results(undisturbed), results(disturbed)
    both = sorted(one.keys() & other.keys())
    return [
        *(f"is missing: {name}" for name in sorted(one.keys() - other.keys())),
        *(f"is too many: {name}" for name in sorted(other.keys() - one.keys())),
        *(f"differs: {name}" for name in both if promised(one[name]) != promised(other[name])),
    ]


def start(folder: Path, *options: str) -> subprocess.Popen:
    """Start the command in its own process group; its output goes to a .txt beside the folder."""
    environment = {key: value for key, value in os.environ.items() if key != "TIMESTRIDE_MIRROR"}
    command = [*"-m snakemake --cores 2".split(), *options, "--configfile", "reduced.json"]
    with open(folder.with_suffix(".txt"), "w") as text:
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=environment | {"SLURM_CONF": "/dev/null"},
            start_new_session=True,
            stdout=text,
            stderr=text,
        )


def finish(folder: Path, *options: str) -> tuple[int | None, str]:
    """Return the exit code and output of the command; None as code after LONGEST seconds."""
    command = start(folder, *options)
    try:
        code = command.wait(LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(command.pid, signal.SIGKILL)
        code = None
    return code, folder.with_suffix(".txt").read_text(errors="replace")


def finished_study(folder: Path, configuration: dict, *options: str) -> Path:
    """Make a checkout and run a configuration in it."""
    checkout(folder)
    (folder / "reduced.json").write_text(json.dumps(configuration))
    code, said = finish(folder, *options)
    if code != 0:
        raise SystemExit(f"the undisturbed run failed ({code}):\n{said[-2000:]}")
    return folder


def copy_of(study: Path, folder: Path) -> Path:
    """Copy a study with its results, times and records."""
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(study, folder, symlinks=True))


# ---- kills


def programs(command: subprocess.Popen) -> list[tuple[psutil.Process, str]]:
    """Return the programs that the command runs now, with their stages, the newest last."""
    found = []
    with suppress(psutil.Error):
        for process in psutil.Process(command.pid).children(recursive=True):
            with suppress(psutil.Error):
                stages = [match[1] for word in process.cmdline() if (match := LOG.match(word))]
                found += [(process.create_time(), process, stages[-1])] if stages else []
    return [(process, stage) for _, process, stage in sorted(found, key=lambda one: one[0])]


def kill(command: subprocess.Popen, victim: str) -> None:
    """Kill the whole process group, Snakemake alone, a program alone, or its launcher (a shell, or
    Accelerate) alone.
    """
    running = programs(command)
    with suppress(psutil.Error, ProcessLookupError):
        if victim == "group":
            os.killpg(command.pid, signal.SIGKILL)
        elif victim == "snakemake" or not running:
            command.kill()
        else:
            process = running[-1][0]
            (process if victim == "program" else process.parent() or process).kill()


def outlives(folder: Path) -> bool:
    """Return whether a process still works in the folder after 30 seconds."""
    for _ in range(150):
        facts = [process.info for process in psutil.process_iter(["cwd", "status"])]
        if not any(
            (fact["cwd"] or "").startswith(f"{folder}/") or fact["cwd"] == str(folder)
            for fact in facts
            if fact["status"] != "zombie"
        ):
            return False
        time.sleep(0.2)
    return True


def killed(study: Path, folder: Path, rng: random.Random, number: int) -> tuple[str, str]:
    """Kill a study in a stage (training first), finish it, and return how it ends: whether its
    results equal the undisturbed ones.
    """
    stage, victim = KILLED[number % len(KILLED)], rng.choice(VICTIMS)
    for late in STAGES[STAGES.index(stage) :]:
        shutil.rmtree(folder / "results" / late, ignore_errors=True)
    for _ in range(rng.choice([1, 1, 2])):
        command = start(folder)
        until = time.monotonic() + LONGEST
        while command.poll() is None and all(of != stage for _, of in programs(command)):
            time.sleep(0.03)
        time.sleep(rng.uniform(0, 2))
        kill(command, victim)
        try:
            command.wait(max(1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(command.pid, signal.SIGKILL)
            return "hang", f"{victim} killed in {stage}: the command did not end"
    if outlives(folder):
        return "hang", f"{victim} killed in {stage}: a process outlives the command"
    code, said = finish(folder)
    if code:
        return "traceback" if "Traceback" in said else "wrong", f"{stage}, {victim}: {said[-1500:]}"
    other = differences(study, folder)
    return ("hang" if code is None else "wrong" if other else "equal"), f"{stage}: {other[:3]}"
