"""Bring one file: from the mirror first, then from each URL in turn, verified before it is handed out.

A mirror is a folder or an http(s) URL laid out as <host>/<path>. Downloads go on where an earlier try
ended, and never join pieces of two versions of a file: a piece is continued only if the server says, by ETag
or date, that the file is still the same.
"""

import difflib
import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import requests
import yaml
from requests.adapters import HTTPAdapter
from tqdm import tqdm
from urllib3.util import Retry

from scripts.common.files import sha256_of, whole
from scripts.common.program import UserError, log

CHUNK = 1 << 16  # bytes; what a cut connection loses at most
TIMEOUT = (10, 60)  # seconds to connect, seconds without a byte
TRIES = 5  # without progress, at one place
BACKOFF = 0.3  # seconds; doubled with every try
MIRROR_HELP = "a folder or URL laid out as <host>/<path>, tried before the file's own URLs"
SETTING = "TIMESTRIDE_MIRROR, or `mirror:` in the configuration,"
UNPINNED = "%s: sha256 %s; nobody has published one to compare with, so it is taken as it is: pin it in %s"


class NoFile(UserError):
    """No place has the file."""


class NoAnswer(Exception):
    """A place did not give the file; the text says why."""


class NotThere(NoAnswer):
    """A place answered that it does not have the file."""


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
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}? known" if near else "known"
        raise UserError(f"{listing}: no {kind} {name}; {hint}: {', '.join(sorted(known))}")
    return known[name]


def session() -> requests.Session:
    """A session that tries again, with growing pauses, where a server is busy or a connection fails."""
    retry = Retry(total=TRIES, connect=2, backoff_factor=BACKOFF, status_forcelist=[429, 500, 502, 503, 504],
                  allowed_methods=["GET", "HEAD"], raise_on_status=False)
    made = requests.Session()
    made.headers.update({"User-Agent": "timestride", "Accept-Encoding": "identity"})
    made.mount("http://", HTTPAdapter(max_retries=retry))
    made.mount("https://", HTTPAdapter(max_retries=retry))
    return made


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


def exists(url: str, mirror: str | None) -> bool:
    """Whether the mirror or the URL itself has a file."""
    with session() as web:
        for place in [*in_mirror(mirror, [url]), url]:
            if place.startswith("file://"):
                found = local_path(place).is_file()
            else:
                try:
                    found = web.head(place, allow_redirects=True, timeout=TIMEOUT).status_code == 200
                except requests.RequestException:
                    found = False
            if found:
                return True
    return False


def local_path(url: str) -> Path:
    """The path that a file:// URL names."""
    return Path(url2pathname(urlsplit(url).path))


def _bar(name: str, done: int, total: int | None) -> tqdm:
    return tqdm(desc=name, initial=done, total=total, unit="B", unit_scale=True, disable=None)


def _copy(place: Path, part: Path, name: str) -> None:
    """Copy a local file as a stream."""
    try:
        opened = open(place, "rb")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise NotThere("no such file") from None
    except PermissionError:
        raise NoAnswer("may not be read") from None
    with opened as source, open(part, "wb") as target, _bar(name, 0, place.stat().st_size) as bar:
        while chunk := source.read(CHUNK):
            target.write(chunk)
            bar.update(len(chunk))


def _validator(answer: requests.Response) -> str | None:
    """What tells this version of a file from another: a strong ETag, else its date."""
    tag = answer.headers.get("ETag")
    if answer.headers.get("Content-Encoding"):
        return None  # the bytes kept are not the bytes that Range counts
    return tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified")


def _continues(answer: requests.Response, done: int, validator: str) -> bool:
    """Whether a 206 goes on exactly where we stopped, in the same version of the file."""
    told = _validator(answer)
    return answer.headers.get("Content-Range", "").startswith(f"bytes {done}-") and told in (validator, None)


def _request(web: requests.Session, url: str, part: Path, name: str) -> None:
    """One request that adds the missing bytes to `part`, or writes it anew.

    `part` has a note beside it with the version of the file it is a piece of. Raises NoAnswer, NotThere, or a
    requests exception where the connection ends early.
    """
    note = part.with_suffix(".json")
    done, validator = 0, None
    if part.exists() and note.exists():
        done, validator = part.stat().st_size, json.loads(note.read_text(encoding="utf-8"))["validator"]
    headers = {"Range": f"bytes={done}-", "If-Range": validator} if done and validator else {}
    try:
        answer = web.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except requests.RequestException as error:
        raise NoAnswer(f"no answer ({type(error).__name__})") from error
    with answer:
        if answer.status_code in (401, 403, 404, 410):
            raise NotThere(f"HTTP {answer.status_code}")
        misfit = answer.status_code == 206 and not (headers and _continues(answer, done, validator))
        if answer.status_code == 416 or misfit:
            part.unlink(missing_ok=True)
            raise requests.ConnectionError("the piece kept does not fit what the server has now")
        if answer.status_code not in (200, 206):
            raise NoAnswer(f"HTTP {answer.status_code}")
        if answer.status_code == 206:
            log.info("%s: going on after %s bytes", name, f"{done:,}")
        else:
            done = 0
            part.unlink(missing_ok=True)  # first: a note must never stand beside another version's bytes
            with whole(note) as beside:
                beside.write_text(json.dumps({"url": url, "validator": _validator(answer)}), encoding="utf-8")
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length and not answer.headers.get("Content-Encoding") else None
        with open(part, "ab") as target, _bar(name, done, total) as bar:
            for chunk in answer.iter_content(CHUNK):
                target.write(chunk)
                bar.update(len(chunk))
    if total is not None and part.stat().st_size != total:
        raise requests.ConnectionError("the connection ended early")


def _transfer(web: requests.Session, url: str, part: Path, name: str) -> None:
    """Bring `url` into `part`, with as many requests as cut connections need while there is progress."""
    most, idle = 0, 0
    while True:
        try:
            return _request(web, url, part, name)
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
            size = part.stat().st_size if part.exists() else 0
            idle = 0 if size > most else idle + 1
            most = max(most, size)
            if idle == TRIES:
                raise NoAnswer(f"the connection ended early {TRIES} times at {most:,} bytes") from error
            log.info("%s: the connection ended early at %s bytes; trying again", name, f"{size:,}")
            time.sleep(BACKOFF * 2**idle)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Where a device is full, the error names the file that was written."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            error.filename = str(path)
        raise


def _bring(web: requests.Session, url: str, part: Path, name: str) -> None:
    part.parent.mkdir(parents=True, exist_ok=True)
    with named(part):
        if url.startswith("file://"):
            _copy(local_path(url), part, name)
        else:
            _transfer(web, url, part, name)


def download(name: str, urls: list[str], sha256: str | None, pin: str, partial: Path, mirror: str | None,
             archive: bool = False) -> Path:
    """Bring a file and verify it; returns its place under `partial`, from where the caller takes it.

    name: what to call it in messages; pin: where its sha256 is written down, for messages; mirror: as
    check_mirror returned it; archive: its members are verified by the caller, not the file. A verified file
    that a fetch which failed later left under `partial` is used again.

    Raises NoFile when no place has the file, UserError when the mirror does not answer or the hash differs.
    """
    ready = partial / f"{hashlib.sha256(urls[0].encode()).hexdigest()[:16]}.whole"
    if ready.exists():
        if sha256 in (None, sha256_of(ready)):
            log.info("%s: already here, from a fetch that did not end", name)
            return ready
        ready.unlink()
    mirrored = in_mirror(mirror, urls)
    tried = []
    with session() as web:
        for place in [*mirrored, *urls]:
            part = partial / f"{hashlib.sha256(place.encode()).hexdigest()[:16]}.part"
            try:
                _bring(web, place, part, name)
                break
            except NotThere as error:
                if place in mirrored:
                    log.info("%s: the mirror has no %s (%s)", name, place, error)
                tried.append(f"{place}: {error}")
            except NoAnswer as error:
                if place in mirrored:
                    raise UserError(f"{name}: the mirror does not give {place} ({error}): start the mirror, "
                                    f"or correct {SETTING} or take it away") from error
                log.info("%s: %s: %s", name, place, error)
                tried.append(f"{place}: {error}")
        else:
            raise NoFile(f"{name} could not be had (tried {'; '.join(tried)}): set {SETTING} to a folder "
                         "or URL laid out as <host>/<path> that has it")
    part.with_suffix(".json").unlink(missing_ok=True)
    found = sha256_of(part)
    if sha256 not in (None, found):
        part.unlink()
        raise UserError(f"{name} from {place} is not the file that {pin} names (expected sha256 {sha256}, "
                        f"found {found}): it was removed; get the right file into the mirror, or, if the "
                        "change is meant, pin the hash found")
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
