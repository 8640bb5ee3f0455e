"""Progress of long work on the terminal."""

from scripts.running import progress
from scripts.running.program import PROGRESS


def test_a_line_a_minute_with_the_time_that_is_left(monkeypatch, caplog):
    """Ten of thirty steps were done before; each step takes 25 seconds."""
    clock = iter(range(0, 10_000, 25))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    caplog.set_level(PROGRESS, logger="timestride")
    of_run = progress.Progress(30, "steps of mine", ended=10)
    for _ in range(20):
        of_run.end_piece()
    assert [record.levelno for record in caplog.records] == [PROGRESS] * 6
    first, *_, last = [record.getMessage() for record in caplog.records]
    assert first == "    13 of 30 steps of mine done, 1 min 15 s; about 7 min 05 s left"
    assert last == "    28 of 30 steps of mine done, 7 min 30 s; about 50 s left"
