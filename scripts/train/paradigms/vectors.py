"""Word vectors in the GloVe text format: `word v1 … vd` a line, as a text file,
gzipped, or alone in a zip.

The file is read line by line, so only the wanted words need memory (glove.840B.300d.txt is 5.6
GB). Words may hold spaces, as ". . ." in that file does: a line is read from its right end. Nothing
is written.
"""

import gzip
import io
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from scripts.running.program import UserError, log

LONGEST_LINE = 1 << 20  # bytes; a longer one is no line of this format
REPORT_SECONDS = 20
AGAIN = "get the file again, or name another"
DAMAGED = (
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    NotImplementedError,
    RuntimeError,
)


@contextmanager
def opened(file: Path) -> Iterator[tuple[io.BufferedIOBase, io.BufferedIOBase]]:
    """The text of a plain, gzipped or zipped file (its first bytes show which), and the file as it
    lies on the disk. Raises UserError when there is no such file, when it is damaged, and for a zip
    of several texts.
    """
    try:
        with file.open("rb") as raw:
            start = raw.read(4)
            raw.seek(0)
            if start[:2] == b"\x1f\x8b":
                with gzip.open(raw) as text:
                    yield text, raw
            elif start[:2] == b"PK":
                with zipfile.ZipFile(raw) as archive:
                    texts = [name for name in archive.namelist() if name.endswith(".txt")]
                    if len(texts) != 1:
                        raise UserError(
                            f"{file}: holds {len(texts)} .txt files "
                            f"({', '.join(texts) or 'none'}), where one is needed; unpack it and "
                            "name the one with the vectors"
                        )
                    with (
                        archive.open(texts[0]) as text,  # type: ignore[assignment]  # another kind of file
                        io.BufferedReader(text, 1 << 20) as buffered,
                    ):
                        yield buffered, raw
            else:
                yield raw, raw
    except (FileNotFoundError, IsADirectoryError):
        raise UserError(
            f"{file}: no such file; it should hold the word vectors, `word v1 … vd` a line"
        ) from None
    except DAMAGED as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise UserError(
            f"{file}: cannot be unpacked ({why}), so it is cut off or damaged; {AGAIN}"
        ) from error


def is_number(field: bytes) -> bool:
    """Whether a field reads as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def count_numbers(line: bytes) -> int:
    """Count the numbers at the right end of a line. The first field of a line is always (part of)
    the word.
    """
    count = 0
    for field in reversed(line.split(b" ")[1:]):
        if not is_number(field):
            break
        count += 1
    return count


def parse(fields: list[bytes], where: str) -> np.ndarray:
    """The vector of a line. Raises UserError when a field is no finite number."""
    try:
        vector = np.array([float(field) for field in fields], dtype=np.float32)
    except ValueError:
        wrong = next(field for field in fields if not is_number(field))
        raise UserError(
            f"{where}: {wrong.decode(errors='replace')[:40]!r} is not a number; {AGAIN}"
        ) from None
    if not np.isfinite(vector).all():
        raise UserError(f"{where}: a number is not finite; {AGAIN}")
    return vector


def read_vectors(file: Path, words: set[str]) -> tuple[list[str], np.ndarray]:
    """The wanted words that a file holds, in its order, and their vectors,
    (words, dimension) float32.

    The first line of a word counts. The numbers of unwanted words are counted, not read. Raises
    UserError, with the line, for a vector of another length than the first line's, and for a value
    that is no number. Raises UserError for a damaged file.
    """
    wanted = {word.encode() for word in words}
    found: dict[bytes, np.ndarray] = {}
    dimension = number = 0
    started = reported = time.monotonic()
    with opened(file) as (text, raw):
        for number, line in enumerate(iter(partial(text.readline, LONGEST_LINE), b""), 1):
            where = f"{file}, line {number}"
            if len(line) == LONGEST_LINE:
                raise UserError(
                    f"{where}: longer than {LONGEST_LINE:,} bytes, so this is no text of `word "
                    f"v1 … vd` a line; {AGAIN}"
                )
            line = line.rstrip()
            if number == 1:
                dimension = count_numbers(line)
                if dimension == 0:
                    raise UserError(
                        f"{where}: no word with numbers after it, separated by single spaces; "
                        f"{AGAIN}"
                    )
            if line.count(b" ") == dimension:
                word = line[: line.index(b" ")]
            else:  # a word with spaces, or a line of another length
                if (numbers := count_numbers(line)) != dimension:
                    raise UserError(
                        f"{where}: {numbers} numbers where the first line has {dimension}; {AGAIN}"
                    )
                word = line.rsplit(b" ", dimension)[0]
            if word in wanted and word not in found:
                found[word] = parse(line.rsplit(b" ", dimension)[1:], where)
            if number % 10_000 == 0 and time.monotonic() - reported > REPORT_SECONDS:
                reported = time.monotonic()
                log.info(
                    "%s: %.0f %% read, %d of %d words found",
                    file,
                    100 * raw.tell() / file.stat().st_size,
                    len(found),
                    len(wanted),
                )
    if number == 0:
        raise UserError(f"{file}: empty; {AGAIN}")
    log.info(
        "%s: %d of %d words found in %d lines of %d numbers, %.1f s",
        file,
        len(found),
        len(wanted),
        number,
        dimension,
        time.monotonic() - started,
    )
    vectors = np.stack(list(found.values())) if found else np.zeros((0, dimension), np.float32)
    return [word.decode() for word in found], vectors
