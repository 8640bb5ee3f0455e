"""Damage what a user gives to every program that reads it, thousands of times, and count how the programs end.

Each case is one of tests/fuzz.py: exit 0 with whole files, or one line that names the place, and nothing left behind. The table
gives the cases by program and end; a case that broke the rule is told with its number, and its input is kept in --keep. Exit 1
if there was one. The same seed gives the same cases.

    python -m benchmarks.fuzz_inputs [--cases 10000] [--seed 0] [--program timedial]
"""

import argparse
import collections
import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scripts.common.program import SEED, whole_number
from tests.fuzz import SILENCE, attempt, place
from tests.fuzz_targets import TARGETS

PIECE = 250  # cases a process: a crash of a library (a signal) costs no more, and is found


def piece(name: str, seed: int, first: int, last: int, keep: Path) -> None:
    """Run the cases from first to last in this process; prints `case <end> <number> <seconds> <what>`, a line a case."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, last):
            print("\ncase begun", number, flush=True)
            outcome = attempt(TARGETS[name], seed, number, Path(folder) / "case")
            print(f"\ncase {outcome.kind.replace(' ', '_')} {number} {outcome.seconds:.3f} {outcome.problem!r}", flush=True)
            if outcome.problem:
                place(outcome.files, keep / f"{name}-{seed}-{number}".replace(" ", "_"))


def run_target(name: str, seed: int, cases: int, keep: Path) -> collections.Counter:
    """The ends of all cases of one target; tells of those that broke the rule."""
    ends: collections.Counter = collections.Counter()
    first = 0
    while first < cases:
        last = min(first + PIECE, cases)
        command = [sys.executable, "-m", "benchmarks.fuzz_inputs", "--piece", name, str(first), str(last), "--seed", str(seed),
                   "--keep", str(keep)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PIECE * SILENCE / 2)
            code, said, trouble = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as error:
            code, said, trouble = -1, (error.stdout or b"").decode(), "timed out"
        begun = first
        for line in said.splitlines():
            if not line.startswith("case "):  # of a library
                continue
            end, number, *rest = line.split(" ", 4)[1:]
            begun = int(number)
            if end == "begun":
                continue
            ends[end.replace("_", " ")] += 1
            if end not in ("accepted", "refused"):
                print(f"{name}: case {number} of seed {seed}: {rest[1]}", flush=True)
        if code:  # the case that had begun took the process with it
            ends["crash"] += 1
            print(f"{name}: case {begun} of seed {seed}: the process ended with {code}: {trouble.strip()[-300:]}", flush=True)
        first = begun + 1 if code else last
    return ends


def main(given: argparse.Namespace) -> None:
    names = given.program or list(TARGETS)
    if unknown := [name for name in names if name not in TARGETS]:
        sys.exit(f"error: no program {unknown[0]}; the programs are {', '.join(TARGETS)}")
    given.keep.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in names:
        begun = time.perf_counter()
        found[name] = run_target(name, given.seed, given.cases, given.keep)
        print(f"{name:<22}" + ", ".join(f"{end} {count:,}" for end, count in sorted(found[name].items()))
              + f" ({time.perf_counter() - begun:.0f} s)", flush=True)
    ends = sorted(set().union(*found.values()))
    print(f"\n{'':<22}" + "".join(f"{end:>14}" for end in ends))
    for name, counts in found.items():
        print(f"{name:<22}" + "".join(f"{counts[end]:>14,}" for end in ends))
    broken = sum(count for counts in found.values() for end, count in counts.items() if end not in ("accepted", "refused"))
    if broken:
        sys.exit(f"{broken} cases broke the rule; their input is in {given.keep}")
    with contextlib.suppress(OSError):  # not empty: of cases before
        given.keep.rmdir()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cases", type=whole_number(1, 10_000_000), default=10_000, help="of each program (default: %(default)s)")
    options.add_argument("--seed", type=SEED, default=0)
    options.add_argument("--program", action="append", help="only this one; may be given again")
    options.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "fuzz_inputs", help="where the input of broken cases goes")
    options.add_argument("--piece", nargs=3, metavar=("PROGRAM", "FIRST", "LAST"), help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.piece:
        piece(chosen.piece[0], chosen.seed, int(chosen.piece[1]), int(chosen.piece[2]), chosen.keep)
    else:
        main(chosen)
