"""The cleaner of ActivityNet Captions: the captions that it keeps, changes, drops and counts, and
its messages about broken files.
"""

import json
import zipfile

import pytest
import yaml

from scripts.data.tables import CAPTIONS, provenance_of, read_table
from tests.clean.cleaned_dialogs import call, counted
from tests.rows import rows_of, texts_of

CORPUS = yaml.safe_load("""
train:
  v_b:
    duration: 10
    timestamps: [[4, 6.5], [0, 3], [4, 5]]
    sentences: [' She  eats.', "He\\ncooks.", "They\\u00a0talk. "]
  v_a:
    duration: 9.5
    timestamps: [[0, 10], [3, 2], [5, 5], [6, 7]]
    sentences: [Late., Backwards., Still., " \\n "]
  v_e: {duration: 3.0, timestamps: [[0, 1]], sentences: ['']}
  v_n:
    duration: 3.0
    timestamps: [[.nan, 1], [1, .inf], [1, 2]]
    sentences: [No start., No end., Timed.]
val_1:
  v_c: {duration: 5, timestamps: [[0, 1], [1, 2]], sentences: ['late. ', New.]}
val_2:
  v_c: {duration: 5, timestamps: [[0, 5]], sentences: [Other words.]}
""")
IDS = {"train_ids": "v_a v_b v_e v_x v_y".split(), "val_ids": ["v_c", "v_z"]}


def place(folder, corpus=CORPUS, **changed):
    """Write a corpus into a folder; a changed file may be bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in ({**corpus, **IDS} | changed).items():
        (folder / f"{name}.json").write_bytes(
            value if isinstance(value, bytes) else json.dumps(value).encode()
        )
    return folder


def cleaned(program, fetched, output):
    call(
        program,
        "activitynet",
        fetched,
        output,
        '{"licence": "none", "sha256": {"train.json": null}}',
    )
    return {split: read_table(output / f"{split}.parquet") for split in ("train", "val_1", "val_2")}


COUNTS = """
videos    | read    | '' | 4
videos    | kept    | '' | 3
videos    | dropped | no sentence is left | 1
videos    | changed | 'not in the order of start times: sorted' | 1
videos    | noted   | listed in train_ids.json but has no captions | 2
videos    | noted   | has captions but is not listed in train_ids.json | 1
sentences | read    | '' | 11
sentences | kept    | '' | 7
sentences | dropped | start or end is not a finite number | 2
sentences | dropped | text is empty | 2
sentences | changed | 'white space at an end of the text: removed' | 3
sentences | changed | 'line break in the text: made a space' | 2
sentences | changed | 'several spaces in a row in the text: made one' | 1
sentences | noted   | start is after end | 1
sentences | noted   | start equals end | 1
sentences | noted   | end is past the duration of the video | 2  # infinity is
sentences | noted   | 'starts together with the one in front: in the order of the file' | 1  # She eats, they talk
"""


def test_what_comes_out_and_is_counted(program, tmp_path):
    tables = cleaned(program, place(tmp_path / "in"), tmp_path / "out")
    rows = [tuple(row.values()) for row in tables["train"].to_pylist()]
    assert rows == [
        ("activitynet", "train", "v_a", 0, "Late.", 0, 10),
        ("activitynet", "train", "v_a", 1, "Backwards.", 3, 2),
        ("activitynet", "train", "v_a", 2, "Still.", 5, 5),
        ("activitynet", "train", "v_b", 0, "He cooks.", 0, 3),
        ("activitynet", "train", "v_b", 1, "She eats.", 4, 6.5),
        ("activitynet", "train", "v_b", 2, "They talk.", 4, 5),
        ("activitynet", "train", "v_n", 0, "Timed.", 1, 2),
    ]
    assert all(table.schema.equals(CAPTIONS) for table in tables.values())
    assert provenance_of(tmp_path / "out/val_2.parquet")["sha256"] == {"train.json": None}
    found = counted(tmp_path / "out")
    of_train = {key[1:]: count for key, count in found.items() if key[0] == "train" and count}
    assert of_train == {tuple(key): count for *key, count in rows_of(COUNTS)}
    assert found["val_1", "sentences", "noted", "occurs in train too (in upper or lower case)"] == 1
    assert found["val_2", "videos", "noted", "listed in val_ids.json but has no captions"] == 1


def test_a_video_is_in_one_split_only(program, tmp_path):
    leaking = {**CORPUS["train"], "v_c": CORPUS["val_1"]["v_c"]}
    tables = cleaned(program, place(tmp_path / "in", train=leaking), tmp_path / "out")
    assert "v_c" not in tables["train"]["video_id"].to_pylist() and len(tables["val_1"]) == 2
    assert (
        counted(tmp_path / "out")["train", "videos", "dropped", "also a video of val_1 or val_2"]
        == 1
    )


def test_the_released_files(program, mirror, tmp_path):
    with zipfile.ZipFile(
        mirror / "cs.stanford.edu/people/ranjaykrishna/densevid/captions.zip"
    ) as archive:
        archive.extractall(tmp_path / "in")
    tables = cleaned(program, tmp_path / "in", tmp_path / "out")
    found = counted(tmp_path / "out")
    # Counted on the files with plain loops; spans and spaces as in the project's description of the
    # corpus.
    expected = yaml.safe_load("""
        train: [10009, 37421, 245, 25731, 5, 321, 2, 2, 261, 15, null]
        val_1: [4917, 17505, 131, 11639, 2, 173, 0, 0, 134, 9, 293]
        val_2: [4885, 17031, 171, 11483, 3, 108, 0, 0, 111, 41, 218]
    """)
    for split, numbers in expected.items():
        ids = "train_ids.json" if split == "train" else "val_ids.json"
        assert numbers == [
            found.get((split, *key))
            for key in [
                ("videos", "kept", ""),
                ("sentences", "kept", ""),
                ("videos", "changed", "not in the order of start times: sorted"),
                ("sentences", "changed", "white space at an end of the text: removed"),
                ("sentences", "changed", "line break in the text: made a space"),
                ("sentences", "changed", "several spaces in a row in the text: made one"),
                ("sentences", "noted", "start is after end"),
                ("sentences", "noted", "start equals end"),
                ("sentences", "noted", "end is past the duration of the video"),
                ("videos", "noted", f"listed in {ids} but has no captions"),
                ("sentences", "noted", "occurs in train too (in upper or lower case)"),
            ]
        ]
        assert not any(
            count for key, count in found.items() if key[0] == split and key[2] == "dropped"
        )
        table = tables[split].to_pandas()
        assert len(table) == numbers[1] and table["video_id"].is_monotonic_increasing
        assert (table["position"] == table.groupby("video_id").cumcount()).all()
        assert (table.groupby("video_id")["start_s"].diff().dropna() >= 0).all()


@pytest.mark.parametrize(
    "name, content, said",
    texts_of("""
        val_1 | {"v_a": {"timestamps": [[0, 1]], "sentences": ["One."]}} | video v_a: Object missing required field `duration`
        val_1 | {"v_a": {"duration": 5, "timestamps": [[0, 1]], "sentences": ["One.", "Two."]}} | video v_a: 1 timestamps but 2 sentences
        train | {"v_a": {"duration" | broken JSON at line 1, column 20, in or just behind video v_a
        train | {"v_a": {}, "v_b": {}, "v_a": {}} | the key v_a occurs twice
    """),
)
def test_a_broken_file_is_named(program, tmp_path, name, content, said):
    fetched = place(tmp_path / "fetched", **{name: content.encode()})
    error = call(program, "activitynet", fetched, tmp_path / "out", ok=False)
    assert f"{name}.json" in error and said in error
