"""Do several jobs in one process, one after the other. Imports are loaded only once, and so is a
model that no job changes.

A job is written PROGRAM@FILE: the program's module, and the file of its arguments. A failed job is
reported, and the others continue; the process then ends with exit 1. Finished jobs stay, and the
same command continues after them.

Writes the files of its jobs, then MANIFEST, which lists the files named in --files

    python -m scripts.running.several scripts.train.run@FIRST scripts.train.run@SECOND \\
        --folder results/train/mctaco --files first/run.json second/run.json --output MANIFEST
"""

import argparse
import gc
import importlib
from pathlib import Path

from scripts.data.manifest import write_manifest
from scripts.publish.arguments import READS, publisher_arguments
from scripts.running.program import UserError, execute, log, parser, sentence_of, whole_number


def do(job: str, shared: list[str]) -> None:
    name, _, file = job.partition("@")
    program = importlib.import_module(name)
    if hasattr(program, "arguments"):
        options = program.arguments()
    else:  # a figure or a table: the parser accepts the arguments of all figures and tables
        options = publisher_arguments("", *READS, required=False)
    arguments = options.parse_args([f"@{file}", *shared])
    arguments.program = name
    program.main(arguments)


def main(given: argparse.Namespace) -> None:
    numbers = {key: getattr(given, key) for key in ("threads", "attempt")}
    shared = [f"--{key}={value}" for key, value in numbers.items() if value]
    failed = []
    for job in given.jobs:
        try:
            do(job, shared)
        except Exception as error:
            failed.append(sentence_of(error) or "an unexpected error, see the log")
            log.info("failed: %s", failed[-1])
        gc.collect()  # free the GPU memory that the job held
    if failed:
        rest = "" if len(given.jobs) == 1 else f" ({len(failed)} of {len(given.jobs)} jobs failed)"
        raise UserError(failed[0] + rest)
    write_manifest(given.folder, given.files, given.output)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "jobs",
        nargs="+",
        metavar="PROGRAM@FILE",
        help="a job: a program and the file of its arguments",
    )
    options.add_argument("--folder", type=Path, required=True, help="the folder of these files")
    options.add_argument("--files", nargs="+", required=True, help="the files that the jobs write")
    options.add_argument("--output", type=Path, required=True, help="the manifest to write")
    options.add_argument("--threads", type=whole_number(1, 10_000), help="the threads of each job")
    options.add_argument("--attempt", type=whole_number(1, 1000), help="the attempt of each job")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
