"""Code that the benchmarks share: ways in turn, a checkout, a workflow in it, tables."""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


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


def checkout(folder: Path) -> Path:
    """Copy the project's files into a new folder."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def workflow(folder: Path, configuration: dict, *options: str) -> None:
    """Run the workflow in a checkout. Its output: <name>.txt."""
    name = configuration["name"]
    (folder / f"{name}.json").write_text(json.dumps(configuration))
    command = [*"-m snakemake --cores 2".split(), *options, "--configfile", f"{name}.json"]
    with open(folder / f"{name}.txt", "w") as text:
        given = {"cwd": folder, "stdout": text, "stderr": text}
        done = subprocess.run([sys.executable, *command], **given)
    if done.returncode:
        said = (folder / f"{name}.txt").read_text()[-2000:]
        raise SystemExit(f"{name} failed ({done.returncode}): {said}")


def table(head: list, rows: list[list]) -> str:
    """Return a Markdown table; all columns but the first are aligned right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
