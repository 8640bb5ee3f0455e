"""End a program together with the Snakemake that started it. So no program of an ended command
disturbs the next command.

Snakemake names itself in the environment of its jobs. Their programs check twice a second whether
it still lives. A job of a Slurm cluster checks the Snakemake of its own step.
"""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

VARIABLE = "TIMESTRIDE_OWNER"
SECONDS = 0.5  # between two checks


def boot() -> str | None:
    """Return an id that changes with each start of the machine; None if the system has no id."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


def started(process: int) -> str | None:
    """Return when a living process of this machine began, in clock ticks since boot; None if there
    is no such process.
    """
    try:
        state, *facts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in "ZX" else facts[18]


def place() -> str:
    """Return what tells this machine, and the container in it, from others."""
    with suppress(OSError):
        return f"{boot()}/{os.readlink('/proc/self/ns/pid')}"
    return "unknown"


def name_owner() -> None:
    """Name this process as the owner of the programs that it starts."""
    os.environ[VARIABLE] = f"{place()} {os.getpid()} {started(os.getpid())}"


def end_with_owner() -> None:
    """Send this process SIGTERM when its owner ends, also if it has ended while this one imported
    its modules. Training then saves its state. Do nothing if there is no owner, or if the owner is
    on another machine or in another container.
    """
    where, process, began = os.environ.get(VARIABLE, "unknown 0 None").split()
    if "unknown" in (where, place()) or where != place() or began == "None":
        return

    def look() -> None:
        while started(int(process)) == began:
            time.sleep(SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=look, name="owner", daemon=True).start()


def end_forks_with_this() -> None:
    """Let every process that this one forks from now on end with this one, even by SIGKILL."""
    parent = os.getpid()

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS)
        os._exit(1)

    os.register_at_fork(
        after_in_child=lambda: threading.Thread(target=look, name="parent", daemon=True).start()
    )
