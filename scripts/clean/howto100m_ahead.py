"""Reading HowTo100M in a process of its own while this one cleans and writes.

Not a program. The batches come through a pipe, which holds next to nothing: so the one that reads is a batch ahead, and waits.
"""

import gc
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow as pa

from scripts.clean.howto100m_batches import as_batch, batches
from scripts.common.owner import end_forks_with_this
from scripts.common.program import UserError

OBJECTS = 100_000  # Python looks for circles among its objects after so many new ones; lists of numbers and texts have none
SCHEMA = as_batch([], [], []).schema


def send_all(file: Path, receives: Connection, connection: Connection) -> None:
    """In the process that reads: send the size and the bytes of each batch, and None or the error at the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that cleans tells of Ctrl-C, and ends this one
    receives.close()
    try:
        for batch in batches(file):
            content = batch.serialize()
            connection.send(content.size)
            connection.send_bytes(content)
            del batch, content
        connection.send(None)
    except BrokenPipeError:
        pass
    except Exception as error:
        error.add_note(traceback.format_exc())
        connection.send(error)


def told(file: Path, connection: Connection) -> pa.Buffer | Exception | None:
    """What send_all() sends next. Raises UserError where its process is no more."""
    try:
        size = connection.recv()
        if not isinstance(size, int):
            return size
        content = pa.allocate_buffer(size)
        connection.recv_bytes_into(content)
        return content
    except (EOFError, OSError):  # in front of what it sends, or amid it
        raise UserError(f"{file}: the process that reads it was ended from outside, most often for want of memory; give the job "
                        "more of it (mem_mb), then give the same command again") from None


def received(file: Path, connection: Connection) -> Iterator[pa.RecordBatch]:
    """The batches that send_all() sends. Raises its error."""
    while (content := told(file, connection)) is not None:
        if isinstance(content, Exception):
            raise content
        yield pa.ipc.read_record_batch(content, SCHEMA)
        del content


@contextmanager
def reading(file: Path, processes: int) -> Iterator[Iterator[pa.RecordBatch]]:
    """The batches of a caption file, read in this process or, where there may be several, in another one that ends with this."""
    gc.set_threshold(OBJECTS)
    if processes == 1:
        yield batches(file)
        return
    end_forks_with_this()
    system = get_context("fork")
    receives, sends = system.Pipe(duplex=False)
    reader = system.Process(target=send_all, args=(file, receives, sends), daemon=True)
    reader.start()
    sends.close()
    try:
        yield received(file, receives)
    finally:
        receives.close()
        reader.terminate()
        reader.join()
