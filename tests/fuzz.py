"""A seeded fuzzer: it damages the input of a program, runs the program, and checks that the program
kept the rule.

The rule: the program exits with 0 and whole files, or prints one line that begins with `error: `
and names a file or an argument, with an exit code that is not 0. It prints no traceback, leaves
nothing behind, and is never silent for SILENCE seconds. tests/project/test_fuzz.py runs a few cases
of each target of tests/fuzz_targets.yaml, benchmarks/faults.py runs many. Target, seed and number
identify a case; the same three give the same case again.
"""

import contextlib
import io
import json
import logging
import os
import random
import runpy
import shlex
import shutil
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from safetensors.numpy import save
from tokenizers import Tokenizer

from scripts.fetch.model import word_pieces
from tests.fuzz_damage import FOLDER, MISSING, damaged_arguments, damaged_file
from tests.tiny_weights import bert_weights

SILENCE = 20  # CPU seconds, so that a busy machine fails nothing
LONGEST = 2000  # the most characters of a message


@dataclass(frozen=True)
class Target:
    """A program, its input, and the files that it writes under {out}."""

    module: str
    files: dict[str, bytes]
    arguments: list[str]  # {in} and {out} stand for folders
    outputs: list[str] = field(default_factory=list)
    stdin: str | None = None  # the file that it reads as standard input
    damaged: list[str] = field(default_factory=list)  # the files to damage; if empty, all files
    keeps: str | None = None  # the folder under {out} where work stays after an error
    places: list[str] = field(default_factory=list)  # what an error may name instead of a file


@dataclass
class Outcome:
    """The result of a case; `problem` is empty if the program kept the rule."""

    code: int | None
    seconds: float
    said: str
    problem: str = ""
    files: dict = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.problem.split(":")[0] or ("refused" if self.code else "accepted")


# ---- Targets


@cache
def tokenizer() -> Tokenizer:
    """Return a tokenizer of a few words."""
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words.txt"
        words.write_text("open close take eat man\n")
        return word_pieces(words, sentinel=False)


def table(schema: pa.Schema | None, *rows: dict) -> bytes:
    """Return a Parquet file of a schema; a value that a row leaves out is missing."""
    if schema is not None:
        schema = schema.with_metadata({"timestride": "{}"})
        rows = tuple(dict.fromkeys(schema.names) | row for row in rows)
    written = io.BytesIO()
    whole = pa.Table.from_pylist(list(rows), schema=schema)
    pq.write_table(whole, written, write_page_checksum=False)
    return written.getvalue()


def content_of(name: str, value) -> bytes:
    """Return the content of a file as its suffix writes this value of fuzz_targets.yaml."""
    if isinstance(value, str):
        return value.encode()
    if name.endswith(".parquet"):
        schema = value.get("schema")
        rows = [row | value.get("each", {}) for row in value["rows"]]
        return table(schema and resolve_name(schema), *rows)
    if name.endswith(".zip"):
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as archive:
            for member, text in value.items():
                archive.writestr(zipfile.ZipInfo(member), text, zipfile.ZIP_DEFLATED)
        return written.getvalue()
    if value is None and name.endswith("tokenizer.json"):
        return tokenizer().to_str().encode()
    if value is None:
        return save(bert_weights(tokenizer().get_vocab_size(), 1, width=8, inner=8, positions=32))
    return json.dumps(value).encode()


def read_targets() -> dict[str, Target]:
    text = Path(__file__).with_name("fuzz_targets.yaml").read_text(encoding="utf-8")
    targets = {}
    for name, given in yaml.load(text, yaml.CSafeLoader).items():
        given["files"] = {file: content_of(file, value) for file, value in given["files"].items()}
        targets[name] = Target(**given | {"arguments": shlex.split(given["arguments"])})
    return targets


TARGETS = read_targets()
# Programs that evaluate runs and metrics read only results, which manifests protect.
RESULTS = ("evaluate runs", "evaluate metrics")
GIVEN = [name for name in TARGETS if not name.startswith(RESULTS)]


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


def stdin_of(target: Target, folder: Path) -> bytes:
    """Return the standard input of a target, from its file in the folder of a case."""
    file = folder / (target.stdin or "none")
    return file.read_bytes() if file.is_file() else b""


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
    stdin = stdin_of(target, folder / "in")
    begun = time.perf_counter()
    code, said, problem = called(target.module, arguments, stdin)
    seconds = time.perf_counter() - begun
    return Outcome(code, seconds, said, problem or judged(target, output, code, said), files)
