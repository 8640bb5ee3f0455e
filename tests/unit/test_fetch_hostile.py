"""scripts.fetch.source before servers that cut, stall and lie, and wrong archives."""
# ruff: noqa: F401 - fixtures are imported

import random
import stat
import struct
import time
import zipfile
from email.utils import formatdate

import pytest
import requests

from scripts.common.program import UserError
from scripts.fetch import source, web
from tests.unit.fetch_sources import (
    BODY,
    OTHER,
    archive_fixture,
    fetch_fixture,
    kept,
    no_pauses,
    refused_fixture,
    server_fixture,
    sha256,
    single,
    sized,
    zipped,
)

# ---- hostile and failing servers


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


@pytest.mark.parametrize("asked", [lambda: "3600", lambda: formatdate(time.time() + 3600, usegmt=True)], ids=["seconds", "date"])
def test_a_wait_that_is_too_long_is_not_waited(refused, server, asked):
    server.files["/captions.json"], server.script = BODY, [f"wait {asked()}"] * 10
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


# ---- archives


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
    buffer = zipped(train=BODY)
    with zipfile.ZipFile(buffer, "a") as opened:
        opened.writestr(name, b"out")
    assert "leads out of the archive's folder" in refused(archive(buffer.getvalue(), train=BODY))


def test_a_member_that_is_a_link(refused, archive):
    buffer, link = zipped(train=BODY), zipfile.ZipInfo("val")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(buffer, "a") as opened:
        opened.writestr(link, "/etc/passwd")
    assert "entry val is a link" in refused(archive(buffer.getvalue(), train=BODY))


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
    buffer = zipped(train=BODY)
    with zipfile.ZipFile(buffer, "a") as opened, pytest.warns(UserWarning, match="Duplicate name"):
        opened.writestr("train", OTHER)
    assert "entry train is there twice" in refused(archive(buffer.getvalue(), train=BODY))


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
