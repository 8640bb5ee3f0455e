"""The cleaner of HiREST's step captions."""

import pytest

from scripts.data.tables import read_table
from tests.clean.cleaned_dialogs import call, counted
from tests.rows import texts_of


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
    texts_of("""
        {"P": {"x.mp4": {"v_duration": 1.0 | in or just behind video x.mp4
        {"P": {"x.mp4": {"v_duration": 1.0}}} | video x.mp4 of prompt 'P': Object missing required field `steps`
        {"P": {"x.mp4": {"v_duration": 1.0, "steps": []}}} | no video with steps
    """),
)
def test_a_broken_file_is_named(program, tmp_path, broken, said):
    for split, text in (("train", broken), ("val", broken)):
        (tmp_path / f"all_data_{split}.json").write_text(text)
    error = call(program, "hirest", tmp_path, tmp_path / "out", ok=False)
    assert "all_data_train.json" in error and said in error
