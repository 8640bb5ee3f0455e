"""Bring one file: from the mirror first, then from each URL in turn, verified before it is handed out.

A mirror is a folder or an http(s) URL laid out as <host>/<path>. Every file is bounded by the size that is declared for
it, or else by what its server declares and by what scripts/fetch/web.py states.
"""

import difflib
import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import requests
import yaml

from scripts.common.files import sha256_of, whole
from scripts.common.program import UserError, cut, log
from scripts.fetch.web import TIMEOUT, NoAnswer, NotThere, TooLarge, copy, named, session, transfer

MIRROR_HELP = "a folder or URL laid out as <host>/<path>, tried before the file's own URLs"
SETTING = "TIMESTRIDE_MIRROR, or `mirror:` in the configuration,"
UNPINNED = "%s: sha256 %s; nobody has published one to compare with, so it is taken as it is: pin it in %s"


class NoFile(UserError):
    """No place has the file, as far as they could be asked."""


class Absent(NoFile):
    """The place where the file would be says that there is none."""


def read_entry(kind: str, name: str, listing: Path) -> dict:
    """One entry of resources/sources.yaml (kind `source`) or models.yaml (`model`).

    Raises UserError for an unknown name, with the known ones, and for a listing that cannot be read.
    """
    try:
        known = yaml.safe_load(listing.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{listing} is not there; give the list of {kind}s with --{kind}s") from None
    except yaml.YAMLError as error:
        raise UserError(f"{listing} is not YAML ({' '.join(str(error).split())}); mend it") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{listing} is not UTF-8 ({error}); mend it") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, lists in lists
        raise UserError(f"{listing} is not YAML that can be read ({cut(str(error))}); mend it") from error
    if not isinstance(known, dict):
        raise UserError(f"{listing} has no {kind}s by name; mend it")
    if name not in known:
        names = [key for key in known if isinstance(key, str)]
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]}? known" if near else "known"
        raise UserError(f"{listing}: no {kind} {name}; {hint}: {cut(', '.join(sorted(names)), 400)}")
    if not isinstance(known[name], dict):
        raise UserError(f"{listing}: {name} is no entry of keys and values; mend it")
    return known[name]


def check_mirror(mirror: str | None) -> str | None:
    """The mirror as a folder path or URL; None for none. Raises UserError for a folder that is not there."""
    if not mirror:
        return None
    if mirror.startswith("file://"):
        mirror = str(local_path(mirror))
    if not mirror.startswith(("http://", "https://")) and not Path(mirror).is_dir():
        raise UserError(f"mirror {mirror} is not there: correct {SETTING} or take it away to fetch from the "
                        "files' own URLs")
    return mirror


def in_mirror(mirror: str | None, urls: list[str]) -> list[str]:
    """Where the mirror has each URL's file: <mirror>/<host>/<path>. A file:// URL has no host: nowhere."""
    if not mirror:
        return []
    places = [urlsplit(url) for url in urls if not url.startswith("file://")]
    if mirror.startswith(("http://", "https://")):
        return [f"{mirror.rstrip('/')}/{place.hostname}{place.path}" for place in places]
    root = Path(mirror).resolve()
    return [(root / place.hostname / unquote(place.path).lstrip("/")).as_uri() for place in places]


def size_at(places: list[str]) -> int | None:
    """The bytes of the file at the first place that has it, 0 where that does not tell them; None where none has it."""
    with session() as web:
        for place in places:
            if place.startswith("file://"):
                if local_path(place).is_file():
                    return local_path(place).stat().st_size
                continue
            try:
                answer = web.head(place, allow_redirects=True, timeout=TIMEOUT)
            except (requests.RequestException, NoAnswer):
                continue
            if answer.status_code == 200:
                length = answer.headers.get("Content-Length", "")
                return int(length) if length.isdecimal() else 0
    return None


def local_path(url: str) -> Path:
    """The path that a file:// URL names."""
    return Path(url2pathname(urlsplit(url).path))


def _ready(partial: Path, url: str) -> Path:
    """Where a verified file waits for the others of its entry."""
    return partial / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.whole"


def _bring(name: str, places: list[str], mirrored: list[str], partial: Path, most: int | None,
           pin: str) -> tuple[Path, str]:
    """Bring a file from the first place that has it; returns where it lies and the place.

    Raises NoFile when no place has it, UserError when the mirror does not answer or a place gives too much.
    """
    tried = []
    with session() as web:
        for place in places:
            part = partial / f"{hashlib.sha256(place.encode()).hexdigest()[:16]}.part"
            part.parent.mkdir(parents=True, exist_ok=True)
            try:
                if place.startswith("file://"):
                    copy(local_path(place), part, name, most)
                else:
                    transfer(web, place, part, name, most)
                return part, place
            except NotThere as error:
                if place in mirrored[-1:]:
                    log.info("%s: the mirror has no %s (%s)", name, " or ".join(mirrored), error)
                tried.append(f"{place}: {error}")
            except NoAnswer as error:
                if place in mirrored:
                    raise UserError(f"{name}: the mirror does not give {place} ({error}): start the mirror, "
                                    f"or correct {SETTING} or take it away") from error
                log.info("%s: %s: %s", name, place, error)
                tried.append(f"{place}: {error}")
            except TooLarge as error:
                bound = (f"the {most:,} bytes that {pin} allows" if most is not None
                         else f"{int(str(error)):,} bytes, with none declared in {pin}")
                raise UserError(f"{name} from {place} is more than {bound}: it was stopped and removed; get the right "
                                "file into the mirror, or, if the change is meant, declare its bytes there") from error
    raise NoFile(f"{name} could not be had (tried {'; '.join(tried) or 'nothing'}): set {SETTING} to a folder or URL "
                 "laid out as <host>/<path> that has it")


def _verify(part: Path, name: str, place: str, pin: str, sha256: str | None, size: int | None) -> str:
    """The hash of a file that is what its entry says; another one is removed. Raises UserError."""
    found, found_size = sha256_of(part), part.stat().st_size
    if sha256 not in (None, found) or size not in (None, found_size):
        part.unlink()
        wanted, there = f"sha256 {sha256 or 'unknown'}", f"{found}"
        if size is not None:
            wanted, there = f"{wanted} and {size:,} bytes", f"{there} and {found_size:,} bytes"
        raise UserError(f"{name} from {place} is not the file that {pin} names (expected {wanted}, found {there}): it was "
                        "removed; get the right file into the mirror, or, if the change is meant, pin what was found")
    return found


def download(name: str, urls: list[str], sha256: str | None, pin: str, partial: Path, mirror: str | None,
             size: int | None = None, most: int | None = None, archive: bool = False,
             otherwise: Callable[[Path], str] | None = None) -> Path:
    """Bring a file and verify it; returns its place under `partial`, from where the caller takes it.

    name: what to call it in messages; pin: where its sha256 and size are written down, for messages; mirror: as
    check_mirror returned it; size, most: the bytes that it must have, or may have, each None where not known; archive:
    its members are verified by the caller, not the file; otherwise: a function that writes the file where the mirror has
    none, in place of the URLs, and returns from where it came. A verified file that a fetch which failed later left under
    `partial` is used again.

    Raises NoFile when no place has the file, UserError when the mirror does not answer, or hash or size differ.
    """
    ready = _ready(partial, urls[0])
    if ready.exists():
        if sha256 in (None, sha256_of(ready)) and size in (None, ready.stat().st_size):
            log.info("%s: already here, from a fetch that did not end", name)
            return ready
        ready.unlink()
    mirrored, bound = in_mirror(mirror, urls), size if size is not None else most
    try:
        part, place = _bring(name, mirrored if otherwise else [*mirrored, *urls], mirrored, partial, bound, pin)
    except NoFile:
        if otherwise is None:
            raise
        part = ready.with_suffix(".part")
        part.parent.mkdir(parents=True, exist_ok=True)
        place = otherwise(part)
    part.with_suffix(".json").unlink(missing_ok=True)
    found = _verify(part, name, place, pin, sha256, size)
    if sha256 is None and not archive:
        log.info(UNPINNED, name, found, pin)
    os.replace(part, ready)
    log.info("%s: %s bytes from %s", name, f"{ready.stat().st_size:,}", place)
    return ready


def hand_over(files: dict[Path, Path]) -> None:
    """Give verified files their names: {place now: place wanted}.

    From one device to another all are copied before any is named.
    """
    with ExitStack() as copies:
        for now, wanted in files.items():
            wanted.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.replace(now, wanted)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                beside = copies.enter_context(whole(wanted))
                with open(now, "rb") as source, named(wanted), open(beside, "wb") as target:
                    shutil.copyfileobj(source, target)
