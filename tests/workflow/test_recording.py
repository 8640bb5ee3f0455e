"""A finished study is kept in docs/record/ by one target; its figures are those of its numbers."""

import gzip
import json
import subprocess
import sys

from tests.conftest import ROOT


def test_a_study_is_recorded(study):
    study.run("record")
    place = study / "docs/record/default"
    record = json.loads((place / "record.json").read_text())
    assert record["command"] == "snakemake --cores all" and record["figures"] and record["tables"]
    assert set(record["runs"]) == {f"{file.parents[1].name}/{file.parent.name}" for file in study.folder.glob("results/train/*/*/run.json")}
    assert not [name for name in record["tables"] if name.endswith(("examples", "errors", "shortcuts"))], "no texts of a corpus"
    texts = {file: gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text()
             for file in place.rglob("*") if file.is_file() and file.suffix != ".parquet"}
    assert "metrics.csv.gz" in {file.name for file in texts} and not [file for file, text in texts.items() if str(study.folder) in text]
    assert "[default](default/README.md)" in (place.parent / "README.md").read_text()
    for what in (["--redraw", place], ["--check", place.parent]):
        done = subprocess.run([sys.executable, "-m", "scripts.publish.record", *what], cwd=study.folder, capture_output=True, text=True,
                              env={"PYTHONPATH": str(study.folder), "PATH": "/usr/bin:/bin"})
        assert done.returncode == 0, done.stderr
    assert (ROOT / "docs/record/README.md").exists() and set(study.jobs("record")) == {"record"}
