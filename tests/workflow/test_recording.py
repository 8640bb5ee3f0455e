"""A finished study is kept in docs/record/ by one target;
its linked figures have the points of its numbers.
"""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from tests.conftest import ROOT
from tests.files import read_json


def sentences(folder: Path) -> set[str]:
    """The texts of the datasets of a finished study, those of more than a few words."""
    files = [
        file
        for file in folder.glob("results/build/*/*/*/*.parquet")
        if file.stem in ("train", "test", "val", "val_1", "val_2")
    ]
    names = {
        file: {"text_a", "text_b", "context"} & set(pq.read_schema(file).names) for file in files
    }
    return {
        text
        for file in files
        for name in names[file]
        for text in pq.read_table(file, columns=[name])[name].to_pylist()
        if len(text) > 40
    }


def test_a_study_is_recorded(study):
    linked = {"figures": "accuracy_by_stride", "tables": "strided_sop_shortcuts"}
    (study / "README.md").write_text(
        " ".join(f"docs/record/default/{kind}/{name}.csv" for kind, name in linked.items())
    )
    study.run("record")
    place = study / "docs/record/default"
    record = read_json(place / "record.json")
    assert record["command"] == "snakemake --cores all"
    assert [*record["figures"], *record["tables"]] == [*linked.values()]
    assert set(record["runs"]) == {
        f"{file.parents[1].name}/{file.parent.name}"
        for file in study.folder.glob("results/train/*/*/run.json")
    }
    texts = {
        file: gzip.decompress(file.read_bytes()).decode()
        if file.suffix == ".gz"
        else file.read_text()
        for file in place.rglob("*")
        if file.is_file() and file.suffix != ".parquet"
    }
    assert "metrics.csv.gz" in {file.name for file in texts}
    assert not [file for file, text in texts.items() if str(study.folder) in text]
    said = sentences(study.folder)
    assert len(said) > 100
    assert not [file for file, text in texts.items() if any(one in text for one in said)], (
        "no texts of a corpus"
    )
    assert "[default](default/README.md)" in (place.parent / "README.md").read_text()
    for other in place.parent.iterdir():  # records of other days, which other code may have made
        if other.is_dir() and other != place:
            shutil.rmtree(other)
    for what in (["--redraw", place], ["--check", place.parent]):
        done = subprocess.run(
            [sys.executable, "-m", "scripts.publish.record", *what],
            cwd=study.folder,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(study.folder), "PATH": "/usr/bin:/bin"},
        )
        assert done.returncode == 0, done.stderr
    assert (ROOT / "docs/record/README.md").exists() and set(study.jobs("record")) == {"record"}
