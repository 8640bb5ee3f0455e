"""Small sources of captions, and the datasets of strided pairs that are built from them."""

import re
import shutil

import pandas as pd
import pyarrow as pa
import pytest

from scripts.data.tables import CAPTIONS, write_table
from tests.files import write_json
from tests.studies.programs import build as build_set, splits_in

LENGTHS = [7, 4, 9, 12, 5, 6, 20, 8]  # the lengths of the videos of a cleaned source


def captions_of(videos: dict[str, list[tuple[str, float, float]]], split="train") -> pa.Table:
    """Return captions with their text, start and end, by video."""
    rows = [
        ("s", split, video, position, *caption)
        for video, said in videos.items()
        for position, caption in enumerate(said)
    ]
    return pa.Table.from_pylist([dict(zip(CAPTIONS.names, row)) for row in rows], schema=CAPTIONS)


def captions(lengths: list[int], split="train") -> pa.Table:
    videos = {
        f"v{video:03}": [(f"{video} {at}", float(at), at + 1.0) for at in range(length)]
        for video, length in enumerate(lengths)
    }
    return captions_of(videos, split)


OPTIONS = {"stride": 0, "size_matched": None, "max_videos": None, "label_seed": 0}


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """Write a cleaned source twice with the same captions: whole, and as shards."""
    place = tmp_path_factory.mktemp("cleaned")
    for split in ("train", "val"):
        table = captions(LENGTHS, split)
        write_table(table, place / f"whole/{split}.parquet", CAPTIONS, {"licence": "MIT"})
        cut = sum(LENGTHS[:4])
        folder = place / "sharded" / split
        for number, part in enumerate([table[:cut], table[cut:]]):
            write_table(part, folder / f"part-{number:05}.parquet", CAPTIONS, {"licence": "MIT"})
        shards = [{"file": "part-00000.parquet"}, {"file": "part-00001.parquet"}]
        write_json(folder / "manifest.json", {"shards": shards})
    return place


@pytest.fixture
def cleaned(sources, tmp_path):
    """Return a folder with the sources, which a test may change."""
    return shutil.copytree(sources, tmp_path, dirs_exist_ok=True)


def build(program, cleaned, output, *, ok=True, splits="train val", **changed):
    given = OPTIONS | changed
    return build_set(program, "strided_sop", cleaned, output, splits, given, ok=ok)


@pytest.fixture(scope="session")
def built(program, sources, tmp_path_factory):
    """Return a function that builds a dataset of a cleaned source once and returns its pairs by
    split.
    """
    place = tmp_path_factory.mktemp("built")

    def call(source="whole", **changed) -> dict[str, pd.DataFrame]:
        output = place / re.sub(r"\W+", "-", f"{source}{changed}")
        if not output.exists():
            build(program, sources / source, output, **changed)
        return read_pairs(output)

    return call


def read_pairs(folder) -> dict[str, pd.DataFrame]:
    return splits_in(folder, "train val")
