"""What the samples of videos and dialogs share: ids as YouTube's, and zips that are the same bytes everywhere."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import BinaryIO

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def identifiers(chance: Random, count: int) -> list[str]:
    """So many different ids of eleven characters, as YouTube's."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choices(ALPHABET, k=11))] = None
    return list(found)


@contextmanager
def opened_zip(place: Path, member: str) -> Iterator[BinaryIO]:
    """A member of a new zip to write to. It is stored, not compressed: versions of zlib compress differently."""
    with zipfile.ZipFile(place, "w") as archive:
        entry = zipfile.ZipInfo(member, date_time=(2019, 6, 6, 0, 0, 0))
        entry.external_attr = 0o644 << 16
        entry.create_system = 3
        with archive.open(entry, "w", force_zip64=True) as opened:
            yield opened
