"""A run's checkpoint: what a killed run needs to go on to the same numbers, in one file that is whole or refused."""

import hashlib
import io
from pathlib import Path

import torch

from scripts.common.files import whole
from scripts.common.program import log
from scripts.train import cost

DIGEST = 32  # bytes of a sha256, at the end of the file: torch.load does not see a flipped bit


class _Hashed:
    """A file that hashes what is written. An error waits in `failed`, since torch turns it into several of its own."""

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
    """Write a checkpoint of the job `digest`, made on `maker` (hardware and versions that decide its numbers)."""
    with whole(path) as beside, open(beside, "wb") as opened:
        written = _Hashed(opened)
        torch.save({"digest": digest, "maker": maker, "state": state, "cpu_seconds": cost.cpu_seconds()}, written)
        if written.failed:
            raise written.failed
        opened.write(written.sha256.digest())


def load(path: Path, digest: str, maker: dict) -> dict | None:
    """The state that was saved; None, with a warning, where the file is damaged or another job's or maker's."""
    if not path.exists():
        return None
    data = path.read_bytes()
    content = memoryview(data)[:-DIGEST]
    if len(data) <= DIGEST or hashlib.sha256(content).digest() != data[-DIGEST:]:
        log.warning("warning: %s is damaged or no checkpoint of ours; the run starts anew", path)
        return None
    saved = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    if saved["digest"] != digest:
        log.warning("%s is of other data, settings, code or another model; the run starts anew", path)
        return None
    if saved["maker"] != maker:
        others = [f"{name} {saved['maker'].get(name)!r}, here {value!r}" for name, value in maker.items()
                  if saved["maker"].get(name) != value]
        log.warning("warning: %s was made with %s; numbers must not mix the two, so the run starts anew", path, "; ".join(others))
        return None
    cost.take_up(saved.get("cpu_seconds"))
    return saved["state"]
