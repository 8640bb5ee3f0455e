"""Reading the caption files of HowTo100M as a stream: every video of one JSON object of videos, zipped or not.

Not a program. Memory holds the video that is read and no more; what is wrong is told with the video that it is in or behind.
"""

import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from scripts.clean.captions import shaped
from scripts.common.files import zip_errors
from scripts.common.program import UserError, cut, log
from scripts.common.texts import once

NAMES = ("raw_caption.zip", "raw_caption.json", "caption.json")
CHUNK = 1 << 22  # bytes read at a time
LONGEST = 1 << 26  # bytes of one video; a file that leaves one open this long is broken
MARK = b"\xef\xbb\xbf"

GAP = re.compile(rb"[ \t\n\r]*")
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
FLAT = rb'\{(?:[^"{}]++|%b)*+\}' % STRING.pattern
OBJECT = re.compile(rb'\{(?:[^"{}]++|%b|%b)*+\}' % (STRING.pattern, FLAT), re.DOTALL)  # a text may be an object
ESCAPED_LETTER = re.compile(rb"\\u00[67]")  # in which a key may hide
NEXT = re.compile(rb'[ \t\n\r]*+,[ \t\n\r]*+"([^"\\\x00-\x1f]*+)"[ \t\n\r]*+:[ \t\n\r]*+(?=\{)')  # a comma, and a plain id before {


class Video(msgspec.Struct, gc=False):
    """The captions of one video as the file has them, a NaN as NaN or null. A text can be anything; a time can be null."""

    start: list[float | None]
    end: list[float | None]
    text: list


DECODER = msgspec.json.Decoder(Video)


def each_key_once(content: bytes) -> bool:
    """Whether no key of a video that was decoded can stand twice in its bytes; False where it takes a closer look (a caption may
    read `end`)."""
    if content.count(b":") == 3:  # of the three keys that it must have; one byte is counted much faster than words
        return True
    return not ESCAPED_LETTER.search(content) and all(content.count(key) == 1 for key in (b'"start"', b'"end"', b'"text"'))


def decoded(content: bytes) -> Video | None:
    """The video that is these bytes and no more; None where that takes a closer look."""
    try:
        video = DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if b"NaN" not in content:
            return None
        try:  # a line break is white space before a null, and refused in a text: so no text is changed
            video = DECODER.decode(content.replace(b"NaN", b"\nnull"))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
    return video if each_key_once(content) else None


class Videos:
    """Every video of a JSON object of videos, in order: its id, the Video, and how many bytes of the file are read so far.

    An object is looked for up to the next `}`. As no shorter prefix of a JSON object is valid, what decodes there is
    the whole object. Only where the decoder refuses it (a brace in a text, a NaN) its end is searched for properly.
    Raises UserError that names the video where the file is broken or of another shape. `name` is the file's.
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
        self.expect(b"{", "the { of an object of videos")
        while (key := self.next_id()) is not None:
            video = self.video(key)
            self.last = key
            yield key, video, self.before + self.at
        if self.symbol():
            self.at -= 1
            raise self.broken("the end of the file")

    def more(self) -> bool:
        """Drop what is behind, read on (more for long objects, so as not to search them often); False at the end."""
        with zip_errors(f"{self.name}: the zip is damaged behind {self.here()}"):
            read = self.stream.read(max(self.chunk, len(self.buffer) - self.at))
        self.buffer, self.before, self.at = self.buffer[self.at :] + read, self.before + self.at, 0
        return bool(read)

    def here(self) -> str:
        """The place of the reader, for messages."""
        place = f"(byte {self.before + self.at})"
        return f"video {cut(self.last)} {place}" if self.last is not None else f"its start {place}"

    def broken(self, expected: str) -> UserError:
        """The error that something is missing at this place."""
        if self.at >= len(self.buffer):
            return UserError(f"{self.name}: the file ends too early, behind {self.here()}: {expected} is missing; fetch it again")
        return UserError(f"{self.name}: broken JSON behind {self.here()}: {expected} is missing; fetch it again")

    def symbol(self) -> bytes:
        """The next byte that is not white space, b"" at the end; steps over it."""
        while True:
            self.at = GAP.match(self.buffer, self.at).end()
            if self.at < len(self.buffer):
                self.at += 1
                return self.buffer[self.at - 1 : self.at]
            if not self.more():
                return b""

    def expect(self, wanted: bytes, called: str) -> bytes:
        """Step over white space and one of the bytes wanted; returns it."""
        found = self.symbol()
        if not found or found not in wanted:
            self.at -= len(found)
            raise self.broken(called)
        return found

    def next_id(self) -> str | None:
        """The id of the next video, None behind the last one; steps to the { of its object."""
        if self.last is not None and (found := NEXT.match(self.buffer, self.at)):  # as nearly all are written
            with suppress(UnicodeDecodeError):
                key, self.at = found[1].decode(), found.end()
                return key
        mark = self.expect(b'"}', "a video id") if self.last is None else self.expect(b",}", "a comma or the closing }")
        if mark == b",":
            mark = self.expect(b'"', "a video id")
        if mark == b"}":
            return None
        self.at -= 1
        key = self.video_id()
        self.expect(b":", f"the colon after video {cut(key)}")
        self.expect(b"{", f"the object with start, end and text of video {cut(key)}")
        self.at -= 1
        return key

    def video_id(self) -> str:
        """The key that begins at the `"` at this place; steps over it."""
        while not (found := STRING.match(self.buffer, self.at)):
            if len(self.buffer) - self.at > LONGEST or not self.more():
                self.at = len(self.buffer)
                raise self.broken("the end of a video id")
        try:
            key = json.loads(found.group())
            key.encode("utf-8")  # half of a surrogate pair is no text
        except ValueError as error:
            raise UserError(f"{self.name}: the video id behind {self.here()} cannot be read ({cut(str(error))}); fetch it "
                            "again") from None
        self.at = found.end()
        return key

    def video(self, key: str) -> Video:
        """The object that begins at this place; steps over it."""
        while (end := self.buffer.find(b"}", self.at) + 1) == 0 and len(self.buffer) - self.at <= LONGEST and self.more():
            pass
        if (video := decoded(self.buffer[self.at : end])) is None:
            return self.whole_object(key)
        self.at = end
        return video

    def whole_object(self, key: str) -> Video:
        """The object that begins at this place, whatever its texts and numbers; steps over it."""
        where = f"{self.name}: video {cut(key)}, which begins at byte {self.before + self.at}"
        behind = "the last whole video before it is " + ("none" if self.last is None else cut(self.last))
        while not (found := OBJECT.match(self.buffer, self.at)):
            if len(self.buffer) - self.at > LONGEST or not self.more():
                raise UserError(f"{where}, does not end; {behind}; fetch it again")
        self.at = found.end()
        if found.group().count(b":") == 3 and (video := decoded(found.group())) is not None:
            return video
        try:  # slower, but knows Infinity, and sees a key twice wherever it is
            value = json.loads(found.group().decode("utf-8"), object_pairs_hook=once)
        except UserError as error:
            raise UserError(f"{where}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise UserError(f"{where}: broken JSON ({cut(str(error))}); {behind}; fetch it again") from None
        return shaped(value, Video, where)


@contextmanager
def opened(file: Path) -> Iterator[tuple[BinaryIO, int, str]]:
    """The JSON of a caption file, zipped or not: a stream, its size in bytes, and a name for messages."""
    with open(file, "rb") as raw:
        if raw.read(2) != b"PK":
            raw.seek(0)
            yield raw, file.stat().st_size, str(file)
            return
    with zip_errors(f"{file}: not a whole zip, so no video can be read"):
        archive = zipfile.ZipFile(file)
    with archive:
        members = [member for member in archive.infolist() if Path(member.filename).name in NAMES]
        if len(members) != 1:
            raise UserError(f"{file}: needs one of {' and '.join(NAMES[1:])} inside, but has "
                            f"{cut(', '.join(archive.namelist()[:5])) or 'nothing'}; fetch it again")
        with zip_errors(f"{file}: cannot be opened"):
            stream = archive.open(members[0])
        with stream:
            yield stream, members[0].file_size, f"{file}: {members[0].filename}"


def size_of(file: Path) -> int:
    """How many bytes of JSON a caption file holds."""
    with opened(file) as (_, size, _):
        return size


def caption_file(fetched: Path) -> Path:
    """The caption file to read; says so when there are several."""
    present = [fetched / name for name in NAMES if (fetched / name).is_file()]
    if not present:
        raise UserError(f"{fetched}: none of {', '.join(NAMES)} is there; fetch one of them")
    if len(present) > 1:
        log.info("%s: reading %s, not %s", fetched, present[0].name, ", ".join(file.name for file in present[1:]))
    return present[0]
