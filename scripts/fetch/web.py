"""Bring one http(s) URL into a file: bounded in size and time, and continued where an earlier try ended.

Pieces of two versions of a file are never joined: a piece is continued only if the server says, by ETag or date, that
the file is still the same. Whatever is waited for is said, and nothing is waited for longer than is stated here.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from tqdm import tqdm
from urllib3.util import Retry

from scripts.common.files import whole
from scripts.common.program import UserError, log

CHUNK = 1 << 16  # bytes; what a cut connection loses at most
TIMEOUT = (10, 20)  # seconds to connect, seconds without a byte
SLOWEST, WINDOW = 1_000, 60  # bytes a second, measured over so many seconds: what is slower counts as no byte
TRIES, STALLS = 5, 3  # without progress, at one place; those of them that were silent
BACKOFF = 0.3  # seconds; doubled with every try
LONGEST_WAIT = 120  # seconds that a busy server may ask for
MOST = 20_000_000_000  # bytes of a file whose size is declared by its server alone
UNTOLD = 1_000_000_000  # bytes of a file whose size nobody declares
BUSY = {429, 500, 502, 503, 504}


class NoAnswer(Exception):
    """A place did not give the file; the text says why."""


class NotThere(NoAnswer):
    """A place answered that it does not have the file."""


class TooLarge(Exception):
    """A place gives more bytes than may be taken; the text is that number."""


class Cut(Exception):
    """A try ended before the file did; the text says why.

    wait: seconds that the server asks for; stalled: it was silent.
    """

    def __init__(self, why: str, wait: float | None = None, stalled: bool = False):
        super().__init__(why)
        self.wait, self.stalled = wait, stalled


class Session(requests.Session):
    """Follows redirects to http(s) only, and never from https to http."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target:
            now, then = urlsplit(resp.url).scheme, urlsplit(urljoin(resp.url, target)).scheme
            if then not in ("http", "https") or (now, then) == ("https", "http"):
                raise NoAnswer(f"it redirects to {target[:200]}, which is not followed: from {now} to {then}")
        return target


def session() -> Session:
    """A session that connects twice at most and asks for bytes as they are; other tries are counted by `transfer`."""
    web = Session()
    web.max_redirects = 5
    web.headers.update({"User-Agent": "timestride", "Accept-Encoding": "identity"})
    retry = Retry(connect=1, read=False, redirect=False, status=False, backoff_factor=BACKOFF,
                  respect_retry_after_header=False)
    for scheme in ("http://", "https://"):
        web.mount(scheme, HTTPAdapter(max_retries=retry))
    return web


def progress_bar(name: str, done: int, total: int | None) -> tqdm:
    return tqdm(desc=name, initial=done, total=total, unit="B", unit_scale=True, disable=None)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Where writing fails, the error names the file that was written."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def check_room(path: Path, name: str, needed: int) -> None:
    """Say that the device is too full before hours are spent on filling it. Raises UserError."""
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise UserError(f"no space left on the device while writing {path}: {name} needs {needed:,} bytes more, and "
                        f"{free:,} are free; free some, then give the same command again: what has come is kept")


def _validator(answer: requests.Response) -> str | None:
    """What tells this version of a file from another: a strong ETag, else its date; None where nothing does."""
    tag = answer.headers.get("ETag")
    if _encoded(answer):
        return None  # the bytes kept are not the bytes that Range counts
    return tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified")


def _encoded(answer: requests.Response) -> bool:
    return answer.headers.get("Content-Encoding", "identity").lower() != "identity"


def _kept(part: Path) -> tuple[int, str | None]:
    """How many bytes an earlier try left in `part`, and the version of the file that they are a piece of."""
    try:
        validator = json.loads(part.with_suffix(".json").read_text(encoding="utf-8"))["validator"]
        return (part.stat().st_size, validator) if validator else (0, None)
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return 0, None


def _wait_asked(answer: requests.Response) -> float | None:
    """Seconds that `Retry-After` asks to wait, be it a number or a date; None where it says nothing that can be read."""
    asked = answer.headers.get("Retry-After", "").strip()
    if asked.isdecimal():
        return float(asked)
    try:
        then = parsedate_to_datetime(asked)
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        return max(0.0, (then - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def _check_answer(answer: requests.Response, done: int, validator: str | None, part: Path) -> None:
    """Raise unless the answer is the file (200), or goes on exactly where `part` ends, in the same version of it (206)."""
    status = answer.status_code
    if status in (401, 403, 404, 410):
        raise NotThere(f"HTTP {status}")
    if status in BUSY:
        wait = _wait_asked(answer)
        if wait is not None and wait > LONGEST_WAIT:
            raise NoAnswer(f"HTTP {status}: it asks to be left alone for {wait:,.0f} s, and {LONGEST_WAIT} s are waited "
                           "at most; try again later")
        raise Cut(f"the server is busy (HTTP {status})", wait)
    continues = (done > 0 and validator is not None and _validator(answer) == validator
                 and answer.headers.get("Content-Range", "").startswith(f"bytes {done}-"))
    if status == 416 or status == 206 and not continues:
        part.unlink(missing_ok=True)
        raise Cut("the piece kept does not fit what the server has now")
    if status not in (200, 206):
        raise NoAnswer(f"HTTP {status}")


def _pieces(answer: requests.Response) -> Iterator[bytes]:
    """The bytes, decoded, as they come. Raises Cut where they stop coming, or nearly."""
    since, count = time.monotonic(), 0
    try:
        while piece := answer.raw.read1(CHUNK, decode_content=True):
            yield piece
            count += len(piece)
            if (passed := time.monotonic() - since) >= WINDOW:
                if count < SLOWEST * passed:
                    raise Cut(f"fewer than {SLOWEST:,} bytes a second came for {passed:.0f} s", stalled=True)
                since, count = time.monotonic(), 0
    except urllib3.exceptions.ReadTimeoutError:
        raise Cut(f"no byte came for {TIMEOUT[1]} s", stalled=True) from None
    except (urllib3.exceptions.HTTPError, ConnectionError, ValueError):
        raise Cut("the connection ended early") from None


def _request(web: requests.Session, url: str, part: Path, name: str, most: int | None) -> None:
    """One request that adds the missing bytes to `part`, or writes it anew.

    `part` has a note beside it with the version of the file it is a piece of. Raises NoAnswer, NotThere, TooLarge, Cut.
    """
    done, validator = _kept(part)
    headers = {"Range": f"bytes={done}-", "If-Range": validator} if done and validator else {}
    try:
        answer = web.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except requests.ReadTimeout:
        raise Cut(f"no answer came for {TIMEOUT[1]} s", stalled=True) from None
    except requests.TooManyRedirects:
        raise NoAnswer(f"it redirects more than {web.max_redirects} times") from None
    except requests.RequestException as error:
        if error.args and isinstance(error.args[0], urllib3.exceptions.ProtocolError):
            raise Cut("the connection ended before an answer") from None
        raise NoAnswer(f"no answer ({type(error).__name__})") from error
    with answer:
        _check_answer(answer, done, validator, part)
        if answer.status_code == 206:
            log.info("%s: going on after %s bytes", name, f"{done:,}")
        else:
            done = 0
            part.unlink(missing_ok=True)  # first: a note must never stand beside another version's bytes
            with whole(part.with_suffix(".json")) as note:
                note.write_text(json.dumps({"url": url, "validator": _validator(answer)}), encoding="utf-8")
        length = answer.headers.get("Content-Length", "")
        total = done + int(length) if length.isdecimal() and not _encoded(answer) else None
        bound = most if most is not None else MOST if total is not None else UNTOLD
        if (total or 0) > bound:
            raise TooLarge(bound)
        check_room(part, name, (total or done) - done)
        _write(_pieces(answer), part, name, done, total, bound)
    if total is not None and part.stat().st_size != total:
        raise Cut("the connection ended early")


def _write(pieces: Iterator[bytes], part: Path, name: str, done: int, total: int | None, bound: int) -> None:
    """Append the pieces to `part`, up to `bound` bytes in all."""
    with named(part), open(part, "ab") as target, progress_bar(name, done, total) as bar:
        for piece in pieces:
            done += len(piece)
            if done > bound:
                raise TooLarge(bound)
            target.write(piece)
            bar.update(len(piece))


def transfer(web: requests.Session, url: str, part: Path, name: str, most: int | None) -> None:
    """Bring `url` into `part`, with as many requests as cut connections need while there is progress.

    most: bytes that the file may have; None: unknown. Raises NoAnswer, NotThere, TooLarge.
    """
    furthest, tries, stalls = 0, 0, 0
    while True:
        try:
            return _request(web, url, part, name, most)
        except Cut as cut:
            size = part.stat().st_size if part.exists() else 0
            if size >= furthest + CHUNK:
                furthest, tries, stalls = size, 0, 0
            else:
                tries, stalls = tries + 1, stalls + cut.stalled
            if TRIES == tries or STALLS == stalls:
                raise NoAnswer(f"{cut} {tries} times at {size:,} bytes") from cut
            wait = BACKOFF * 2**tries if cut.wait is None else cut.wait
            log.info("%s: %s, at %s bytes; trying again in %.1f s", name, cut, f"{size:,}", wait)
            time.sleep(wait)
        except TooLarge:
            part.unlink(missing_ok=True)
            part.with_suffix(".json").unlink(missing_ok=True)
            raise


def copy(place: Path, part: Path, name: str, most: int | None) -> None:
    """Copy a local file into `part` as a stream, up to `most` bytes. Raises NoAnswer, NotThere, TooLarge."""
    if not place.is_file():
        raise NotThere("no such file")
    try:
        opened = open(place, "rb")
    except PermissionError:
        raise NoAnswer("may not be read") from None
    with opened as source:
        size, bound = os.fstat(source.fileno()).st_size, MOST if most is None else most
        if size > bound:
            raise TooLarge(bound)
        part.unlink(missing_ok=True)
        check_room(part, name, size)
        try:
            _write(iter(lambda: source.read(CHUNK), b""), part, name, 0, size, bound)
        except BaseException:  # it is copied anew each time, so that what is here would only take space
            part.unlink(missing_ok=True)
            raise
