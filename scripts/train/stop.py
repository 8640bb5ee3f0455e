"""When a run must end early: it was told to (SIGTERM of a Slurm time-out, or of scripts/running/owner.py when Snakemake is gone;
Ctrl-C), or the launcher of its processes is gone."""

import os
import signal


class Stopped(Exception):
    """The run was told to end; what it has learnt is saved."""

    def __init__(self, reason: str, signal_number: int):
        super().__init__(reason)
        self.exit_code = 128 + signal_number


class Stop:
    """Hears SIGTERM and SIGINT, and sees the launcher of several processes, their parent, go."""

    def __init__(self, launcher: int | None):
        self.launcher, self.signal = launcher, None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hear)

    def _hear(self, number, frame) -> None:
        self.signal = number
        signal.signal(number, signal.SIG_DFL)  # a second one ends the process at once

    def asked(self) -> bool:
        """Whether to end."""
        return self.signal is not None or self.launcher is not None and os.getppid() != self.launcher

    def check(self) -> None:
        """Raises Stopped where the run is to end."""
        if self.asked():
            raise self.stopped()

    def stopped(self) -> Stopped:
        """What to raise once the state is saved."""
        if self.signal is not None:
            return Stopped(f"was told to stop ({signal.Signals(self.signal).name})", self.signal)
        return Stopped("ends with the process that started it", signal.SIGTERM)
