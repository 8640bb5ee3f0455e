"""Code that all tests share: the mirror of the real corpora, and running a program like a user."""

import logging
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from tests.forking import LOOP, NEEDED, SHARED, TRAINING, Ended, ForkServer

ROOT = Path(__file__).parents[1]

# If a configured Slurm does not answer (a killed test may leave one), each call of Snakemake takes
# 10 s longer.
os.environ["SLURM_CONF"] = "/dev/null"
# One thread for torch and BLAS: workers share the cores, and on small tensors threads only wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Variables that pytest, and torch in a test that trains, add to the environment of their process.
# No program needs them.
OF_TESTS = {"PYTEST_CURRENT_TEST", "TORCHINDUCTOR_CACHE_DIR"}

# A busy machine must not fail a property test. `make test` tries fewer examples of each property.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
settings.register_profile("quick", max_examples=10)


STUDIES = ("workflow", "slurm", "web")  # the folders of tests that run whole studies
# The longest files first, down to thirty CPU seconds. They begin first, so that no worker is left
# with one of them at the end. The tests of Slurm mostly wait.
LONGEST = (
    "test_slurm.py test_pinned.py test_recording.py test_other_studies.py test_harness.py "
    "test_resources.py test_faults.py test_training.py test_reruns.py test_probes.py test_docs.py "
    "test_commands.py test_benchmarks.py test_rules.py test_errors.py test_new_study.py "
    "test_initial.py test_figures.py test_build_temporal_nli.py test_build_timedial.py "
    "test_fuzz.py"
).split()


def pytest_collection_modifyitems(items) -> None:
    """Mark the tests that use the fixture `mirror` with `mirror`, and those of whole studies with
    `slow`. Put the longest files first.
    """
    for item in items:
        if "mirror" in item.fixturenames:
            item.add_marker("mirror")
        if item.path.parent.name in STUDIES:
            item.add_marker("slow")
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


def pytest_terminal_summary(terminalreporter) -> None:
    """Print at the end which tests were skipped and why, one line for each reason."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        terminalreporter.section("skipped")
        for reason, tests in reasons.most_common():
            terminalreporter.write_line(f"{tests:4} {'test' if tests == 1 else 'tests'}: {reason}")


@pytest.fixture(autouse=True)
def own_environment():
    """Undo a test's changes of the environment and of the level of logs after the test. While the
    environment differs, `program` starts a process where it otherwise could fork one.
    """
    before, level = dict(os.environ), logging.getLogger().level
    yield
    os.environ.clear()
    os.environ.update(before)
    logging.getLogger().setLevel(level)


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Return the folder of real corpora, or skip the test with a message that says what is
    missing.
    """
    named = os.environ.get("TIMESTRIDE_MIRROR")
    place = Path(named) if named else ROOT.parent / "shared" / "mirror"
    if not place.is_dir():
        pytest.skip(
            "no mirror of the real corpora: set TIMESTRIDE_MIRROR to a folder laid out as "
            "<host>/<path>"
        )
    return place.resolve()


def here_string(command: list[str]) -> tuple[list[str], str]:
    """Return a command without its `<<<`, and the standard input after it."""
    if "<<<" not in command:
        return command, ""
    place = command.index("<<<")
    return command[:place] + command[place + 2 :], command[place + 1]


def call(*command, **options) -> subprocess.CompletedProcess:
    """Call a command in the project's folder, and return its output as text, if no option says
    otherwise.
    """
    usual = {"cwd": ROOT, "capture_output": True, "text": True}
    return subprocess.run([*map(str, command)], **usual | options)


def python_code(code: str, *arguments, **options) -> subprocess.CompletedProcess:
    return call(sys.executable, "-c", code, *arguments, **options)


def programs(shared: tuple[str, ...]):
    """Return a function that calls `python -m <module> <arguments>` in the project. It forks an
    interpreter that has imported the shared modules, or those that the program needs.
    """
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    server = cache(
        lambda imports: (
            ForkServer(environment | TRAINING, imports)
            if imports == LOOP
            else ForkServer(environment, (*imports, "tests.svg_alone"))
        )
    )

    def call_program(typed: str, *arguments, cwd: Path = ROOT, **changed) -> Ended:
        """Call a program. typed: the module and options, split at spaces; arguments: further
        arguments, not split; after `<<<` stands its standard input, as in a shell.
        """
        command, given = here_string([*typed.split(), *map(str, arguments)])
        module = command[0]
        # --help, and calls with refused arguments, need no imports
        imports = shared if len(command) < 4 else NEEDED.get(module, shared)
        wanted = {**os.environ, "PYTHONPATH": str(cwd), **changed}
        differs = {
            name
            for name in wanted.keys() | environment.keys()
            if wanted.get(name) != environment.get(name)
        } - OF_TESTS
        # a late import may read the HF_ variables
        if all(name.startswith("HF_") and imports != LOOP for name in differs):
            return server(imports).call(command, cwd, wanted, given=given)
        done = call(sys.executable, "-m", *command, input=given, cwd=cwd, env=wanted)
        return Ended(command, done.returncode, done.stdout, done.stderr)

    return call_program


@pytest.fixture(scope="session")
def program():
    """Return a function that calls `python -m <module> <arguments>` in the project. It returns the
    finished process with its output.
    """
    return programs(SHARED)
