"""The hardware of this machine: the processor, the GPUs that this process may use, and the free
GPUs. This module does not import torch.

A GPU's name is its UUID. The same index can mean different GPUs in CUDA (the fastest first) and in
nvidia-smi. Two jobs must not take the same GPU under two names.
"""

import fcntl
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scripts.running.program import UserError

LISTED = re.compile(r"^(?:GPU (?P<index>\d+):|\s+MIG ).*\(UUID: (?P<uuid>\S+)\)", re.M)
NONE = {"", "-1", "NoDevFiles"}  # values that end the list in CUDA_VISIBLE_DEVICES
TURN_SECONDS = 10  # the longest wait for others that choose a GPU at the same moment
CLAIMS: list[int] = []  # descriptors of the locks that this process holds until it ends


def processor() -> str:
    info = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*: *(.*\S)", info.read_text(), re.M) if info.exists() else None
    return named[1] if named else platform.processor() or platform.machine()


def _listed() -> list[dict]:
    """The GPUs that nvidia-smi lists: index, uuid, and the UUIDs of MIG devices; empty without a
    driver.
    """
    done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    gpus = []
    for found in LISTED.finditer(done.stdout if done.returncode == 0 else ""):
        if found["index"]:
            gpus.append({"index": found["index"], "uuid": found["uuid"], "mig": []})
        elif gpus:
            gpus[-1]["mig"].append(found["uuid"])
    return gpus


def _named(name: str, gpus: list[dict]) -> list[str]:
    """The UUIDs that a name in CUDA_VISIBLE_DEVICES may mean: an index, the beginning of a UUID, a
    MIG device.
    """
    if name.startswith("MIG-"):
        return [uuid for gpu in gpus for uuid in gpu["mig"] if uuid == name]
    meant = [
        gpu
        for gpu in gpus
        if (
            int(gpu["index"]) == int(name)
            if name.isdecimal()
            else name.startswith("GPU-") and gpu["uuid"].startswith(name)
        )
    ]
    # CUDA shows only the first MIG device of a split GPU
    return [(gpu["mig"] or [gpu["uuid"]])[0] for gpu in meant]


def visible_gpus() -> list[str]:
    """Return the UUIDs of the GPUs or MIG devices that this process may use; empty without
    nvidia-smi. Raises UserError if CUDA_VISIBLE_DEVICES names a missing GPU, or one GPU twice. CUDA
    would silently show fewer GPUs.
    """
    if not shutil.which("nvidia-smi"):
        return []
    gpus = _listed()
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return [uuid for gpu in gpus for uuid in (gpu["mig"] or [gpu["uuid"]])]
    visible = []
    for name in map(str.strip, allowed.split(",")):
        if name in NONE:
            break
        meant = _named(name, gpus)
        here = (
            ", ".join(f"{gpu['index']}: {' '.join([gpu['uuid'], *gpu['mig']])}" for gpu in gpus)
            or "no GPU"
        )
        if len(meant) != 1:
            problem = "may mean several GPUs" if meant else "is not a GPU of this machine"
            raise UserError(
                f"CUDA_VISIBLE_DEVICES={allowed} names {name}, which {problem} (nvidia-smi -L "
                f"lists {here}); correct it, unset it, or set `device: cpu`"
            )
        if meant[0] in visible:
            raise UserError(
                f"CUDA_VISIBLE_DEVICES={allowed} names one GPU twice ({meant[0]}); name each once"
            )
        visible.append(meant[0])
    return visible


def _open(file: Path) -> int:
    """Return a descriptor of a lock file that every user of the machine may lock. Raises OSError if
    this user may not open it. An existing file is opened for reading only, because in a shared
    folder Linux refuses to open another user's file for writing.
    """
    # Every user may write to the folder. So follow no link, and do not wait for a pipe.
    flags = os.O_NOFOLLOW | os.O_NONBLOCK
    for _ in range(3):
        with suppress(FileNotFoundError):
            return os.open(file, os.O_RDONLY | flags)
        with suppress(FileExistsError):
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, 0o666)
            os.fchmod(descriptor, 0o666)  # whatever the umask
            return descriptor
    return os.open(file, os.O_RDONLY | flags)


def _try_lock(file: Path, how: int, refused: set[Path]) -> int | None:
    """Take a lock and return its descriptor. Return None if another process holds it, or if the
    file cannot be locked; then add the file to `refused`.
    """
    descriptor = None
    try:
        descriptor = _open(file)
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except OSError as error:
        if descriptor is not None:
            os.close(descriptor)
        if not isinstance(error, BlockingIOError):
            refused.add(file)
        return None
    return descriptor


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Let only one process of the machine look for free GPUs at a time. Otherwise a process could
    mistake the locks that another one tries for claimed GPUs.
    """
    held, end = None, time.monotonic() + TURN_SECONDS
    refused: set[Path] = set()
    while held is None and not refused and time.monotonic() < end:
        held = _try_lock(folder / "timestride-gpu-turn.lock", fcntl.LOCK_EX, refused)
        if held is None:
            time.sleep(0.02)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _free_slots(gpu: str, runs_per_gpu: int, folder: Path, refused: set[Path]) -> list[list[int]]:
    """Lock and return the free places on a GPU, each as the descriptors of its locks. A run that
    shares a GPU takes a slot and a shared lock on the GPU. A run that does not share locks the
    whole GPU.
    """
    name = f"timestride-gpu-{gpu.replace('/', '_')}"
    if runs_per_gpu == 1:
        alone = _try_lock(folder / f"{name}.lock", fcntl.LOCK_EX, refused)
        return [] if alone is None else [[alone]]
    places = []
    for slot in range(runs_per_gpu):
        alone = _try_lock(folder / f"{name}-{slot}.lock", fcntl.LOCK_EX, refused)
        shared = (
            None if alone is None else _try_lock(folder / f"{name}.lock", fcntl.LOCK_SH, refused)
        )
        if shared is not None:
            places.append([alone, shared])
        elif alone is not None:
            os.close(alone)
    return places


def claim_gpus(visible: list[str], wanted: int, runs_per_gpu: int = 1) -> list[str]:
    """Claim `wanted` of the visible GPUs, and return them for CUDA_VISIBLE_DEVICES. This process
    keeps them until it ends. At most `runs_per_gpu` runs of this machine share a GPU. The GPUs with
    the most free places are taken first. Raises UserError if too few GPUs exist or are free.
    """
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    within = "" if named is None else f" within CUDA_VISIBLE_DEVICES={named}"
    if len(visible) < wanted:
        raise UserError(
            f"{wanted} GPU(s) were asked for, but {len(visible)} are visible here{within}; set "
            "devices_per_run to as many, allow more, or set `device: cpu`"
        )
    if wanted > 1 and any(gpu.startswith("MIG-") for gpu in visible):
        raise UserError(
            f"{wanted} GPUs were asked for, but here are MIG devices{within}, and CUDA shows a "
            "process only one of these; set `devices_per_run: 1`"
        )
    folder, refused = Path(tempfile.gettempdir()), set()
    with _turn(folder):
        free = {gpu: _free_slots(gpu, runs_per_gpu, folder, refused) for gpu in visible}
        emptiest = sorted(filter(free.get, visible), key=lambda gpu: -len(free[gpu]))[:wanted]
        enough = len(emptiest) == wanted
        for gpu, places in free.items():
            CLAIMS.extend(places.pop(0) if enough and gpu in emptiest else [])
            for descriptor in (each for place in places for each in place):
                os.close(descriptor)
    if not enough:
        hindered = ""
        if names := ", ".join(map(str, sorted(refused))):
            hindered = (
                f" ({names} cannot be locked: remove it if no run uses it, or set TMPDIR to a "
                "folder on a disk that has locks)"
            )
        raise UserError(
            f"{wanted} free GPUs are needed, but of {len(visible)}{within} only {len(emptiest)} "
            f"are free{hindered}; wait for the other runs, or give Snakemake `--resources "
            "gpu=N`"
        )
    return emptiest
