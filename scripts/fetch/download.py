"""Bring one file and verify it. The mirror is tried first, then each URL in turn.

A mirror is a folder or an http(s) URL with the layout <host>/<path>. The declared size limits each
file, else the limits of scripts/fetch/web.py.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from scripts.data.files import sha256_of, whole_set
from scripts.running.program import UserError, add_manifest, closest, json_object, log, parser
from scripts.data.yaml_files import entries_of
from scripts.fetch.web import NoAnswer, NotThere, TooLarge, copy, note_of, size_at, transfer

ROOT = Path(__file__).parents[2]
LOCAL = ("file://", "resources/")  # how the address of a file on this machine begins
SETTING = "TIMESTRIDE_MIRROR, or `mirror:` in the configuration,"


class NoFile(UserError):
    """No place that answered has the file."""


class Absent(NoFile):
    """The place of the file answered that it does not have the file."""


# ---- Code that the programs share


def fetch_parser(doc: str, kind: str, output: str, partial: bool = True) -> argparse.ArgumentParser:
    """Return the parser of a program that reads one entry and writes OUTPUT. kind: source or model.
    output: the help of OUTPUT. partial: whether a later start continues unfinished downloads.
    """
    program = parser(doc)
    program.add_argument(
        f"--{kind}", required=True, metavar="NAME", help=f"the name of a {kind} in --{kind}s"
    )
    program.add_argument(
        f"--{kind}s",
        type=Path,
        default=Path(f"resources/{kind}s.yaml"),
        metavar="FILE",
        help=f"the file with the entries of {kind}s; default: %(default)s",
    )
    program.add_argument(
        "--entry",
        type=json_object,
        metavar="JSON",
        help=f"the entry itself, instead of its name in --{kind}s",
    )
    program.add_argument(
        "--place",
        metavar="TEXT",
        help="the words by which messages name the entry; default: FILE (NAME)",
    )
    program.add_argument("--output", type=Path, required=True, help=output)
    add_mirror(program)
    if partial:
        add_manifest(program)
        program.add_argument(
            "--partial",
            type=Path,
            default=Path("results/fetch/.partial"),
            metavar="DIR",
            help="the folder for unfinished downloads; default: %(default)s",
        )
    return program


def add_mirror(program: argparse.ArgumentParser) -> None:
    program.add_argument(
        "--mirror",
        default="",
        metavar="PLACE",
        help="a folder or URL laid out as <host>/<path>; it is tried before the file's own URLs",
    )


def read_entry(name: str, listing: Path, entry: dict | None = None) -> dict:
    """An entry that is given, or of resources/sources.yaml or models.yaml. Raises UserError for an
    unknown name.
    """
    if entry is not None:
        return entry
    known = entries_of(listing)
    if name not in known:
        raise UserError(f"{listing}: has no {name}{closest(name, known)}")
    return known[name]


@contextmanager
def alone(partial: Path) -> Iterator[None]:
    """Wait until no other program uses `partial`, and keep it from others during the block."""
    partial.parent.mkdir(parents=True, exist_ok=True)
    with open(partial.with_name(f"{partial.name}.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("%s: another program fetches it; waiting for that one", partial.name)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            pass
        yield


def finish(name: str, files: dict[str, Path], output: Path, partial: Path) -> None:
    """Give verified files ({name: present place}) their names in `output`: all files or no file.
    Then remove `partial`. Files of other folders, such as the hub's cache, are copied.
    """
    with whole_set(output) as place:
        for file, now in files.items():
            target = place / file
            target.parent.mkdir(exist_ok=True)
            if partial in now.parents:
                with suppress(OSError):  # on another disk
                    os.link(now, target)
            if not target.exists():
                copy(now, target, file, now.stat().st_size)
    shutil.rmtree(partial, ignore_errors=True)
    size = sum((output / file).stat().st_size for file in files)
    log.info("%s: %s files, %s bytes, in %s", name, len(files), f"{size:,}", output)


# ---- Mirrors


def check_mirror(mirror: str) -> str | None:
    """The mirror as a folder path or URL; None for an empty text. Raises UserError for a missing
    folder.
    """
    if not mirror:
        return None
    if mirror.startswith("file://"):
        mirror = str(local_path(mirror))
    if not mirror.startswith(("http://", "https://")) and not Path(mirror).is_dir():
        raise UserError(
            f"mirror {mirror} is not there: correct {SETTING} or remove it to fetch "
            "from the files' own URLs"
        )
    return mirror


def in_mirror(mirror: str | None, urls: list[str]) -> list[str]:
    """Return the mirror's address of each URL's file, <mirror>/<host>/<path>; no address for a
    local file.
    """
    if not mirror:
        return []
    places = [urlsplit(url) for url in urls if not url.startswith(LOCAL)]
    if mirror.startswith(("http://", "https://")):
        return [f"{mirror.rstrip('/')}/{place.hostname}{place.path}" for place in places]
    root = Path(mirror).resolve()
    return [(root / place.hostname / unquote(place.path).lstrip("/")).as_uri() for place in places]


def local_path(url: str) -> Path:
    """Return the file of an address that begins with one of LOCAL."""
    return Path(url2pathname(urlsplit(url).path)) if "://" in url else ROOT / url


def find(places: list[str]) -> tuple[str, int] | None:
    """Return the first place that has a file, and its bytes (0 if unknown); None if no place has
    it.
    """
    for place in places:
        if place.startswith(LOCAL):
            if local_path(place).is_file():
                return place, local_path(place).stat().st_size
            continue
        if (size := size_at(place)) is not None:
            return place, size
    return None


# ---- Downloads


def verify(file: Path, name: str, pin: str, sha256: str | None, size: int | None) -> None:
    """Raise UserError unless a file has the declared hash and size (None: not known)."""
    found, found_size = sha256_of(file), file.stat().st_size
    if sha256 not in (None, found) or size not in (None, found_size):
        wanted = f"sha256 {sha256 or 'unknown'}" + ("" if size is None else f" and {size:,} bytes")
        raise UserError(
            f"{name} is not the file that {pin} names (expected {wanted}, found "
            f"{found} and {found_size:,} bytes): get the right file into the mirror, or, if the "
            "change is meant, pin what was found"
        )
    if sha256 is None:
        log.info(
            "%s: sha256 %s; nobody has published a hash, so the file cannot be checked: pin "
            "this hash in %s",
            *(name, found, pin),
        )


class Downloads(NamedTuple):
    """The places of an entry's files until all files are there.

    pin      the place of their hashes and sizes, for messages
    partial  the folder of unfinished and of verified downloads
    mirror   the place that is tried first; None without one
    """

    pin: str
    partial: Path
    mirror: str | None

    def place_of(self, url: str, suffix: str) -> Path:
        """Return the place of a whole or unfinished file."""
        return self.partial / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.{suffix}"

    def bring(
        self,
        name: str,
        urls: list[str],
        sha256: str | None,
        size: int | None = None,
        most: int | None = None,
        archive: bool = False,
        only_mirror: bool = False,
    ) -> Path:
        """Bring a file and verify it. Return its place under `partial`; the caller takes it from
        there.

          name        for messages
          size        the bytes that the file must have (None: not known)
          most        the bytes that the file may have (None: not known)
          archive     the caller verifies its members instead
          only_mirror the URLs themselves are not asked

        A verified file that a failed fetch left under `partial` is used again. Raises NoFile if no
        place has the file. Raises UserError if the mirror does not answer, or if hash or size
        differ.
        """
        ready = self.place_of(urls[0], "whole")
        if ready.exists():
            if sha256 in (None, sha256_of(ready)) and size in (None, ready.stat().st_size):
                log.info("%s: already here, from a fetch that did not end", name)
                return ready
            ready.unlink()
        self.partial.mkdir(parents=True, exist_ok=True)
        part, place = self._transfer(
            name,
            in_mirror(self.mirror, urls),
            [] if only_mirror else urls,
            size if size is not None else most,
        )
        note_of(part).unlink(missing_ok=True)
        if not archive:
            try:
                verify(part, f"{name} from {place}", self.pin, sha256, size)
            except UserError:
                part.unlink()
                raise
        os.replace(part, ready)
        log.info("%s: %s bytes from %s", name, f"{ready.stat().st_size:,}", place)
        return ready

    def _transfer(
        self, name: str, mirrored: list[str], urls: list[str], most: int | None
    ) -> tuple[Path, str]:
        """Bring a file from the first place that has it. Return the file and this place. Raises
        NoFile if no place has it. Raises UserError if the mirror does not answer, or if a place
        sends too many bytes.
        """
        tried = []
        for place in [*mirrored, *urls]:
            part = self.place_of(place, "part")
            try:
                if place.startswith(LOCAL):
                    copy(local_path(place), part, name, most)
                else:
                    transfer(place, part, name, most)
                return part, place
            except NoAnswer as error:
                if place in mirrored and not isinstance(error, NotThere):
                    raise UserError(
                        f"{name}: the mirror does not give {place} ({error}): start "
                        f"the mirror, or correct {SETTING} or remove it"
                    ) from error
                whose = "the mirror has no " if place in mirrored else ""
                log.info("%s: %s%s: %s", name, whose, place, error)
                tried.append(f"{place}: {error}")
            except TooLarge as error:
                whose = "with none declared in" if most is None else "the limit of"
                raise UserError(
                    f"{name} from {place} is more than {error}, {whose} {self.pin}: the "
                    "download was stopped and removed; get the right file into the mirror, or, "
                    "if the change is meant, declare its bytes there"
                ) from error
        raise NoFile(
            f"{name} could not be fetched (tried {'; '.join(tried) or 'nothing'}): set {SETTING} "
            "to a folder or URL laid out as <host>/<path> that has it"
        )
