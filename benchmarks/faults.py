"""Kill, damage, fill and mislead all parts of timestride, and count how each case ends.

A case ends well in one of four ways:
  * The program refuses the input, with one sentence that names the place.
  * The program rewrites the file.
  * All results are equal to those of an undisturbed run.
  * The program accepts a user's own input, and its files are whole.
These are faults: a traceback, a hang, and a wrong end (another result, a half file, a refusal
without a place). Each fault is printed, its input goes to --keep, and the exit code is 1. The same
seed gives the same cases, except for the moments of kills.

    python -m benchmarks.faults                          # a quarter of an hour on two cores
    python -m benchmarks.faults --share 5 --only inputs  # five times as many cases of one class
"""

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path

from benchmarks import disturbed
from benchmarks.measure import options_of, table
from scripts.running.program import SEED, number
from tests.fuzz import Outcome, attempt, attempt_full, attempt_verified, place, small_disk
from tests.fuzz_servers import attempt_api, attempt_server
from tests.fuzz_targets import GIVEN, TARGETS
from tests.fuzz_targets_made import MADE
from tests.fuzz_targets_models import MODELS

ENDS = ["refused", "rewritten", "equal", "accepted", "traceback", "hang", "wrong"]
FAULTS = ENDS[4:]
LONGEST = 120  # the most seconds of a case
End = tuple[str, str]  # the name of the end, and the text about it

# For each class: the function that runs a case, the targets, the number of cases of each target.
FUZZED: dict[str, tuple[Callable[..., Outcome], list[str], int]] = {
    "results of programs, damaged": (attempt_verified, list(MADE), 20),
    "full disks": (attempt_full, [name for name in TARGETS if TARGETS[name].outputs], 6),
    "hostile servers": (attempt_server, ["server"], 120),
    "hostile servers of models": (attempt_api, ["api"], 60),
    "hostile models": (attempt, [name for name in MODELS if name != "fetch source"], 100),
    "configurations, broken": (attempt, ["configuration"], 300),
    "inputs, broken": (
        attempt,
        [name for name in GIVEN if name not in ("configuration", *list(MODELS)[1:])],
        50,
    ),
}
# The number of cases of each class.
DISTURBED = {"kills": 12, "results of a study, damaged": 1, "a study, damaged": 12}
RECORDS = ["results/.records/*", ".snakemake/timestride/*"]


# ---- cases in this project


def fuzzed_case(kind: str, target: str, seed: int, number: int, keep: Path) -> End:
    """Run a case of the fuzzer and return its end; the input of a fault goes to `keep`."""
    run = FUZZED[kind][0]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # plans look for results/ in it
        given = (seed, number, Path(folder) / "case")
        outcome = run(*given) if target not in TARGETS else run(TARGETS[target], *given)
        os.chdir("/")
    end = outcome.kind
    if outcome.problem:
        end = {"silent": "hang"}.get(end, end if end in FAULTS else "wrong")
        place(outcome.files, keep / f"{target}-{seed}-{number}".replace(" ", "_"))
    return end, f"case {number} of {target}, seed {seed}: {outcome.problem}"


def fuzzed(kind: str, given: argparse.Namespace) -> Iterator[End]:
    """Yield the ends of the cases of a class. The cases run in a process of their own, so a crash
    of a library ends only that process.
    """
    _, targets, cases = FUZZED[kind]
    context, pool = multiprocessing.get_context("spawn"), None
    for target in targets:
        for case in range(max(1, round(cases * given.share))):
            pool = pool or ProcessPoolExecutor(1, context, max_tasks_per_child=250)
            running: Future = pool.submit(fuzzed_case, kind, target, given.seed, case, given.keep)
            try:
                yield running.result(LONGEST)
            except (TimeoutError, BrokenProcessPool) as error:
                end = "hang" if isinstance(error, TimeoutError) else "traceback"
                for process in list((pool._processes or {}).values()):
                    process.kill()
                pool = None
                yield end, f"case {case} of {target}, seed {given.seed}: {error or 'no end'}"
    if pool:
        pool.shutdown()


# ---- cases in a study


def studied(
    kind: str, given: argparse.Namespace, study: Callable[[], Path], folder: Path
) -> Iterator[End]:
    """Yield the ends of the cases of a class that disturb a whole study."""
    rng, cases = random.Random(f"{kind} {given.seed}"), DISTURBED[kind] * given.share
    disturbed.copy_of(study(), folder)
    if kind == "kills":
        for case in range(max(1, round(cases))):
            yield disturbed.killed(study(), folder, rng, case)
    elif kind == "a study, damaged":
        read = disturbed.kinds(list(disturbed.readers(study())))
        read |= {
            name: [str(file.relative_to(study())) for file in study().glob(name) if file.is_file()]
            for name in RECORDS
        }
        for _ in range(max(1, round(cases))):
            files = rng.choice(list(filter(None, read.values())))
            yield disturbed.damaged_study(study(), folder, rng, rng.choice(files), files)
    else:
        yield from disturbed.damaged_reads(study(), folder, rng, given.share)


def main(given: argparse.Namespace) -> int:
    begun, counts = time.monotonic(), {}

    def count(kind: str, ends: Iterator[End]) -> None:
        counts[kind] = Counter()
        for end, said in ends:
            counts[kind][end] += 1
            if end in FAULTS:
                print(f"{kind}: {end}: {said}", flush=True)
        print(f"{kind}: {dict(counts[kind])}", flush=True)

    kinds = [*DISTURBED, *FUZZED]
    chosen = [kind for kind in kinds if any(text in kind for text in given.only)]
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as name:
        try:
            with small_disk(Path(name, "disk"), 64):
                pass
        except OSError as error:
            print(f"full disks are left out: {error}")
            chosen = [kind for kind in chosen if kind != "full disks"]
        study = cache(lambda: disturbed.undisturbed_study(Path(name, "undisturbed")))
        if set(chosen) & set(DISTURBED):
            disturbed.readers(study())  # before two classes ask for it
        with ThreadPoolExecutor(given.jobs) as threads:
            running = [
                threads.submit(
                    count,
                    kind,
                    studied(kind, given, study, Path(name, f"study-{place}"))
                    if kind in DISTURBED
                    else fuzzed(kind, given),
                )
                for place, kind in enumerate(chosen)
            ]
        for one in running:
            one.result()
    counts["all"] = sum(counts.values(), Counter())
    rows = [
        [kind, ends.total(), *(ends[end] for end in ENDS)]
        for kind in [*chosen, "all"]
        for ends in [counts[kind]]
    ]
    print(table(["class", "tried", *ENDS], rows))
    faults = sum(counts["all"][end] for end in FAULTS)
    print(f"seed {given.seed}, {(time.monotonic() - begun) / 60:.0f} minutes, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument("--share", type=number(0.001, 1000), default=1, help="of the cases")
    options.add_argument(
        "--only", nargs="+", default=[""], help="classes whose name holds one of these"
    )
    options.add_argument("--seed", type=SEED, default=1)
    options.add_argument("--jobs", type=int, default=2, help="classes at once; default: 2")
    options.add_argument(
        "--keep",
        type=Path,
        default=Path(tempfile.gettempdir()) / "faults",
        help="where the input of faults goes; default: %(default)s",
    )
    sys.exit(main(options.parse_args()))
