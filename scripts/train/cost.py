"""What a run has cost and on what kind of machine. The cost is measured, written to run.json
(`cost`), and a part of no digest.

CPU time
    that of all processes of a run. A killed run counts on from its last checkpoint. The time after
    that checkpoint is lost, so the number is marked `at_least`
peak_bytes, gpu_peak_bytes
    the most memory that the process held; the most that its tensors had on one GPU
GPU time
    the time of the run on each of its GPUs
gpu_watts
    the power that these may draw (nvidia-smi's power.limit); they seldom draw it all the time
"""

import os
import platform
import resource
import shutil
import subprocess
import sys
from typing import Any

from scripts.running.devices import processor

EARLIER = {"cpu_seconds": 0.0, "at_least": False}  # of the attempts before this one


def cpu_seconds() -> float:
    """CPU time of this process, its children and the attempts before it, as far as a checkpoint
    knows these.
    """
    return EARLIER["cpu_seconds"] + sum(os.times()[:4])


def take_up(seconds: float | None) -> None:
    """Count on from the CPU time of a checkpoint; None: the checkpoint has none."""
    EARLIER.update(cpu_seconds=seconds or 0.0, at_least=True)


def gpu_watts() -> float | None:
    """The mean power limit of the GPUs that this process may use; None if nvidia-smi does not
    report it.
    """
    if not shutil.which("nvidia-smi"):
        return None
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    command = [
        "nvidia-smi",
        "--query-gpu=power.limit",
        "--format=csv,noheader,nounits",
        *(["-i", named] if named else []),
    ]
    try:
        watts = subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.split()
        return round(sum(map(float, watts)) / len(watts), 1)
    except (OSError, ValueError, ZeroDivisionError, subprocess.TimeoutExpired):
        # a MIG device has no limit of its own
        return None


def cost_of(facts: dict) -> dict:
    """The `cost` of a run from other facts of its run.json (seconds, hardware). Call it once, when
    the run ends: the next run of this process counts from there.
    """
    torch: Any = sys.modules.get("torch")
    processes = facts["hardware"]["processes"]
    on_gpu = bool(torch and torch.cuda.is_available() and torch.cuda.is_initialized())
    spent, at_least = cpu_seconds(), EARLIER["at_least"]
    EARLIER.update(cpu_seconds=EARLIER["cpu_seconds"] - spent, at_least=False)
    a_unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
    return {
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * a_unit,
        "gpu_peak_bytes": torch.cuda.max_memory_allocated() if on_gpu else 0,
        "cpu_seconds": round(spent * processes, 1),
        "at_least": at_least,
        "gpu_seconds": round(facts["seconds"] * processes, 1) if on_gpu else 0.0,
        "gpu_watts": gpu_watts() if on_gpu else None,
        "processor": processor(),
        "cores": os.cpu_count(),
        "gpus": processes if on_gpu else 0,
        "gpu": facts["hardware"]["device"] if on_gpu else None,
        "system": f"{platform.system()} {platform.machine()}",
    }
