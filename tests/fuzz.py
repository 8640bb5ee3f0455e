"""A seeded fuzzer: it damages the input of a program, runs the program, and checks that the program
kept the rule.

The rule: the program exits with 0 and whole files, or prints one line that begins with `error: `
and names a file or an argument, with an exit code that is not 0. It prints no traceback, leaves
nothing behind, and is never silent for SILENCE seconds. tests/project/test_fuzz.py runs a few cases
of each target of tests/fuzz_targets.py, benchmarks/faults.py runs many. Target, seed and number
identify a case; the same three give the same case again.
"""

import contextlib
import io
import logging
import os
import random
import runpy
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow.parquet as pq

from scripts.data.manifest import write_manifest
from tests.fuzz_damage import (
    DAMAGES,
    FOLDER,
    MISSING,
    damaged_arguments,
    damaged_file,
    damaged_result,
)

SILENCE = 20  # CPU seconds, so that a busy machine fails nothing
LONGEST = 2000  # the most characters of a message


@dataclass(frozen=True)
class Target:
    """A program, its input, and the files that it writes under {out}."""

    module: str
    files: dict[str, bytes]
    arguments: list[str]  # {in} and {out} stand for folders
    outputs: tuple[str, ...] = ()
    stdin: str | None = None  # the file that it reads as standard input
    damaged: tuple[str, ...] = ()  # the files to damage; if empty, all files
    keeps: str | None = None  # the folder under {out} where work stays after an error
    places: tuple[str, ...] = ()  # names that an error may give instead of a file


@dataclass
class Outcome:
    """The result of a case; `problem` is empty if the program kept the rule."""

    code: int | None
    seconds: float
    said: str
    problem: str = ""
    files: dict = field(default_factory=dict)
    equal: bool = False  # whether an accepted result equals the right one

    @property
    def kind(self) -> str:
        good = "refused" if self.code else "equal" if self.equal else "accepted"
        return self.problem.split(":")[0] or good


# ---- Running a case


class Silent(BaseException):
    """The program printed nothing for SILENCE seconds."""


def _ring(*_) -> None:
    raise Silent


def place(files: dict, folder: Path) -> None:
    """Write the files of a case; {in} in a file stands for the folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if content is FOLDER:
            (folder / name).mkdir()
        elif content is not MISSING:
            (folder / name).write_bytes(content.replace(b"{in}", str(folder).encode()))


def filled(arguments: list[str], given: Path, output: Path) -> list[str]:
    """Return the arguments of a target with the folders in place of {in} and {out}."""
    return [text.replace("{in}", str(given)).replace("{out}", str(output)) for text in arguments]


def called(module: str, arguments: list[str], stdin: bytes) -> tuple[int | None, str, str]:
    """Run a program in this process like `python -m`; return its exit code, its stderr, and the
    problem.
    """
    said, handlers, kept, environment = (
        io.StringIO(),
        logging.getLogger().handlers[:],
        (sys.argv, sys.stdin),
        dict(os.environ),
    )
    sys.argv, sys.stdin = [module, *arguments], io.TextIOWrapper(io.BytesIO(stdin))
    before = signal.signal(signal.SIGPROF, _ring)
    signal.setitimer(signal.ITIMER_PROF, SILENCE)
    try:
        with (
            contextlib.redirect_stderr(said),
            contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            runpy.run_module(module, run_name="__main__", alter_sys=False)
        return 0, said.getvalue(), ""
    except SystemExit as end:
        return end.code or 0, said.getvalue(), ""
    except Silent:
        return None, said.getvalue(), f"silent: for {SILENCE} s"
    except BaseException as error:
        return None, said.getvalue(), f"traceback: {type(error).__name__}: {error}"[:300]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        sys.argv, sys.stdin = kept
        os.environ.clear()  # training sets its own
        os.environ.update(environment)
        logging.getLogger().handlers[:] = handlers


def judged(target: Target, output: Path, code: int | None, said: str) -> str:
    """Return the fault of an end, or an empty text."""
    if "Traceback" in said or "unexpected error" in said:
        return "traceback: " + said.strip().splitlines()[-1][:300]
    left = [
        path
        for path in output.rglob("*")
        if path.is_file() and path.relative_to(output).parts[0] != target.keeps
    ]
    if hidden := [path for path in output.parent.rglob("*") if path.name.startswith(".")]:
        return f"left over: {hidden[0].name}"
    if code == 0:
        missing = [name for name in target.outputs if not (output / name).is_file()]
        for path in left:
            if path.suffix == ".parquet":
                pq.ParquetFile(path).read()
        return f"partial: no {missing[0]}" if missing else ""
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    if len(errors) != 1 or said.splitlines()[-1] != errors[0]:
        return f"no single line: {said[:300]!r}"
    if len(errors[0]) > LONGEST:
        return f"long line: {len(errors[0])} characters"
    if left:
        return f"left over: {left[0].name}"
    names = [Path(name).name for name in target.files] + [
        "argument -",
        "standard input",
        "--",
        "/in",
        *target.places,
    ]
    return "" if any(name in errors[0] for name in names) else f"no place: {errors[0][:300]}"


def attempt(
    target: Target, seed: int, number: int, folder: Path, huge_share: float = 0.005
) -> Outcome:
    """Run one case in a fresh folder."""
    rng = random.Random(f"{target.module} {sorted(target.files)} {seed} {number}")
    files, arguments, huge = dict(target.files), target.arguments, rng.random() < huge_share
    if rng.random() < 0.04:
        arguments = damaged_arguments(arguments, rng)
    else:
        name = rng.choice(target.damaged or sorted(files))
        files[name] = damaged_file(name, files[name], rng, huge)
    shutil.rmtree(folder, ignore_errors=True)
    return run_case(target, files, arguments, folder)


def run_case(target: Target, files: dict, arguments: list[str], folder: Path) -> Outcome:
    """Run a target with these files and arguments; it writes in folder/work."""
    place(files, folder / "in")
    (folder / "work").mkdir(parents=True, exist_ok=True)
    output = folder / "work/out"
    arguments = filled(arguments, folder / "in", output)
    stdin = files[target.stdin] if target.stdin else b""
    begun = time.perf_counter()
    code, said, problem = called(
        target.module, arguments, stdin if isinstance(stdin, bytes) else b""
    )
    seconds = time.perf_counter() - begun
    return Outcome(code, seconds, said, problem or judged(target, output, code, said), files)


def attempt_verified(target: Target, seed: int, number: int, folder: Path) -> Outcome:
    """Run one case whose files have a manifest. One file is damaged and differs from the manifest,
    like a damaged result of an earlier stage. The program may accept only an equal result.
    """
    rng = random.Random(f"{target.module} {sorted(target.files)} {seed} {number} verified")
    shutil.rmtree(folder, ignore_errors=True)
    place(target.files, folder / "in")
    for part in {(folder / "in" / name).parent for name in target.files}:
        names = sorted(file.name for file in part.iterdir() if file.is_file())
        write_manifest(part, names, part / "manifest.json")
    name, how = rng.choice(sorted(target.files)), rng.choice(sorted(DAMAGES))
    content = (folder / "in" / name).read_bytes()
    (folder / "in" / name).unlink()
    other = target.files[rng.choice(sorted(target.files))]
    files = {name: damaged_result(how, content, other, rng)}
    outcome = run_case(target, files, target.arguments, folder)
    if outcome.code == 0 and files[name] != content:
        outcome.problem = outcome.problem or f"wrong: {name} was accepted after {how}"
    outcome.equal = True
    return outcome


@contextlib.contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[None]:
    """Mount a disk of `kib` KiB on a folder; raise OSError if the system cannot."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", folder]
    if os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        raise OSError("a full disk is simulated by a small tmpfs, which needs root and mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def attempt_full(target: Target, seed: int, number: int, folder: Path) -> Outcome:
    """Run one case on a disk that has room for a few pages."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = random.Random(f"{target.module} {seed} {number} full").choice([1, 2, 3, 4, 6, 9, 16])
    with small_disk(folder / "work", 4 * pages):
        full = replace(target, places=("no space left",))
        return run_case(full, target.files, target.arguments, folder)
