"""What the benchmarks share: ways that take turns, a checkout, its workflow, tables."""

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
    """A parser whose help is the text of a benchmark."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def in_turn(
    ways: dict[str, Callable[[], object]],
    turns: int,
    warm: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Seconds of each way over so many turns, the ways one after the other in each.

    warm: turns before, which do not count. By default the clock counts CPU seconds of this
    process, of which other work on the machine takes none.
    """
    seconds = dict.fromkeys(ways, 0.0)
    for turn in range(warm + turns):
        for name, way in ways.items():
            begun = clock()
            way()
            seconds[name] += (clock() - begun) * (turn >= warm)
    return seconds


def ratios(seconds: dict[str, float], items: int) -> str:
    """Items a second of each way, and how many times as fast as the others the first way is."""
    first, *others = seconds
    rates = ", ".join(f"{name} {items / spent:,.1f}/s" for name, spent in seconds.items())
    return (
        f"{rates}; ratio {', '.join(f'{seconds[other] / seconds[first]:.2f}' for other in others)}"
    )


def checkout(folder: Path) -> Path:
    """The project's files in a new folder."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def workflow(folder: Path, configuration: dict, target: str) -> None:
    """Make a target of a configuration in a checkout; what fails is told with its last lines."""
    (folder / "study.json").write_text(json.dumps(configuration))
    command = [sys.executable, "-m", "snakemake", target, "--cores", "2", "--configfile"]
    done = subprocess.run([*command, "study.json"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(
            f"{target} failed ({done.returncode}): {(done.stdout + done.stderr)[-2000:]}"
        )


def table(head: list, rows: list[list]) -> str:
    """A table in Markdown, all columns but the first flush right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
