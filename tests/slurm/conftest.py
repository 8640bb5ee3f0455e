"""The tests' Slurm: installed where it is missing and may be installed, started once,
stopped at the end.
"""

import os

import pytest

from cluster import CannotStart, Cluster, install, missing


@pytest.fixture(scope="package", autouse=True)
def the_machines_slurm():
    """Here Slurm's own configuration counts, which tests/conftest.py hides from all other tests."""
    hidden = os.environ.pop("SLURM_CONF")
    yield
    os.environ["SLURM_CONF"] = hidden


@pytest.fixture(scope="package")
def cluster(the_machines_slurm):
    """A real Slurm of one node with pretend GPUs, or a skip that says why there is none."""
    started = None
    try:
        started = Cluster()
        if missing():
            install()
        yield started.start()
    except CannotStart as reason:
        pytest.skip(f"no Slurm for the tests: {reason}")
    finally:
        if started:
            started.stop()
