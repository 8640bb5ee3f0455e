"""scripts.fetch.source: resumed downloads, mirrors, entries and the program."""

import json
import socket
import sys
from contextlib import ExitStack
from subprocess import Popen

import pytest

from scripts.fetch import web
from tests.conftest import ROOT
from tests.fetch.fetch_sources import BODY, CUT, OTHER, kept, sha256, single, zipped
from tests.rows import rows_of

# ---- downloads


def test_a_cut_connection_goes_on_where_it_stopped(fetch_corpus, server, tmp_path):
    server.files["/captions.json"], server.script = BODY, ["cut"]
    assert fetch_corpus(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    (_, none, _), (_, ranged, condition) = server.asked
    assert none is None and CUT - web.CHUNK <= int(ranged[6:-1]) <= CUT
    assert condition == f'"{sha256(BODY)[:8]}"' and kept(tmp_path) == []


def test_a_second_start_goes_on_where_the_first_stopped(
    fetch_corpus, refused_corpus, server, tmp_path
):
    server.files["/captions.json"], server.script = BODY, ["cut"] + ["busy"] * 20
    assert "HTTP 503" in refused_corpus(single(f"{server.url}/captions.json"))
    assert kept(tmp_path) == [".part", ".version"]
    server.script, server.asked = [], []
    assert fetch_corpus(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    assert len(server.asked) == 1 and int(server.asked[0][1][6:-1]) > 0


@pytest.mark.parametrize(
    "steps, ranged",
    rows_of("""
        [busy, busy]              | [false, false, false]
        [redirect /captions.json] | [false, false]
        [cut, no ranges]          | [false, true]
        ['cut, no version', '']   | [false, false]  # pieces of no known version are thrown away
    """),
)
def test_what_servers_do(fetch_corpus, server, steps, ranged):
    server.files["/captions.json"], server.script = BODY, steps
    assert fetch_corpus(single(f"{server.url}/captions.json")) == {"captions.json": BODY}
    assert [bool(asked) for _, asked, _ in server.asked] == ranged


@pytest.mark.parametrize(
    "new, step",
    [
        (OTHER, ""),
        (OTHER, "no conditions"),
        (OTHER[:1000], "no conditions"),
        (OTHER, "no conditions, no version"),
    ],
)
def test_a_changed_file_is_never_spliced(fetch_corpus, refused_corpus, server, caplog, new, step):
    """This holds even if the server continues in the new version, whether its ETag shows that or
    not.
    """
    server.files["/captions.json"], server.script = BODY, ["cut"] + ["busy"] * 20
    refused_corpus(single(f"{server.url}/captions.json"))
    server.files["/captions.json"], server.script = new, [step]
    assert fetch_corpus(single(f"{server.url}/captions.json", content=None)) == {
        "captions.json": new
    }
    assert sha256(new) in caplog.text and "pin this hash in" in caplog.text


def test_a_wrong_hash(refused_corpus, server, tmp_path):
    server.files["/captions.json"] = OTHER
    said = refused_corpus(single(f"{server.url}/captions.json"))
    assert sha256(BODY) in said and sha256(OTHER) in said
    assert f"{server.url}/captions.json" in said and "sources.yaml (corpus)" in said
    assert kept(tmp_path) == []


def test_a_verified_file_stays_when_a_later_one_fails(
    fetch_corpus, refused_corpus, server, tmp_path
):
    server.files["/captions.json"], server.files["/other.json"] = BODY, OTHER
    missing = single(f"{server.url}/late.json", content=OTHER) | {"file": "other.json"}
    assert "other.json" in refused_corpus(single(f"{server.url}/captions.json"), missing)
    asked = len(server.asked)
    late = missing | {"urls": [f"{server.url}/other.json"]}
    assert set(fetch_corpus(single(f"{server.url}/captions.json"), late)) == {
        "captions.json",
        "other.json",
    }
    assert [path for path, *_ in server.asked[asked:]] == ["/other.json"] and kept(tmp_path) == []


def test_urls_are_tried_in_turn(fetch_corpus, refused_corpus, server, tmp_path):
    (tmp_path / "my captions.json").write_bytes(BODY)
    gone, here = f"{server.url}/gone.json", (tmp_path / "my captions.json").as_uri()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{closed.getsockname()[1]}/captions.json"
    said = refused_corpus(single(gone, dead, "file:///nowhere/captions.json"))
    assert f"{gone}: HTTP 404" in said and f"{dead}: no answer" in said
    assert "file:///nowhere/captions.json: no such file" in said and "TIMESTRIDE_MIRROR" in said
    assert fetch_corpus(single(gone, dead, here)) == {"captions.json": BODY}


def test_two_programs_at_once(server, tmp_path):
    """The second waits for the first, and finds its files."""
    server.files["/captions.json"], server.script = BODY, ["wait 2"]
    entry = {"downloads": [single(f"{server.url}/captions.json")]}
    call = [sys.executable, "-m", "scripts.fetch.source", "--source", "corpus", "--mirror="]
    call += ["--entry", json.dumps(entry), "--output", str(tmp_path / "out")]
    call += ["--partial", str(tmp_path / "partial")]
    with ExitStack() as both:
        programs = [both.enter_context(Popen(call, cwd=ROOT)) for _ in range(2)]
        assert [program.wait() for program in programs] == [0, 0]
    assert len(server.asked) == 2 and (tmp_path / "out/captions.json").read_bytes() == BODY


# ---- mirrors


@pytest.mark.parametrize("kind", ["folder", "url"])
def test_the_mirror_is_tried_first(fetch_corpus, server, tmp_path, caplog, kind):
    url = f"{server.url}/a/cap%20tions.json"
    place = tmp_path / "mirror/127.0.0.1/a/cap tions.json"
    place.parent.mkdir(parents=True)
    mirror = str(tmp_path / "mirror") if kind == "folder" else f"{server.url}/mirror/"
    server.files["/a/cap%20tions.json"] = BODY
    assert fetch_corpus(single(url), mirror=mirror) == {"captions.json": BODY}
    assert "the mirror has no" in caplog.text
    place.write_bytes(OTHER)
    server.files["/mirror/127.0.0.1/a/cap%20tions.json"] = OTHER
    assert fetch_corpus(single(url, content=OTHER), mirror=mirror) == {"captions.json": OTHER}
    assert place.read_bytes() == OTHER
    assert (tmp_path / "out/corpus/captions.json").stat().st_ino != place.stat().st_ino


@pytest.mark.parametrize("place", ["no-mirror", "http://127.0.0.1:9/mirror"])
def test_a_mirror_that_is_not_there(refused_corpus, server, place):
    server.files["/captions.json"] = BODY
    said = refused_corpus(single(f"{server.url}/captions.json"), mirror=place)
    assert place in said and "TIMESTRIDE_MIRROR" in said and server.asked == []


# ---- entries


@pytest.mark.parametrize(
    "change, said",
    rows_of("""
        {urls: null} | 'corpus: 0.urls must be a list, not None'
        {members: {}} | an archive lists its members; a single file has file, sha256 and bytes itself
        {urls: [ftp://example.invalid/captions.json]} | '(an address: https://…, http://…, file:///…, or resources/'
        {sha256: '0'} | sixty-four hexadecimal digits
    """),
)
def test_entries_that_are_refused(refused_corpus, change, said):
    assert said in refused_corpus(single("https://example.invalid/captions.json") | change)


def test_files_of_one_name(refused_corpus, archive):
    twice = archive(zipped(a__train=BODY, b__train=OTHER), a__train=BODY, b__train=OTHER)
    assert "have the name train" in refused_corpus(twice)


# ---- the program


@pytest.mark.parametrize(
    "source, said",
    [
        ("activitynt", "did you mean activitynet?"),
        ("event_templates", "its file is on this machine already"),
    ],
)
def test_what_cannot_be_fetched(program, tmp_path, source, said):
    program(f"scripts.fetch.source --source {source} --output {tmp_path}/out").refused(said)
    assert not (tmp_path / "out").exists()


def test_what_is_here_is_not_fetched_again_and_strays_go(program, tmp_path):
    """A rule runs again although the files are there: its manifest was removed, or its options
    changed.
    """
    folder = tmp_path / "sample"
    call = (
        f"scripts.fetch.source --source sample_mctaco --output {folder} --partial {tmp_path}/part"
    )
    program(call, f"--manifest={folder}/manifest.json").checked()
    names = sorted(file.name for file in folder.iterdir())
    (folder / "stray").touch()
    (folder / "manifest.json").unlink()
    again = program(call, f"--manifest={folder}/manifest.json").checked()
    assert "samples/mctaco.zip" not in again.stderr, "it was opened again"
    assert sorted(file.name for file in folder.iterdir()) == names and len(names) == 3
    (folder / names[0]).write_text("another")
    assert "samples/mctaco.zip" in program(call).checked().stderr
