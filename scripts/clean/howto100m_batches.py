"""HowTo100M's videos as Arrow batches: what is read, flat, before anything is cleaned.

Not a program. A batch has one row a video: video_id; end_byte (bytes of the file up to the end of the video); longest (of its three
lists); start, end and text (lists, cut to the shortest: seconds, NaN where there is none; null where there is no text), and what each
text is (TEXT, MISSING: null or NaN, NOT_TEXT, MENDED: half of a surrogate pair was in it, and U+FFFD stands for that).
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.clean.howto100m_videos import Video, Videos, opened

TEXT, MISSING, NOT_TEXT, MENDED = range(4)
SIZE = 1 << 22   # bytes of JSON in a batch: what is cleaned, and written, at a time
GROUP = 1 << 18  # bytes of JSON made flat at a time: so many Python objects stay in the processor's cache


def texts_of(values: list) -> tuple[pa.Array, np.ndarray]:
    """An array of strings from decoded JSON, null for all that is not text; and what each is (int8)."""
    texts = [value if type(value) is str else None for value in values]
    what = np.full(len(texts), TEXT, np.int8)
    try:
        found = pa.array(texts, pa.string())
    except UnicodeEncodeError:
        # Half of a surrogate pair is nothing that a file can hold as text; U+FFFD stands for it.
        mended = [text and text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]
        found = pa.array(mended, pa.string())
        what[[text != after for text, after in zip(texts, mended)]] = MENDED
    for row in np.flatnonzero(found.is_null()) if found.null_count else ():
        what[row] = MISSING if values[row] is None or values[row] != values[row] else NOT_TEXT
    return found, what


def times_of(lists: list[list[float | None]]) -> pa.Array:
    """Lists of seconds as one array; NaN for null."""
    return pa.array(list(chain.from_iterable(lists)), pa.float64()).fill_null(np.nan)


def as_batch(names: list[str], videos: list[Video], ends: list[int]) -> pa.RecordBatch:
    """A batch of videos and the bytes of the file up to the end of each. Cuts longer lists of a video in place."""
    sizes = np.array([(len(one.start), len(one.end), len(one.text)) for one in videos], dtype=np.int64).reshape(-1, 3)
    shortest, longest = sizes.min(axis=1, initial=1 << 40), sizes.max(axis=1, initial=0)
    for number in np.flatnonzero(shortest < longest):
        for values in (videos[number].start, videos[number].end, videos[number].text):
            del values[shortest[number]:]
    offsets = pa.array(np.concatenate([[0], np.cumsum(shortest)]), pa.int32())
    texts, what = texts_of(list(chain.from_iterable(one.text for one in videos)))
    columns = {"start": times_of([one.start for one in videos]), "end": times_of([one.end for one in videos]),
               "text": texts, "what": pa.array(what)}
    return pa.record_batch({
        "video_id": pa.array(names, pa.string()), "end_byte": pa.array(ends, pa.int64()), "longest": pa.array(longest, pa.int32()),
        **{name: pa.ListArray.from_arrays(offsets, values) for name, values in columns.items()}})


def groups(read: Iterator[tuple[str, Video, int]], size: int) -> Iterator[pa.RecordBatch]:
    """Videos as batches of at least `size` bytes of JSON (the last may be less), or up to where a batch of SIZE bytes is full."""
    names, videos, ends, begun, full = [], [], [], 0, 0
    for name, video, end in read:
        names.append(name)
        videos.append(video)
        ends.append(end)
        if end - begun >= size or end - full >= SIZE:
            yield as_batch(names, videos, ends)
            names, videos, ends, begun = [], [], [], end
            full = end if end - full >= SIZE else full
    if names:
        yield as_batch(names, videos, ends)


def batches(file: Path) -> Iterator[pa.RecordBatch]:
    """All videos of a caption file in batches of at least SIZE bytes of JSON (the last may be less)."""
    held, begun = [], 0
    with opened(file) as (stream, _, name):
        for group in groups(Videos(stream, name), GROUP):
            held.append(group)
            end = group["end_byte"][-1].as_py()
            if end - begun >= SIZE:
                yield pa.concat_batches(held)
                held, begun = [], end
    if held:
        yield pa.concat_batches(held)
