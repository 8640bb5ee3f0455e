"""scripts.fetch.source and download: a real local server that cuts, delays and lies; wrong archives."""

import gzip
import hashlib
import http.server
import io
import os
import random
import socket
import stat
import struct
import subprocess
import threading
import time
import zipfile
from email.utils import formatdate

import pytest
import requests
import yaml

from scripts.common.program import UserError
from scripts.fetch import download, source, web

BODY = random.Random(1).randbytes(600_000)
OTHER = random.Random(2).randbytes(600_000)
CUT = 300_000


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves `files` {path: bytes} with ETag and Range; `script` names what the next requests meet."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.script, self.asked, self.sent = {}, [], [], 0
        self.silence = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_):
        """A peer that hangs up is what most of these tests are about."""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server, ranged = self.server, self.headers.get("Range")
        server.asked.append((self.path, ranged, self.headers.get("If-Range")))
        step = server.script.pop(0) if server.script else "serve"
        content = server.files.get(self.path)
        if hasattr(self, f"do_{step.split()[0]}"):
            return getattr(self, f"do_{step.split()[0]}")(content, step.partition(" ")[2])
        if step == "busy" or content is None:
            self.send_response(503 if step == "busy" else 404)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        tag = f'"{sha256(content)[:8]}"'
        first = int(ranged[6:-1]) if ranged and step != "ignore range" else 0
        if self.headers.get("If-Range") != tag and step != "ignore if-range":
            first = 0
        if first >= len(content):
            self.send_response(416)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(content) - first))
        self.end_headers()
        self.wfile.write(content[first:CUT] if step == "cut" else content[first:])
        self.close_connection = True

    def begin(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.close_connection = True

    def do_wait(self, _, asked):
        self.begin(503, Retry_After=asked, Content_Length="0")

    def do_redirect(self, _, target):
        self.begin(302, Location=target, Content_Length="0")

    def do_length(self, _, told):
        """Tells a length, and sends a little."""
        self.begin(200, Content_Length=told)
        self.wfile.write(bytes(1000))

    def do_endless(self, *_):
        """Sends until nobody listens, as old servers do: to the end of the connection."""
        self.begin(200, ETag='"1"')
        try:
            while self.server.sent < 200_000_000:
                self.server.sent += self.wfile.write(bytes(100_000))
        except OSError:
            pass

    def do_bomb(self, *_):
        content = gzip.compress(bytes(50_000_000))
        self.begin(200, Content_Encoding="gzip", Content_Length=str(len(content)))
        self.wfile.write(content)

    def do_bare(self, content, cut):
        """Knows no versions: ranges are answered, without ETag or date."""
        first = int(self.headers["Range"][6:-1]) if self.headers.get("Range") else 0
        headers = {"Content_Range": f"bytes {first}-{len(content) - 1}/{len(content)}"} if first else {}
        self.begin(206 if first else 200, Content_Length=str(len(content) - first), **headers)
        self.wfile.write(content[first:CUT] if cut else content[first:])

    def do_forget(self, content, _):
        """Goes on in another version, and does not say which."""
        first = int(self.headers["Range"][6:-1])
        self.begin(206, Content_Length=str(len(content) - first),
                   Content_Range=f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.wfile.write(content[first:])

    def do_silent(self, *_):
        """Accepts, and says nothing."""
        self.server.silence.wait(5)
        self.close_connection = True

    def do_stall(self, content, _):
        self.begin(200, Content_Length=str(len(content)))
        self.wfile.write(content[:1000])
        self.server.silence.wait(5)

    def do_drip(self, content, _):
        self.begin(200, Content_Length=str(len(content)))
        for _ in range(100):
            self.wfile.write(b"x")
            if self.server.silence.wait(0.03):
                break

    def do_unsized(self, content, _):
        first = int(self.headers["Range"][6:-1]) if self.headers.get("Range") else 0
        headers = {"Content_Range": f"bytes {first}-{len(content) - 1}/{len(content)}"} if first else {}
        self.begin(206 if first else 200, ETag='"1"', **headers)
        self.wfile.write(content[first:])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.silence.set()
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(web, "BACKOFF", 0)


@pytest.fixture
def fetch(tmp_path, caplog):
    """Fetch one source, made of the given downloads, as the program does; returns its {file: bytes}."""
    caplog.set_level("INFO")

    def call(*downloads: dict, mirror: str = "") -> dict[str, bytes]:
        sources = tmp_path / "sources.yaml"
        sources.write_text(yaml.safe_dump({"corpus": {"downloads": list(downloads)}}))
        output = tmp_path / "out/corpus"
        source.main(source.arguments().parse_args([
            "--source", "corpus", "--sources", str(sources), "--output", str(output), "--mirror", mirror,
            "--partial", str(tmp_path / "partial"),
        ]))
        return {file.name: file.read_bytes() for file in output.iterdir()}

    return call


@pytest.fixture
def refused(fetch, tmp_path):
    """Fetch, which must fail with one sentence and leave no output; returns what it said."""

    def call(*downloads: dict, mirror: str = "") -> str:
        with pytest.raises(UserError) as caught:
            fetch(*downloads, mirror=mirror)
        assert not list(tmp_path.glob("out/corpus/*")) and "\n" not in str(caught.value)
        return str(caught.value)

    return call


def single(*urls: str, content: bytes | None = BODY) -> dict:
    """A download of one file, pinned to the content; None: not pinned."""
    return {"urls": list(urls), "file": "captions.json", "bytes": None, "sha256": content and sha256(content)}


def kept(tmp_path) -> list[str]:
    """What is left of downloads that did not end."""
    return sorted(file.suffix for file in tmp_path.glob("partial/**/*") if file.is_file())


# ---- downloads


def test_a_file_is_brought(fetch, server, tmp_path):
    server.files["/captions.json"] = BODY
    assert fetch(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    assert kept(tmp_path) == []


def test_a_cut_connection_goes_on_where_it_stopped(fetch, server):
    server.files["/captions.json"], server.script = BODY, ["cut"]
    assert fetch(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    (_, none, _), (_, ranged, condition) = server.asked
    first = int(ranged[6:-1])
    assert none is None and CUT - web.CHUNK <= first <= CUT
    assert condition == f'"{sha256(BODY)[:8]}"'


def test_a_second_start_goes_on_where_the_first_stopped(fetch, refused, server, tmp_path):
    server.files["/captions.json"], server.script = BODY, ["cut"] + ["busy"] * 20
    assert "HTTP 503" in refused(single(f"{server.url}/captions.json"))
    assert kept(tmp_path) == [".json", ".part"]
    server.script, server.asked = [], []
    assert fetch(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    assert len(server.asked) == 1 and server.asked[0][1] != "bytes=0-"
    assert int(server.asked[0][1][6:-1]) > 0


def test_a_connection_that_is_always_cut_ends(refused, server):
    server.files["/captions.json"], server.script = BODY, ["cut"] * 50
    assert "the connection ended early 5 times" in refused(single(f"{server.url}/captions.json"))
    assert len(server.asked) < 15


def test_a_busy_server_is_asked_again(fetch, server):
    server.files["/captions.json"], server.script = BODY, ["busy", "busy"]
    assert fetch(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    assert len(server.asked) == 3


def test_a_server_that_ignores_ranges(fetch, server):
    server.files["/captions.json"], server.script = BODY, ["cut", "ignore range"]
    assert fetch(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    assert server.asked[1][1]


@pytest.mark.parametrize("step", ["serve", "ignore if-range"])
def test_a_changed_file_is_never_spliced(fetch, refused, server, tmp_path, step):
    """Not even where the server goes on in the new version, which its ETag tells."""
    server.files["/captions.json"], server.script = BODY, ["cut"] + ["busy"] * 20
    refused(single(f"{server.url}/captions.json"))
    server.files["/captions.json"], server.script = OTHER, [step]
    assert fetch(single(f"{server.url}/captions.json", content=None)) == {"captions.json": OTHER}


def test_a_shortened_file_is_brought_anew(fetch, refused, server):
    server.files["/captions.json"], server.script = BODY, ["cut"] + ["busy"] * 20
    refused(single(f"{server.url}/captions.json"))
    server.files["/captions.json"], server.script = OTHER[:1000], ["ignore if-range"]
    assert fetch(single(f"{server.url}/captions.json", content=None)) == {"captions.json": OTHER[:1000]}


def test_a_wrong_hash(fetch, refused, server, tmp_path):
    server.files["/captions.json"] = OTHER
    said = refused(single(f"{server.url}/captions.json"))
    assert sha256(BODY) in said and sha256(OTHER) in said
    assert f"{server.url}/captions.json" in said and "sources.yaml (corpus)" in said
    assert kept(tmp_path) == []


def test_a_hash_that_nobody_published_is_told(fetch, server, caplog):
    server.files["/captions.json"] = BODY
    fetch(single(f"{server.url}/captions.json", content=None))
    assert sha256(BODY) in caplog.text and "pin it in" in caplog.text


def test_a_verified_file_is_kept_when_a_later_one_fails(fetch, refused, server, tmp_path):
    server.files["/captions.json"], server.files["/other.json"] = BODY, OTHER
    missing = single(f"{server.url}/late.json", content=OTHER) | {"file": "other.json"}
    assert "other.json" in refused(single(f"{server.url}/captions.json"), missing)
    asked = len(server.asked)
    late = missing | {"urls": [f"{server.url}/other.json"]}
    assert set(fetch(single(f"{server.url}/captions.json"), late)) == {"captions.json", "other.json"}
    assert [path for path, *_ in server.asked[asked:]] == ["/other.json"]
    assert kept(tmp_path) == []


def test_urls_are_tried_in_turn(fetch, server):
    server.files["/right.json"] = BODY
    assert fetch(single(f"{server.url}/gone.json", f"{server.url}/right.json")) == {"captions.json": BODY}


def test_a_file_url(fetch, refused, tmp_path):
    (tmp_path / "my captions.json").write_bytes(BODY)
    assert fetch(single((tmp_path / "my captions.json").as_uri())) == {"captions.json": BODY}


def test_no_url_works(refused, server):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{closed.getsockname()[1]}/captions.json"
    said = refused(single(f"{server.url}/gone.json", dead, "file:///nowhere/captions.json"))
    assert f"{server.url}/gone.json: HTTP 404" in said and f"{dead}: no answer" in said
    assert "file:///nowhere/captions.json: no such file" in said and "TIMESTRIDE_MIRROR" in said


# ---- hostile and failing servers


def sized(url: str, content: bytes = BODY, **changes) -> dict:
    """A download of one file that declares its size."""
    return single(url, content=content) | {"bytes": len(content)} | changes


@pytest.mark.parametrize("step", [f"length {10**9}", "endless", "bomb"])
def test_no_more_is_taken_than_is_declared(refused, server, tmp_path, step):
    """Whatever length is told: too much of it, none, or that of what it is packed into."""
    server.files["/captions.json"], server.script = BODY, [step] * 10
    said = refused(sized(f"{server.url}/captions.json"))
    assert "is more than the 600,000 bytes" in said and "sources.yaml (corpus)" in said
    assert kept(tmp_path) == [] and len(server.asked) == 1 and server.sent < 50_000_000


def test_a_stream_of_no_declared_size_ends(refused, server, tmp_path, monkeypatch):
    monkeypatch.setattr(web, "UNTOLD", 1_000_000)
    server.files["/captions.json"], server.script = BODY, ["endless"]
    said = refused(single(f"{server.url}/captions.json", content=None))
    assert "is more than 1,000,000 bytes, with none declared" in said and kept(tmp_path) == []


def test_a_length_beyond_what_is_stated(refused, server, tmp_path):
    server.files["/captions.json"], server.script = BODY, [f"length {10**12}"]
    assert "is more than 20,000,000,000 bytes, with none declared" in refused(single(f"{server.url}/captions.json", content=None))


def test_a_device_that_is_too_small_is_told_before_anything_comes(refused, server, tmp_path):
    server.files["/captions.json"], server.script = BODY, [f"length {10**17}"]
    said = refused(sized(f"{server.url}/captions.json", bytes=10**17))
    assert "no space left on the device" in said and "needs 100,000,000,000,000,000 bytes" in said


@pytest.mark.parametrize("place", ["web", "file"])
def test_less_than_is_declared(refused, server, tmp_path, place):
    (tmp_path / "captions.json").write_bytes(BODY)
    server.files["/captions.json"] = BODY
    url = f"{server.url}/captions.json" if place == "web" else (tmp_path / "captions.json").as_uri()
    said = refused(sized(url, bytes=600_001))
    assert "600,001 bytes" in said and "600,000 bytes" in said and kept(tmp_path) == []


def test_a_file_url_of_more_than_is_declared(refused, tmp_path):
    (tmp_path / "captions.json").write_bytes(BODY)
    assert "is more than the 5 bytes" in refused(sized((tmp_path / "captions.json").as_uri(), bytes=5))
    assert "no such file" in refused(sized("file:///dev/zero"))
    assert kept(tmp_path) == []


def test_pieces_of_no_known_version_are_not_joined(fetch, server):
    """A server without ETag and date: what a cut connection left is thrown away."""
    server.files["/captions.json"], server.script = BODY, ["bare cut", "bare"]
    assert fetch(single(f"{server.url}/captions.json", content=None)) == {"captions.json": BODY}
    assert [ranged for _, ranged, _ in server.asked] == [None, None]


def test_an_answer_that_does_not_tell_its_version_is_not_joined(fetch, refused, server):
    server.files["/captions.json"], server.script = BODY, ["cut"] + ["busy"] * 20
    refused(single(f"{server.url}/captions.json"))
    server.files["/captions.json"], server.script = OTHER, ["forget"]
    assert fetch(single(f"{server.url}/captions.json", content=None)) == {"captions.json": OTHER}


def test_a_note_that_cannot_be_read_starts_over(fetch, refused, server, tmp_path):
    server.files["/captions.json"], server.script = BODY, ["cut"] + ["busy"] * 20
    refused(single(f"{server.url}/captions.json"))
    next(tmp_path.glob("partial/**/*.json")).write_text("[")
    server.script, server.asked = [], []
    assert fetch(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    assert server.asked[0][1] is None


@pytest.mark.parametrize("asked", ["3600", formatdate(time.time() + 3600, usegmt=True)])
def test_a_wait_that_is_too_long_is_not_waited(refused, server, asked):
    server.files["/captions.json"], server.script = BODY, [f"wait {asked}"] * 10
    started = time.monotonic()
    said = refused(single(f"{server.url}/captions.json"))
    assert time.monotonic() - started < 5 and len(server.asked) == 1
    assert "asks to be left alone for 3," in said and "120 s are waited at most" in said


def test_a_wait_is_told_and_waited(fetch, server, caplog, monkeypatch):
    waited = []
    monkeypatch.setattr(web.time, "sleep", waited.append)
    server.files["/captions.json"], server.script = BODY, ["wait 7", "wait soon", "wait Mon, 01 Jan 2001 00:00:00 GMT"]
    assert fetch(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    assert waited == [7, 0, 0] and "busy (HTTP 503), at 0 bytes; trying again in 7.0 s" in caplog.text


@pytest.mark.parametrize(("step", "said"), [("silent", "no answer came for 0.2 s 3 times"), ("stall", "no byte came for 0.2 s 3 times"),
                                            ("drip", "fewer than 1,000 bytes a second came")])
def test_a_server_that_stalls(refused, server, caplog, monkeypatch, step, said):
    monkeypatch.setattr(web, "TIMEOUT", (1, 0.2))
    monkeypatch.setattr(web, "WINDOW", 0.3)
    server.files["/captions.json"], server.script = BODY, [step] * 10
    started = time.monotonic()
    assert said in refused(single(f"{server.url}/captions.json")) and "trying again" in caplog.text
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/captions.json", "data:,x"])
def test_a_redirect_to_another_scheme(refused, server, target):
    server.files["/captions.json"], server.script = BODY, [f"redirect {target}"]
    said = refused(single(f"{server.url}/captions.json"))
    assert f"it redirects to {target}, which is not followed" in said and len(server.asked) == 1


def test_redirects(fetch, refused, server):
    server.files["/captions.json"], server.files["/new.json"] = BODY, BODY
    server.script = ["redirect /captions.json"] * 20
    assert "redirects more than 5 times" in refused(single(f"{server.url}/new.json"))
    server.script = ["redirect /new.json"]
    assert fetch(single(f"{server.url}/captions.json")) == {"captions.json": BODY}


def test_https_does_not_lead_to_http():
    answer = requests.Response()
    answer.status_code, answer.url, answer.headers["Location"] = 302, "https://example.invalid/a", "http://example.invalid/a"
    with pytest.raises(web.NoAnswer, match="from https to http"):
        web.session().get_redirect_target(answer)


# ---- mirrors


def test_a_folder_mirror_is_tried_first(fetch, tmp_path):
    place = tmp_path / "mirror/example.invalid/a/cap tions.json"
    place.parent.mkdir(parents=True)
    place.write_bytes(BODY)
    assert fetch(single("https://example.invalid/a/cap%20tions.json"), mirror=str(tmp_path / "mirror"))
    assert place.read_bytes() == BODY and not place.is_symlink()
    assert (tmp_path / "out/corpus/captions.json").stat().st_ino != place.stat().st_ino


def test_a_mirror_at_a_url_is_tried_first(fetch, server):
    server.files["/mirror/example.invalid/a/captions.json"] = BODY
    assert fetch(single("https://example.invalid/a/captions.json"), mirror=f"{server.url}/mirror/")


@pytest.mark.parametrize("kind", ["folder", "url"])
def test_a_mirror_that_lacks_the_file(fetch, server, tmp_path, caplog, kind):
    server.files["/captions.json"] = BODY
    mirror = str(tmp_path) if kind == "folder" else f"{server.url}/mirror"
    assert fetch(single(f"{server.url}/captions.json"), mirror=mirror) == {"captions.json": BODY}
    assert "the mirror has no" in caplog.text


def test_a_mirror_that_is_not_there(refused, server, tmp_path):
    server.files["/captions.json"] = BODY
    said = refused(single(f"{server.url}/captions.json"), mirror=str(tmp_path / "no-mirror"))
    assert "no-mirror is not there" in said and "TIMESTRIDE_MIRROR" in said
    assert server.asked == []


def test_a_mirror_that_does_not_answer(refused, server):
    server.files["/captions.json"] = BODY
    said = refused(single(f"{server.url}/captions.json"), mirror="http://127.0.0.1:9/mirror")
    assert "http://127.0.0.1:9/mirror" in said and "TIMESTRIDE_MIRROR" in said
    assert server.asked == []


# ---- archives


def zipped(**entries: bytes) -> io.BytesIO:
    """A zip with the entries; `/` is written `__` in the keyword."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/"), content)
    return made


@pytest.fixture
def archive(tmp_path):
    """A download of a zip with the bytes `content`, of which `members` {name: its true bytes} are used."""

    def make(content: bytes, **members: bytes) -> dict:
        (tmp_path / "captions.zip").write_bytes(content)
        return {
            "urls": [(tmp_path / "captions.zip").as_uri()],
            "members": {name.replace("__", "/"): {"sha256": sha256(wanted), "bytes": len(wanted)}
                        for name, wanted in members.items()},
        }

    return make


def test_members_are_opened(fetch, archive, tmp_path):
    content = zipped(deep__train=BODY, val=OTHER, unused=b"").getvalue()
    assert fetch(archive(content, deep__train=BODY, val=OTHER)) == {"train": BODY, "val": OTHER}
    assert kept(tmp_path) == []


def test_a_truncated_zip(refused, archive, tmp_path):
    content = zipped(train=BODY).getvalue()
    for cut in (content[:-4000], content[: len(content) // 2], b"", b"<html>not found</html>"):
        said = refused(archive(cut, train=BODY))
        assert "captions.zip" in said and "truncated or damaged" in said and "fetch it again" in said
        assert kept(tmp_path) == [], "the next fetch brings it anew"


def test_a_damaged_member(refused, archive):
    content = bytearray(zipped(train=BODY).getvalue())
    content[1000:1100] = bytes(100)
    assert "truncated or damaged" in refused(archive(bytes(content), train=BODY))


def test_a_missing_member(refused, archive, tmp_path):
    said = refused(archive(zipped(train=BODY, val=OTHER).getvalue(), train=BODY, val_9=OTHER))
    assert "val_9 is missing" in said and "train, val" in said
    assert kept(tmp_path) == []


def test_a_member_with_a_wrong_hash(refused, archive):
    said = refused(archive(zipped(train=BODY, val=BODY).getvalue(), train=BODY, val=OTHER))
    assert "member val" in said and sha256(BODY) in said and sha256(OTHER) in said


@pytest.mark.parametrize("name", ["../train", "a/../../train", "..\\train", "/etc/train", "C:/train"])
def test_a_member_that_leads_out(refused, archive, tmp_path, name):
    made = zipped(train=BODY)
    with zipfile.ZipFile(made, "a") as opened:
        opened.writestr(name, b"out")
    assert "leads out of the archive's folder" in refused(archive(made.getvalue(), train=BODY))


def test_a_member_that_is_a_link(refused, archive):
    made, link = zipped(train=BODY), zipfile.ZipInfo("val")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(made, "a") as opened:
        opened.writestr(link, "/etc/passwd")
    assert "entry val is a link" in refused(archive(made.getvalue(), train=BODY))


def test_a_bomb_is_stopped_at_the_declared_size(refused, archive, tmp_path, monkeypatch):
    content = zipped(train=bytes(50_000_000)).getvalue()
    assert len(content) < 100_000
    written = []
    monkeypatch.setattr(source.shutil, "rmtree", lambda place, **_: written.extend(place.glob("*")))
    said = refused(archive(content, train=b"small"))
    assert "more than the 5 bytes" in said
    assert [file.stat().st_size for file in written] == [0]


def test_a_header_that_lies_about_the_size(refused, archive):
    content = zipped(train=bytes(1_000_000)).getvalue()
    lying = content.replace(struct.pack("<I", 1_000_000), struct.pack("<I", 5))
    assert lying != content
    assert "captions.zip" in refused(archive(lying, train=bytes(5)))


def test_two_members_of_one_name(refused, archive):
    made = zipped(train=BODY)
    with zipfile.ZipFile(made, "a") as opened, pytest.warns(UserWarning, match="Duplicate name"):
        opened.writestr("train", OTHER)
    assert "entry train is there twice" in refused(archive(made.getvalue(), train=BODY))


def test_a_damaged_archive_is_fetched_anew(fetch, refused, archive, tmp_path):
    """Its entries lie before its beginning, which zipfile notices in the seek only, as an OSError or ValueError."""
    content = zipped(train=BODY).getvalue()
    place = content.rindex(b"PK\5\6") + 16
    damaged = content[:place] + struct.pack("<I", struct.unpack("<I", content[place : place + 4])[0] + 10) + content[place + 4 :]
    item = archive(damaged, train=BODY)
    assert "truncated or damaged" in refused(item) and kept(tmp_path) == []
    assert fetch(archive(content, train=BODY)) == {"train": BODY}


def test_any_damage_is_one_sentence(refused, fetch, archive, tmp_path):
    content, draw = zipped(train=BODY[:2000], val=bytes(3000)).getvalue(), random.Random(3)
    spoilt = 0
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            found = fetch(archive(bytes(damaged), train=BODY[:2000], val=bytes(3000)))
        except UserError as error:
            assert "\n" not in str(error) and "captions.zip" in str(error)
            spoilt += 1
        else:
            assert found == {"train": BODY[:2000], "val": bytes(3000)}
        assert kept(tmp_path) == []
    assert spoilt > 50


def test_an_archive_of_more_than_its_members_may_weigh(refused, archive, tmp_path):
    item = archive(zipped(train=BODY, val=bytes(5), unused=random.Random(4).randbytes(3_000_000)).getvalue(), val=bytes(5))
    assert "is more than the 1,000,050 bytes" in refused(item) and kept(tmp_path) == []


@pytest.mark.parametrize(("change", "said"), [
    ({"urls": None}, "write `urls: [https://…]`"),
    ({"urls": "https://example.invalid/captions.json"}, "write `urls: [https://…]`"),
    ({"members": {}}, "needs either `file:` or, for an archive, `members:`"),
    ({"urls": ["ftp://example.invalid/captions.json"]}, "ftp://example.invalid/captions.json is none of https://"),
    ({"bytes": 1.0}, "bytes of captions.json must be a whole number"),
    ({"bytes": -1}, "bytes of captions.json must be a whole number"),
])
def test_entries_that_are_refused(refused, change, said):
    assert said in refused(single("https://example.invalid/captions.json") | change)


def test_an_entry_without_a_hash(refused):
    entry = single("https://example.invalid/captions.json")
    del entry["sha256"]
    assert "captions.json has no sha256; write it, or null" in refused(entry)


def test_files_of_one_name(refused, archive):
    twice = archive(zipped(a__train=BODY, b__train=OTHER).getvalue(), a__train=BODY, b__train=OTHER)
    assert "are a file train" in refused(twice)


# ---- the program


def test_an_unknown_source(program, tmp_path):
    done = program("scripts.fetch.source", "--source", "activitynt", "--output", tmp_path / "out")
    assert done.returncode == 1 and "did you mean activitynet?" in done.stderr and "hirest" in done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "out").exists()


def test_a_sample_is_not_downloaded(program, tmp_path):
    done = program("scripts.fetch.source", "--source", "sample_activitynet", "--output", tmp_path / "out")
    assert done.returncode == 1 and "scripts.fetch.sample" in done.stderr


def test_the_real_corpora(program, mirror, tmp_path):
    for name, count in {"activitynet": 5, "hirest": 2}.items():
        done = program("scripts.fetch.source", "--source", name, "--mirror", mirror,
                       "--output", tmp_path / name, "--partial", tmp_path / "partial",
                       "--log", tmp_path / f"{name}.log")
        assert done.returncode == 0, done.stderr
        assert len(list((tmp_path / name).iterdir())) == count
        assert "files" in (tmp_path / f"{name}.log").read_text()


@pytest.mark.parametrize("full", ["partial", "out"])
def test_no_space_on_the_device(program, archive, tmp_path, full):
    """Downloads or results lie on a full device: the message says so; with room, the same command works."""
    (tmp_path / full).mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=800k", "tmpfs", tmp_path / full]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a full device is played by a small tmpfs, which takes root and mount")
    try:
        item = archive(zipped(train=BODY, val=OTHER).getvalue(), train=BODY, val=OTHER)
        (tmp_path / "sources.yaml").write_text(yaml.safe_dump({"corpus": {"downloads": [item]}}))
        command = ("scripts.fetch.source", "--source", "corpus", "--sources", tmp_path / "sources.yaml",
                   "--output", tmp_path / "out/corpus", "--partial", tmp_path / "partial")
        done = program(*command)
        assert done.returncode == 1 and "no space left on the device while writing" in done.stderr
        assert "Traceback" not in done.stderr and not list(tmp_path.glob("out/corpus/*"))
        subprocess.run(["mount", "-o", "remount,size=8m", tmp_path / full], check=True)
        assert program(*command).returncode == 0
        assert (tmp_path / "out/corpus/val").read_bytes() == OTHER
    finally:
        subprocess.run(["umount", tmp_path / full], check=True)


def test_a_device_that_fills_up_on_the_way(program, server, tmp_path):
    """What has come is kept, and the same command goes on from there when there is room."""
    (tmp_path / "partial").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", tmp_path / "partial"]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a full device is played by a small tmpfs, which takes root and mount")
    try:
        server.files["/captions.json"], server.script = BODY, ["unsized", "unsized"]
        (tmp_path / "sources.yaml").write_text(yaml.safe_dump({"corpus": {"downloads": [sized(f"{server.url}/captions.json")]}}))
        command = ("scripts.fetch.source", "--source", "corpus", "--sources", tmp_path / "sources.yaml",
                   "--output", tmp_path / "out/corpus", "--partial", tmp_path / "partial")
        done = program(*command)
        assert done.returncode == 1 and "no space left on the device while writing" in done.stderr
        assert "Traceback" not in done.stderr and not list(tmp_path.glob("out/corpus/*"))
        subprocess.run(["mount", "-o", "remount,size=8m", tmp_path / "partial"], check=True)
        assert program(*command).returncode == 0
        assert (tmp_path / "out/corpus/captions.json").read_bytes() == BODY
        assert int(server.asked[1][1][6:-1]) > 100_000
    finally:
        subprocess.run(["umount", tmp_path / "partial"], check=True)


@pytest.mark.parametrize("place", ["partial", "out"])
def test_a_device_that_can_only_be_read(program, archive, tmp_path, place):
    (tmp_path / place).mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=800k", "tmpfs", tmp_path / place]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a device that can only be read is played by a tmpfs, which takes root and mount")
    try:
        item = archive(zipped(train=BODY).getvalue(), train=BODY)
        (tmp_path / "sources.yaml").write_text(yaml.safe_dump({"corpus": {"downloads": [item]}}))
        done = program("scripts.fetch.source", "--source", "corpus", "--sources", tmp_path / "sources.yaml",
                       "--output", tmp_path / "out/corpus", "--partial", tmp_path / "partial")
        assert done.returncode == 1 and "lies on a device that can only be read" in done.stderr
        assert "Traceback" not in done.stderr and str(tmp_path / place) in done.stderr
    finally:
        subprocess.run(["umount", tmp_path / place], check=True)


def test_a_file_where_a_folder_must_be(refused, archive, tmp_path):
    (tmp_path / "partial").write_text("")
    said = refused(archive(zipped(train=BODY).getvalue(), train=BODY))
    assert str(tmp_path / "partial") in said and "where a folder must be" in said


def test_a_file_of_another_user(refused, archive, tmp_path, monkeypatch):
    """Played, since tests may run as root, whom nothing is refused."""
    def denied(now, wanted):
        raise PermissionError(13, "Permission denied", str(wanted))

    monkeypatch.setattr(download.os, "replace", denied)
    assert "may not be written or read by this user" in refused(archive(zipped(train=BODY).getvalue(), train=BODY))
