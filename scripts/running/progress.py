"""The progress of long work, in lines that the terminal shows while a job runs."""

import time

from scripts.running.program import PROGRESS, log
from scripts.running.summary import clock

MINUTE = 60


class Progress:
    """Says how many pieces of work have ended, and how long the others will take: as long as these.

    of: the pieces in words. pause: the least seconds between two lines. ended: the pieces that an
    earlier process did.
    """

    def __init__(self, pieces: int, of: str, pause: float = MINUTE, ended: int = 0):
        self.pieces, self.of, self.pause, self.ended, self.earlier = pieces, of, pause, ended, ended
        self.begun = self.said = time.monotonic()

    def is_due(self) -> bool:
        """Return whether a line is due; then the next one is due after another pause."""
        now = time.monotonic()
        is_due = now - self.said >= self.pause
        self.said = now if is_due else self.said
        return is_due

    def end_piece(self) -> None:
        """Count a piece, and log a line if it is due and pieces are left."""
        self.ended += 1
        if self.ended < self.pieces and self.is_due():
            taken = self.said - self.begun
            left = clock(taken / (self.ended - self.earlier) * (self.pieces - self.ended))
            line = "    %d of %d %s done, %s; about %s left"
            log.log(PROGRESS, line, self.ended, self.pieces, self.of, clock(taken), left)
