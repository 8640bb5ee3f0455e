"""Kill and mislead all parts of timestride, and count how each case ends.

A case ends well in one of three ways:
  * The program refuses the input, with one sentence that names the place.
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
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from benchmarks import kills
from benchmarks.measure import options_of, table
from scripts.data.record import HISTORIES, METRICS, SCORES, read_kept, read_runs
from scripts.running.code_lock import ROOT
from scripts.running.program import SEED, UserError, number
from tests.fuzz import GIVEN, TARGETS, attempt, place
from tests.fuzz_damage import damaged_file

ENDS = ["refused", "equal", "accepted", "traceback", "hang", "wrong"]
FAULTS = ENDS[3:]
LONGEST = 120  # the most seconds of a case
KILLS, RECORDS = 12, 200
RECORD = ROOT / "docs/record/choices"
MODELS = ["fetch model", "facts of a model", "train"]
# For each class: the targets of tests/fuzz_targets.yaml, and the number of cases of each.
FUZZED: dict[str, tuple[list[str], int]] = {
    "models, hostile": (MODELS, 100),
    "configurations, broken": (["configuration"], 300),
    "inputs, broken": ([name for name in GIVEN if name not in ("configuration", *MODELS)], 50),
}
End = tuple[str, str]  # the name of the end, and the text about it


def fuzzed_case(target: str, seed: int, case: int, keep: Path) -> End:
    """Run a case of the fuzzer and return its end; the input of a fault goes to `keep`."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # plans look for results/ in it
        outcome = attempt(TARGETS[target], seed, case, Path(folder) / "case")
        os.chdir("/")
    end = outcome.kind
    if outcome.problem:
        end = {"silent": "hang"}.get(end, end if end in FAULTS else "wrong")
        place(outcome.files, keep / f"{target}-{seed}-{case}".replace(" ", "_"))
    return end, f"case {case} of {target}, seed {seed}: {outcome.problem}"


def fuzzed(kind: str, given: argparse.Namespace) -> Iterator[End]:
    """Yield the ends of the cases of a class. The cases run in a process of their own, so a crash
    of a library ends only that process.
    """
    targets, cases = FUZZED[kind]
    context, pool = multiprocessing.get_context("spawn"), None
    for target in targets:
        for case in range(max(1, round(cases * given.share))):
            pool = pool or ProcessPoolExecutor(1, context, max_tasks_per_child=250)
            running: Future = pool.submit(fuzzed_case, target, given.seed, case, given.keep)
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


def killed(given: argparse.Namespace) -> Iterator[End]:
    """Yield the ends of a study that is killed in each stage and started again."""
    rng = random.Random(f"kills {given.seed}")
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as name:
        study = kills.finished_study(Path(name, "undisturbed"), kills.overlay(short=True))
        folder = kills.copy_of(study, Path(name, "study"))
        for case in range(max(1, round(KILLS * given.share))):
            yield kills.killed(study, folder, rng, case)


def read_whole(record: Path) -> list:
    """Return all that the readers of a record read."""
    return [read_runs(record), *(read_kept(record, name) for name in (SCORES, HISTORIES, METRICS))]


def damaged_record(rng: random.Random, folder: Path) -> End:
    """Damage one file of a record, and return how its readers end."""
    shutil.copytree(RECORD, folder)
    file = rng.choice(sorted(file for file in folder.rglob("*") if file.is_file()))
    content = damaged_file(file.name, file.read_bytes(), rng, huge=False)
    file.unlink()
    place({file.name: content}, file.parent)
    try:
        end = "equal" if read_whole(folder) == read_whole(RECORD) else "wrong"
        return end, f"{file.name} was read"
    except UserError as error:
        return ("refused" if str(file) in str(error) else "wrong"), str(error)
    except Exception as error:
        return "traceback", f"{file.name}: {error!r}"


def damaged_records(given: argparse.Namespace) -> Iterator[End]:
    for case in range(max(1, round(RECORDS * given.share))):
        with tempfile.TemporaryDirectory() as folder:
            rng = random.Random(f"record {given.seed} {case}")
            yield damaged_record(rng, Path(folder, "record"))


def main(given: argparse.Namespace) -> int:
    begun, counts = time.monotonic(), {}
    own = {"kills": killed, "the record, damaged": damaged_records}
    for kind in [*own, *FUZZED]:
        if not any(text in kind for text in given.only):
            continue
        counts[kind] = Counter()
        for end, said in own[kind](given) if kind in own else fuzzed(kind, given):
            counts[kind][end] += 1
            if end in FAULTS:
                print(f"{kind}: {end}: {said}", flush=True)
    counts["all"] = sum(counts.values(), Counter())
    rows = [[kind, of.total(), *(of[end] for end in ENDS)] for kind, of in counts.items()]
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
    options.add_argument(
        "--keep",
        type=Path,
        default=Path(tempfile.gettempdir(), "faults"),
        help="where the input of faults goes",
    )
    sys.exit(main(options.parse_args()))
