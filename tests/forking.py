"""Start programs by a fork of an interpreter that has imported their shared modules. A call then
costs its work, not the imports.

Each call is a process of its own, as with `python -m`: its own arguments, folder, environment,
output and exit code. This file is also the program that forks. The jobs of a workflow use it, too:
they get another program as `python`.
"""

import atexit
import gc
import importlib
import marshal
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path

# The third-party modules that many programs import, and those of programs that count words. Each
# import makes every fork of its server slower.
SHARED = (
    *"numpy pandas pyarrow.parquet pyarrow.compute scipy.sparse.csgraph matplotlib.pyplot".split(),
    *"jinja2 yaml jsonschema requests".split(),
)
WORDS = (*SHARED, "sklearn.feature_extraction.text", "sklearn.linear_model")
# The modules that a training job imports late (four seconds), and the environment that it first
# sets for itself (scripts/train/launch.py).
LOOP = (
    *WORDS,
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
# The imports of a program: WORDS takes one second, spacy three.
NEEDED = {
    "scripts.train.runs": LOOP,
    "scripts.text.temporal_spans": (*SHARED, "spacy"),
} | dict.fromkeys(
    ("scripts.publish.record scripts.publish.record_page scripts.studies.timedial.build").split(),
    WORDS,
)
# The third-party modules that the jobs of a workflow import.
JOBS = (
    *(*WORDS, "tests.svg_alone", "spacy", "torch", "accelerate"),
    "transformers.models.bert.modeling_bert",
)
SNAKEMAKE = (
    *"snakemake.cli snakemake.report.html_reporter snakemake.storage".split(),
    *"jsonschema numpy pyarrow.parquet requests".split(),
)


class Ended(subprocess.CompletedProcess):
    """A program that has ended, with its output."""

    def checked(self, ok: bool = True) -> "Ended":
        """Check that the program succeeded; with ok=False, that it failed without a traceback."""
        assert (self.returncode == 0) == ok, self.stdout + self.stderr
        assert ok or "Traceback" not in self.stderr, self.stderr
        return self

    def refused(self, *said: str, code: int = 1, lines: int | None = None) -> None:
        """Check that the program ended with this code and printed these texts, without a traceback.
        lines: the number of lines on stderr, if given.
        """
        output = self.stdout + self.stderr
        assert self.returncode == code, output
        assert not [text for text in said if text not in output], output
        assert "Traceback" not in output
        assert lines in (None, len(self.stderr.splitlines())), self.stderr


class ForkServer:
    """An interpreter that has imported some modules under an environment, and forks at each call.

    It ends with this process. A call comes through a socket: the command, its folder and
    environment, the path of its interpreter, and the files of its input and output.
    """

    def __init__(self, environment: dict[str, str], imports: tuple[str, ...]):
        self.address = f"{tempfile.mkdtemp()}/socket"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.address)
            listening.listen(100)
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(listening.fileno()), *imports],
                env=environment,
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
            )
        atexit.register(shutil.rmtree, Path(self.address).parent)
        atexit.register(self.process.communicate)

    def call(
        self,
        command: list[str],
        cwd: Path,
        environment: dict[str, str],
        interpreter: str = sys.executable,
        given: str = "",
    ) -> Ended:
        """Run `python -m <command>` and return it with its output. given: its standard input.

        `environment` may differ from the server's only in variables that no imported module has
        read.
        """
        call = (command, str(cwd), environment, interpreter)
        with (
            tempfile.TemporaryFile("r+") as out,
            tempfile.TemporaryFile("r+") as err,
            tempfile.TemporaryFile("r+") as read,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            read.write(given), read.seek(0)
            connection.connect(self.address)
            request = marshal.dumps(call)
            socket.send_fds(
                connection,
                [len(request).to_bytes(4, "big")],
                [read.fileno(), out.fileno(), err.fileno()],
            )
            connection.sendall(request)
            answer = connection.recv(4)
            assert answer, "the server of programs ended"
            out.seek(0), err.seek(0)
            return Ended(
                command, int.from_bytes(answer, "big", signed=True), out.read(), err.read()
            )


# A `python` for the jobs of a workflow. It lets a server fork the programs that the server can
# fork, and starts all others. It starts in a hundredth of a second, since it imports nothing.
INTERPRETER = """#!{python} -ISE
import _socket, array, marshal, os, sys
module = sys.argv[2] if sys.argv[1:2] == ["-m"] else ""
place = next((place for name, place in {places}.items() if module.startswith(name)), None)
if place is None or "HF_ENDPOINT" in os.environ:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
connection = _socket.socket(_socket.AF_UNIX)
connection.connect(place)
request = marshal.dumps((sys.argv[2:], os.getcwd(), dict(os.environ), __file__))
files = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
connection.sendmsg([len(request).to_bytes(4, "big")], [files])
while request:
    request = request[connection.send(request):]
code = int.from_bytes(connection.recv(4), "big", signed=True)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@cache
def snakemake_server() -> ForkServer:
    """Return the fork server of Snakemake, one for each worker of pytest."""
    return ForkServer(dict(os.environ), SNAKEMAKE)


@cache
def interpreter() -> str:
    """Return the path of the `python` of the jobs, one for each worker of pytest."""
    jobs = ForkServer(os.environ | TRAINING, JOBS)
    places = {
        "snakemake": snakemake_server().address,
        "scripts.": jobs.address,
        "benchmarks.": jobs.address,
    }
    folder = Path(jobs.address).parent
    text = INTERPRETER.format(python=sys.executable, places=places)
    (folder / "python").write_text(text)
    (folder / "python").chmod(0o755)
    return str(folder / "python")


def python_without_jobs() -> str:
    """Return the `python` of a call that starts no job, but may read the facts of a model. It is
    the `python` of the jobs if that runs already: starting it takes longer than most dry runs.
    """
    return interpreter() if interpreter.cache_info().currsize else sys.executable


# Options of Snakemake with which it starts no job.
NO_JOBS = {"-n", "--dry-run", "--touch", "--summary", "--lint", "--rulegraph", "--unlock"}


def snakemake(*arguments, cwd: Path, **environment) -> Ended:
    """Run `python -m snakemake …` in a folder. Without `environment`, it has no mirror."""
    kept = {name: value for name, value in os.environ.items() if name != "TIMESTRIDE_MIRROR"}
    command = ["snakemake", *map(str, arguments)]
    python = python_without_jobs() if NO_JOBS & set(command) else interpreter()
    return snakemake_server().call(command, cwd, kept | environment, python)


# ---- in the server


def become(
    command: list[str], cwd: str, environment: dict[str, str], python: str, files: list[int]
) -> None:
    """Turn this process into `python -m <command>`, with its input and output in files."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.path[:0] = [cwd, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv, sys.executable = command, python
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str):
            raise
        leave(end.code or 0)
    leave(0)


def leave(code: int) -> None:
    """End like an interpreter, but do not free the imported modules. Freeing copies half a gigabyte
    of the server's memory and takes longer than most programs.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush(), sys.stderr.flush()
    os._exit(code)


def serve(listening: socket.socket) -> None:
    """Fork at each call and answer with its exit code, until this process's input ends.

    A process whose caller has gone gets SIGTERM.
    """
    waiting = selectors.DefaultSelector()
    waiting.register(listening, selectors.EVENT_READ)
    waiting.register(0, selectors.EVENT_READ)
    running = {}  # connection: its process
    while True:
        for key, _ in waiting.select():
            if key.fileobj == 0:
                return
            if key.fileobj is listening:
                connection, _ = listening.accept()
                length, files, _, _ = socket.recv_fds(connection, 4, 3)
                request = connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL)
                if not (child := os.fork()):
                    others = [other.fileobj for other in waiting.get_map().values()]
                    waiting.close()
                    for other in [connection, *others]:
                        os.close(other) if isinstance(other, int) else other.close()
                    become(*marshal.loads(request), files)
                    return
                for file in files:
                    os.close(file)
                end = os.pidfd_open(child)
                waiting.register(end, selectors.EVENT_READ, connection)
                waiting.register(connection, selectors.EVENT_READ)
                running[connection] = child
            elif key.data is None:  # the caller has gone; its process may just have ended, too
                if child := running.get(key.fileobj):
                    os.kill(child, signal.SIGTERM)
                    waiting.unregister(key.fileobj)
            else:
                code = os.waitstatus_to_exitcode(os.waitpid(running.pop(key.data), 0)[1])
                waiting.unregister(key.fd)
                os.close(key.fd)
                with suppress(KeyError):
                    waiting.unregister(key.data)
                with suppress(OSError), key.data:
                    key.data.sendall(code.to_bytes(4, "big", signed=True))


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])  # for tests.svg_alone
    for name in sys.argv[2:]:
        importlib.import_module(name)
    del sys.path[0]
    gc.freeze()  # otherwise each fork visits all imported objects at its end, and copies them
    serve(socket.socket(fileno=int(sys.argv[1])))
