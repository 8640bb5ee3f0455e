"""The cleaner of HowTo100M: exact parsing in pieces, kept and counted captions, bounded memory,
only whole output.
"""

import io
import json
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from shutil import rmtree

import pandas as pd
import psutil
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.clean.captions import AGAIN, ALL_CUT, CUT
from scripts.clean.howto100m import VIDEOS, clean_batch
from scripts.clean.howto100m_videos import Video, Videos, as_batch
from scripts.data.files import sha256_of
from scripts.data.keyed import keyed_uniform
from scripts.running.program import UserError
from scripts.data.tables import CAPTIONS, provenance_of, read_table
from tests.fetch.fetch_sources import zipped as zip_of
from tests.conftest import ROOT
from tests.files import read_json
from tests.rows import each_row, texts_of
from tests.samples import speech
from tests.clean.cleaned_dialogs import counted
import numpy as np
from scripts.clean.howto100m_repeats import without_rolling

NAN = float("nan")
IDS = pd.Series([f"vid{number:08}" for number in range(40)])
TRAIN, VAL = (list(IDS[(keyed_uniform(IDS, 0) < 0.1) == is_val]) for is_val in (False, True))


def lines(*texts, start=None):
    start = list(range(len(texts))) if start is None else start
    return {
        "start": start,
        "end": [time if time is None else time + 2 for time in start],
        "text": list(texts),
    }


CORPUS = {
    TRAIN[0]: lines(
        "so first", "so first you\ncut", " so first you cut  it ", "and then", "and then", "andthen"
    ),
    TRAIN[1]: lines("b", NAN, None, 7, "", " \u00a0 ", "c", [1, "}"], {"x": "}"}),
    TRAIN[2]: lines("later", "earlier", "no time", "never", start=[5, 1.5, None, NAN]),
    TRAIN[3]: yaml.safe_load("""
        start: [0, 1, 2]
        end: [1, 2]
        text: [one, two, three, four]
    """),
    TRAIN[4]: lines(None, ""),
    TRAIN[5]: lines('braces } { and "quotes" \\', "caf\u00e9 \u2028 \U0001f600", "\ud800 half"),
    TRAIN[6]: lines("a b c", "a b", "a b c d"),
    VAL[0]: lines("only", "these"),
}
LISTING = "video_id,task_id,rank,category_1,category_2\n" + "".join(
    f'{name},1,1,Food and Entertaining,"Cakes, Pies"\n'
    for name in [*TRAIN[:3], "unknown1234", VAL[0]]
)


MINE = json.dumps({"licence": "none", "sha256": {"mine.zip": None, "HowTo100M_v1.csv": None}})


def place(folder, corpus=CORPUS, name="raw_caption.json", listing=LISTING):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(
        corpus if isinstance(corpus, bytes) else json.dumps(corpus).encode()
    )
    if listing:
        (folder / "HowTo100M_v1.csv").write_text(listing)
    return folder


def zipped(content, member="raw_caption.json"):
    return zip_of(**{member: content})


def command(fetched, output, *more):
    typed = f"scripts.clean.howto100m --source how --fetched {fetched} --output {output}".split()
    return (*typed, "--provenance", '{"licence": "none"}', *more)


def write_sample(folder, videos):
    """Write a corpus with this many videos of about 112 captions each; the sample's videos
    repeat.
    """
    bodies = [
        json.dumps({name: values * 8 for name, values in body.items()})
        for body in speech().values()
    ]
    folder.mkdir(exist_ok=True)
    content = ", ".join(f'"{video:011}": {bodies[video % len(bodies)]}' for video in range(videos))
    (folder / "raw_caption.json").write_text(f"{{{content}}}")


def cleaned(program, fetched, output, *more):
    """Clean a corpus and read the rows of each split through its manifest."""
    program(*command(fetched, output, *more)).checked()
    tables = {}
    for split in ("train", "val"):
        shards = read_json(output / split / "manifest.json")["shards"]
        assert sorted(file.name for file in (output / split).iterdir()) == [
            "manifest.json",
            *(shard["file"] for shard in shards),
        ]
        parts = [read_table(output / split / shard["file"]) for shard in shards]
        assert shards == [
            {
                "file": shard["file"],
                "sha256": sha256_of(output / split / shard["file"]),
                "rows": len(part),
                "videos": len(part["video_id"].unique()),
            }
            for shard, part in zip(shards, parts)
        ]
        tables[split] = pa.concat_tables(parts)
    return tables


# Output

COUNTED = """
how,train,videos,read,,7
how,train,videos,changed,lists of different lengths: cut to the shortest,1
how,train,captions,read,,31
how,train,captions,dropped,beyond the shortest list,2
how,train,captions,dropped,text is missing (null or NaN),3
how,train,captions,dropped,text is not text,3
how,train,captions,dropped,start or end is not a finite number,2
how,train,captions,dropped,text is empty,3
how,train,captions,changed,white space stripped and joined,3
how,train,captions,changed,"of these, text on several lines",1
how,train,captions,changed,half of a surrogate pair: U+FFFD stands for it,1
how,train,videos,changed,not in the order of start times: sorted,1
how,train,captions,dropped,the next caption repeats it or goes on from it,5
how,train,captions,kept,,13
how,train,captions,noted,begins before the one in front ends,3
how,train,videos,dropped,no sentence is left,1
how,train,videos,kept,,6
how,val,videos,read,,1
how,val,captions,read,,2
how,val,captions,kept,,2
how,val,captions,noted,begins before the one in front ends,1
how,val,videos,kept,,1
how,train,videos,noted,not in HowTo100M_v1.csv,4
how,all,videos,noted,in HowTo100M_v1.csv but without captions,1
"""


def texts_in(table):
    return table.to_pandas().groupby("video_id", sort=False)["text"].agg(list).to_dict()


some_text = st.text(st.sampled_from("ab "), min_size=1, max_size=4) | st.text(
    min_size=1, max_size=2
)


@pytest.fixture(scope="module")
def plain(program, tmp_path_factory):
    """Return the folder and the tables of the cleaned corpus."""
    folder = tmp_path_factory.mktemp("plain")
    return folder / "out", cleaned(program, place(folder / "in"), folder / "out")


def test_what_comes_out_and_is_counted(plain):
    output, tables = plain
    rows = tables["train"].to_pandas()
    assert tables["train"].schema.equals(CAPTIONS)
    assert texts_in(tables["train"]) == {
        TRAIN[0]: ["so first you cut it", "and then", "andthen"],
        TRAIN[1]: ["b", "c"],
        TRAIN[2]: ["earlier", "later"],
        TRAIN[3]: ["one", "two"],
        TRAIN[5]: ['braces } { and "quotes" \\', "caf\u00e9 \U0001f600", "\ufffd half"],
        TRAIN[6]: ["a b c d"],
    }
    assert (rows["position"] == rows.groupby("video_id").cumcount()).all()
    assert rows[rows["video_id"] == TRAIN[2]][["start_s", "end_s"]].values.tolist() == [
        [1.5, 3.5],
        [5, 7],
    ]
    assert texts_in(tables["val"]) == {VAL[0]: ["only", "these"]}
    assert provenance_of(output / "train/part-00000.parquet") == {
        "licence": "none",
        "split": "train",
    }
    found = (output / "cleaning.csv").read_text().splitlines()[1:]
    assert [line for line in found if not line.endswith(",0")] == COUNTED.strip().splitlines()
    table = read_table(output / "videos.parquet")
    assert table.schema.equals(VIDEOS) and table["video_id"].to_pylist() == list(CORPUS)
    assert table["captions"].to_pylist() == [3, 2, 2, 2, 0, 3, 1, 2]
    assert table["category_2"].to_pylist() == ["Cakes, Pies"] * 3 + [None] * 4 + ["Cakes, Pies"]


def test_an_id_again_and_no_listing(program, tmp_path):
    again = json.dumps(CORPUS)[:-1] + f', "{TRAIN[0]}": {json.dumps(lines("other"))}}}'
    place(tmp_path / "in", again.encode(), listing=None)
    tables = cleaned(program, tmp_path / "in", tmp_path / "out", "--keep-rolling-repeats")
    assert texts_in(tables["train"])[TRAIN[0]][:2] == ["so first", "so first you cut"]
    found = counted(tmp_path / "out")
    assert found["all", "videos", "dropped", "the video id occurs a second time"] == 1
    assert not [key for key in found.index if "HowTo100M_v1" in key[3]]
    assert read_table(tmp_path / "out/videos.parquet")["category_1"].null_count == len(CORPUS)


# captions of two videos: the second time of the third; then each begins with the end of the last
ROLLING = {
    TRAIN[0]: {
        "start": [0, 1, 1, 1, 1, 2],
        "end": [1, 2, 2, 3, 2, 3],
        "text": ["no", "one", "two", "two", "one", "three"],
    },
    TRAIN[1]: lines("heat some oil in the pan", "Oil in the pan. Cut the onion", "cut the onion", "onion rings", "yes", "yes it is"),
    VAL[0]: lines("only", "these"),
}  # fmt: skip


@pytest.mark.parametrize(
    "options, left, cut, dropped",
    [
        (["--cut-rolling"], ["onion rings", "yes it is"], 1, 1),
        (["--cut-rolling", "--keep-rolling-repeats"], ["onion rings", "yes", "it is"], 2, 2),
    ],
)
def test_captions_again_and_captions_that_roll(program, tmp_path, options, left, cut, dropped):
    place(tmp_path / "in", ROLLING, listing=None)
    found = texts_in(cleaned(program, tmp_path / "in", tmp_path / "out", *options)["train"])
    assert found[TRAIN[0]] == ["no", "one", "two", "three"]
    assert found[TRAIN[1]] == ["heat some oil in the pan", "Cut the onion", *left]
    counts = counted(tmp_path / "out")["train", "captions"]
    assert counts["dropped", AGAIN] == 1
    assert (counts["changed", CUT], counts["dropped", ALL_CUT]) == (cut, dropped)


@each_row(
    "name, content, options",
    [
        ("raw_caption.zip", zipped(json.dumps(CORPUS)), []),
        ("caption.json", json.dumps(CORPUS, indent=2).encode(), []),
        ("mine.zip", zipped(json.dumps(CORPUS), "folder/any.json"), ["--provenance", MINE]),
    ],
)
def test_every_form_of_the_file_gives_the_same(program, plain, tmp_path, name, content, options):
    rmtree(tmp_path / "in", ignore_errors=True)
    place(tmp_path / "in", content, name)
    assert cleaned(program, tmp_path / "in", tmp_path / "out", *options) == plain[1]
    counts, listed = (
        [read(place / name) for place in (tmp_path / "out", plain[0])]
        for read, name in ((Path.read_bytes, "cleaning.csv"), (read_table, "videos.parquet"))
    )
    assert counts[0] == counts[1] and listed[0] == listed[1]


def test_a_folder_with_a_csv_for_each_video(program, tmp_path):
    videos = {name: lines("a b", "c d", "e, f") for name in (*TRAIN[:3], VAL[0])}
    place(tmp_path, videos)
    (tmp_path / "csvs").mkdir()
    for name, video in videos.items():
        pd.DataFrame(video).to_csv(tmp_path / f"csvs/{name}.csv")
    given = json.dumps({"sha256": {"csvs": None, "HowTo100M_v1.csv": None}})
    tables = cleaned(program, tmp_path, tmp_path / "out/csvs", "--provenance", given)
    assert tables == cleaned(program, tmp_path, tmp_path / "out/json")
    assert len(tables["train"]) == 9 and len(tables["val"]) == 3
    listed = read_table(tmp_path / "out/csvs/videos.parquet").to_pylist()
    assert [video["category_1"] is None for video in listed] == [False] * 4


@pytest.mark.slow
def test_shards_and_batches_hold_whole_videos(program, tmp_path):
    """A corpus of several batches gives the same captions in shards of any size. The split depends
    on the id alone.
    """
    write_sample(tmp_path / "in", 2000)
    tables = cleaned(program, tmp_path / "in", tmp_path / "a/out")
    assert tables == cleaned(program, tmp_path / "in", tmp_path / "b/out", "--videos-per-shard", 70)
    shards = read_json(tmp_path / "b/out/train/manifest.json")["shards"]
    assert len(shards) > 20 and {shard["videos"] for shard in shards[:-1]} == {70}
    table = read_table(tmp_path / "a/out/videos.parquet").to_pandas()
    assert ((table["split"] == "val") == (keyed_uniform(table["video_id"], 0) < 0.1)).all()
    assert list(table["video_id"]) == list(read_json(tmp_path / "in/raw_caption.json"))


# Parsing

texts = st.text(max_size=8) | st.text(st.sampled_from('{}[]",:\\\n aé'), max_size=12)
values = (
    texts
    | st.none()
    | st.just(NAN)
    | st.integers(-3, 3)
    | st.floats()
    | st.booleans()
    | st.lists(texts, max_size=2)
)
times = st.lists(st.none() | st.floats(), max_size=4)
bodies = st.fixed_dictionaries({"start": times, "end": times, "text": st.lists(values, max_size=4)})
corpora = st.dictionaries(texts, bodies, max_size=5)


def parsed(content, chunk=1 << 20):
    return [
        (name, video.start, video.end, video.text)
        for name, video, _ in Videos(io.BytesIO(content), "file", chunk)
    ]


@settings(max_examples=3 * settings.default.max_examples)
@given(
    corpora,
    st.integers(1, 40),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.floats(0, 1, exclude_max=True),
)
def test_parsing_equals_json_loads(corpus, chunk, indent, ascii_only, share):
    content = json.dumps(corpus, indent=indent, ensure_ascii=ascii_only).encode()
    expected = [
        (name, video["start"], video["end"], video["text"])
        for name, video in json.loads(content).items()
    ]
    # NaN may be read as null.
    assert json.dumps(parsed(content, chunk)).replace("NaN", "null") == json.dumps(
        expected
    ).replace("NaN", "null")
    assert all(end <= len(content) for _, _, end in Videos(io.BytesIO(content), "file", chunk))
    with pytest.raises(UserError):
        parsed(content[: int(share * len(content))], chunk)


GOOD = json.dumps(lines("fine"))


@pytest.mark.parametrize("chunk", [3, 1 << 20])
@each_row(
    "content, said",
    [
        ("", "after its start (byte 0): neither another video nor the closing } follows"),
        *(
            (f'{{"a": {GOOD}, "b": {rest}', said)
            for rest, said in texts_of("""
                {"start": [ | video b, which begins at byte 57, does not end; the last whole video before it is a
                {"start": [1 2], "end": [], "text": []}} | video b, which begins at byte 57: broken JSON
                {"start": [1], "text": ["x"]}} | video b, which begins at byte 57: Object missing
                {"start": ["1"], "end": [1], "text": ["x"]}} | got `str`
                {"start": [1], "start": [2], "end": [1], "text": ["x"]}} | the key start occurs twice
            """)
        ),
    ],
)
def test_a_broken_file_names_the_video(chunk, content, said):
    with pytest.raises(UserError) as error:
        parsed(content.encode(), chunk)
    assert said in str(error.value) and str(error.value).startswith("file: ")


def refused(program, tmp_path, *files, **written) -> str:
    """Check that a file is refused and leaves nothing."""
    place(tmp_path / "in", *files, **written)
    done = program(*command(tmp_path / "in", tmp_path / "out"))
    assert done.returncode == 1 and done.stderr.startswith("error: "), done.stderr
    assert not list(tmp_path.glob("out/*"))
    return done.stderr


def test_broken_input_through_the_program(program, tmp_path):
    whole = json.dumps(CORPUS).encode()
    for content, said in (
        (whole[:-10], f"video {list(CORPUS)[-1]}"),
        (b"{}", "no video in it"),
        (
            b'{"a": {"start": [0], "end": [1], "text": ["\xff"]}}',
            "video a, which begins at byte 6: broken JSON ('utf-8'",
        ),
        ({TRAIN[0]: lines("x")}, "none of its videos with captions falls to val"),
        (zipped(whole)[:-100], "not a whole zip"),
        (zipped("{}", "else.txt"), "needs one .json file inside"),
    ):
        assert said in refused(program, tmp_path, content)
    assert "columns video_id" in refused(program, tmp_path, listing="a,b\n1,2\n")
    program(*command(tmp_path, tmp_path / "none")).refused(
        "none of raw_caption.zip, raw_caption.json, caption.json"
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a function that writes a corpus with this many videos once and returns its folder."""

    @cache
    def of(videos):
        folder = tmp_path_factory.mktemp("written")
        write_sample(folder, videos)
        return folder

    return of


# Memory


def peak_of(command: list) -> float:
    """Return the peak memory in MiB of a program."""
    running, peak = psutil.Popen([sys.executable, "-m", *map(str, command)], cwd=ROOT), 0.0
    while running.poll() is None:
        with suppress(psutil.Error):
            peak = max(peak, running.memory_full_info().pss / 2**20)
        time.sleep(0.1)
    assert running.returncode == 0
    return peak


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(written, tmp_path):
    """Four times the videos are 120 MB more. The peak may vary by the allocators' slack, but not
    with the file. A smaller file ends before its peak is seen.
    """
    peaks, sizes = {}, {}
    for many in (10000, 40000):
        fetched = written(many)
        sizes[many] = (fetched / "raw_caption.json").stat().st_size / (1 << 20)
        peaks[many] = peak_of(command(fetched, tmp_path / f"out{many}"))
    grown = sizes[40000] - sizes[10000]
    assert grown > 100
    assert peaks[40000] - peaks[10000] < 0.4 * grown
    assert 100 < peaks[40000] < 400, peaks


# The vectorised steps against plain loops


@given(corpora.filter(len))
def test_no_caption_is_lost_silently(corpus):
    read = [
        (name, Video(video["start"], video["end"], video["text"]), 0)
        for name, video in corpus.items()
    ]
    captions, listed, found = clean_batch(as_batch(read), "s")
    for unit in ("videos", "captions"):
        sums = {
            action: sum(count for (_, *key), count in found.items() if key[:2] == [unit, action])
            for action in ("read", "kept", "dropped")
        }
        assert sums["read"] == sums["kept"] + sums["dropped"]
    assert sum(listed["captions"].to_pylist()) == sum(map(len, captions)) == sums["kept"]


@given(st.lists(st.tuples(st.integers(0, 1), some_text), max_size=9), st.integers(0, 2))
def test_rolling_captions_as_in_a_loop(rows, skipped):
    """From the last caption to the first, a caption stays unless the next kept caption repeats or
    continues it.
    """
    rows = sorted(rows, key=lambda row: row[0])
    stay = []
    for video, text in reversed(rows):
        if not (stay and stay[-1][0] == video and f"{stay[-1][1]} ".startswith(f"{text} ")):
            stay.append((video, text))
    texts = pa.array(["x"] * skipped + [text for _, text in rows], pa.string()).slice(skipped)
    found = without_rolling(
        texts, np.array([video for video, _ in rows], int), np.arange(len(rows))
    )
    assert [rows[row] for row in found] == stay[::-1]
