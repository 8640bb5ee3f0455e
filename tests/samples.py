"""Smaller sample corpora than those of resources/samples/, for tests."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

from tests.conftest import ROOT


def members(archive: str) -> dict[str, bytes]:
    """Return the files of an archive of resources/samples/, by name."""
    with zipfile.ZipFile(ROOT / f"resources/samples/{archive}.zip") as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def downloads(place: Path, files: dict[str, bytes]) -> list[dict]:
    """Write a zip of these files to `place`; return the entry `downloads` of its source."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(zipped(files))
    facts = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in files.items()
    }
    return [{"urls": [place.as_uri()], "members": facts}]


def first(count: int, content: bytes) -> bytes:
    """Return the first `count` entries of a JSON list or mapping."""
    value = json.loads(content)
    part = dict([*value.items()][:count]) if isinstance(value, dict) else value[:count]
    return json.dumps(part).encode()


def captions(count: int) -> dict[str, bytes]:
    """Return the first `count` videos of each split, in ActivityNet's format."""
    return {name: first(count, content) for name, content in members("activitynet").items()}


def instances(count: int) -> dict[str, bytes]:
    """Return the first `count` instances, in TimeDial's format."""
    return {"test.json": first(count, members("challenge")["test.json"])}


def dialogs(count: int) -> dict[str, bytes]:
    """Return the first `count` dialogs of each split, in DailyDialog's format."""
    found = {}
    for name, content in members("dialogs").items():
        with zipfile.ZipFile(io.BytesIO(content)) as split:
            [file] = split.namelist()
            found[name] = zipped({file: b"".join(split.open(file).readlines()[:count])})
    return found


def speech() -> dict[str, dict]:
    """Return the videos of raw_caption.json, in HowTo100M's format."""
    with zipfile.ZipFile(io.BytesIO(members("howto100m")["raw_caption.zip"])) as opened:
        return json.loads(opened.read("raw_caption.json"))
