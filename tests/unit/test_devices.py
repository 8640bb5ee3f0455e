"""GPUs are counted without torch, and no two runs of a machine take the same one. nvidia-smi is played by a script."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

CLAIM = """
import sys
from scripts.common.devices import visible_gpus
from scripts.common.program import UserError
from scripts.train.run import claim_gpus
try:
    print(",".join(claim_gpus(visible_gpus(), int(sys.argv[1]))), flush=True)
except UserError as error:
    print(error, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def machine(tmp_path):
    """The environment of a machine with four GPUs."""
    fake = tmp_path / "bin/nvidia-smi"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nfor gpu in 0 1 2 3; do echo \"$gpu, GPU-$gpu$gpu\"; done\n")
    fake.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    return environment | {"PATH": f"{fake.parent}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}


def start(environment, wanted: int) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", CLAIM, str(wanted)], cwd=ROOT, env=environment, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.mark.parametrize(("allowed", "visible"), [(None, "0,1,2,3"), ("2", "2"), ("GPU-11,3", "GPU-11,3"), ("", ""), ("9", "")])
def test_visible_gpus(machine, allowed, visible):
    environment = machine if allowed is None else machine | {"CUDA_VISIBLE_DEVICES": allowed}
    code = "from scripts.common.devices import visible_gpus; print(','.join(visible_gpus()))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True,
                          text=True).stdout.strip() == visible


def test_runs_take_different_gpus_and_give_them_back(machine):
    runs = [start(machine, 2), start(machine, 1)]
    taken = [run.stdout.readline().strip() for run in runs]
    third = start(machine, 2)
    said = third.stdout.readline()
    for run in [*runs, third]:
        run.communicate("")
    assert len(set(",".join(taken).split(","))) == 3
    assert "2 free GPUs were needed, but of 4 only 1 are unclaimed" in said
    last = start(machine, 3)
    assert len(last.stdout.readline().strip().split(",")) == 3
    last.communicate("")
