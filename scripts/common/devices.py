"""Which GPUs this process may use, told without importing torch."""

import os
import shutil
import subprocess


def visible_gpus() -> list[str]:
    """The ids for CUDA_VISIBLE_DEVICES of the GPUs present and allowed; empty without a driver."""
    if not shutil.which("nvidia-smi"):
        return []
    listed = subprocess.run(
        ["nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader"], capture_output=True, text=True
    )
    if listed.returncode:
        return []
    present = [tuple(part.strip() for part in line.split(",")) for line in listed.stdout.splitlines() if line]
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return [index for index, _ in present]
    known = {name for pair in present for name in pair}
    return [name for name in allowed.split(",") if name in known]
