"""Programs started by a fork of an interpreter that has imported what they share:
a call costs its work, not the imports.

Each call is a process of its own, as with `python -m`: its own arguments, folder, environment,
output and exit code. This file is also the program that forks: it imports the modules that its
arguments name, then reads a call a line and answers with its exit code.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

# What many programs import of others, and those that count words; each import makes every fork of
# its server dearer.
SHARED = (
    "numpy",
    "pandas",
    "pyarrow.parquet",
    "pyarrow.compute",
    "scipy.sparse.csgraph",
    "matplotlib.pyplot",
    "jinja2",
    "yaml",
    "jsonschema",
    "requests",
)
WORDS = (*SHARED, "sklearn.feature_extraction.text", "sklearn.linear_model")
# What a run of training imports late, four seconds of it, under the environment that it makes for
# itself first (scripts/train/launch.py).
LOOP = (
    "scripts.train.process",
    "scripts.train.paradigms.classify",
    "transformers.models.bert.modeling_bert",
)
TRAINING = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
}
SNAKEMAKE = (
    "snakemake.cli",
    "snakemake.report.html_reporter",
    "snakemake.storage",
    "jsonschema",
    "numpy",
    "pyarrow.parquet",
    "requests",
)


class Ended(subprocess.CompletedProcess):
    """A program that has ended, with its text."""

    def checked(self, ok: bool = True) -> "Ended":
        """Itself, which must have ended well, or not."""
        assert (self.returncode == 0) == ok, self.stdout + self.stderr
        return self

    def refused(self, *said: str, code: int = 1, lines: int | None = None) -> None:
        """It must have ended with this code, and have said these texts, without a traceback; in
        so many lines, where told.
        """
        told = self.stdout + self.stderr
        assert self.returncode == code, told
        assert not [text for text in said if text not in told], told
        assert "Traceback" not in told
        assert lines in (None, len(self.stderr.splitlines())), self.stderr


class ForkServer:
    """An interpreter that has imported some modules under an environment, and forks at each call.

    It ends with this process.
    """

    def __init__(self, environment: dict[str, str], imports: tuple[str, ...]):
        self.process = subprocess.Popen(
            [sys.executable, __file__, *imports],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        atexit.register(self.process.communicate)

    def call(self, command: list[str], cwd: Path, environment: dict[str, str]) -> Ended:
        """`python -m <command>` with its text caught.

        `environment` differs only in what no imported module has read.
        """
        with tempfile.TemporaryDirectory() as folder:
            files = [f"{folder}/out", f"{folder}/err"]
            print(
                json.dumps([command, str(cwd), environment, files]),
                file=self.process.stdin,
                flush=True,
            )
            answer = self.process.stdout.readline()
            assert answer, "the server of programs ended"
            out, err = (Path(file).read_text() for file in files)
        return Ended(command, int(answer), out, err)


@cache
def snakemake_server() -> ForkServer:
    """One a worker of pytest."""
    return ForkServer(dict(os.environ), SNAKEMAKE)


def snakemake(*arguments, cwd: Path, **environment) -> Ended:
    """`python -m snakemake …` in a folder, without a mirror unless `environment` names one."""
    kept = {name: value for name, value in os.environ.items() if name != "TIMESTRIDE_MIRROR"}
    return snakemake_server().call(["snakemake", *map(str, arguments)], cwd, kept | environment)


def become(command: list[str], cwd: str, environment: dict[str, str], files: list[str]) -> None:
    """Make this process what `python -m <command>` would be, without input,
    its output in two files.
    """
    for number, file in enumerate([os.devnull, *files]):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.path.insert(0, cwd)
    sys.argv = command
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    del sys.path[0]  # the folder of the tests
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.freeze()  # else each fork goes through all that was imported at its end, and copies it
    for line in sys.stdin:
        if not (child := os.fork()):
            become(*json.loads(line))
            break
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
