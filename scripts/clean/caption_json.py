"""The captions of one video in JSON, in each known form."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from scripts.clean.corpus import shaped
from scripts.running.program import UserError


class Segment(msgspec.Struct):
    """A segment of Whisper's transcript."""

    start: float
    text: str
    end: float | None = None


class Chunk(msgspec.Struct):
    """A piece of a transcript of transformers' pipeline."""

    timestamp: tuple[float, float | None]
    text: str


class Offset(msgspec.Struct):
    """The times of a piece of whisper.cpp, in milliseconds."""

    start: int = msgspec.field(name="from")
    end: int = msgspec.field(name="to")


class Utterance(msgspec.Struct):
    """An utterance of AssemblyAI's transcript. Times are milliseconds."""

    start: int
    end: int
    text: str


class Piece(msgspec.Struct):
    """A piece of whisper.cpp's transcript."""

    offsets: Offset
    text: str


class Letters(msgspec.Struct):
    """A part of a text of YouTube's json3."""

    utf8: str = ""


class Event(msgspec.Struct):
    """An event of YouTube's json3: a caption, if it has segs. Times are milliseconds."""

    tStartMs: int = 0  # noqa: N815 (the key in the file)
    dDurationMs: int | None = None  # noqa: N815
    segs: list[Letters] = []


class Lists(msgspec.Struct):
    """A video of HowTo100M."""

    start: list[float]
    end: list[float]
    text: list[str]


class Sentences(msgspec.Struct):
    """A video of ActivityNet Captions."""

    timestamps: list[tuple[float, float]]
    sentences: list[str]


Spans = Iterator[tuple[float, float | None, str]]  # start, end, text
TRANSCRIPTS: dict[str, tuple[Any, Callable[[list], Spans]]] = {
    "segments": (list[Segment], lambda found: ((s.start, s.end, s.text) for s in found)),
    "chunks": (list[Chunk], lambda found: ((*c.timestamp, c.text) for c in found)),
    "transcription": (
        list[Piece],
        lambda found: ((p.offsets.start / 1000, p.offsets.end / 1000, p.text) for p in found),
    ),
    "utterances": (
        list[Utterance],
        lambda found: ((one.start / 1000, one.end / 1000, one.text) for one in found),
    ),
    "events": (
        list[Event],
        lambda found: (
            (
                event.tStartMs / 1000,
                None if event.dDurationMs is None else (event.tStartMs + event.dDurationMs) / 1000,
                text,
            )
            for event in found
            if (text := "".join(part.utf8 for part in event.segs)).strip()
        ),
    ),
}


def of_video(value: object, where: str) -> Spans | None:
    """Return the captions of one video; None if the value has no known form of a video."""
    if not isinstance(value, dict):
        return None
    for key, (shape, spans) in TRANSCRIPTS.items():
        if isinstance(value.get(key), list):
            return spans(shaped(value[key], shape, f"{where}: {key}"))
    if isinstance(value.get("sentences"), list):
        video = shaped(value, Sentences, where)
        times, texts = video.timestamps, video.sentences
    elif isinstance(value.get("text"), list):
        lists = shaped(value, Lists, where)
        times, texts = list(zip(lists.start, lists.end)), lists.text
        if len(lists.start) != len(lists.end):
            times = []
    else:
        return None
    if len(times) != len(texts):
        raise UserError(f"{where}: its lists have different lengths; mend that entry")
    return ((start, end, text) for (start, end), text in zip(times, texts))
