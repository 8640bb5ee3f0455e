"""scripts.fetch.hub: a local server in place of the hub, gated, silent, lying or cut off; the
mirror and the user's cache.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants
from huggingface_hub.utils.sha import git_hash

from scripts.fetch import hub as origins
from scripts.fetch.download import Downloads
from scripts.plan.models import DEFAULT_FILES
from tests.files import write_yaml
from tests.peer import Peer, Quiet
from tests.rows import rows_of

COMMIT = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
ENTRY = {"hub": "me/mine", "revision": COMMIT, "licence": "MIT"}


class Hub(Peer):
    """A hub with the files of one model, `folder`, at `COMMIT` and `main`.

    `state` sets its behaviour; `listing` changes its list of files; `given` counts the bytes of
    weights that it sent.
    """

    def __init__(self, folder: Path):
        super().__init__(Handler)
        self.folder, self.state, self.tokens, self.given = folder, set(), [], 0
        self.listing = {}


class Handler(Quiet):
    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.begin(status, **{"X_Repo_Commit": COMMIT, "Content_Length": str(len(body))} | headers)
        if self.command == "GET":
            self.wfile.write(body)

    def do_HEAD(self):
        server, state = self.server, self.server.state
        token, ranged = self.headers.get("Authorization"), self.headers.get("Range")
        server.asked.append((self.command, self.path, ranged))
        server.tokens.append(token)
        if "silent" in state:
            return self.connection.close()
        path = self.path.removeprefix("/huggingface.co").removeprefix("/api/models").lstrip("/")
        owner, name, kind, revision, *inside = path.partition("?")[0].split("/", 4)
        file = "/".join(inside) if kind == "resolve" else ""
        for wrong, status, code in (
            ("gated" in state and not token and file, 401, "GatedRepo"),
            ("busy" in state and not file, 503, ""),
            ("forbidden" in state, 403, "Forbidden"),
            ((owner, name) != ("me", "mine"), 401, "RepoNotFound"),
            (revision not in (COMMIT, "main"), 404, "RevisionNotFound"),
            (not (server.folder / file).exists(), 404, "EntryNotFound"),
        ):
            if wrong:
                return self.answer(status, X_Error_Code=code)
        if not file:
            files = [file for file in server.folder.iterdir() if file.is_file()]
            listed = [{"rfilename": file.name, "size": file.stat().st_size} for file in files]
            about = {"id": "me/mine", "sha": COMMIT, "siblings": listed} | server.listing
            return self.answer(200, b"<html>" if "web" in state else json.dumps(about).encode())
        self.serve((server.folder / file).read_bytes(), ranged, file.endswith(".safetensors"))

    do_GET = do_HEAD

    def serve(self, body: bytes, ranged: str | None, large: bool) -> None:
        state = self.server.state
        stored = hashlib.sha256(body).hexdigest() if large else git_hash(body)
        headers = {"ETag": f'"{stored}"'} | (
            {"X_Linked_Etag": f'"{stored}"', "X_Linked_Size": str(len(body))} if large else {}
        )
        first, last = (ranged or "bytes=0-").removeprefix("bytes=").split("-")
        part = body[int(first) : int(last) + 1 if last else None]
        if ranged:
            headers["Content_Range"] = f"bytes {first}-{int(first) + len(part) - 1}/{len(body)}"
        if large and self.command == "GET" and "slow" in state:
            self.begin(200)
            for byte in body[:30]:
                self.wfile.write(bytes([byte]))
                time.sleep(0.1)
            return
        if large and self.command == "GET":
            self.server.given += len(part)
            part = part[:-1] + b"!" if "wrong" in state else part
            if "cut" in state:
                state.remove("cut")
                headers["Content_Length"], part = str(len(part)), part[: len(part) // 2]
            if "endless" in state:
                headers["Content_Length"], part = str(10**9), part + bytes(30_000_000)
        self.answer(206 if ranged else 200, part, **headers)


def serving(hub: Hub, tmp_path: Path, monkeypatch) -> Iterator[Hub]:
    """Run the hub for huggingface_hub, with an empty cache."""
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no token"))
    with hub.running():
        yield hub


@pytest.fixture(name="server")
def server_fixture(folder, tmp_path, monkeypatch):
    """Run a hub that has the small model."""
    yield from serving(Hub(folder), tmp_path, monkeypatch)


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def pinned(folder: Path) -> dict:
    return ENTRY | {"files": {file: sha256(folder / file) for file in DEFAULT_FILES}}


def test_the_hub_is_asked_for_one_list_of_files(server, tmp_path):
    """A model may have its tokenizer under ten names. A silent hub costs half a minute a request."""

    def origin() -> origins.Hub:
        return origins.Hub("mine", ENTRY, Downloads("models.yaml", tmp_path, None))

    answered = origin()
    assert answered.locate("vocab.txt") is None
    server.state.add("silent")
    assert answered.locate("tokenizer.json") and len(server.asked) == 1
    unanswered = origin()
    assert unanswered.locate("tokenizer.json") is None and len(server.asked) == 2
    assert unanswered.locate("vocab.txt") is None and len(server.asked) == 2


@pytest.mark.parametrize(
    "state, listing, said",
    rows_of("""
        web | {}                                             | does not give it (JSONDecodeError
        ''  | {sha: ../../main}                              | 'does not give it (ValueError: it names no commit)'
        ''  | {siblings: [{rfilename: config.json, size: x}]} | does not give it (ValueError
        ''  | {siblings: [{rfilename: config.json, size: 1000000000000}]} | sends more than 200,000,000 bytes
    """),
)
def test_a_list_that_is_no_list_of_files(refused, server, state, listing, said):
    server.state.add(state)
    server.listing = listing
    assert said in refused(ENTRY | {"revision": "main"})


def spare(tmp_path: Path) -> list[Path]:
    """Return the files that unfinished downloads left."""
    return [
        file
        for place in ("partial", "cache")
        for file in tmp_path.glob(f"{place}/**/*")
        if file.name.endswith(("incomplete", "part"))
    ]


def test_a_model_of_the_hub(fetch, server, folder, tmp_path, caplog):
    fetched = fetch(ENTRY | {"revision": "main"})
    assert {file.name: file.read_bytes() for file in fetched.iterdir()} == {
        file.name: file.read_bytes() for file in folder.iterdir()
    }
    assert f"sha256 {sha256(folder / 'model.safetensors')}" in caplog.text
    assert "pin this hash in" in caplog.text
    assert f"revision main is commit {COMMIT} now: pin it in" in caplog.text
    assert f"{server.url}/me/mine/resolve/{COMMIT}/config.json" in caplog.text
    assert spare(tmp_path) == []
    assert not any(file.is_symlink() for file in fetched.iterdir())


@pytest.mark.parametrize("entry", [pinned, lambda folder: ENTRY], ids=["pinned", "not pinned"])
def test_the_cache_is_used_and_a_damaged_one_is_mended(
    fetch, refused, server, folder, tmp_path, caplog, entry
):
    """A cached file is checked by the pinned hash or, without one, by the hash in the cache's file
    name.
    """
    entry = entry(folder)
    fetch(entry)
    server.asked.clear()
    server.state.add("silent")
    shutil.rmtree(fetch(entry))
    assert server.asked == []
    for blob in tmp_path.glob("cache/models--me--mine/blobs/*"):
        blob.write_bytes(b"damaged")
    assert "the cache holds a wrong file" in refused(entry)
    server.state.clear()
    fetched = fetch(entry)
    assert "fetching it again" in caplog.text
    assert sha256(fetched / "model.safetensors") == sha256(folder / "model.safetensors")


def test_a_cut_download_goes_on(fetch, server, folder, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1 << 16)
    server.state.add("cut")
    fetched = fetch(pinned(folder))
    assert sha256(fetched / "model.safetensors") == sha256(folder / "model.safetensors")
    assert [int(ranged[6:-1]) for _, _, ranged in server.asked if ranged][0] > 100_000


def test_a_gated_model(fetch, refused, server, folder, monkeypatch, caplog):
    server.state.add("gated")
    said = refused(ENTRY)
    assert f"mine/config.json: me/mine is gated: ask for access at {server.url}/me/mine" in said
    assert "hf auth login" in said and "HF_TOKEN" in said
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch(ENTRY)
    assert "Bearer hf_secret" in server.tokens and "hf_secret" not in caplog.text


@pytest.mark.parametrize(
    "state, change, said",
    [
        ("forbidden", {}, "refuses me/mine (HTTP 403)"),
        ("", {"hub": "you/yours"}, "shows no model you/yours: correct hub in"),
        ("", {"revision": "0" * 40}, f"me/mine has no revision {'0' * 40}"),
        (
            "",
            {"files": dict.fromkeys([*DEFAULT_FILES, "vocab.txt"])},
            f"mine/vocab.txt: me/mine has no such file at {COMMIT}",
        ),
        (
            "",
            {"files": dict.fromkeys(DEFAULT_FILES) | {"config.json": "0" * 64}},
            "/config.json from",
        ),
        *rows_of("""
            '' | {hub: not a name} | (an id on huggingface.co, ORG/NAME)
            silent | {} | does not give it (RemoteProtocolError
            busy | {} | does not give it (HTTP 503)
            wrong | {} | does not have the hash that the hub names
            endless | {} | the download was stopped and removed
            pickled | {} | me/mine has its weights as pytorch_model.bin only
            away | {} | http://127.0.0.1:9 does not answer and neither the mirror nor the cache
        """),
    ],
)
def test_what_the_hub_refuses(refused, server, folder, tmp_path, state, change, said, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    server.state.add(state)
    if state == "pickled":
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    if state == "away":
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    error = refused(ENTRY | change)
    assert said in error and "mine" in error and spare(tmp_path) == []
    if state == "away":
        assert "TIMESTRIDE_MIRROR" in error and f"({tmp_path / 'cache'})" in error


# ---- the mirror


@pytest.fixture
def mirror(folder, tmp_path) -> Path:
    """Make a mirror with the branch's files only."""
    shutil.copytree(folder, tmp_path / "mirror/huggingface.co/me/mine/resolve/main")
    return tmp_path / "mirror"


def test_the_mirror_is_asked_first(fetch, server, folder, mirror):
    """The mirror's copy of a branch counts as a commit only if the hash is pinned."""
    fetch(pinned(folder), mirror)
    assert server.asked == []
    fetch(ENTRY, mirror)
    assert {path for _, path, _ in server.asked} == {
        f"/api/models/me/mine/revision/{COMMIT}?blobs=true",
        *(f"/me/mine/resolve/{COMMIT}/{file}" for file in DEFAULT_FILES),
    }


# ---- the user's environment


@pytest.mark.slow
def test_the_environment_is_honoured(program, server, folder, tmp_path):
    """The program uses HF_HOME, HF_TOKEN and HF_ENDPOINT; then, offline, the cache. No message
    contains the token.
    """
    write_yaml(tmp_path / "models.yaml", {"mine": ENTRY})
    for offline in ("0", "1"):
        before = len(server.asked)
        done = program(
            f"scripts.fetch.model --model mine --models {tmp_path}/models.yaml "
            f"--output {tmp_path}/out/mine --partial {tmp_path}/partial --mirror=",
            HF_HUB_OFFLINE=offline,
            HF_HOME=str(tmp_path / "home"),
            HF_TOKEN="hf_secret",
            HF_ENDPOINT=server.url,
        )
        assert done.returncode == 0 and "hf_secret" not in done.stderr, done.stderr
        assert (len(server.asked) > before) == (offline == "0")
    tokens = {
        token
        for (_, path, _), token in zip(server.asked, server.tokens, strict=True)
        if path.startswith("/me/mine/")
    }
    assert tokens == {"Bearer hf_secret"}
    assert list((tmp_path / "home/hub").glob("models--me--mine/snapshots/*"))
