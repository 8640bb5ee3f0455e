"""Run a reduced study undisturbed in one checkout and disturbed in another; compare the results.

The disturbances are killed programs, damaged results and damaged records. Not a program:
benchmarks/faults.py and benchmarks/gpu.py use it.

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
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from benchmarks.measure import checkout
from scripts.data.manifest import files_in
from tests.fuzz_damage import DAMAGES, MISSING, damaged_result

STAGES = ["fetch", "clean", "build", "train", "evaluate", "publish"]
KILLED = ["train", *[stage for stage in STAGES if stage != "train"]]
VICTIMS = ["group", "group", "snakemake", "program", "launcher"]
LONGEST = 1800  # the most seconds that a command may take, on a busy machine
SENTENCE = re.compile(r"^ *error: .+|^WorkflowError|^Error: .+", re.M)
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
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "reduced.json"]
    with open(folder.with_suffix(".txt"), "w") as text:
        return subprocess.Popen(
            [*command, *options],
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


def undisturbed_study(folder: Path) -> Path:
    """Make a checkout and run the reduced study in it."""
    checkout(folder)
    (folder / "reduced.json").write_text(json.dumps(overlay(short=True)))
    code, said = finish(folder)
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


# ---- damage


PLACES = re.compile(r"results/[\w./-]+")
# Options that name what a program writes.
WRITES = re.compile(r"--(?:output|manifest|log|folder|tokens)[ =]\S+")


def read_by(command: str, study: Path) -> set[str]:
    """Return the files of results/ that a printed command reads."""
    text = WRITES.sub("", command)
    places = set(PLACES.findall(text))
    if trained := re.search(r"--trained (\S+)", text):
        runs = command.rpartition("<<<")[2].strip(" '\n").split()
        places = places - {trained[1]} | {f"{trained[1]}/{run}/run.json" for run in runs}
        places |= {f"{trained[1]}/{run}/predictions.parquet" for run in runs}
    found = set()
    for place in places:
        manifest = study / place / "manifest.json"
        if manifest.exists():
            found |= {f"{place}/{name}" for name in ("manifest.json", *files_in(manifest))}
        elif (study / place).is_file():
            found.add(place)
    return found


@cache
def readers(study: Path) -> dict[str, list[str]]:
    """Return, for each file of results/, the commands that read it, as Snakemake prints them."""
    code, said = finish(study, "--dry-run", "--forceall", "--printshellcmds")
    if code != 0:
        raise SystemExit(f"the dry run failed ({code}):\n{said[-2000:]}")
    found = defaultdict(list)
    for command in re.findall(
        r"^python -m scripts\.(?:.|\n)*?(?=^\S.*   \(|^Job stats)", said, re.M
    ):
        for file in read_by(command, study):
            found[file].append(command)
    return found


def kind_of(file: str) -> str:
    """Return the kind of a file: its stage and its name, or its suffix if all names differ."""
    place = Path(file)
    stage, one_of_many = place.parts[1], place.parts[1] in ("evaluate", "publish")
    return f"{stage}/{'*' + place.name[place.name.find('.') :] if one_of_many else place.name}"


def kinds(files: list[str]) -> dict[str, list[str]]:
    found = defaultdict(list)
    for file in sorted(files):
        found[kind_of(file)].append(file)
    return found


def damage(folder: Path, file: str, how: str, beside: list[str], rng: random.Random) -> None:
    """Damage a file of a study. beside: files whose content may replace its content."""
    place = folder / file
    content = place.read_bytes()
    others = [other for other in beside if (folder / other).read_bytes() != content]
    other = (folder / rng.choice(others)).read_bytes() if others else b"another"
    new = damaged_result(how, content, other, rng)
    place.unlink() if new is MISSING else place.write_bytes(new)


def differing(study: Path, folder: Path, file: str) -> list[str]:
    """Return the differences after damage to a file. They leave out the file itself and removed
    manifests: a manifest is written again when a job needs its files.
    """
    away = re.compile(rf"is missing: .*manifest\.json$|.*: {re.escape(file[8:])}$")
    return [one for one in differences(study, folder) if not away.match(one)]


def judge(
    study: Path, folder: Path, file: str, code: int | None, said: str, again: bool
) -> tuple[str, str]:
    """Return how a command ends after damage to a file; again: whether a new file is compared."""
    if code is None:
        return "hang", f"{file}: {said[-300:]}"
    if "Traceback" in said or "unexpected error" in said:
        return "traceback", f"{file}: {said[-1500:]}"
    if code:
        return (
            ("refused", "") if SENTENCE.search(said) else ("wrong", f"no sentence: {said[-500:]}")
        )
    if other := differing(study, folder, file):
        return "wrong", f"{file}: {other[:3]}"
    written = again and (folder / file).is_file() and promised(folder / file)
    return ("rewritten" if written == promised(study / file) else "equal"), ""


def damaged_reads(
    study: Path, folder: Path, rng: random.Random, share: float
) -> Iterator[tuple[str, str]]:
    """Damage one file that a program reads, without changing its time, and yield how the program
    ends. The cases are each kind of file with each damage, or a share of these cases. Each damage
    occurs at least once.
    """
    commands = {file: by for file, by in readers(study).items() if (study / file).is_file()}
    files_of = list(kinds(list(commands)).values())
    rng.shuffle(files_of)
    cases = [
        (files, DAMAGES[(place + turn) % len(DAMAGES)])
        for turn in range(len(DAMAGES))
        for place, files in enumerate(files_of)
    ]
    shown = max(len(DAMAGES), round(min(share, 1) * len(cases)))
    for files, how in cases[:shown] * max(1, round(share)):
        file = rng.choice(files)
        command = rng.choice(commands[file])
        whole, times = (folder / file).read_bytes(), (folder / file).stat()
        damage(folder, file, how, files, rng)
        if (folder / file).exists():
            os.utime(folder / file, ns=(times.st_atime_ns, times.st_mtime_ns))
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        try:
            done = subprocess.run(
                ["bash"],
                input=command,
                cwd=folder,
                env=os.environ | {"PATH": path, "PYTHONPATH": str(folder)},
                capture_output=True,
                text=True,
                timeout=LONGEST,
            )
            code, said = done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            code, said = None, ""
        end, problem = judge(study, folder, file, code, said, again=False)
        if end == "wrong":
            copy_of(study, folder)
        yield end, f"{command.split()[2]}, {how}: {problem}"
        (folder / file).write_bytes(whole)
        os.utime(folder / file, ns=(times.st_atime_ns, times.st_mtime_ns))


def damaged_study(
    study: Path, folder: Path, rng: random.Random, file: str, beside: list[str]
) -> tuple[str, str]:
    """Damage a file and return how the whole command ends. If it refuses the file, apply the
    remedy that its message names; then the results must be equal.
    """
    copy_of(study, folder)
    how = rng.choice(DAMAGES)
    damage(folder, file, how, beside, rng)
    code, said = finish(folder)
    end, problem = judge(study, folder, file, code, said, again=file.startswith("results/"))
    remedy = re.search(r"remove (\S+), and the same command|(\S+): is damaged; remove it", said)
    if end == "refused" and remedy:
        (folder / (remedy[1] or remedy[2])).unlink(missing_ok=True)
        code, said = finish(folder)
        other = differing(study, folder, file) if code == 0 else [said[-1500:]]
        end, problem = ("wrong", f"{other[:3]}") if other else (end, problem)
    return end, f"{file}, {how}: {problem}"
