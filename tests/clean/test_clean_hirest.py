"""The cleaner of HiREST's step captions."""

import copy
import json

import pytest

from scripts.data.tables import CAPTIONS, read_table
from tests.clean.cleaned_dialogs import call, counted


def entry(*steps, duration=60.0):
    return {
        "relevant": True,
        "clip": bool(steps),
        "v_duration": duration,
        "bounds": [0, 0],
        "steps": [
            {"index": number, "heading": text, "absolute_bounds": list(span)}
            for number, (text, *span) in enumerate(steps)
        ],
    }


CORPUS = {
    "train": {
        "Boil an Egg": {
            "bbb.mp4": entry(("boil  water ", 5, 9), ("add the egg", 2, 5)),
            "none.mp4": entry(),
        },
        "Eat an Egg": {
            "aaa.mp4": entry(("peel", 1, 1), (" ", 3, 4), ("eat", 7, 70)),
            "bbb.mp4": entry(("again", 1, 2)),
            "none.mp4": entry(),
        },
    },
    "val": {"Fry an Egg": {"ccc.mp4": entry(("fry", 1, 2))}},
}


def place(folder, corpus):
    folder.mkdir()
    for split, value in corpus.items():
        (folder / f"all_data_{split}.json").write_text(
            value if isinstance(value, str) else json.dumps(value)
        )
    return folder


def test_what_comes_out_and_what_is_counted(program, tmp_path):
    call(program, "hirest", place(tmp_path / "in", CORPUS), tmp_path / "out")
    train = read_table(tmp_path / "out/train.parquet")
    assert train.schema.equals(CAPTIONS)
    assert [tuple(row.values())[2:] for row in train.to_pylist()] == [
        ("aaa", 0, "peel", 1, 1),
        ("aaa", 1, "eat", 7, 70),
        ("bbb", 0, "add the egg", 2, 5),
        ("bbb", 1, "boil water", 5, 9),
    ]
    found = counted(tmp_path / "out")
    assert found["train", "entries", "read", ""] == 5 and found["train", "entries", "kept", ""] == 2
    assert found["train", "entries", "dropped", "the video has no steps"] == 2
    assert found["train", "entries", "dropped", "an earlier prompt has the video"] == 1
    assert found["train", "sentences", "dropped", "text is empty"] == 1
    assert found["train", "sentences", "noted", "end is past the duration of the video"] == 1
    assert found["train", "videos", "changed", "not in the order of start times: sorted"] == 1


def test_a_video_is_in_one_split_only(program, tmp_path):
    corpus = copy.deepcopy(CORPUS)
    corpus["val"]["Fry an Egg"]["bbb.mp4"] = entry(("fry", 1, 2))
    call(program, "hirest", place(tmp_path / "in", corpus), tmp_path / "out")
    assert set(read_table(tmp_path / "out/train.parquet")["video_id"].to_pylist()) == {"aaa"}
    assert set(read_table(tmp_path / "out/val.parquet")["video_id"].to_pylist()) == {"bbb", "ccc"}
    assert counted(tmp_path / "out")["train", "videos", "dropped", "also a video of val"] == 1


def test_the_released_files(program, mirror, tmp_path):
    call(
        program,
        "hirest",
        mirror / "raw.githubusercontent.com/j-min/HiREST/main/data/splits",
        tmp_path,
    )
    found = counted(tmp_path)
    for split, numbers in {"train": (546, 1507, 550, 4145), "val": (292, 477, 78, 606)}.items():
        assert numbers == (
            found[split, "prompts", "read", ""],
            found[split, "entries", "read", ""],
            found[split, "videos", "kept", ""],
            found[split, "sentences", "kept", ""],
        )
        assert len(read_table(tmp_path / f"{split}.parquet")) == numbers[-1]


@pytest.mark.parametrize(
    "broken, said",
    [
        ('{"P": {"x.mp4": {"v_duration": 1.0', "in or just behind video x.mp4"),
        (
            '{"P": {"x.mp4": {"v_duration": 1.0}}}',
            "video x.mp4 of prompt 'P': Object missing required field `steps`",
        ),
        ('{"P": {"x.mp4": {"v_duration": 1.0, "steps": []}}}', "no video with steps"),
    ],
)
def test_a_broken_file_is_named(program, tmp_path, broken, said):
    error = call(
        program,
        "hirest",
        place(tmp_path / "in", CORPUS | {"train": broken}),
        tmp_path / "out",
        ok=False,
    )
    assert "all_data_train.json" in error and said in error
