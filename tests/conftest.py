"""What tests share: the mirror of the real corpora, and running a program as a user does."""

import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from scripts.running import identity
from tests.forking import LOOP, NEEDED, SHARED, TRAINING, Ended, ForkServer

ROOT = Path(__file__).parents[1]

# A Slurm that is configured here but does not answer (a killed test leaves one) costs each call of
# Snakemake 10 s.
os.environ["SLURM_CONF"] = "/dev/null"
# Workers share the cores: torch takes one in each.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# What pytest, and torch where a test itself learns, add to the environment of their process: no
# program needs to see it.
OF_TESTS = {"PYTEST_CURRENT_TEST", "TORCHINDUCTOR_CACHE_DIR"}

# A busy machine fails no property. `make check` tries fewer examples of each.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
settings.register_profile("quick", max_examples=10)


# From the longest down to thirty CPU seconds: these begin first, so that no worker is left alone with
# one of them. Those of Slurm wait for most of their time.
LONGEST = (
    "test_slurm.py test_harness.py test_resources.py test_faults.py test_training.py "
    "test_reruns.py test_dialogs_and_questions.py test_docs.py test_benchmarks.py test_rules.py "
    "test_probes.py test_temporal_nli.py test_errors.py test_new_study.py test_initial.py "
    "test_publish_temporal_nli.py test_build_temporal_nli.py test_build_timedial.py test_fuzz.py"
).split()


def pytest_collection_modifyitems(items) -> None:
    """Tests of the real corpora are marked `mirror`, after the fixture that finds them; the
    longest files come first.
    """
    for item in items:
        if "mirror" in item.fixturenames:
            item.add_marker("mirror")
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


def pytest_terminal_summary(terminalreporter) -> None:
    """Say at the end what was skipped and why, one line a reason."""
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
    """What a test changes in the environment ends with it. Under another environment `program` starts
    a process where it could fork one.
    """
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of real corpora, or a skip that says what is missing."""
    named = os.environ.get("TIMESTRIDE_MIRROR")
    place = Path(named) if named else ROOT.parent / "shared" / "mirror"
    if not place.is_dir():
        pytest.skip(
            "no mirror of the real corpora: set TIMESTRIDE_MIRROR to a folder laid out as "
            "<host>/<path>"
        )
    return place.resolve()


def programs(shared: tuple[str, ...]):
    """What calls `python -m <module> <arguments>` in the project, by a fork of an interpreter
    that has imported what is shared or needed.
    """
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    server = cache(
        lambda imports: (
            ForkServer(environment | TRAINING, imports)
            if imports == LOOP
            else ForkServer(environment, (*imports, "tests.svg_alone"))
        )
    )

    def call(typed: str, *arguments, cwd: Path = ROOT, **changed) -> Ended:
        """typed: the module and options without spaces inside; arguments: further ones,
        each as it is.
        """
        command = [*typed.split(), *map(str, arguments)]
        module = command[0]
        # --help, and arguments that are refused, need nothing
        imports = shared if len(command) < 4 else NEEDED.get(module, shared)
        wanted = dict(os.environ, PYTHONPATH=str(cwd), **changed)
        differs = {
            name
            for name in wanted.keys() | environment.keys()
            if wanted.get(name) != environment.get(name)
        } - OF_TESTS
        # what is imported late may read it
        if all(name.startswith("HF_") and imports != LOOP for name in differs):
            return server(imports).call(command, cwd, wanted)
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True, env=wanted
        )
        return Ended(command, done.returncode, done.stdout, done.stderr)

    return call


def remember_code() -> Path:
    """Read all modules once, for the identities that programs take here; the file of this."""
    for file in ROOT.glob("scripts/**/*.py"):
        identity._read(".".join(file.relative_to(ROOT).with_suffix("").parts))
    identity.write_memory(ROOT / identity.MEMORY)
    return ROOT / identity.MEMORY


@pytest.fixture(scope="session")
def program():
    """Call `python -m <module> <arguments>` in the project, as typed;
    returns the finished process with its text.
    """
    remember_code()
    return programs(SHARED)
