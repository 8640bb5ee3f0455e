"""What a run says while it trains."""

from logging import INFO

from accelerate import Accelerator

from scripts.running.program import PROGRESS, log
from scripts.running.progress import Progress

EVERY = 20  # steps between two reads of the loss; each read costs a GPU a synchronisation


class Watch(Progress):
    """Says each minute how far a run is. steps: of the whole run; done: before this process."""

    def __init__(self, run: str, steps: int, done: int, accelerator: Accelerator):
        super().__init__(steps, f"steps of {run}", ended=done)
        self.run, self.accelerator = run, accelerator

    def step(self, sums, rows: int) -> None:
        """One step is done: `sums` holds the losses of this process's share of the rows
        and how many are right.
        """
        self.end_piece()
        if self.ended % EVERY == 0 and self.accelerator.trackers:
            loss = sums[0].item() * self.accelerator.num_processes / rows
            self.accelerator.log({"train/loss_of_a_step": loss}, step=self.ended)

    def measured(self, what: str, rows: list[dict]) -> None:
        """The measurements of an epoch, or of its evaluation splits, in one line."""
        numbers = ", ".join(
            f"{row['split']} loss {row['loss']:.3f} accuracy {row['accuracy']:.3f}" for row in rows
        )
        log.log(PROGRESS if self.is_due() else INFO, "%s: %s: %s", self.run, what, numbers)
        self.accelerator.log(
            {f"{row['split']}/{name}": row[name] for row in rows for name in ("loss", "accuracy")},
            step=self.ended,
        )
