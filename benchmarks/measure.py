"""Code that the benchmarks share: ways in turn, the cost of a command, a checkout, tables."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]


def options_of(doc: str) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of a benchmark."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def in_turn(
    ways: dict[str, Callable[[], object]],
    turns: int,
    warm: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Return the seconds of each way over `turns` turns; each turn calls the ways in order.

    warm: the number of turns before, which do not count. By default the clock counts CPU seconds of
    this process, so other work on the machine does not count.
    """
    seconds = dict.fromkeys(ways, 0.0)
    for turn in range(warm + turns):
        for name, way in ways.items():
            begun = clock()
            way()
            seconds[name] += (clock() - begun) * (turn >= warm)
    return seconds


def ratios(seconds: dict[str, float], items: int) -> str:
    """Return the items a second of each way, and how many times as fast the first way is."""
    first, *others = seconds
    rates = ", ".join(f"{name} {items / spent:,.1f}/s" for name, spent in seconds.items())
    return (
        f"{rates}; ratio {', '.join(f'{seconds[other] / seconds[first]:.2f}' for other in others)}"
    )


def memory(process: psutil.Process) -> float:
    """Return the MiB of a process and its descendants, shared memory once; 0 if it has ended."""
    with suppress(psutil.Error):
        processes = [process, *process.children(recursive=True)]
        return sum(one.memory_full_info().pss for one in processes) / 2**20
    return 0.0


def measured(
    command: list, folder: Path = ROOT, output: Path | None = None
) -> tuple[float, float, float]:
    """Run a command of Python; return wall seconds, CPU seconds and peak memory in MiB.

    The processes that it starts count, too. output: the file for its printed text.
    """
    before, begun, peak = os.times(), time.perf_counter(), 0.0
    with open(output or os.devnull, "w") as text:
        running = psutil.Popen(
            [sys.executable, *map(str, command)], cwd=folder, stdout=text, stderr=text
        )
    while running.poll() is None:
        peak = max(peak, memory(running))
        time.sleep(0.1)
    seconds, after = time.perf_counter() - begun, os.times()
    if running.returncode:
        name = " ".join(map(str, command[:4]))
        raise SystemExit(
            f"{name} failed ({running.returncode}): {output and output.read_text()[-2000:]}"
        )
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return seconds, cpu, peak


def checkout(folder: Path) -> Path:
    """Copy the project's files into a new folder."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def workflow(folder: Path, configuration: dict, *options: str) -> tuple[float, float, float]:
    """Run the workflow in a checkout; return its cost like measured(). Its output: <name>.txt."""
    name = configuration["name"]
    (folder / f"{name}.json").write_text(json.dumps(configuration))
    command = ["-m", "snakemake", *options, "--cores", 2, "--configfile", f"{name}.json"]
    return measured(command, folder, folder / f"{name}.txt")


def table(head: list, rows: list[list]) -> str:
    """Return a Markdown table; all columns but the first are aligned right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
