"""A user's own captions in a CSV file."""

import json

import pandas as pd
import pytest

from scripts.data.keyed import keyed_uniform
from scripts.data.tables import CAPTIONS, read_table
from tests.clean.cleaned_dialogs import call, counted
from tests.files import write_json

NAME = '{"sha256": {"own.csv": null}}'
HEAD = "video_id,start,end,text\n"


def rows_of_videos(count):
    """Make sentences that are not in order of time; each has quotes and a line break."""
    return pd.DataFrame(
        {
            "note": "",
            "video_id": f"v{video:03}",
            "start": start,
            "end": start + 1.5,
            "text": f'Step  {start}, "then"\nvideo {video}',
        }
        for video in range(count)
        for start in (4, 0.25, 2)
    )


def test_it_cleans_as_the_cleaner_of_activitynet_does(program, tmp_path):
    """The same videos in ActivityNet's layout give the same tables, except the names of splits."""
    rows = rows_of_videos(60)
    rows.to_csv(tmp_path / "own.csv", index=False)
    output = call(program, "captions_table", tmp_path, tmp_path / "own", NAME)
    tables = {
        split: read_table(output / f"{split}.parquet", schema=CAPTIONS).to_pandas()
        for split in ("train", "test")
    }
    ids = pd.Series(sorted(set(rows["video_id"])))
    assert sorted(set(tables["test"]["video_id"])) == ids[keyed_uniform(ids) < 0.2].tolist()
    for split, table in tables.items():
        read = rows[rows["video_id"].isin(table["video_id"])]
        videos = {
            name: {
                "duration": 9,
                "timestamps": video[["start", "end"]].to_numpy().tolist(),
                "sentences": video["text"].tolist(),
            }
            for name, video in read.groupby("video_id")
        }
        write_json(tmp_path / f"{'train' if split == 'train' else 'val_1'}.json", videos)
    (tmp_path / "val_2.json").write_bytes((tmp_path / "val_1.json").read_bytes())
    for name in ("train_ids.json", "val_ids.json"):
        write_json(tmp_path / name, [])
    other = call(program, "activitynet", tmp_path, tmp_path / "other")
    for split, name in (("train", "train"), ("test", "val_1")):
        theirs = read_table(other / f"{name}.parquet").to_pandas()
        same = tables[split].assign(source="activitynet", split=name)
        pd.testing.assert_frame_equal(same, theirs)
    assert counted(output)["test", "sentences", "kept", ""] == len(tables["test"])


@pytest.mark.parametrize(
    "text, said",
    [
        ("video_id,start,text\nv,1,a\n", "column end is missing"),
        (HEAD + "v,1,2,a\nv,soon,4,b\n", "row 3: start is 'soon', not a number"),
        (HEAD + "v,1,2,a\n,3,4,b\n", "row 3 has no video_id"),
        (HEAD + "v,1,2,a,b\n", "the record that ends in line 2 has 5 cells"),
        (HEAD + "v,1,2,a\n", "1 videos leave a split empty"),
        (HEAD, "0 videos"),
        (None, "no such file; correct `local:`"),
    ],
)
def test_refusals_name_file_row_and_remedy(program, tmp_path, text, said):
    if text is not None:
        (tmp_path / "own.csv").write_text(text)
    assert said in call(program, "captions_table", tmp_path, tmp_path / "o", NAME, ok=False)


def test_one_file_is_named(program, tmp_path):
    for names in ([], ["a.csv", "b.csv"], ["a.json"]):
        given = json.dumps({"sha256": dict.fromkeys(names)})
        assert "one file is cleaned" in call(
            program, "captions_table", tmp_path, tmp_path / "o", given, ok=False
        )
