"""Kill the workflow at random moments, give the same command again until it ends well, and compare with an undisturbed run.

A checkout in a temporary folder runs a reduced study (sample corpora of all studies, every paradigm, an MLM stage) once without
disturbance. In a second one SIGKILL hits, again and again and spread over all six stages, the whole process group, Snakemake
alone, a program alone or its launcher (a shell, or Accelerate) alone. Each time the command has ended well, every result is
compared with the undisturbed one (benchmarks/kills_compare.py says how); then the results from some stage on are removed, so
that there is work to kill.

Prints kills by stage and victim, runs that resumed, files and processes left over, differences. Exit code 1 for a difference, a
process that outlived the command that started it and its successor, or a command that failed without a kill.

    python -m benchmarks.kills --kills 200 --seed 1
    python -m benchmarks.kills --kills 8 --short      # captions and dialogs only; some minutes
"""

import argparse
import contextlib
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

from benchmarks.kills_compare import differences, left_over_files

ROOT = Path(__file__).parents[1]
STAGES = ["fetch", "clean", "build", "train", "evaluate", "publish"]
PROGRAM = re.compile(rf"scripts\.({'|'.join(STAGES)})\.\w")
VICTIMS = {"group": 4, "snakemake": 2, "program": 2, "launcher": 1}  # how often each is drawn
IN_A_ROW = 3  # kills in a stage before the next is due
SECONDS = 2.0  # a kill falls at most so long after a program of the stage, or a checkpoint, was seen

# What `--short` runs: a control, a run and one that stands on an MLM stage, of one dataset each.
SHORT = {"sample_sop": {"data": {"source": ["sample_activitynet"], "stride": [0]}}, "sample_dialogs_fill": {"methods": ["fill"]}}
DATA = {
    "sample_sop": {"source": ["sample_activitynet"], "stride": [0, 2]},
    "sample_nli": {"challenge_set": ["temp_order"], "train_templates": 4, "test_templates": 2},
    "sample_mctaco": {"unit_normalization": True},
    "sample_dialogs_mlm": {"max_dialogs": 40},
    "sample_dialogs_classify": {"max_dialogs": 40},
    "sample_dialogs_fill": {"max_dialogs": 40, "context_scope": "target"},
    "sample_dialogs_generate": {"max_dialogs": 40},
    "sample_dialogs_whole": {"max_dialogs": 40},
}


def overlay(short: bool) -> dict:
    """The reduced study, to be laid over config.yaml."""
    experiments = {name: {"data": data, "seeds": [1], "training": {"epochs": 2}} for name, data in DATA.items()}
    for name in SHORT if short else []:
        experiments[name] |= SHORT[name]
    return {"run": list(SHORT) if short else [name for name in DATA if name != "sample_dialogs_mlm"], "seeds": [1],
            "checkpoint_seconds": 0.05, "bootstrap_resamples": 100, "experiments": experiments}


def checkout(folder: Path, short: bool) -> Path:
    """The project's files in a new folder, with kills.json, the reduced study."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / "kills.json").write_text(json.dumps(overlay(short)))
    return folder


def start(folder: Path, output: Path) -> subprocess.Popen:
    """The command, in a process group of its own, its text in a file."""
    environment = {key: value for key, value in os.environ.items() if key != "TIMESTRIDE_MIRROR"} | {"SLURM_CONF": "/dev/null"}
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "kills.json"]
    with open(output, "w") as text:
        return subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, stdout=text, stderr=text)


def programs(command: subprocess.Popen) -> list[tuple[psutil.Process, str]]:
    """The programs that the command runs now, with their stages; of a program's processes the innermost come last."""
    found = []
    try:
        children = psutil.Process(command.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    for process in children:
        try:
            stages = [match[1] for word in process.cmdline() if (match := PROGRAM.match(word))]
            found += [(process.create_time(), process, stages[-1])] if stages else []
        except psutil.Error:
            continue
    return [(process, stage) for _, process, stage in sorted(found, key=lambda one: one[0])]


def left_processes(folder: Path, seconds: float) -> list[str]:
    """The processes that still work in the folder after so many seconds of grace: their command lines."""
    until = time.monotonic() + seconds
    while True:
        left = []
        for process in psutil.process_iter(["cwd", "cmdline", "status"]):
            if (process.info["cwd"] or "").startswith(str(folder)) and process.info["status"] != psutil.STATUS_ZOMBIE:
                left.append(" ".join(process.info["cmdline"] or [])[:150])
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.2)


class Killer:
    """Chooses moments and victims; remembers what it killed. `kills`: (stage, victim) -> number."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.kills: Counter = Counter()

    def next(self, stages: list[str]) -> str:
        """The stage that is due: some kills in each, in their order, then again."""
        hit = Counter()
        for (stage, _), times in self.kills.items():
            hit[stage] += times
        return min(stages, key=lambda stage: hit[stage] // IN_A_ROW)

    def wait(self, command: subprocess.Popen, folder: Path) -> bool:
        """Wait for a random moment of the stage that is due; False when the command ended before."""
        wanted = self.next(STAGES)
        while command.poll() is None and not any(stage == wanted for _, stage in programs(command)):
            time.sleep(0.05)
        if wanted == "train" and self.random.random() < 0.7:  # where there is something to resume from
            while command.poll() is None and not list(folder.glob("results/train/*/*/work/checkpoint.pt")):
                time.sleep(0.02)
        until = time.monotonic() + self.random.uniform(0, SECONDS)
        while command.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        return command.poll() is None

    def kill(self, command: subprocess.Popen) -> str | None:
        """Kill a victim; returns which, None when it was gone before."""
        running = programs(command)
        present = {stage for _, stage in running}
        stage = self.next([stage for stage in STAGES if stage in present]) if running else "between jobs"
        victim = self.random.choices(list(VICTIMS), list(VICTIMS.values()))[0] if running else "snakemake"
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
        print(f"kill {sum(self.kills.values())}: {victim} in {stage}", flush=True)
        return victim


def disturbed(killer: Killer, folder: Path, output: Path, wanted: int) -> tuple[int, int]:
    """Give the command once and kill until it ends; returns its exit code and the number of kills."""
    command, kills = start(folder, output), 0
    while sum(killer.kills.values()) < wanted and killer.wait(command, folder):
        victim = killer.kill(command)
        kills += victim is not None
        if victim in ("group", "snakemake"):
            break
    return command.wait(), kills


def wipe(folder: Path, first: str) -> None:
    """Remove the results of a stage and of those after it."""
    for stage in STAGES[STAGES.index(first):]:
        shutil.rmtree(folder / "results" / stage, ignore_errors=True)


def tail(file: Path) -> str:
    return "\n".join(file.read_text(errors="replace").splitlines()[-25:])


def campaign(killer: Killer, folder: Path, undisturbed: Path, wanted: int) -> dict:
    """Kill until it is enough and the last command has ended well; what was found, by kind."""
    found = {"commands": 0, "ends": 0, "resumed": 0, "unlocked": 0, "files": Counter(), "faults": []}
    output = folder.parent / "output.txt"
    while True:
        enough = sum(killer.kills.values()) >= wanted
        begun = time.time()
        code, kills = disturbed(killer, folder, output, wanted)
        said = output.read_text(errors="replace")
        found["commands"] += 1
        found["resumed"] += sum("resumes in epoch" in log.read_text(errors="replace")
                                for log in (folder / "results/logs/train").rglob("*.log") if log.stat().st_mtime > begun)
        found["unlocked"] += said.count("Unlocked ")
        if code and not kills:
            found["faults"].append(f"a command failed that nobody had disturbed:\n{tail(output)}")
            wipe(folder, "fetch")
            shutil.rmtree(folder / ".snakemake", ignore_errors=True)
            if enough or len(found["faults"]) > 20:
                return found
        if code:
            continue
        found["ends"] += 1
        found["faults"] += [f"outlives its command: {line}" for line in left_processes(folder, 30)]
        found["files"].update(left_over_files(folder))
        found["faults"] += differences(undisturbed, folder)
        print(f"{sum(killer.kills.values())} kills, {found['ends']} good ends, {len(found['faults'])} faults", flush=True)
        if enough or sum(killer.kills.values()) >= wanted:
            return found
        wipe(folder, killer.next(STAGES))


def table(kills: Counter) -> str:
    """Kills by stage and victim, with sums."""
    rows = [[stage, *(kills[stage, victim] for victim in VICTIMS)] for stage in [*STAGES, "between jobs"]]
    rows.append(["all", *(sum(row[place] for row in rows) for place in range(1, len(VICTIMS) + 1))])
    lines = [["stage", *VICTIMS, "all"], *([*row, sum(row[1:])] for row in rows)]
    return "\n".join(f"{line[0]:<14}" + "".join(f"{cell:>11}" for cell in line[1:]) for line in lines)


def main(given: argparse.Namespace) -> int:
    with contextlib.ExitStack() as stack:
        place = given.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="kills-", ignore_cleanup_errors=True))
        undisturbed, folder = (checkout(Path(place) / name, given.short) for name in ("undisturbed", "killed"))
        if code := start(undisturbed, Path(place) / "output.txt").wait():
            print(f"the undisturbed run failed ({code}):\n{tail(Path(place) / 'output.txt')}")
            return 1
        killer = Killer(given.seed)
        found = campaign(killer, folder, undisturbed, given.kills)
    print(table(killer.kills))
    print(f"{found['commands']} commands, {found['ends']} of them ended well; {found['unlocked']} unlocked the folder, "
          f"{found['resumed']} runs resumed\nleft-over files: {sum(found['files'].values())}")
    print("".join(f"    {times} × {name}\n" for name, times in found["files"].most_common()), end="")
    print(f"faults (differences, processes left over, failures): {len(found['faults'])}")
    print("".join(f"    {times} × {fault}\n" for fault, times in Counter(found["faults"]).most_common()), end="")
    return 1 if found["faults"] else 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--kills", type=int, default=200, help="how many SIGKILLs; default: %(default)s")
    arguments.add_argument("--seed", type=int, default=1, help="of moments and victims; default: %(default)s")
    arguments.add_argument("--folder", type=Path, help="a new folder to work in, which stays; default: a temporary one")
    arguments.add_argument("--short", action="store_true", help="a smaller study: captions and dialogs only")
    sys.exit(main(arguments.parse_args()))
