"""What tests share: the mirror of the real corpora, and running a program as a user does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of real corpora, or a skip that says what is missing."""
    named = os.environ.get("TIMESTRIDE_MIRROR")
    place = Path(named) if named else ROOT.parent / "shared" / "mirror"
    if not place.is_dir():
        pytest.skip("no mirror of the real corpora: set TIMESTRIDE_MIRROR to a folder laid out as <host>/<path>")
    return place.resolve()


@pytest.fixture(scope="session")
def program():
    """Call `python -m <module> <arguments>` in the project; returns the finished process with its text."""

    def call(module: str, *arguments, cwd: Path = ROOT, **environment) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", module, *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=str(cwd), **environment))

    return call
