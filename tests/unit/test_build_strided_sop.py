"""Strided pairs: a slow reference, the properties of the paper, the published counts."""

import json

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scripts.build.strided_sop import pair_table
from scripts.common.tables import CAPTIONS, provenance_of, read_table, write_table

# PROTOCOLS, study 1: pairs for strides 0–3.
PUBLISHED = {"train": [7439, 5382, 3325, 2050], "val_1": [2882, 2044, 1206, 725], "val_2": [1507, 1011, 515, 296]}


def captions(lengths: list[int], split="train") -> pa.Table:
    rows = [{"source": "s", "split": split, "video_id": f"v{video:03}", "position": position,
             "text": f"{video} {position}", "start_s": float(position), "end_s": position + 1.0}
            for video, length in enumerate(lengths) for position in range(length)]
    return pa.Table.from_pylist(rows, schema=CAPTIONS)


def options(**changed) -> str:
    return json.dumps({"stride": 0, "size_matched": None, "max_videos": None, "label_seed": 0} | changed)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.integers(0, 6), st.integers(0, 3))
@example([5], 3, 0)  # a corpus shorter than one span
@settings(deadline=None)
def test_pairs_equal_a_slow_reference(lengths, stride, seed):
    """Loop over videos and spans, as section 2 of the paper words it."""
    table = captions(lengths)
    if len(table) == 0:
        return
    wanted = []
    for video, length in enumerate(lengths):
        if length < 5:
            continue
        inner = list(range(length))[1:-1]
        for start in range(len(inner)):
            span = inner[start : start + stride + 2]
            if len(span) == stride + 2:
                wanted.append((f"v{video:03}", span[0], span[-1]))
    pairs = pair_table(table, stride, seed).to_pylist()
    assert [(pair["video_id"], pair["first_position"], pair["second_position"]) for pair in pairs] == wanted
    for pair in pairs:
        texts = [f"{int(pair['video_id'][1:])} {pair[key]}" for key in ("first_position", "second_position")]
        assert [pair["text_a"], pair["text_b"]] == (texts if pair["label"] else texts[::-1])


def test_a_pair_keeps_its_coin_when_the_corpus_grows():
    few = pair_table(captions([8, 9]), 1, 0).to_pandas().set_index("pair_id")["label"]
    many = pair_table(captions([8, 9, 30, 40]), 1, 0).to_pandas().set_index("pair_id")["label"]
    assert few.equals(many[few.index])
    assert abs(pair_table(captions([60] * 200), 0, 0)["label"].to_numpy().mean() - 0.5) < 0.02
    assert not many.equals(pair_table(captions([8, 9, 30, 40]), 1, 1).to_pandas().set_index("pair_id")["label"])


@pytest.fixture
def cleaned(tmp_path):
    """A cleaned source, whole and as shards; the same captions in both."""
    lengths = [7, 4, 9, 12, 5, 6, 20, 8]
    for split in ("train", "val"):
        table = captions(lengths, split)
        write_table(table, tmp_path / f"whole/{split}.parquet", CAPTIONS, {"licence": "MIT"})
        cut = sum(lengths[:4])
        folder = tmp_path / "sharded" / split
        for number, part in enumerate([table[:cut], table[cut:]]):
            write_table(part, folder / f"part-{number:05}.parquet", CAPTIONS, {"licence": "MIT"})
        (folder / "manifest.json").write_text(json.dumps(
            {"shards": [{"file": "part-00000.parquet"}, {"file": "part-00001.parquet"}]}))
    return tmp_path


def build(program, cleaned, output, *, ok=True, **changed):
    done = program("scripts.build.strided_sop", "--cleaned", cleaned, "--splits", "train", "val",
                   "--options", options(**changed), "--output", output)
    assert (done.returncode == 0) == ok, done.stderr
    return done


@pytest.mark.parametrize("changed", [{}, {"stride": 3}, {"size_matched": 3}, {"max_videos": 3}])
def test_shards_give_the_same_dataset(program, cleaned, changed):
    build(program, cleaned / "whole", cleaned / "a", **changed)
    build(program, cleaned / "sharded", cleaned / "b", **changed)
    for split in ("train", "val"):
        assert read_table(cleaned / f"a/{split}.parquet").equals(read_table(cleaned / f"b/{split}.parquet"))


def test_size_matched_cuts_training_only(program, cleaned):
    for stride in range(4):
        build(program, cleaned / "whole", cleaned / f"plain-{stride}", stride=stride)
        build(program, cleaned / "whole", cleaned / f"matched-{stride}", stride=stride, size_matched=3)
    smallest = len(read_table(cleaned / "plain-3/train.parquet"))
    for stride in range(4):
        matched, plain = (read_table(cleaned / f"{kind}-{stride}/train.parquet") for kind in ("matched", "plain"))
        assert len(matched) == smallest
        assert set(matched["pair_id"].to_pylist()) <= set(plain["pair_id"].to_pylist())
        assert read_table(cleaned / f"matched-{stride}/val.parquet") == read_table(cleaned / f"plain-{stride}/val.parquet")


def test_provenance_and_max_videos(program, cleaned):
    build(program, cleaned / "whole", cleaned / "out", max_videos=2)
    table = read_table(cleaned / "out/train.parquet")
    assert 1 <= len(table["video_id"].unique()) <= 2
    stored = provenance_of(cleaned / "out/train.parquet")
    assert stored["licence"] == "MIT" and stored["options"]["max_videos"] == 2


def test_an_empty_split_is_an_error(program, cleaned):
    done = build(program, cleaned / "whole", cleaned / "out", stride=30, ok=False)
    assert "no pair is left" in done.stderr and "34 sentences" in done.stderr and "Traceback" not in done.stderr
    assert not list((cleaned / "out").glob("*"))


def test_a_missing_column_is_named(program, cleaned):
    table = captions([9]).drop_columns(["text"])
    write_table(table, cleaned / "bad/train.parquet", table.schema, {})
    done = build(program, cleaned / "bad", cleaned / "out", ok=False)
    assert "no column text" in done.stderr and "bad/train.parquet" in done.stderr and "Traceback" not in done.stderr


def test_pair_counts_of_activitynet(program, mirror, tmp_path):
    fetched, clean = tmp_path / "fetched", tmp_path / "cleaned"
    for done in (program("scripts.fetch.source", "--source", "activitynet", "--sources", "resources/sources.yaml",
                         "--mirror", mirror, "--partial", tmp_path / "partial", "--output", fetched),
                 program("scripts.clean.activitynet", "--source", "activitynet", "--fetched", fetched,
                         "--provenance", "{}", "--output", clean)):
        assert done.returncode == 0, done.stderr
    for stride in range(4):
        done = program("scripts.build.strided_sop", "--cleaned", clean, "--splits", *PUBLISHED,
                       "--options", options(stride=stride), "--output", tmp_path / "built")
        assert done.returncode == 0, done.stderr
        videos = {}
        for split, counts in PUBLISHED.items():
            pairs = read_table(tmp_path / f"built/{split}.parquet")
            assert len(pairs) == counts[stride]
            videos[split] = set(pairs["video_id"].to_pylist())
        assert not videos["train"] & (videos["val_1"] | videos["val_2"])
