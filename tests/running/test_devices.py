"""GPUs are counted without torch, and two runs on a machine never take the same one.

A script replaces nvidia-smi.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, python_code
from tests.rows import rows_of

CLAIM = """
import sys
from scripts.running.devices import claim_gpus, visible_gpus
from scripts.running.program import UserError
try:
    print(",".join(claim_gpus(visible_gpus(), *map(int, sys.argv[1:]))), flush=True)
except UserError as error:
    print(error, flush=True)
sys.stdin.read()
"""
GPUS = """\
GPU 0: NVIDIA A100 (UUID: GPU-00aa)
GPU 1: NVIDIA A100 (UUID: GPU-11aa)
GPU 2: NVIDIA A100 (UUID: GPU-22aa)
GPU 3: NVIDIA A100 (UUID: GPU-33aa)
"""
SPLIT = """\
GPU 0: NVIDIA A100 (UUID: GPU-00aa)
  MIG 3g.20gb     Device  0: (UUID: MIG-aaaa-1)
  MIG 3g.20gb     Device  1: (UUID: MIG-aaaa-2)
GPU 1: NVIDIA A100 (UUID: GPU-11aa)
  MIG 1g.5gb      Device  0: (UUID: MIG-GPU-11aa/7/0)
"""


@pytest.fixture
def machine():
    """Return the environment of a machine with four GPUs; `machine(SPLIT)` returns another one."""
    shared = Path(tempfile.mkdtemp())  # other users have access, as to /tmp
    shared.chmod(0o1777)

    def made_of(listing: str = GPUS, **environment: str) -> dict[str, str]:
        fake = shared / "bin/nvidia-smi"
        fake.parent.mkdir(exist_ok=True)
        fake.write_text(f"#!/bin/sh\ncat <<'EOF'\n{listing}EOF\n")
        fake.chmod(0o755)
        bare = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
        return (
            bare
            | {"PATH": f"{fake.parent}:{os.environ['PATH']}", "TMPDIR": str(shared)}
            | environment
        )

    yield made_of
    shutil.rmtree(shared)


def claiming(
    environment: dict[str, str], *wanted: int, python: str = sys.executable, **options
) -> subprocess.Popen:
    """Start a process that claims GPUs, prints them and holds them."""
    command = [python, "-c", CLAIM, *map(str, wanted)]
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, env=environment, **piped, **options)


@pytest.fixture
def start():
    """Return a function that starts a process, which claims GPUs and holds them; it returns the
    claimed GPUs.

    All processes end with the test.
    """
    running = []

    def claim(environment: dict[str, str], *wanted: int, **options) -> str:
        running.append(claiming(environment, *wanted, **options))
        return running[-1].stdout.readline().strip()

    def end(*numbers: int) -> None:
        for process in [running[number] for number in numbers] or running:
            process.kill()
            process.wait()

    claim.end = end
    yield claim
    end()


def visible(environment: dict[str, str]) -> subprocess.CompletedProcess:
    code = "from scripts.running.devices import visible_gpus; print(','.join(visible_gpus()))"
    return python_code(code, env=environment)


@pytest.mark.parametrize(
    "listing, allowed, uuids",
    [
        (GPUS, None, "GPU-00aa,GPU-11aa,GPU-22aa,GPU-33aa"),
        (GPUS, "GPU-11, 3", "GPU-11aa,GPU-33aa"),
        (GPUS, "", ""),
        (GPUS, "1,-1,2", "GPU-11aa"),
        (SPLIT, None, "MIG-aaaa-1,MIG-aaaa-2,MIG-GPU-11aa/7/0"),
        (SPLIT, "MIG-GPU-11aa/7/0", "MIG-GPU-11aa/7/0"),
        (SPLIT, "GPU-00", "MIG-aaaa-1"),
    ],
)
def test_visible_gpus(machine, listing, allowed, uuids):
    environment = (
        machine(listing) if allowed is None else machine(listing, CUDA_VISIBLE_DEVICES=allowed)
    )
    assert visible(environment).stdout.strip() == uuids


@pytest.mark.parametrize(
    "allowed, said",
    rows_of("""
        0,9 | 'names 9, which is not a GPU of this machine (nvidia-smi -L lists 0: GPU-00aa, 1: GPU-11aa'
        MIG-aaaa-1 | names MIG-aaaa-1, which is not a GPU
        GPU- | names GPU-, which may mean several GPUs
        1,GPU-11 | names one GPU twice (GPU-11aa)
    """),
)
def test_a_gpu_that_is_not_here_is_said(machine, allowed, said):
    """CUDA would silently show fewer GPUs, or none."""
    done = visible(machine(CUDA_VISIBLE_DEVICES=allowed))
    assert done.returncode
    assert f"CUDA_VISIBLE_DEVICES={allowed} names " in done.stderr
    assert said in done.stderr


def test_runs_take_different_gpus_and_give_them_back(machine, start):
    taken = [start(machine(), 2), start(machine(), 1)]
    assert len(set(",".join(taken).split(","))) == 3
    assert "2 free GPUs are needed, but of 4 only 1 are free" in start(machine(), 2)
    start.end(0)
    assert len(start(machine(), 3).split(",")) == 3


def test_a_gpu_by_index_and_by_uuid_is_the_same(machine, start):
    assert start(machine(CUDA_VISIBLE_DEVICES="2"), 1) == "GPU-22aa", "even the only one is claimed"
    said = start(machine(CUDA_VISIBLE_DEVICES="GPU-22"), 1, 4)
    assert "within CUDA_VISIBLE_DEVICES=GPU-22 only 0 are free" in said
    said = start(machine(CUDA_VISIBLE_DEVICES="0"), 2)
    assert "2 GPU(s) were asked for, but 1 are visible here within CUDA_VISIBLE_DEVICES=0" in said


def test_mig_devices_are_claimed_one_by_one(machine, start):
    taken = [start(machine(SPLIT), 1) for _ in range(3)]
    assert sorted(taken) == ["MIG-GPU-11aa/7/0", "MIG-aaaa-1", "MIG-aaaa-2"]
    assert "only 0 are free" in start(machine(SPLIT), 1)
    assert "set `devices_per_run: 1`" in start(machine(SPLIT), 2)


def test_runs_share_a_gpu_the_emptiest_first(machine, start):
    two = machine(CUDA_VISIBLE_DEVICES="0,1")
    taken = [start(two, 1, 2) for _ in range(3)]
    assert set(taken[:2]) == {"GPU-00aa", "GPU-11aa"}
    assert "only 0 are free" in start(two, 1), "a run that does not share has its GPU to itself"
    start.end(1)
    assert start(two, 1, 2) == taken[1], "the emptiest, not the first"
    assert start(two, 1, 2) in taken
    assert "only 0 are free" in start(two, 1, 2)


def test_many_at_once(machine):
    """Eight processes start together on four GPUs with two slots each: each gets a GPU, and no GPU
    has more than two.
    """
    environment = machine()
    runs = [claiming(environment, 1, 2) for _ in range(8)]
    taken = [run.stdout.readline().strip() for run in runs]
    for run in runs:
        run.communicate("")
    assert sorted(taken) == sorted("GPU-00aa GPU-11aa GPU-22aa GPU-33aa".split() * 2)
