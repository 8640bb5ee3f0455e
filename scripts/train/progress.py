"""What a training run shows: a live bar, a line an epoch, and a tracker's curves. Nothing here changes a number."""

from tqdm import tqdm

from scripts.running.program import log

EVERY = 20  # steps between two looks at the loss, which cost a GPU a synchronisation


class Progress:
    """The bar of one run (its name, epoch, loss, rate, time left), shown on a terminal only, by the first process only."""

    def __init__(self, run: str, steps: int, done: int, accelerator):
        self.run, self.accelerator = run, accelerator
        self.bar = tqdm(total=steps, initial=done, desc=run, unit="step", leave=False, dynamic_ncols=True,
                        disable=None if accelerator.is_main_process else True)

    def step(self, epoch: int, sums, rows: int) -> None:
        """One step is done: `sums` holds the losses of this process's share of the rows and how many are right."""
        self.bar.update()
        if self.bar.n % EVERY == 0 and (not self.bar.disable or self.accelerator.trackers):
            loss = sums[0].item() * self.accelerator.num_processes / rows
            self.bar.set_postfix(epoch=epoch, loss=f"{loss:.3f}", refresh=False)
            self.accelerator.log({"train/loss_of_a_step": loss}, step=self.bar.n)

    def epoch(self, epoch: int, epochs: int, rows: list[dict], tokens_per_second: float) -> None:
        """One epoch is done: its measurements in one line."""
        measured = ", ".join(f"{row['split']} loss {row['loss']:.3f} accuracy {row['accuracy']:.3f}" for row in rows)
        self.bar.clear()
        log.info("%s: epoch %d of %d: %s (%.0f tokens/s)", self.run, epoch, epochs, measured, tokens_per_second)
        self.accelerator.log({f"{row['split']}/{name}": row[name] for row in rows for name in ("loss", "accuracy")}, step=self.bar.n)

    def close(self) -> None:
        """Take the bar away."""
        self.bar.close()
