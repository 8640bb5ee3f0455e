"""Download one http(s) URL into a file. Size and time are bounded. A new try continues where an
earlier one ended.

Pieces of two versions of a file are never joined. A download continues only if the server's ETag or
date shows that the file is the same. Every wait is logged, and no wait is longer than the limits
here.
"""

import os
import re
import shutil
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from tqdm import tqdm

from scripts.running.program import UserError, log

CHUNK = 1 << 16  # bytes; a cut connection loses at most these
TIMEOUT = (10, 20)  # seconds to connect, seconds without a byte
HEADERS = 60  # seconds until an answer's headers are whole, redirects included
# bytes a second, measured over so many seconds: a slower connection counts as silent
SLOWEST, WINDOW = (1_000, 60)
TRIES = 4  # without progress, at one place
BACKOFF = 0.3  # seconds; doubled with every try
LONGEST_WAIT = 120  # seconds that a busy server may ask for; the sum may grow by bytes / SLOWEST
MOST = 20_000_000_000  # bytes of a file whose size only its server declares
UNDECLARED = 1_000_000_000  # bytes of a file whose size nobody declares
LONGEST_JSON = 20_000_000  # bytes of a JSON read whole; the index of 600 billion weights has 9 MB
BUSY = {429, 500, 502, 503, 504}


class NoAnswer(Exception):
    """A place did not give the file; the text has the reason."""


class NotThere(NoAnswer):
    """A place answered that it does not have the file."""


class TooLarge(Exception):
    """A place gives more bytes than it may; the text is the limit."""


class Cut(Exception):
    """A try ended before the end of the file; the text has the reason. wait: the seconds that the
    server asks for.
    """

    def __init__(self, why: str, wait: float | None = None):
        super().__init__(why)
        self.wait = wait


class _Overdue(BaseException):
    """The time is over. Libraries that catch every Exception let this one pass."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise NoAnswer if the block takes longer, whatever it waits for. Main thread only.

    The time-outs of sockets count from byte to byte. So they never stop a server that sends a few
    bytes now and then.
    """

    def ring(*_):
        raise _Overdue

    before, (left, _) = signal.signal(signal.SIGALRM, ring), signal.getitimer(signal.ITIMER_REAL)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
    except _Overdue:
        raise NoAnswer(f"no whole answer in {seconds:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)


class Session(requests.Session):
    """A session that bounds the time until an answer's headers. It follows redirects to http(s)
    only, never from https to http.
    """

    def request(self, *given, **named) -> requests.Response:
        with deadline(HEADERS):
            return super().request(*given, **named)

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target:
            now, then = urlsplit(resp.url).scheme, urlsplit(urljoin(resp.url, target)).scheme
            if then not in ("http", "https") or (now, then) == ("https", "http"):
                raise NoAnswer(
                    f"it redirects to {target[:200]}, which is not followed: from {now} to {then}"
                )
            resp.close()  # requests would read its body to the end
        return target


def session() -> Session:
    """Return a session that asks for uncompressed bytes. It does not try again; `transfer` does."""
    web = Session()
    web.max_redirects = 5
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
    for tries in range(1, TRIES + 1):
        try:
            with session() as web, web.head(url, allow_redirects=True, timeout=TIMEOUT) as answer:
                if answer.status_code == 200:
                    return declared_size(answer) or 0
                if answer.status_code not in BUSY or tries == TRIES:
                    return None
        except (requests.RequestException, NoAnswer):
            return None
        wait = BACKOFF * 2**tries
        log.info("%s: HTTP %d; trying again in %.1f s", url, answer.status_code, wait)
        time.sleep(wait)
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


def _wait(answer: requests.Response) -> float | None:
    """Seconds that `Retry-After` asks to wait; None if they cannot be read."""
    try:
        return urllib3.Retry().get_retry_after(answer.raw)
    except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
        return None


def _check_answer(answer: requests.Response, done: int, version: str, part: Path) -> None:
    """Raise unless the answer is the file (200), or continues where `part` ends, in the same
    version (206).
    """
    status = answer.status_code
    if status in (401, 403, 404, 410):
        raise NotThere(f"HTTP {status}")
    if status in BUSY:
        wait = _wait(answer)
        if wait is not None and wait > LONGEST_WAIT:
            raise NoAnswer(
                f"HTTP {status}: it asks to wait for {wait:,.0f} s, more than "
                f"{LONGEST_WAIT} s; try again later"
            )
        raise Cut(f"the server is busy (HTTP {status})", wait)
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


def _pieces(answer: requests.Response) -> Iterator[bytes]:
    """Yield the uncompressed bytes as they come. Raises Cut if no bytes come, or too few."""
    since, count = time.monotonic(), 0
    try:
        while True:
            with deadline(WINDOW):
                piece = answer.raw.read1(CHUNK, decode_content=True)
            if not piece:
                return
            yield piece
            count += len(piece)
            if (passed := time.monotonic() - since) >= WINDOW:
                if count < SLOWEST * passed:
                    raise Cut(f"fewer than {SLOWEST:,} bytes a second came for {passed:.0f} s")
                since, count = time.monotonic(), 0
    except NoAnswer:
        raise Cut(f"fewer than {SLOWEST:,} bytes a second came for {WINDOW} s") from None
    except urllib3.exceptions.ReadTimeoutError:
        raise Cut(f"no byte came for {TIMEOUT[1]} s") from None
    except (urllib3.exceptions.HTTPError, ConnectionError, ValueError):
        raise Cut("the connection ended early") from None


def _request(web: requests.Session, url: str, part: Path, name: str, most: int | None) -> None:
    """Send one request. Add the missing bytes to `part`, or write it again. Raises NoAnswer,
    NotThere, TooLarge, Cut.
    """
    done, version = _piece(part)
    headers = {"Range": f"bytes={done}-", "If-Range": version} if done else {}
    try:
        answer = web.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except (requests.ConnectionError, requests.Timeout) as error:
        raise Cut(f"no answer ({type(error).__name__})") from None
    except requests.RequestException as error:
        raise NoAnswer(f"no answer ({type(error).__name__}: {short(error)})") from error
    with answer:
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
        write(_pieces(answer), part, name, done, total, bound)
    if total is not None and part.stat().st_size != total:
        raise Cut("the connection ended early")


def transfer(web: requests.Session, url: str, part: Path, name: str, most: int | None) -> None:
    """Download `url` to `part`. After a cut connection, send a new request as long as there is
    progress. most: the bytes that the file may have; None: unknown. Raises NoAnswer, NotThere,
    TooLarge.
    """
    furthest, tries, waited = 0, 0, 0.0
    while True:
        try:
            return _request(web, url, part, name, most)
        except Cut as cut:
            size = part.stat().st_size if part.exists() else 0
            furthest, tries = (size, 0) if size >= furthest + CHUNK else (furthest, tries + 1)
            if tries == TRIES:
                raise NoAnswer(f"{cut} {tries} times at {size:,} bytes") from cut
            wait = BACKOFF * 2**tries if cut.wait is None else cut.wait
            waited += wait
            if waited > LONGEST_WAIT + size / SLOWEST:
                raise NoAnswer(
                    f"{cut} again and again: it asks to wait for {waited:,.0f} s in all; "
                    "try again later"
                ) from cut
            log.info("%s: %s, at %s bytes; trying again in %.1f s", name, cut, f"{size:,}", wait)
            time.sleep(wait)
        except TooLarge:
            part.unlink(missing_ok=True)
            note_of(part).unlink(missing_ok=True)
            raise
