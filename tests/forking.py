"""Programs started by a fork of one interpreter that has imported what they share: a call costs its work, not the imports.

Each call is a process of its own, as with `python -m`: its own arguments, folder, output and exit code.
"""

import atexit
import gc
import json
import os
import runpy
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

SHARED = ["numpy", "pandas", "pyarrow.parquet", "pyarrow.compute", "matplotlib.pyplot", "jinja2", "yaml"]


class ForkServer:
    """A process in a folder that imports what its programs share and forks at each request. `environment` is what they see.

    A call may have a folder and an environment of its own, so long as nothing that was imported has read the environment.
    """

    def __init__(self, environment: dict[str, str], folder: Path, shared: list[str] = SHARED):
        self.environment = environment
        self.process = subprocess.Popen([sys.executable, __file__, *shared], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment, cwd=folder)

    def call(self, command: list[str], cwd: Path | None = None, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        """Run `python -m <command>` with its text caught."""
        with tempfile.TemporaryDirectory() as folder:
            files = [f"{folder}/out", f"{folder}/err"]
            print(json.dumps([command, cwd and str(cwd), environment, *files]), file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
            assert answer, "the server of programs ended"
            out, err = (Path(file).read_text() for file in files)
        return subprocess.CompletedProcess(command, int(answer), out, err)

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait()


@cache
def snakemake_server() -> ForkServer:
    """One process a worker of pytest that has imported Snakemake, and what the rules import of others."""
    started = ForkServer(dict(os.environ), Path.cwd(), ["snakemake.cli", "jsonschema", "numpy", "requests"])
    atexit.register(started.stop)
    return started


def snakemake(*arguments, cwd: Path, **environment) -> subprocess.CompletedProcess:
    """`python -m snakemake …` in a folder, without a mirror unless `environment` names one."""
    kept = {name: value for name, value in os.environ.items() if name != "TIMESTRIDE_MIRROR"}
    return snakemake_server().call(["snakemake", *map(str, arguments)], cwd, kept | environment)


def serve() -> list[str]:
    """Fork for each request and answer with the exit code; returns the command in the child."""
    for request in sys.stdin:
        command, cwd, environment, out, err = json.loads(request)
        if child := os.fork():
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            os.write(1, f"{code}\n".encode())
            continue
        null = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate([null, *(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600) for file in (out, err))]):
            os.dup2(descriptor, number)
        if environment is not None:
            os.environ.clear()
            os.environ.update(environment)
        if cwd:
            os.chdir(cwd)
            sys.path[0] = cwd
        return command
    sys.exit(0)


if __name__ == "__main__":
    sys.path[0] = os.getcwd()
    for name in sys.argv[1:]:
        __import__(name)
    gc.freeze()  # else each fork goes through all that was imported at its end, and copies it
    sys.argv = serve()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
