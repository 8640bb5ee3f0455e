"""Kill the workflow at random moments, give the command again until it ends well, and compare.

A checkout in a temporary folder runs a reduced study (sample corpora of all studies, every
paradigm, an MLM stage) without disturbance. In a second one SIGKILL hits, again and again and
spread over all six stages: the whole process group, Snakemake alone, a program alone, or its
launcher (a shell, or Accelerate) alone. Each time the command has ended well, every result is
compared with the undisturbed one, byte by byte. Then the results from some stage on are removed, so
that there is work to kill.

Left out of the comparison is how long a run took (`seconds`, `tokens_per_second`, `cost` in
run.json, and the page's table of runs). Logs, timings, Snakemake's records and the working folders
of runs are not results.

Prints kills by stage and victim, runs that resumed, and faults. A fault is a difference, a process
that outlives the command, or a command that fails without a kill: exit code 1.

    python -m benchmarks.kills --kills 200 --seed 1
    python -m benchmarks.kills --kills 8 --short      # captions and dialogs only; some minutes
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from benchmarks.measure import checkout, options_of, table

STAGES = ["fetch", "clean", "build", "train", "evaluate", "publish"]
# A job's program is known by the log that it is given: studies have programs of several stages.
LOG = re.compile(rf"results/logs/({'|'.join(STAGES)})/")
VICTIMS = {"group": 4, "snakemake": 2, "program": 2, "launcher": 1}  # how often each is drawn
IN_A_ROW = 3  # kills in a stage before the next is due
MISSED = 4  # commands in a row that may end before a kill falls
SECONDS = 2.0  # a kill falls at most so long after a program of the stage was seen

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
# What `--short` runs: a control, a run and one that stands on an MLM stage, of one dataset each.
SHORT = {
    "sample_sop": {"data": {"source": ["sample_activitynet"], "stride": [0]}},
    "sample_dialogs_fill": {"methods": ["fill"]},
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


# ---- the comparison


def results(folder: Path) -> dict[str, Path]:
    """The files of results/ that are promised, by their place there."""
    place = folder / "results"
    files = {str(file.relative_to(place)): file for file in place.rglob("*") if file.is_file()}
    return {name: file for name, file in files.items() if not NOT_RESULTS.search(name)}


def promised(file: Path) -> object:
    """What a result promises to say again: its bytes, without times."""
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


def differences(undisturbed: Path, killed: Path) -> list[str]:
    """What differs between the results of two folders, one sentence a file."""
    one, other = results(undisturbed), results(killed)
    both = sorted(one.keys() & other.keys())
    return [
        *(f"is missing: {name}" for name in sorted(one.keys() - other.keys())),
        *(f"is too many: {name}" for name in sorted(other.keys() - one.keys())),
        *(f"differs: {name}" for name in both if promised(one[name]) != promised(other[name])),
    ]


# ---- the kills


def overlay(short: bool) -> dict:
    """The reduced study, to be laid over config.yaml."""
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


def start(folder: Path, output: Path) -> subprocess.Popen:
    """The command, in a process group of its own, its text in a file."""
    environment = {key: value for key, value in os.environ.items() if key != "TIMESTRIDE_MIRROR"}
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "kills.json"]
    with open(output, "w") as text:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment | {"SLURM_CONF": "/dev/null"},
            start_new_session=True,
            stdout=text,
            stderr=text,
        )


def programs(command: subprocess.Popen) -> list[tuple[psutil.Process, str]]:
    """The programs that the command runs now, with their stages, the innermost process last."""
    found = []
    try:
        children = psutil.Process(command.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    for process in children:
        try:
            stages = [match[1] for word in process.cmdline() if (match := LOG.match(word))]
            found += [(process.create_time(), process, stages[-1])] if stages else []
        except psutil.Error:
            continue
    return [(process, stage) for _, process, stage in sorted(found, key=lambda one: one[0])]


def left_processes(folder: Path, seconds: float) -> list[str]:
    """The command lines of processes that still work in the folder after so many seconds."""
    until = time.monotonic() + seconds
    while True:
        facts = [process.info for process in psutil.process_iter(["cwd", "cmdline", "status"])]
        left = [
            " ".join(fact["cmdline"] or [])[:150]
            for fact in facts
            if (fact["cwd"] or "").startswith(str(folder)) and fact["status"] != "zombie"
        ]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.2)


class Killer:
    """Chooses moments and victims; `kills` counts them by stage and victim."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.kills: Counter = Counter()

    def next(self, stages: list[str]) -> str:
        """The stage that is due: some kills in each, in their order, then again."""
        hit = {stage: sum(self.kills[stage, victim] for victim in VICTIMS) for stage in stages}
        return min(stages, key=lambda stage: hit[stage] // IN_A_ROW)

    def wait(self, command: subprocess.Popen, folder: Path) -> bool:
        """Wait for a random moment of the stage that is due; whether the command still runs."""

        def wait_while(condition) -> None:
            while command.poll() is None and condition():
                time.sleep(0.03)

        due = self.next(STAGES)
        wait_while(lambda: all(stage != due for _, stage in programs(command)))
        if due == "train" and self.random.random() < 0.7:  # where there is something to resume from
            wait_while(lambda: not any(folder.glob("results/train/*/*/work/checkpoint.pt")))
        until = time.monotonic() + self.random.uniform(0, SECONDS)
        wait_while(lambda: time.monotonic() < until)
        return command.poll() is None

    def kill(self, command: subprocess.Popen) -> str | None:
        """Kill a victim; returns which, None when it was gone before."""
        running = programs(command)
        present = {stage for _, stage in running}
        stage, victim = "between jobs", "snakemake"
        if running:
            stage = self.next([stage for stage in STAGES if stage in present])
            victim = self.random.choices(list(VICTIMS), list(VICTIMS.values()))[0]
        try:
            if victim == "group":
                os.killpg(command.pid, signal.SIGKILL)
            elif victim == "snakemake":
                command.kill()
            else:
                process = [process for process, of in running if of == stage][-1]
                (process if victim == "program" else process.parent() or process).kill()
        except (psutil.NoSuchProcess, ProcessLookupError):
            return None
        self.kills[stage, victim] += 1
        print(f"kill {self.kills.total()}: {victim} in {stage}", flush=True)
        return victim


def disturbed(killer: Killer, folder: Path, output: Path, limit: int) -> tuple[int, int]:
    """Give the command and kill until it ends; returns its exit code and the number of kills."""
    command, before, victim = start(folder, output), killer.kills.total(), None
    while victim not in ("group", "snakemake"):
        if killer.kills.total() >= limit or not killer.wait(command, folder):
            break
        victim = killer.kill(command)
    return command.wait(), killer.kills.total() - before


def wipe(folder: Path, first: str) -> None:
    """Remove the results of a stage and of those after it."""
    for stage in STAGES[STAGES.index(first) :]:
        shutil.rmtree(folder / "results" / stage, ignore_errors=True)


def campaign(killer: Killer, folder: Path, undisturbed: Path, limit: int) -> dict:
    """Kill until it is enough and the last command has ended well; counts what was found."""
    found = {"commands": 0, "good ends": 0, "runs resumed": 0, "faults": []}
    output, undisturbed_ends = folder.with_name("output.txt"), 0
    while True:
        begun = time.time()
        code, kills = disturbed(killer, folder, output, limit)
        logs = [
            log
            for log in (folder / "results/logs/train").rglob("*.log")
            if log.stat().st_mtime > begun
        ]
        resumed = ["resumes in epoch" in log.read_text(errors="replace") for log in logs]
        found["commands"] += 1
        found["runs resumed"] += sum(resumed)
        if code and not kills:
            found["faults"].append(
                f"a command failed without a kill:\n{output.read_text()[-2000:]}"
            )
            return found
        if code:
            continue
        found["good ends"] += 1
        undisturbed_ends = 0 if kills else undisturbed_ends + 1
        if undisturbed_ends == MISSED:
            found["faults"].append(f"no program of {killer.next(STAGES)} was seen in {MISSED} runs")
            return found
        found["faults"] += [f"outlives its command: {line}" for line in left_processes(folder, 30)]
        found["faults"] += differences(undisturbed, folder)
        print(f"{killer.kills.total()} kills, {len(found['faults'])} faults", flush=True)
        if killer.kills.total() >= limit:
            return found
        wipe(folder, killer.next(STAGES))


def main(given: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="kills-", ignore_cleanup_errors=True) as name:
        undisturbed, folder = (checkout(Path(name, one)) for one in ("undisturbed", "killed"))
        for one in (undisturbed, folder):
            (one / "kills.json").write_text(json.dumps(overlay(given.short)))
        output = Path(name, "output.txt")
        if code := start(undisturbed, output).wait():
            print(f"the undisturbed run failed ({code}):\n{output.read_text()[-2000:]}")
            return 1
        killer = Killer(given.seed)
        found = campaign(killer, folder, undisturbed, given.kills)
    rows = [
        [stage, *(killer.kills[stage, victim] for victim in VICTIMS)]
        for stage in [*STAGES, "between jobs"]
    ]
    rows.append(["all", *map(sum, list(zip(*rows))[1:])])
    print(table(["stage", *VICTIMS, "all"], [[*row, sum(row[1:])] for row in rows]))
    faults = Counter(found.pop("faults"))
    print(
        *(f"{count} {what}" for what, count in found.items()), f"{faults.total()} faults", sep=", "
    )
    print("".join(f"    {times} × {fault}\n" for fault, times in faults.most_common()), end="")
    return 1 if faults else 0


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument("--kills", type=int, default=200, help="how many; default: %(default)s")
    options.add_argument("--seed", type=int, default=1, help="of moments and victims; %(default)s")
    options.add_argument("--short", action="store_true", help="captions and dialogs only")
    sys.exit(main(options.parse_args()))
