"""Damage what a user gives to every program that reads it, thousands of times,
and count how they end.

Each case is one of tests/fuzz.py: exit 0 with whole files, or one line that names the place, and
nothing left behind. The table gives the cases by program and end. A case that broke the rule is
printed with its number, and its input goes to --keep; exit 1 if there was one. The same seed gives
the same cases.

    python -m benchmarks.fuzz_inputs [--cases 10000] [--seed 0] [--program timedial]
"""

import argparse
import multiprocessing
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from benchmarks.measure import options_of, table
from scripts.running.program import SEED, whole_number
from tests.fuzz import attempt, place
from tests.fuzz_targets import TARGETS

GOOD = ["accepted", "refused"]


def case(name: str, seed: int, number: int, keep: Path) -> tuple[str, str]:
    """The end of a case and the rule that it broke, if any; then its input is in `keep`."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = attempt(TARGETS[name], seed, number, Path(folder) / "case")
    if outcome.problem:
        place(outcome.files, keep / f"{name}-{seed}-{number}".replace(" ", "_"))
    return outcome.kind, outcome.problem


def run_target(name: str, seed: int, cases: int, keep: Path) -> Counter:
    """The ends of all cases of a program, in a process that a crash of a library costs alone."""
    ends, context, pool = Counter(), multiprocessing.get_context("spawn"), None
    for number in range(cases):
        pool = pool or ProcessPoolExecutor(1, context, max_tasks_per_child=250)
        try:
            end, problem = pool.submit(case, name, seed, number, keep).result()
        except BrokenProcessPool as error:
            end, problem, pool = "crash", str(error), None
        ends[end] += 1
        if end not in GOOD:
            print(f"{name}: case {number} of seed {seed}: {problem}", flush=True)
    return ends


def main(given: argparse.Namespace) -> None:
    found = {}
    for name in given.program or TARGETS:
        found[name] = run_target(name, given.seed, given.cases, given.keep)
        print(f"{name}: {dict(found[name])}", flush=True)
    ends = sorted(set().union(*found.values()))
    rows = [[name, *(counts[end] for end in ends)] for name, counts in found.items()]
    print(table(["program", *ends], rows))
    broken = sum(counts.total() - sum(counts[end] for end in GOOD) for counts in found.values())
    if broken:
        sys.exit(f"{broken} cases broke the rule; their input is in {given.keep}")


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument(
        "--cases",
        type=whole_number(1, 10_000_000),
        default=10_000,
        help="of each program; default: %(default)s",
    )
    options.add_argument("--seed", type=SEED, default=0)
    options.add_argument("--program", action="append", choices=TARGETS, help="may be given again")
    options.add_argument(
        "--keep",
        type=Path,
        default=Path(tempfile.gettempdir()) / "fuzz_inputs",
        help="where the input of broken cases goes; default: %(default)s",
    )
    main(options.parse_args())
