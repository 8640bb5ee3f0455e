"""The cleaner of HiREST's step captions."""

import copy
import json

import pytest

from scripts.data.tables import read_table
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
