"""Code that tests of fetched corpora share: a local server that cuts, delays and lies, and a call
of the program.
"""

import gzip
import hashlib
import io
import random
import threading
import zipfile
from collections.abc import Iterator

import pytest

from scripts.fetch import source
from tests.files import write_yaml
from tests.peer import Peer, Quiet
from tests.fetch.fetch_models import refusing

BODY = random.Random(1).randbytes(600_000)
OTHER = random.Random(2).randbytes(600_000)
CUT = 300_000


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Server(Peer):
    """A server of `files` {path: bytes} with ETag and Range; `script` names the steps for the next
    requests.
    """

    def __init__(self):
        super().__init__(Handler)
        self.files, self.script, self.sent = {}, [], 0
        self.silence = threading.Event()


class Handler(Quiet):
    """A step is the name of a method below and its argument, or words that change an answer."""

    def do_GET(self):
        server, ranged = self.server, self.headers.get("Range")
        server.asked.append((self.path, ranged, self.headers.get("If-Range")))
        step = server.script.pop(0) if server.script else ""
        content = server.files.get(self.path)
        name, _, argument = step.partition(" ")
        if hasattr(self, f"do_{name}"):
            return getattr(self, f"do_{name}")(content or BODY, argument)
        if step == "busy" or content is None:
            return self.begin(503 if step == "busy" else 404, Content_Length="0")
        tag = f'"{sha256(content)[:8]}"'
        first = int(ranged[6:-1]) if ranged and "no ranges" not in step else 0
        if self.headers.get("If-Range") != tag and "no conditions" not in step:
            first = 0
        if first >= len(content):
            return self.begin(416, Content_Length="0")
        headers = {
            "ETag": None if "no version" in step else tag,
            "Content-Length": None if "no length" in step else str(len(content) - first),
            "Content-Range": f"bytes {first}-{len(content) - 1}/{len(content)}" if first else None,
        }
        self.begin(206 if first else 200, **headers)
        self.wfile.write(content[first:CUT] if "cut" in step else content[first:])

    def do_wait(self, _, asked):
        self.begin(503, Retry_After=asked, Content_Length="0")

    def do_redirect(self, _, target):
        self.begin(302, Location=target, Content_Length="0")

    def do_length(self, _, declared):
        """Declare a length, and send only a little."""
        self.begin(200, Content_Length=declared)
        self.wfile.write(bytes(1000))

    def do_endless(self, _, what):
        """Send bytes or headers until the connection ends."""
        if what == "headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        else:
            self.begin(200, ETag='"1"')
        try:
            while self.server.sent < 200_000_000:
                self.server.sent += self.wfile.write(b"X-More: 1\r\n" * 10_000)
        except OSError:
            pass

    def do_bomb(self, *_):
        content = gzip.compress(bytes(50_000_000))
        self.begin(200, Content_Encoding="gzip", Content_Length=str(len(content)))
        self.wfile.write(content)

    def do_silent(self, *_):
        """Accept the request and send nothing."""
        self.server.silence.wait(5)
        self.close_connection = True

    def do_stall(self, content, _):
        self.begin(200, Content_Length=str(len(content)))
        self.wfile.write(content[:1000])
        self.server.silence.wait(5)

    def do_drip(self, content, what):
        """Send a byte from time to time: of the content or of the headers."""
        if what == "headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-More: ")
        else:
            self.begin(200, Content_Length=str(len(content)))
        for _ in range(100):
            self.wfile.write(b"x")
            if self.server.silence.wait(0.03):
                break

    do_POST = do_GET


def serving_files() -> Iterator[Server]:
    """Run the server."""
    server = Server()
    with server.running():
        yield server
        server.silence.set()


@pytest.fixture(name="server")
def server_fixture():
    yield from serving_files()


@pytest.fixture
def fetch_corpus(tmp_path, caplog):
    """Return a function that fetches one source with the given downloads, like the program, and
    returns {file: bytes}.
    """
    caplog.set_level("INFO")

    def call(*downloads: dict, mirror: str = "") -> dict[str, bytes]:
        sources = tmp_path / "sources.yaml"
        write_yaml(sources, {"corpus": {"downloads": list(downloads)}})
        output = tmp_path / "out/corpus"
        given = (
            f"--source corpus --sources {sources} --output {output} --mirror={mirror} "
            f"--partial {tmp_path}/partial"
        )
        source.main(source.arguments().parse_args(given.split()))
        return {file.name: file.read_bytes() for file in output.iterdir()}

    return call


@pytest.fixture
def refused_corpus(fetch_corpus, tmp_path):
    return refusing(fetch_corpus, tmp_path)


def single(*urls: str, content: bytes | None = BODY) -> dict:
    """Return a download of one file, pinned to the content; None: not pinned."""
    return {
        "urls": list(urls),
        "file": "captions.json",
        "bytes": None,
        "sha256": content and sha256(content),
    }


def kept(tmp_path) -> list[str]:
    """Return the suffixes of the files that unfinished downloads left."""
    files = [file for file in tmp_path.glob("partial/**/*") if file.is_file()]
    return sorted(file.suffix for file in files if file.suffix != ".lock")


def zipped(**entries: bytes) -> bytes:
    """Return a zip with the entries; a keyword has `__` in place of `/`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


@pytest.fixture(name="archive")
def archive_fixture(tmp_path):
    """Return a function that writes a zip with the bytes `content` and returns its download.
    members: {name: its true bytes} of the used files.
    """

    def make(content: bytes, **members: bytes) -> dict:
        (tmp_path / "captions.zip").write_bytes(content)
        return {
            "urls": [(tmp_path / "captions.zip").as_uri()],
            "members": {
                name.replace("__", "/"): {"sha256": sha256(wanted), "bytes": len(wanted)}
                for name, wanted in members.items()
            },
        }

    return make
