"""scripts.fetch.source with servers that cut, stall and lie, and with wrong archives."""

import io
import random
import stat
import struct
import time
import zipfile
from email.utils import formatdate

import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse

from scripts.fetch import web
from tests.fetch.fetch_sources import BODY, OTHER, kept, sha256, single, zipped
from tests.rows import rows_of

# ---- hostile and failing servers

IN_TWO_HOURS = f"wait {formatdate(time.time() + 7200, usegmt=True)}"


@pytest.mark.parametrize(
    "step, size, said",
    [
        (f"length {10**9}", 600_000, "is more than 600,000 bytes, the limit of"),
        ("endless", 600_000, "is more than 600,000 bytes, the limit of"),
        # its length is that of the packed body
        ("bomb", 600_000, "is more than 600,000 bytes, the limit of"),
        ("endless", None, "is more than 1,000,000 bytes, with none declared"),
        (f"length {10**15}", 10**15, "needs 1,000,000,000,000,000 bytes more"),
        *rows_of("""
            '' | 600001 | and 600,001 bytes, found
            endless headers | null | no answer (('Connection aborted.'
            length 700000 | null | the connection ended early (ChunkedEncodingError) 4 times
            redirect file:///etc/passwd | null | "which is not followed (No connection adapters were found for 'file:///etc/passwd')"
            redirect /captions.json | null | Exceeded 5 redirects
            'redirect http://[::1/' | null | no answer (Invalid IPv6 URL)
            wait 3600 | null | it asks to wait for 3,600 s, more than 5 s
        """),
        pytest.param(IN_TWO_HOURS, None, "more than 5 s", id="wait DATE"),
        *rows_of("""
            silent | null | Read timed out. (read timeout=0.2)
            stall  | null | the connection ended early (ConnectionError) 4 times
            drip   | null | fewer than 1,000 bytes a second came
            drip headers | null | no whole answer in 0.3 s
            cut    | null | the connection ended early (ChunkedEncodingError) 4 times
        """),
    ],
)
def test_what_a_server_must_not_do(refused_corpus, server, tmp_path, monkeypatch, step, size, said):
    """The program uses bounded bytes and time, and ends with one sentence."""
    monkeypatch.setattr(web, "UNDECLARED", 1_000_000)
    monkeypatch.setattr(web, "PATIENCE", 0.3 if step.startswith("drip") else 5)
    if step.startswith(("silent", "stall", "drip")):
        monkeypatch.setattr(web, "TIMEOUT", (1, 0.2))
    server.files["/captions.json"], server.script = BODY, [step] * 50
    started = time.monotonic()
    error = refused_corpus(single(f"{server.url}/captions.json", content=None) | {"bytes": size})
    assert said in error
    assert any(
        remedy in error for remedy in ("sources.yaml (corpus)", "TIMESTRIDE_MIRROR", "free some")
    )
    assert time.monotonic() - started < 10 and len(server.asked) < 15 and server.sent < 50_000_000
    assert ".whole" not in kept(tmp_path)
    assert ".part" not in kept(tmp_path) or "early" in said or "came" in said


def test_a_wait_is_logged_and_kept(fetch_corpus, server, caplog, monkeypatch):
    waited = []
    monkeypatch.setattr(web.time, "sleep", waited.append)
    server.files["/captions.json"], server.script = (
        BODY,
        ["wait 7", "wait soon", "wait Mon, 01 Jan 2001 00:00:00 GMT"],
    )
    assert fetch_corpus(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    assert waited == [7, 0, 0]
    assert "HTTP 503; trying again in 7.0 s" in caplog.text


class LeavesHttps(HTTPAdapter):
    """A server of https that redirects to an address of http."""

    def __init__(self, target: str):
        super().__init__()
        self.target = target

    def send(self, request, **_):
        headers = {"Location": self.target}
        return self.build_response(request, HTTPResponse(io.BytesIO(), headers, 302))


def test_https_does_not_lead_to_http(server):
    server.files["/captions.json"] = BODY
    secure = web.session("https://example.invalid/a")
    secure.mount("https://", LeavesHttps(f"{server.url}/captions.json"))
    with pytest.raises(requests.exceptions.InvalidSchema):
        secure.get("https://example.invalid/a")
    assert server.asked == []


# ---- archives


def test_members_are_opened(fetch_corpus, archive, tmp_path):
    content = zipped(deep__train=BODY, val=OTHER, unused=b"")
    fetched = fetch_corpus(archive(content, deep__train=BODY, val=OTHER))
    assert fetched == {"train": BODY, "val": OTHER}
    assert kept(tmp_path) == []


WHOLE, TRAIN = zipped(train=BODY), {"train": BODY}
END = WHOLE.rindex(b"PK\5\6") + 16
# Entries before the file's beginning: zipfile notices this in the seek (OSError, ValueError).
BEFORE_IT = struct.pack("<I", int.from_bytes(WHOLE[END : END + 4], "little") + 10)


def with_entry(name: str, mode: int = 0) -> bytes:
    """Return a zip that has a second entry."""
    buffer, entry = io.BytesIO(WHOLE), zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    with zipfile.ZipFile(buffer, "a") as opened:
        opened.writestr(entry, "/etc/passwd")
    return buffer.getvalue()


def with_wrong_size() -> bytes:
    """Return a zip whose header gives a wrong size."""
    return zipped(train=bytes(10**6)).replace(struct.pack("<I", 10**6), struct.pack("<I", 5))


def with_more() -> bytes:
    return zipped(**TRAIN, val=bytes(5), unused=random.Random(4).randbytes(3_000_000))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "content, members, said",
    [
        (lambda: WHOLE[:-4000], TRAIN, "truncated or damaged"),
        (lambda: WHOLE[:END] + BEFORE_IT + WHOLE[END + 4 :], TRAIN, "truncated or damaged"),
        (
            lambda: WHOLE,
            TRAIN | {"val_9": OTHER},
            "member val_9 is missing from the archive, which holds train;",
        ),
        (
            lambda: zipped(**TRAIN, val=BODY),
            TRAIN | {"val": OTHER},
            f"(expected sha256 {sha256(OTHER)}",
        ),
        (lambda: with_entry("../train"), TRAIN, "entry ../train leads out of the archive's folder"),
        (lambda: with_entry("val", stat.S_IFLNK | 0o777), TRAIN, "entry val is a link"),
        (lambda: with_entry("train"), TRAIN, "entry train is there twice"),
        (
            lambda: zipped(train=bytes(50_000_000)),
            {"train": b"small"},
            "unpacks to more than the 5 bytes",
        ),
        (with_wrong_size, {"train": bytes(5)}, "captions.zip"),
        (with_more, {"val": bytes(5)}, "is more than 1,000,050 bytes"),
    ],
)
def test_an_archive_that_is_refused(
    refused_corpus, fetch_corpus, archive, tmp_path, content, members, said
):
    """No file of the archive stays, so that the next fetch brings the right one."""
    error = refused_corpus(archive(content(), **members))
    assert said in error and "captions.zip" in error and kept(tmp_path) == []
    assert fetch_corpus(archive(WHOLE, train=BODY)) == {"train": BODY}
