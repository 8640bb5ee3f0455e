"""A run's checkpoint: all that a killed run needs to continue to the same numbers, in one file that
is whole or refused.
"""

import hashlib
import io
import time
from pathlib import Path

import torch

from scripts.data.files import whole
from scripts.running.program import log
from scripts.train import adapter, cost
from scripts.train.hardware import Hardware
from scripts.train.launch import Launch
from scripts.train.early_end import Stop
from scripts.train.epochs import State
from scripts.train.step import Learner

DIGEST = 32  # bytes of a sha256, at the end of the file: torch.load does not notice a flipped bit


class _Hashed:
    """A file that hashes the bytes that are written to it.

    An error waits in `failed`, since torch would turn it into errors of its own.
    """

    def __init__(self, opened):
        self.opened, self.sha256, self.failed = opened, hashlib.sha256(), None

    def write(self, data) -> int:
        self.sha256.update(data)
        try:
            if not self.failed:
                self.opened.write(data)
        except OSError as error:
            self.failed = error
        return len(data)

    def flush(self) -> None:
        pass


def save(path: Path, digest: str, maker: dict, state: dict) -> None:
    """Write a checkpoint of the job `digest`. maker: the hardware and versions that decide its
    numbers.
    """
    with whole(path) as beside, open(beside, "wb") as opened:
        written = _Hashed(opened)
        torch.save(
            {"digest": digest, "maker": maker, "state": state, "cpu_seconds": cost.cpu_seconds()},
            written,
        )
        if written.failed:
            raise written.failed
        opened.write(written.sha256.digest())


def load(path: Path, digest: str, maker: dict) -> dict | None:
    """Return the saved state; None, with a warning, if the file is damaged or comes from another
    job or another maker.
    """
    if not path.exists():
        return None
    data = path.read_bytes()
    content = memoryview(data)[:-DIGEST]
    if len(data) <= DIGEST or hashlib.sha256(content).digest() != data[-DIGEST:]:
        log.warning("warning: %s is damaged, or not a checkpoint; the run starts anew", path)
        return None
    saved = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    if saved["digest"] != digest:
        log.warning(
            "%s was made with other data, settings, code or another model; the run starts anew",
            path,
        )
        return None
    if saved["maker"] != maker:
        others = [
            f"{name} {saved['maker'].get(name)!r}, here {value!r}"
            for name, value in maker.items()
            if saved["maker"].get(name) != value
        ]
        log.warning(
            "warning: %s was made with %s; numbers must not mix the two, so the run starts anew",
            path,
            "; ".join(others),
        )
        return None
    cost.take_up(saved.get("cpu_seconds"))
    return saved["state"]


class Saver:
    """Keeps the checkpoint of a run, in the first process. It saves now and then, and when the run
    gets a signal to end.
    """

    learner: Learner  # the loop sets it before the first step

    def __init__(self, launch: Launch, job: dict, hardware: Hardware, stop: Stop):
        self.path, self.every = Path(launch.work) / "checkpoint.pt", launch.checkpoint_seconds
        self.digest, self.hardware, self.stop = job["digest"], hardware, stop
        self.keeps_best = launch.keep == "best"
        self.last, self.took, self.started, self.before = time.time(), 0.0, time.time(), 0.0

    def load(self, network: torch.nn.Module) -> tuple[State, dict | None]:
        """The state to continue from, and the optimizer's; the network gets its weights.

        Without a checkpoint the state is new.
        """
        saved = load(self.path, self.digest, self.hardware.maker())
        if saved is None:
            return State(), None
        if self.keeps_best and saved["epoch"] and not saved["weights"]:
            log.warning(
                "%s does not hold the weights of the epoch to keep; the run starts anew", self.path
            )
            return State(), None
        self.hardware.use_threads(saved.pop("threads"))
        adapter.load_trained_state(network, saved.pop("network"))
        optimizer = saved.pop("optimizer")
        self.before = saved["seconds"]
        return State(**saved), optimizer

    def due(self, step: int) -> tuple[bool, bool]:
        """Return whether to save now, and whether the run must end.

        Saving may take at most a twentieth of the time.
        """
        due = time.time() - self.last > max(self.every, 20 * self.took)
        must_stop = self.stop.must_stop()
        accelerator = self.learner.accelerator
        if accelerator.num_processes == 1:
            return due, must_stop
        # all processes must agree; asking costs a GPU a synchronisation
        if accelerator.device.type == "cuda" and step % 10:
            return False, False
        mine = torch.tensor([[due, must_stop]], device=accelerator.device)
        due, must_stop = accelerator.gather(mine).any(0).tolist()
        return due, must_stop

    def seconds(self) -> float:
        """How long the run has taken, including the time before it was killed."""
        return self.before + time.time() - self.started

    def save(self, state: State) -> None:
        """Write the checkpoint."""
        begun = time.time()
        state.seconds = self.seconds()
        state.micro_batch_tokens = self.learner.micro_batch_tokens
        accelerator = self.learner.accelerator
        if accelerator.is_main_process:
            network = accelerator.unwrap_model(self.learner.network)
            more = {
                "threads": self.hardware.threads,
                "network": adapter.trained_state(network),
                "optimizer": self.learner.optimizer.state_dict(),
            }
            save(self.path, self.digest, self.hardware.maker(), vars(state) | more)
        self.last = time.time()
        self.took = self.last - begun
