"""Reading the caption files of HowTo100M as a stream of Arrow batches, before anything is cleaned.

A file is one JSON object of videos, zipped or not; a folder has a CSV file for each video. Memory
holds one batch and the current video. A batch has one row a video, with these columns:

  video_id
  end_byte          bytes of the file up to the end of the video
  longest           length of the longest of its three lists
  start, end, text  lists, cut to the shortest: seconds (NaN for a missing time), and the text (null
                    for a missing one)
  what              the kind of each text: TEXT, MISSING (null or NaN), NOT_TEXT, or MENDED (it held
                    half of a surrogate pair, and U+FFFD replaces that half)
"""

import gc
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
import pyarrow as pa

from scripts.clean.caption_files import check_kind, files_in, read_file
from scripts.clean.caption_rows import Form, video_of
from scripts.clean.corpus import places_given, shaped
from scripts.data.files import zip_errors
from scripts.running.program import UserError, cut, log
from scripts.data.texts import unique_keys

NAMES = ("raw_caption.zip", "raw_caption.json", "caption.json")
TEXT, MISSING, NOT_TEXT, MENDED = range(4)
CHUNK = 1 << 22  # bytes read at a time
LONGEST = 1 << 26  # bytes of one video; a file that leaves one open this long is broken
SIZE = 1 << 22  # bytes of JSON in a batch, which is cleaned and written as a whole
OBJECTS = 100_000  # Python looks for reference cycles after so many objects; captions have none

MARK = b"\xef\xbb\xbf"
WHITE = rb"[ \t\n\r]*+"
STRING = rb'"(?:[^"\\]++|\\.)*+"'
FLAT = rb'\{(?:[^"{}]++|%b)*+\}' % STRING
# A text may be an object.
OBJECT = re.compile(rb'\{(?:[^"{}]++|%b|%b)*+\}' % (STRING, FLAT), re.DOTALL)
# The text before a video's object, or the end of the file if no video follows.
ID = rb"(%b)%b:%b(?=\{)" % (STRING, WHITE, WHITE)
FIRST, NEXT, EMPTY, END = (
    re.compile(WHITE + WHITE.join(parts), re.DOTALL)
    for parts in ((rb"\{", ID), (b",", ID), (rb"\{", rb"\}", rb"\Z"), (rb"\}", rb"\Z"))
)


class Video(msgspec.Struct, gc=False):
    """The captions of one video as the file has them. A text can be anything."""

    start: list[float | None]
    end: list[float | None]
    text: list


class Videos:
    """Every video of a JSON object of videos: its id, the Video, the bytes of the file up to its
    end. Raises UserError with the place if the file is broken or has another shape. name: the
    file's name.
    """

    def __init__(self, stream: BinaryIO, name: str, chunk: int = CHUNK):
        self.stream, self.name, self.chunk = stream, name, chunk
        self.buffer, self.at = b"", 0
        self.before = 0  # bytes of the file in front of the buffer
        self.last: str | None = None  # the last whole video

    def __iter__(self) -> Iterator[tuple[str, Video, int]]:
        if self.more() and self.buffer.startswith(MARK):
            log.info("%s: 1 byte order mark at its start is left out", self.name)
            self.at = len(MARK)
        while (key := self.next_id()) is not None:
            video = self.video(key)
            self.last = key
            yield key, video, self.before + self.at

    def more(self) -> bool:
        """Drop what was read and read on; False at the file's end, or inside an endless object."""
        rest = self.buffer[self.at :]
        if len(rest) > LONGEST:
            return False
        with zip_errors(f"{self.name}: the zip is damaged behind {self.here()}"):
            # Read more for a long object, so that it is not searched too often.
            read = self.stream.read(max(self.chunk, len(rest)))
        self.buffer, self.before, self.at = rest + read, self.before + self.at, 0
        return bool(read)

    def here(self) -> str:
        """The place of the reader, for messages."""
        behind = "its start" if self.last is None else f"video {cut(self.last)}"
        return f"{behind} (byte {self.before + self.at})"

    def next_id(self) -> str | None:
        """The id of the next video, None behind the last one; steps to the { of its object."""
        item, end = (FIRST, EMPTY) if self.last is None else (NEXT, END)
        while not (found := item.match(self.buffer, self.at)):
            ended = end.match(self.buffer, self.at)
            if not self.more():
                if ended:
                    return None
                raise UserError(
                    f"{self.name}: broken JSON, or the file ends too early, after "
                    f"{self.here()}: neither another video nor the closing }} follows; "
                    "fetch it again"
                )
        try:
            key = json.loads(found[1])
            key.encode("utf-8")  # fails for half of a surrogate pair
        except ValueError as error:
            raise UserError(
                f"{self.name}: the video id after {self.here()} cannot be read "
                f"({cut(str(error))}); fetch it again"
            ) from None
        self.at = found.end()
        return key

    def video(self, key: str) -> Video:
        """The object that begins at this place, with any texts and numbers; steps over it."""
        where = f"{self.name}: video {cut(key)}, which begins at byte {self.before + self.at}"
        last = "none" if self.last is None else cut(self.last)
        behind = f"the last whole video before it is {last}"
        while not (found := OBJECT.match(self.buffer, self.at)):
            if not self.more():
                raise UserError(f"{where}, does not end; {behind}; fetch it again")
        self.at = found.end()
        try:
            value = json.loads(found.group().decode("utf-8"), object_pairs_hook=unique_keys)
        except UserError as error:
            raise UserError(f"{where}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise UserError(
                f"{where}: broken JSON ({cut(str(error))}); {behind}; fetch it again"
            ) from None
        return shaped(value, Video, where)


@contextmanager
def opened(file: Path) -> Iterator[tuple[BinaryIO, int, str]]:
    """The JSON of a caption file, zipped or not: a stream, its size in bytes,
    a name for messages.
    """
    with open(file, "rb") as raw:
        if raw.read(2) != b"PK":
            raw.seek(0)
            yield raw, file.stat().st_size, str(file)
            return
    with zip_errors(f"{file}: not a whole zip, so no video can be read"):
        archive = zipfile.ZipFile(file)
    with archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".json")]
        if len(members) != 1:
            raise UserError(
                f"{file}: needs one .json file inside, but has "
                f"{cut(', '.join(archive.namelist()[:5])) or 'nothing'}; fetch it again"
            )
        with zip_errors(f"{file}: cannot be opened"):
            stream = archive.open(members[0])
        with stream:
            yield stream, members[0].file_size, f"{file}: {members[0].filename}"


def caption_file(fetched: Path, provenance: dict, listing: str) -> Path:
    """The caption file, or the folder with a CSV for each video, that the provenance names; else
    the first of NAMES that is there. listing: the name of the file that has no captions.
    """
    named = [place for place in places_given(fetched, provenance) if place.name != listing]
    present = [place for place in named or [fetched / name for name in NAMES] if place.exists()]
    if not present:
        wanted = [place.name for place in named] or NAMES
        raise UserError(f"{fetched}: none of {', '.join(wanted)} is there; fetch one of them")
    if len(present) > 1:
        others = ", ".join(file.name for file in present[1:])
        log.info("%s: reading %s, not %s", fetched, present[0].name, others)
    check_place(present[0])
    return present[0]


def check_place(place: Path) -> None:
    """Raise UserError for a file or folder of another kind."""
    for file in files_in(place) if place.is_dir() else []:
        check_kind(file)
    if not place.is_dir() and place.suffix.lower() not in (".json", ".zip"):
        check_kind(place)
        raise UserError(
            f"{place}: HowTo100M's captions are a .json file, a .zip of one, or a folder with a "
            ".csv file for each video; other captions have `cleaner: captions_table`"
        )


def videos_of_folder(folder: Path) -> Iterator[tuple[str, Video, int]]:
    """As Videos: every video of a folder with a file for each, its captions, the bytes so far."""
    read = 0
    for file in files_in(folder):
        rows = read_file(file, Form())
        read += file.stat().st_size
        yield (
            video_of(file),
            Video(*(rows[name].to_list() for name in ("start", "end", "text"))),
            read,
        )


@contextmanager
def videos_in(place: Path) -> Iterator[tuple[Iterable[tuple[str, Video, int]], int]]:
    """The videos of a caption file or folder, and its size in bytes."""
    if place.is_dir():
        yield videos_of_folder(place), sum(file.stat().st_size for file in files_in(place))
    else:
        with opened(place) as (stream, size, name):
            yield Videos(stream, name), size


# ---- Batches


def texts_of(values: list) -> tuple[pa.Array, np.ndarray]:
    """Strings from decoded JSON as an array (null for other values), and each one's kind (int8)."""
    texts = [value if type(value) is str else None for value in values]
    what = np.full(len(texts), TEXT, np.int8)
    try:
        found = pa.array(texts, pa.string())
    except UnicodeEncodeError:
        # A file cannot hold half of a surrogate pair as text.
        mended = [
            text and text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            for text in texts
        ]
        found = pa.array(mended, pa.string())
        what[[text != after for text, after in zip(texts, mended)]] = MENDED
    for row in np.flatnonzero(found.is_null()):
        what[row] = MISSING if values[row] is None or values[row] != values[row] else NOT_TEXT
    return found, what


def as_batch(read: list[tuple[str, Video, int]]) -> pa.RecordBatch:
    """A batch of videos from Videos. Cuts longer lists of a video in place."""
    names, videos, ends = zip(*read)
    sizes = np.array([(len(one.start), len(one.end), len(one.text)) for one in videos])
    shortest, longest = sizes.min(axis=1), sizes.max(axis=1)
    for number in np.flatnonzero(shortest < longest):
        for values in (videos[number].start, videos[number].end, videos[number].text):
            del values[shortest[number] :]
    offsets = pa.array(np.concatenate([[0], np.cumsum(shortest)]), pa.int32())
    texts, what = texts_of(list(chain.from_iterable(one.text for one in videos)))
    start, end = (
        pa.array(list(chain.from_iterable(lists)), pa.float64()).fill_null(np.nan)
        for lists in ([one.start for one in videos], [one.end for one in videos])
    )
    columns = {"start": start, "end": end, "text": texts, "what": pa.array(what)}
    return pa.record_batch(
        {
            "video_id": pa.array(names, pa.string()),
            "end_byte": pa.array(ends, pa.int64()),
            "longest": pa.array(longest, pa.int32()),
            **{name: pa.ListArray.from_arrays(offsets, values) for name, values in columns.items()},
        }
    )


def batches(file: Path) -> Iterator[pa.RecordBatch]:
    """All videos of a caption file in batches of at least SIZE bytes; the last is less."""
    gc.set_threshold(OBJECTS)
    group, begun = [], 0
    with videos_in(file) as (videos, _):
        for read in videos:
            group.append(read)
            if read[-1] - begun >= SIZE:
                yield as_batch(group)
                group, begun = [], read[-1]
    if group:
        yield as_batch(group)
