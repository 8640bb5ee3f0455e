"""The tests' Slurm: installed where it is missing and may be installed, started once, stopped at the end."""

import pytest

from cluster import CannotStart, Cluster, install, missing


@pytest.fixture(scope="session")
def cluster():
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
