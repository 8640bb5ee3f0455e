"""scripts.fetch.source: downloads that go on, mirrors, entries and the program."""
# ruff: noqa: F401 - fixtures are imported

import socket

import pytest

from scripts.fetch import web
from tests.unit.fetch_sources import (
    BODY,
    CUT,
    OTHER,
    archive_fixture,
    fetch_fixture,
    kept,
    no_pauses,
    refused_fixture,
    server_fixture,
    sha256,
    single,
    zipped,
)

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


# ---- entries


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
    assert done.returncode == 1 and "scripts.fetch.samples.captions" in done.stderr


def test_the_real_corpora(program, mirror, tmp_path):
    for name, count in {"activitynet": 5, "hirest": 2}.items():
        done = program("scripts.fetch.source", "--source", name, "--mirror", mirror,
                       "--output", tmp_path / name, "--partial", tmp_path / "partial",
                       "--log", tmp_path / f"{name}.log")
        assert done.returncode == 0, done.stderr
        assert len(list((tmp_path / name).iterdir())) == count
        assert "files" in (tmp_path / f"{name}.log").read_text()
