"""Reading HowTo100M in a process of its own, ahead of the cleaning.

Not a program.
"""

import gc
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from scripts.clean.howto100m_batches import batches
from scripts.common.owner import end_forks_with_this
from scripts.common.program import UserError

AHEAD = 3  # batches that are read before they are asked for: each is a part of the memory needed
OBJECTS = 100_000  # Python looks for circles among its objects after so many new ones; lists of numbers and texts have none

READER: dict = {}  # of the process that reads: its batches


def begin(file: Path) -> None:
    """Begin to read, in the process that does."""
    gc.set_threshold(OBJECTS)
    READER["batches"] = batches(file)


def following() -> pa.Buffer | None:
    """The next batch as bytes, in the process that reads; None at the end."""
    batch = next(READER["batches"], None)
    return None if batch is None else (batch.schema.serialize(), batch.serialize())


def read_by(pool: ProcessPoolExecutor, file: Path) -> Iterator[pa.RecordBatch]:
    """The batches that the process of the pool reads. Raises its errors."""
    try:
        ahead = deque(pool.submit(following) for _ in range(AHEAD))
        while (content := ahead.popleft().result()) is not None:
            ahead.append(pool.submit(following))
            schema, batch = content
            yield pa.ipc.read_record_batch(batch, pa.ipc.read_schema(schema))
    except BrokenProcessPool:
        raise UserError(f"{file}: the process that reads it was ended from outside, most often for want of memory; give the job "
                        "more of it (mem_mb), then give the same command again") from None


@contextmanager
def reading(file: Path, processes: int) -> Iterator[Iterator[pa.RecordBatch]]:
    """The batches of a caption file, read in this process or, where there are two, in another one that ends with this."""
    if processes == 1:
        gc.set_threshold(OBJECTS)
        yield batches(file)
        return
    end_forks_with_this()
    with ProcessPoolExecutor(1, initializer=begin, initargs=(file,)) as pool:
        try:
            pool.submit(int).result()  # it is forked here, before this process has threads of Arrow's
            yield read_by(pool, file)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
