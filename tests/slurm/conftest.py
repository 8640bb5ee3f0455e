"""The tests' Slurm: it is installed if it is missing and may be installed, started once, and
stopped at the end.
"""

import os

import pytest

from cluster import CannotStart, Cluster, install, missing


@pytest.fixture(scope="package", autouse=True)
def the_machines_slurm():
    """Use Slurm's own configuration here; tests/conftest.py hides it from all other tests."""
    hidden = os.environ.pop("SLURM_CONF")
    yield
    os.environ["SLURM_CONF"] = hidden


@pytest.fixture(scope="package")
def cluster(the_machines_slurm):
    """Start a real Slurm of one node with pretend GPUs, or skip with the reason why there
    is none.
    """
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
