"""Why a run ends early: it got a signal, the memory is too small, or the model is broken.

Without torch, which only the loop imports.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb

from scripts.plan.models import CONFIG
from scripts.running.program import UserError, cut, is_of_machine

# ---- a signal to end


class Stopped(Exception):
    """The run was told to end; its state is saved."""

    def __init__(self, reason: str, signal_number: int):
        super().__init__(reason)
        self.exit_code = 128 + signal_number


class Stop:
    """Hears SIGTERM and SIGINT, and notices when the launcher of several processes is gone."""

    def __init__(self, launcher: int | None):
        self.launcher, self.signal = launcher, None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hear)

    def _hear(self, number, frame) -> None:
        self.signal = number
        signal.signal(number, signal.SIG_DFL)  # a second one ends the process at once

    def end(self) -> None:
        """Hear no more; a signal that came too late for the run ends the process now."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.signal is not None and not isinstance(sys.exception(), SystemExit):
            signal.raise_signal(self.signal)

    def must_stop(self) -> bool:
        """Whether to end."""
        return self.signal is not None or (
            self.launcher is not None and os.getppid() != self.launcher
        )

    def check(self) -> None:
        """Raise Stopped if the run must end."""
        if self.must_stop():
            raise self.exception()

    def exception(self) -> Stopped:
        """The exception to raise after the state is saved."""
        if self.signal is not None:
            return Stopped(f"was told to stop ({signal.Signals(self.signal).name})", self.signal)
        return Stopped("ends with the process that started it", signal.SIGTERM)


# ---- the memory is too small


def remedies(training: dict, learns: bool = True) -> str:
    """The settings to change so that a run takes less memory, without those that
    are already set so.
    """
    more = "max_length, or take a smaller model or a machine with more memory"
    if not learns:
        return f"lower {more}"
    wanted = {"precision": "bf16", "adapter": "lora", "gradient_checkpointing": True}
    left = [f"{name}: {value}" for name, value in wanted.items() if training.get(name) != value]
    settings = f"set {', '.join(left)}, ".replace("True", "true") if left else ""
    return f"{settings}lower batch_size, micro_batch_tokens or {more}"


# ---- the model is broken

# modules whose code reads the files, or works with their content
READERS = ("transformers.", "tokenizers", "scripts.train.batches")


@contextmanager
def blames_files(view: Path) -> Iterator[None]:
    """Refuse a configuration that is too large for any network. Turn every error that a library
    raises on a model's files into a UserError, also a panic in Rust, which is no Exception.

    view: work/model, links to the files. A fetch has checked them unless a user named the folder.
    """
    from scripts.fetch.model_files import INSTEAD, check_bounds, read_object  # late: 0.2 s

    config = view / CONFIG
    folder = config.resolve().parent
    if config.is_file():
        check_bounds(str(folder), CONFIG, read_object(str(folder), CONFIG, config))
    try:
        yield
    except (UserError, Stopped, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # many kinds, which differ between versions
        names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
        if is_of_machine(error) or "deterministic" in str(error):
            raise
        if not any(name.startswith(READERS) for name in names):
            raise
        files = ", ".join(sorted(file.name for file in view.iterdir() if file.suffix == ".json"))
        raise UserError(
            f"{folder}: {files}: {names[-1]} cannot use them ({type(error).__name__}: "
            f"{cut(str(error), 200)}); {INSTEAD}"
        ) from error
