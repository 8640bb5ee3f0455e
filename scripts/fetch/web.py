"""Download one http(s) URL into a file. requests and urllib3 send the requests and try again. This
module continues a cut download, and bounds bytes and time.

Pieces of two versions of a file are never joined. A download continues only if the server's ETag or
date shows that the file is the same.
"""

import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import requests
import urllib3
from requests.adapters import HTTPAdapter
from tqdm import tqdm

from scripts.running.program import UserError, log

CHUNK = 1 << 16  # bytes; a cut connection loses at most these
TIMEOUT = (10, 20)  # seconds to connect, seconds without a byte
# Within so many seconds an answer's headers must come, redirects and waits included. Later, within
# each such time, SLOWEST bytes a second must come.
PATIENCE = 120
SLOWEST = 1_000
TRIES = 4  # without progress, at one place
BACKOFF = 1  # seconds
MOST = 20_000_000_000  # bytes of a file whose size only its server declares
UNDECLARED = 1_000_000_000  # bytes of a file whose size nobody declares
FAULTS = (
    requests.RequestException,
    ValueError,
)  # some odd answers are a ValueError of Python's own
LONGEST_JSON = 20_000_000  # bytes of a JSON read whole; the index of 600 billion weights has 9 MB
BUSY = (429, 500, 502, 503, 504)


class NoAnswer(Exception):
    """A place did not give the file; the text has the reason."""


class NotThere(NoAnswer):
    """A place answered that it does not have the file."""


class TooLarge(Exception):
    """A place gives more bytes than it may; the text is the limit."""

    def __init__(self, most: int):
        super().__init__(f"{most:,} bytes")


class Cut(Exception):
    """A request ended before the end of the file; the text has the reason."""


class _Overdue(BaseException):
    """The time is over. Libraries that catch every Exception let this one pass."""


@contextmanager
def deadline(seconds: float, size: Callable[[], int] = lambda: 0) -> Iterator[None]:
    """Raise NoAnswer if the block takes longer, whatever it waits for. Main thread only.

    size: a number of bytes. While it grows by SLOWEST a second, the time starts again.

    The time-outs of sockets count from byte to byte. So they never stop a server that sends a few
    bytes now and then.
    """
    known = size()

    def ring(*_):
        nonlocal known
        before, known = known, size()
        if known - before < max(1, SLOWEST * seconds):
            raise _Overdue

    handler, timer = signal.signal(signal.SIGALRM, ring), signal.getitimer(signal.ITIMER_REAL)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
    except _Overdue:
        raise NoAnswer(f"no whole answer in {seconds:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)


class Tries(urllib3.Retry):
    """urllib3's tries, each logged. A server that asks for a wait beyond PATIENCE gets no more."""

    def parse_retry_after(self, retry_after: str) -> float:
        try:
            wait = super().parse_retry_after(retry_after)
        except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
            return 0
        if wait > PATIENCE:
            raise NoAnswer(f"it asks to wait for {wait:,.0f} s, more than {PATIENCE} s")
        return wait

    def increment(self, *given, response: urllib3.BaseHTTPResponse | None = None, **named):
        if response is not None:
            response.close()  # urllib3 would read its body to the end
        return super().increment(*given, response=response, **named)

    def sleep(self, response: urllib3.BaseHTTPResponse | None = None) -> None:
        wait = response is not None and self.get_retry_after(response)
        wait, last = wait or self.get_backoff_time(), self.history[-1]
        reason = last.error or f"HTTP {last.status}"
        log.info("%s: %s; trying again in %.1f s", last.url, reason, wait)
        time.sleep(wait)


def _close_redirect(answer: requests.Response, **_) -> None:
    """Close a redirect, since requests would read its body to the end."""
    if answer.is_redirect:
        answer.close()


def session(url: str) -> requests.Session:
    """Return a session for a URL. It asks for uncompressed bytes, and follows five redirects to
    http(s), from https to https only.
    """
    web = requests.Session()
    tries = Tries(TRIES - 1, status_forcelist=BUSY, raise_on_status=False, backoff_factor=BACKOFF)
    for scheme in ("https://", "http://"):
        web.mount(scheme, HTTPAdapter(max_retries=tries))
    if url.startswith("https://"):
        del web.adapters["http://"]
    web.max_redirects = 5
    web.hooks["response"].append(_close_redirect)
    web.headers.update({"User-Agent": "timestride", "Accept-Encoding": "identity"})
    return web


def short(error: BaseException) -> str:
    """The beginning of an error's text, in one line."""
    return " ".join(str(error).split())[:200]


def check_room(name: str, needed: dict[Path, int]) -> None:
    """Raise UserError if a disk is too small. needed: {folder, which may not exist yet: bytes}."""
    disks: dict[int, list] = {}
    for folder, size in needed.items():
        folders = [folder.resolve(), *folder.resolve().parents]
        place = next(filter(Path.exists, folders))
        disks.setdefault(place.stat().st_dev, [place, 0])[1] += size
    for place, size in disks.values():
        free = shutil.disk_usage(place).free
        if size > free:
            raise UserError(
                f"no space left on the device of {place}: {name} needs {size:,} bytes more, and "
                f"{free:,} are free: free some, or name a folder on another disk (--directory, or "
                "HF_HOME for the cache of the hub), then give the same command again; what has "
                "come is kept"
            )


# ---- Writing


def write(
    pieces: Iterable[bytes], target: Path, name: str, done: int, total: int | None, most: int
) -> None:
    """Append the pieces to `target`, which has `done` of `total` bytes. Raises TooLarge beyond
    `most` bytes in all.
    """
    try:
        with (
            open(target, "ab") as opened,
            tqdm(
                desc=name, initial=done, total=total, unit="B", unit_scale=True, disable=None
            ) as bar,
        ):
            for piece in pieces:
                done += len(piece)
                if done > most:
                    raise TooLarge(most)
                opened.write(piece)
                bar.update(len(piece))
    except OSError as error:
        error.filename = error.filename or str(target)
        raise


def copy(place: Path, part: Path, name: str, most: int | None) -> None:
    """Copy a local file to `part`, up to `most` bytes. Raises NotThere, TooLarge."""
    if not place.is_file():
        raise NotThere("no such file")
    with open(place, "rb") as opened:
        size, bound = os.fstat(opened.fileno()).st_size, MOST if most is None else most
        if size > bound:
            raise TooLarge(bound)
        part.unlink(missing_ok=True)
        check_room(name, {part.parent: size})
        write(iter(lambda: opened.read(CHUNK), b""), part, name, 0, size, bound)


# ---- Transfers


def note_of(part: Path) -> Path:
    """The file beside an unfinished download with the version that it is a piece of."""
    return part.with_suffix(".version")


def declared_size(answer: requests.Response) -> int | None:
    """Return the size in bytes that an answer declares; None if it declares no size."""
    length = answer.headers.get("Content-Length", "")
    return int(length) if re.fullmatch("[0-9]{1,18}", length) else None


def size_at(url: str) -> int | None:
    """Return the bytes of a file on a server; 0 if the server does not give the size. None: the
    server has no such file or does not answer.
    """
    try:
        with (
            session(url) as web,
            deadline(PATIENCE),
            web.head(url, allow_redirects=True, timeout=TIMEOUT) as answer,
        ):
            return (declared_size(answer) or 0) if answer.status_code == 200 else None
    except (*FAULTS, NoAnswer):
        return None


def _is_packed(answer: requests.Response) -> bool:
    return answer.headers.get("Content-Encoding", "identity").lower() != "identity"


def _version(answer: requests.Response) -> str:
    """Return the mark of this version of a file: a strong ETag, else the date, else empty text."""
    if _is_packed(answer):
        return ""  # the unpacked bytes in the file are not the bytes that Range counts
    tag = answer.headers.get("ETag", "W/")
    return answer.headers.get("Last-Modified", "") if tag.startswith("W/") else tag


def _piece(part: Path) -> tuple[int, str]:
    """Return the number of bytes that an earlier try left in `part`, and their file's version."""
    if not part.exists() or not note_of(part).exists():
        return 0, ""
    version = note_of(part).read_text(encoding="latin-1").strip()
    return (part.stat().st_size, version) if version.isprintable() and version else (0, "")


def _request(url: str, headers: dict[str, str]) -> requests.Response:
    """Return an answer without its body. Raises NoAnswer."""
    try:
        with session(url) as web, deadline(PATIENCE):
            return web.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except requests.exceptions.InvalidSchema as error:
        raise NoAnswer(
            f"it redirects to an address which is not followed ({short(error)})"
        ) from error
    except FAULTS as error:
        reason = getattr(next(iter(error.args), None), "reason", error)  # of the last try
        raise NoAnswer(f"no answer ({short(reason)})") from error


def _check_answer(answer: requests.Response, done: int, version: str, part: Path) -> None:
    """Raise unless the answer is the file (200), or continues where `part` ends, in the same
    version (206).
    """
    status = answer.status_code
    if status in (401, 403, 404, 410):
        raise NotThere(f"HTTP {status}")
    continues = (
        done > 0
        and _version(answer) == version
        and answer.headers.get("Content-Range", "").startswith(f"bytes {done}-")
    )
    if status == 416 or (status == 206 and not continues):
        part.unlink(missing_ok=True)
        raise Cut("the piece that an earlier try left does not fit what the server has now")
    if status not in (200, 206):
        raise NoAnswer(f"HTTP {status}")


def _continue(url: str, part: Path, name: str, most: int | None) -> None:
    """Send one request. Add the missing bytes to `part`, or write it again. Raises NoAnswer,
    NotThere, TooLarge, Cut.
    """
    done, version = _piece(part)
    headers = {"Range": f"bytes={done}-", "If-Range": version} if done else {}
    with _request(url, headers) as answer:
        _check_answer(answer, done, version, part)
        if answer.status_code == 206:
            log.info("%s: going on after %s bytes", name, f"{done:,}")
        else:
            done = 0
            # before the note: it must never be beside the bytes of another version
            part.unlink(missing_ok=True)
            note_of(part).write_text(_version(answer), encoding="latin-1")
        length = None if _is_packed(answer) else declared_size(answer)
        total = None if length is None else done + length
        bound = most
        if bound is None:
            bound = UNDECLARED if total is None else MOST
        if (total or 0) > bound:
            raise TooLarge(bound)
        check_room(name, {part.parent: (total or done) - done})
        part.touch()
        try:
            with deadline(PATIENCE, lambda: part.stat().st_size):
                write(answer.iter_content(CHUNK), part, name, done, total, bound)
        except FAULTS as error:
            raise Cut(f"the connection ended early ({type(error).__name__})") from error
        except NoAnswer as error:
            raise Cut(f"fewer than {SLOWEST:,} bytes a second came for {PATIENCE:g} s") from error


def transfer(url: str, part: Path, name: str, most: int | None) -> None:
    """Download `url` to `part`. After a cut connection, send a new request as long as there is
    progress. most: the bytes that the file may have; None: unknown. Raises NoAnswer, NotThere,
    TooLarge.
    """
    furthest, tries = 0, 0
    while True:
        try:
            return _continue(url, part, name, most)
        except Cut as cut:
            size = part.stat().st_size if part.exists() else 0
            furthest, tries = (size, 0) if size >= furthest + CHUNK else (furthest, tries + 1)
            if tries == TRIES:
                raise NoAnswer(f"{cut} {tries} times at {size:,} bytes") from cut
            log.info("%s: %s, at %s bytes; trying again", name, cut, f"{size:,}")
            time.sleep(BACKOFF * tries)
        except TooLarge:
            part.unlink(missing_ok=True)
            note_of(part).unlink(missing_ok=True)
            raise
