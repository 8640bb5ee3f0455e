"""The cleaner of HowTo100M: exact parsing in pieces, what it keeps and counts, bounded memory, whole output only."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.clean_howto100m import measured
from scripts.clean.howto100m_batches import as_batch, texts_of
from scripts.clean.howto100m_captions import clean_batch, goes_on, spaced
from scripts.clean.howto100m_listing import VIDEOS
from scripts.clean.howto100m_videos import Video, Videos
from scripts.common.files import sha256_of
from scripts.common.keyed import keyed_uniform
from scripts.common.owner import started
from scripts.common.program import UserError
from scripts.common.sorted_ids import Seen
from scripts.common.tables import CAPTIONS, provenance_of, read_table
from tests.conftest import ROOT
from tests.rows import each_row
from tests.unit.test_clean_activitynet import counts

NAN = float("nan")


def names(split, count):
    """So many video ids that fall to a split."""
    ids = pd.Series([f"vid{number:08}" for number in range(count * 20)])
    chosen = (keyed_uniform(ids, 0) < 0.1) == (split == "val")
    return list(ids[chosen][:count])


TRAIN, VAL = names("train", 9), names("val", 2)


def lines(*texts, start=None):
    start = list(range(len(texts))) if start is None else start
    return {"start": start, "end": [time if time is None else time + 2 for time in start], "text": list(texts)}


CORPUS = {
    TRAIN[0]: lines("so first", "so first you\ncut", " so first you cut  it ", "and then", "and then", "andthen"),
    TRAIN[1]: lines("b", NAN, None, 7, "", " \u00a0 ", "c", [1, "}"], {"x": "}"}),
    TRAIN[2]: lines("later", "earlier", "no time", "never", start=[5, 1.5, None, NAN]),
    TRAIN[3]: {"start": [0, 1, 2], "end": [1, 2], "text": ["one", "two", "three", "four"]},
    TRAIN[4]: lines(None, ""),
    TRAIN[5]: lines('braces } { and "quotes" \\', "caf\u00e9 \u2028 \U0001f600", "\ud800 half"),
    TRAIN[6]: lines("a b c", "a b", "a b c d"),
    VAL[0]: lines("only", "these"),
}
LISTING = "video_id,task_id,rank,category_1,category_2\n" + "".join(
    f"{name},1,1,Food and Entertaining,\"Cakes, Pies\"\n" for name in [*TRAIN[:3], "unknown1234", VAL[0]])


def place(folder, corpus=CORPUS, name="raw_caption.json", listing=LISTING):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(corpus if isinstance(corpus, bytes) else json.dumps(corpus).encode())
    if listing:
        (folder / "HowTo100M_v1.csv").write_text(listing)
    return folder


def zipped(content, member="raw_caption.json", method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr(member, content)
    return buffer.getvalue()


def command(fetched, output, *more):
    return ("scripts.clean.howto100m", "--source", "how", "--fetched", fetched, "--output", output,
            "--provenance", '{"licence": "none"}', *more)


def cleaned(program, fetched, output, *more):
    """The rows of each split, read through its manifest."""
    done = program(*command(fetched, output, *more))
    assert done.returncode == 0, done.stderr
    tables = {}
    for split in ("train", "val"):
        shards = json.loads((output / split / "manifest.json").read_text())["shards"]
        parts = [read_table(output / split / shard["file"]) for shard in shards]
        present = sorted(file.name for file in (output / split).iterdir())
        assert present == ["manifest.json", *(shard["file"] for shard in shards)]
        for part, shard in zip(parts, shards):
            assert sha256_of(output / split / shard["file"]) == shard["sha256"]
            assert (len(part), len(part["video_id"].unique())) == (shard["rows"], shard["videos"])
            assert part.schema.equals(CAPTIONS)
        tables[split] = pa.concat_tables(parts)
    assert not [file for folder in (output, output.parent) for file in folder.iterdir() if file.name.startswith(".")]
    return tables


# What comes out


def test_what_comes_out(program, tmp_path):
    tables = cleaned(program, place(tmp_path / "in"), tmp_path / "out")
    rows = tables["train"].to_pandas()
    texts = {name: list(part["text"]) for name, part in rows.groupby("video_id", sort=False)}
    assert texts == {
        TRAIN[0]: ["so first you cut it", "and then", "andthen"],
        TRAIN[1]: ["b", "c"],
        TRAIN[2]: ["earlier", "later"],
        TRAIN[3]: ["one", "two"],
        TRAIN[5]: ['braces } { and "quotes" \\', "caf\u00e9 \U0001f600", "\ufffd half"],
        TRAIN[6]: ["a b c d"],
    }
    assert (rows["position"] == rows.groupby("video_id").cumcount()).all()
    assert rows[rows["video_id"] == TRAIN[2]][["start_s", "end_s"]].values.tolist() == [[1.5, 3.5], [5, 7]]
    assert set(rows["source"]) == {"how"} and set(rows["split"]) == {"train"}
    assert tables["val"]["text"].to_pylist() == ["only", "these"]
    assert provenance_of(tmp_path / "out/train/part-00000.parquet") == {"licence": "none", "split": "train"}


def test_what_is_counted(program, tmp_path):
    cleaned(program, place(tmp_path / "in"), tmp_path / "out")
    found = counts(tmp_path / "out")
    assert {key[1:]: count for key, count in found.items() if key[0] == "train" and count} == {
        ("videos", "read", ""): 7, ("videos", "kept", ""): 6, ("videos", "dropped", "no sentence is left"): 1,
        ("videos", "changed", "lists of different lengths: cut to the shortest"): 1,
        ("videos", "changed", "not in the order of start times: sorted"): 1,
        ("videos", "noted", "not in HowTo100M_v1.csv"): 4,
        ("captions", "read", ""): 31, ("captions", "kept", ""): 13,
        ("captions", "dropped", "beyond the shortest list"): 2,
        ("captions", "dropped", "text is missing (null or NaN)"): 3,
        ("captions", "dropped", "text is not text"): 3,
        ("captions", "dropped", "start or end is not a finite number"): 2,
        ("captions", "dropped", "text is empty"): 3,
        ("captions", "dropped", "the next caption repeats it or goes on from it"): 5,
        ("captions", "changed", "white space stripped and joined"): 3,
        ("captions", "changed", "of these, text on several lines"): 1,
        ("captions", "changed", "half of a surrogate pair: U+FFFD stands for it"): 1,
        ("captions", "noted", "begins before the one in front ends"): 3,
    }
    assert found["all", "videos", "noted", "in HowTo100M_v1.csv but without captions"] == 1


def test_the_table_of_videos(program, tmp_path):
    cleaned(program, place(tmp_path / "in"), tmp_path / "out")
    table = read_table(tmp_path / "out/videos.parquet")
    assert table.schema.equals(VIDEOS)
    rows = {row["video_id"]: row for row in table.to_pylist()}
    assert list(rows) == list(CORPUS)
    assert rows[TRAIN[0]] == {"source": "how", "split": "train", "video_id": TRAIN[0], "captions": 3,
                              "category_1": "Food and Entertaining", "category_2": "Cakes, Pies"}
    assert rows[TRAIN[4]]["captions"] == 0 and rows[TRAIN[4]]["category_1"] is None


def test_without_the_listing(program, tmp_path):
    cleaned(program, place(tmp_path / "in", listing=None), tmp_path / "out")
    assert read_table(tmp_path / "out/videos.parquet")["category_1"].null_count == len(CORPUS)
    assert not [key for key in counts(tmp_path / "out") if "HowTo100M_v1" in key[3]]


def test_a_video_id_that_occurs_again(program, tmp_path):
    again = json.dumps(CORPUS)[:-1] + f', "{TRAIN[0]}": {json.dumps(lines("other"))}}}'
    tables = cleaned(program, place(tmp_path / "in", again.encode()), tmp_path / "out")
    assert "other" not in tables["train"]["text"].to_pylist()
    assert counts(tmp_path / "out")["all", "videos", "dropped", "the video id occurs a second time"] == 1


@pytest.mark.parametrize(("name", "content"), [
    ("raw_caption.zip", zipped(json.dumps(CORPUS))),
    ("raw_caption.zip", zipped(json.dumps(CORPUS), "folder/caption.json", zipfile.ZIP_STORED)),
    ("raw_caption.zip", json.dumps(CORPUS).encode()),
    ("caption.json", json.dumps(CORPUS, indent=2).encode()),
    ("raw_caption.json", zipped(json.dumps(CORPUS))),
])
def test_every_form_of_the_file_gives_the_same(program, tmp_path, name, content):
    expected = cleaned(program, place(tmp_path / "in"), tmp_path / "out/a")
    found = cleaned(program, place(tmp_path / "other", content, name), tmp_path / "out/b")
    assert expected == found
    for file in (tmp_path / "out/a").rglob("*.*"):
        assert file.read_bytes() == (tmp_path / "out/b" / file.relative_to(tmp_path / "out/a")).read_bytes()


def test_shards_hold_whole_videos(program, tmp_path):
    tables = cleaned(program, place(tmp_path / "in"), tmp_path / "a/out")
    again = cleaned(program, tmp_path / "in", tmp_path / "b/out", "--videos-per-shard", 2)
    assert tables == again
    shards = json.loads((tmp_path / "b/out/train/manifest.json").read_text())["shards"]
    assert [(shard["file"], shard["videos"]) for shard in shards] == [
        (f"part-{number:05}.parquet", 2) for number in range(3)]


def test_the_split_depends_on_the_id_alone(program, tmp_path):
    program("scripts.fetch.samples.captions", "--format", "howto100m", "--videos", 300, "--seed", 1, "--output", tmp_path / "in")
    cleaned(program, tmp_path / "in", tmp_path / "out")
    table = read_table(tmp_path / "out/videos.parquet").to_pandas()
    assert 0.05 < (table["split"] == "val").mean() < 0.15
    assert ((keyed_uniform(table["video_id"], 0) < 0.1) == (table["split"] == "val")).all()


# Parsing

texts = st.text(max_size=8) | st.text(st.sampled_from('{}[]",:\\\n aé'), max_size=12)
values = (texts | st.none() | st.just(NAN) | st.integers(-3, 3) | st.floats() | st.booleans()
          | st.lists(texts, max_size=2))
times = st.lists(st.none() | st.floats(), max_size=4)
bodies = st.fixed_dictionaries({"start": times, "end": times, "text": st.lists(values, max_size=4)})
corpora = st.dictionaries(texts, bodies, max_size=5)


def parsed(content, chunk=1 << 20):
    return [(name, video.start, video.end, video.text) for name, video, _ in Videos(io.BytesIO(content), "file", chunk)]


def nulls(videos):
    """Videos with null for NaN."""
    return [(name, *([None if value != value else value for value in values] for values in lists)) for name, *lists in videos]


@settings(max_examples=3 * settings.default.max_examples, deadline=None)
@given(corpora, st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_parsing_equals_json_loads(corpus, chunk, indent, ascii_only):
    content = json.dumps(corpus, indent=indent, ensure_ascii=ascii_only).encode()
    expected = [(name, video["start"], video["end"], video["text"]) for name, video in json.loads(content).items()]
    # Whole numbers among times are read as floats; NaN may be read as null.
    assert repr(nulls(parsed(content, chunk))) == repr(nulls(expected))
    for found in Videos(io.BytesIO(content), "file", chunk):
        assert found[2] <= len(content)


@settings(max_examples=150, deadline=None)
@given(corpora.filter(len), st.data())
def test_a_truncated_file_is_refused(corpus, data):
    content = json.dumps(corpus).encode()
    cut = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(UserError):
        parsed(content[:cut], data.draw(st.integers(1, 40)))


GOOD = json.dumps(lines("fine"))


@pytest.mark.parametrize("chunk", [3, 1 << 20])
@each_row("content, said", [
    ("", "the file ends too early, behind its start (byte 0): the { of an object of videos is missing"),
    ("[1]", "behind its start (byte 0): the { of an object of videos is missing"),
    ('{"a": %s, "b": {"start": [' % GOOD, "video b, which begins at byte"),
    ('{"a": %s, "b": {"start": [' % GOOD, "the last whole video before it is a"),
    ('{"a": %s, "b": {"start": [1 2], "end": [], "text": []}}' % GOOD, "video b, which begins at byte 57: broken JSON"),
    ('{"a": %s, "b": {"start": [1], "text": ["x"]}}' % GOOD, "video b, which begins at byte 57: Object missing"),
    ('{"a": %s, "b": {"start": ["1"], "end": [1], "text": ["x"]}}' % GOOD, "Expected `float | null`, got `str`"),
    ('{"a": %s, "b": {"start": [1], "end": [1], "text": "x"}}' % GOOD, "Expected `array`, got `str`"),
    ('{"a": %s "b": %s}' % (GOOD, GOOD), "behind video a (byte"),
    ('{"a": %s, "b" %s}' % (GOOD, GOOD), "the colon after video b is missing"),
    ('{"a": %s, "b": [1]}' % GOOD, "the object with start, end and text of video b is missing"),
    ('{"a": %s, }' % GOOD, "behind video a"),
    ('{"a": %s, "b' % GOOD, "the file ends too early, behind video a"),
    ('{"a": %s' % GOOD, "the file ends too early, behind video a"),
    ('{"a": %s}}' % GOOD, "behind video a (byte"),
    ('{"a": {"start": [0], "end": [1], "text": ["raw\nline"]}}', "video a"),
])
def test_a_broken_file_names_the_video(chunk, content, said):
    with pytest.raises(UserError) as error:
        parsed(content.encode(), chunk)
    assert said in str(error.value) and str(error.value).startswith("file: ")


def refused(program, tmp_path, *files, **written):
    done = program(*command(place(tmp_path / "in", *files, **written), tmp_path / "out/how"))
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert not list((tmp_path / "out").glob("*")), "nothing is left behind"
    assert done.stderr.startswith("error: ")
    return done.stderr


def test_broken_input_through_the_program(program, tmp_path):
    whole = json.dumps(CORPUS).encode()
    assert f"video {list(CORPUS)[-1]}" in refused(program, tmp_path, whole[:-10])
    assert "no video in it" in refused(program, tmp_path, b"{}")
    said = refused(program, tmp_path, b'{"a": {"start": [0], "end": [1], "text": ["\xff"]}}')
    assert "video a" in said and "utf-8" in said
    assert "none of its videos with captions falls to val" in refused(program, tmp_path, {TRAIN[0]: lines("x")})
    assert "columns video_id" in refused(program, tmp_path, listing="a,b\n1,2\n")


def test_broken_zips_through_the_program(program, tmp_path):
    noise = {f"{name}{number}": lines(os.urandom(90).hex()) for name in TRAIN for number in range(99)}
    content = zipped(json.dumps(noise))
    assert "not a whole zip" in refused(program, tmp_path, content[:-4000], name="raw_caption.zip")
    assert "needs one of" in refused(program, tmp_path, zipped("{}", "else.json"), name="raw_caption.zip")
    damaged = content[:60000] + bytes([content[60000] ^ 255]) + content[60001:]
    assert "raw_caption.zip: raw_caption.json" in refused(program, tmp_path, damaged, name="raw_caption.zip")


def test_no_file_at_all(program, tmp_path):
    (tmp_path / "in").mkdir()
    done = program(*command(tmp_path / "in", tmp_path / "out"))
    assert done.returncode == 1 and "none of raw_caption.zip, raw_caption.json, caption.json" in done.stderr


def test_an_error_keeps_what_was_there(program, tmp_path):
    place(tmp_path / "in")
    before = cleaned(program, tmp_path / "in", tmp_path / "out/how")
    (tmp_path / "in/raw_caption.json").write_text("{")
    assert program(*command(tmp_path / "in", tmp_path / "out/how")).returncode == 1
    place(tmp_path / "in")
    assert read_table(tmp_path / "out/how/train/part-00000.parquet") == before["train"]
    # A second run leaves no shard of the first behind.
    cleaned(program, tmp_path / "in", tmp_path / "out/how", "--videos-per-shard", 1)
    cleaned(program, tmp_path / "in", tmp_path / "out/how")


def begun(program, tmp_path, *more):
    """The cleaner while it writes the first part of a corpus of 30 MB, in a session of its own."""
    done = program("scripts.fetch.samples.captions", "--format", "howto100m", "--videos", 6000, "--seed", 1, "--unzipped",
                   "--captions-per-video", 112, "--output", tmp_path / "in")
    assert done.returncode == 0
    running = subprocess.Popen([sys.executable, "-m", *map(str, command(tmp_path / "in", tmp_path / "out/how", *more))],
                               cwd=ROOT, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while not list((tmp_path / "out").glob("how/.*.set/train/.*.parquet")):
        assert running.poll() is None and time.monotonic() < limit, "the run is to be killed while it writes"
        time.sleep(0.01)
    return running


def children(process):
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_run_leaves_nothing_partial(program, tmp_path, processes):
    running = begun(program, tmp_path, "--processes", processes)
    readers = children(running.pid)
    assert len(readers) == processes - 1
    running.send_signal(signal.SIGKILL)
    running.wait()
    running.stderr.close()
    left, = (tmp_path / "out/how").iterdir()  # hidden, and swept by the next run once it is a minute old
    os.utime(left, (0, time.time() - 61))
    place(tmp_path / "small")
    cleaned(program, tmp_path / "small", tmp_path / "out/how")
    limit = time.monotonic() + 10
    while any(started(reader) for reader in readers):
        assert time.monotonic() < limit, "the process that reads ends with the one that cleans"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_killed_reader_is_told(program, tmp_path):
    running = begun(program, tmp_path, "--processes", 2)
    os.kill(*children(running.pid), signal.SIGKILL)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 1 and "Traceback" not in said, said
    assert said.endswith("then give the same command again\n") and "raw_caption.json: the process that reads it was ended" in said
    assert not list((tmp_path / "out").glob("*"))


def test_two_processes_write_and_refuse_the_same(program, tmp_path):
    place(tmp_path / "in")
    expected = cleaned(program, tmp_path / "in", tmp_path / "out/a")
    assert cleaned(program, tmp_path / "in", tmp_path / "out/b", "--processes", 2) == expected
    for file in (tmp_path / "out/a").rglob("*.*"):
        assert file.read_bytes() == (tmp_path / "out/b" / file.relative_to(tmp_path / "out/a")).read_bytes()
    place(tmp_path / "in", json.dumps(CORPUS).encode()[:-10])
    refusals = [program(*command(tmp_path / "in", tmp_path / "out/c", "--processes", many)) for many in (1, 2)]
    assert refusals[0].returncode == refusals[1].returncode == 1
    assert refusals[0].stderr == refusals[1].stderr and f"video {list(CORPUS)[-1]}" in refusals[0].stderr


# Ids


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=12), st.integers(1, 3))
def test_what_was_seen_is_told_exactly_even_where_hashes_are_equal(batches, different):
    seen, known = Seen(), set()
    for batch in batches:
        ids = pa.array(batch, pa.string())
        hashes = np.array([ord(name) % different for name in batch], np.uint64)
        expected = [name not in known and name not in batch[:number] for number, name in enumerate(batch)]
        known.update(batch)
        assert list(seen.new(ids, hashes)) == expected
    lengths = [len(run.ids) for run in seen.runs]
    assert sum(lengths) == len(known)
    assert all(longer > 2 * shorter for longer, shorter in zip(lengths, lengths[1:]))


# Memory

@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_memory_does_not_grow_with_the_file(program, tmp_path, processes):
    """Four times the videos, 75 MB more: the peak may waver by the allocators' slack, not by the file."""
    peaks = {}
    for many in (5000, 20000):
        fetched = tmp_path / str(many)
        program("scripts.fetch.samples.captions", "--format", "howto100m", "--videos", many, "--seed", 1, "--unzipped",
                "--captions-per-video", 112, "--output", fetched)
        peaks[many] = measured(["-m", *command(fetched, tmp_path / f"out{many}", "--processes", processes)])[2]
    grown = ((tmp_path / "20000/raw_caption.json").stat().st_size
             - (tmp_path / "5000/raw_caption.json").stat().st_size) / (1 << 20)
    assert grown > 60
    assert peaks[20000] - peaks[5000] < 0.5 * grown, peaks
    assert 100 < peaks[20000] < 400, peaks


# The vectorised steps against plain loops

some_text = st.text(st.sampled_from("ab "), max_size=4) | st.text(max_size=2)
rolling_texts = st.lists(st.tuples(st.integers(0, 1), some_text), max_size=9)
white_text = st.text(st.sampled_from(" \t\n\x0b\x0c\r\x1c\x1f\x85\xa0\u2002\u3000x"), max_size=6)


@given(rolling_texts, st.integers(0, 2))
def test_goes_on_equals_a_loop(rows, skipped):
    rows = sorted(rows, key=lambda row: row[0])
    array = pa.array(["x"] * skipped + [text for _, text in rows], pa.string()).slice(skipped)
    expected = [number + 1 < len(rows) and rows[number + 1][0] == video
                and (rows[number + 1][1] == text or rows[number + 1][1].startswith(text + " "))
                for number, (video, text) in enumerate(rows)]
    kept = [bool(text) for _, text in rows]  # empty texts are gone by then
    if all(kept):
        here = np.flatnonzero([video == behind for (video, _), (behind, _) in zip(rows, rows[1:])])
        assert list(goes_on(array, here, here + 1)) == [expected[row] for row in here]


@given(st.lists(st.none() | st.text() | white_text))
def test_spaced_equals_split_and_join(values):
    expected = [value if value is None else " ".join(value.split()) for value in values]
    assert spaced(texts_of(values)[0])[0].to_pylist() == expected


@settings(deadline=None)
@given(corpora.filter(len))
def test_no_caption_is_lost_silently(corpus):
    videos = [Video(video["start"], video["end"], video["text"]) for video in corpus.values()]
    captions, listed, found = clean_batch(as_batch(list(corpus), videos, [0] * len(videos)), "s")
    captions = pa.concat_tables(captions)
    for unit in ("videos", "captions"):
        sums = {action: sum(count for (_, *key), count in found.items() if key[:2] == [unit, action])
                for action in ("read", "kept", "dropped")}
        assert sums["read"] == sums["kept"] + sums["dropped"]
    assert sum(listed["captions"].to_pylist()) == len(captions)
    again, _, _ = clean_batch(as_batch(*as_read(captions)), "s")
    assert pa.concat_tables(again).select(["video_id", "position", "text", "start_s"]) == captions.select(
        ["video_id", "position", "text", "start_s"]), "clean captions stay as they are"


def test_rolling_captions_are_kept_where_that_is_asked():
    corpus = {"v": Video([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], ["cut the", "cut the wood", "now", "now"])}
    batch = as_batch(list(corpus), list(corpus.values()), [0])
    (kept, _, counted), (fewer, _, dropped) = clean_batch(batch, "s", keep_rolling=True), clean_batch(batch, "s")
    kept, fewer = pa.concat_tables(kept), pa.concat_tables(fewer)
    assert kept["text"].to_pylist() == ["cut the", "cut the wood", "now", "now"] and kept["position"].to_pylist() == [0, 1, 2, 3]
    assert fewer["text"].to_pylist() == ["cut the wood", "now"]
    reason = "the next caption repeats it or goes on from it"
    told = {(action, count) for counts in (counted, dropped) for (_, _, action, why), count in counts.items() if why == reason and count}
    assert told == {("noted", 2), ("dropped", 2)}


def as_read(captions):
    """A table of captions as the reader would give it."""
    parts = list(captions.to_pandas().groupby("video_id", sort=False))
    return [name for name, _ in parts], [Video(list(part["start_s"]), list(part["end_s"]), list(part["text"]))
                                         for _, part in parts], [0] * len(parts)
