"""What a training run shows: a live bar and a line an epoch. Nothing here changes a number."""

from tqdm import tqdm

from scripts.common.program import log


class Progress:
    """The bar of one run, shown on a terminal only, by the first process only."""

    def __init__(self, run: str, steps: int, done: int, first_process: bool):
        self.bar = tqdm(total=steps, initial=done, desc=run[:40], unit="step", leave=False,
                        disable=None if first_process else True)

    def step(self, epoch: int, loss: float | None) -> None:
        """One step is done."""
        self.bar.update()
        if loss is not None:
            self.bar.set_postfix(epoch=epoch, loss=f"{loss:.3f}", refresh=False)

    def epoch(self, epoch: int, epochs: int, rows: list[dict], tokens_per_second: float) -> None:
        """One epoch is done: its measurements in one line."""
        measured = ", ".join(f"{row['split']} loss {row['loss']:.3f} accuracy {row['accuracy']:.3f}" for row in rows)
        self.bar.clear()
        log.info("epoch %d of %d: %s (%.0f tokens/s)", epoch, epochs, measured, tokens_per_second)

    def close(self) -> None:
        """Take the bar away."""
        self.bar.close()
