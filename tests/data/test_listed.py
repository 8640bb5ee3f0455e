"""Files that several stages read: rows of a CSV, YAML, manifests that stand for folders."""

import re
from contextlib import nullcontext

import pytest

from scripts.data.yaml_files import read_yaml
from scripts.data.csv_rows import csv_rows
from scripts.data.manifest import lost_files, write_manifest
from scripts.running.program import UserError
from tests.files import read_json
from tests.rows import each_row


@each_row(
    "text, said",
    [
        (
            "study,note\nx,one\ny,two, three\n",
            (
                "a.csv: the record that ends in line 3 has 3 cells, but the header has 2; mend it, "
                "or put a text with a comma in double quotes"
            ),
        ),
        ("study,remark\nx,one\n", "a.csv: its header is not study,note; restore it"),
        ('study,note\nx,"one" two\n', "a.csv: not a CSV file in UTF-8 (line 2: "),
    ],
)
def test_a_table_with_other_cells_is_refused(text, said):
    with pytest.raises(UserError, match=re.escape(said)):
        csv_rows(text, ["study", "note"], "a.csv")


@each_row(
    "text, said",
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: the key a is already in line 1"),
        ("x:\n  - {a: 1, b: {c: 1, c: 2}}\n", "line 2: the key c is already in line 2"),
        ("x: &one {a: 1}\ny: *one\nz: {<<: *one, a: 2}\n", None),
        ("x: [", "is not valid YAML in line 2"),
        ("", None),
    ],
)
def test_a_key_that_stands_twice_is_refused(text, said, tmp_path):
    (tmp_path / "my.yaml").write_text(text)
    with pytest.raises(UserError, match=re.escape(said)) if said else nullcontext():
        read_yaml(tmp_path / "my.yaml")


def test_a_manifest_knows_what_is_lost(tmp_path):
    for name in ("a.txt", "folder/b.txt"):
        (tmp_path / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "results" / name).write_text(name)
    manifest = tmp_path / "results/manifest.json"
    call = tmp_path / "results", ["a.txt", "folder/b.txt"], manifest
    write_manifest(*call)
    assert lost_files(manifest) == []
    assert read_json(manifest)["files"]["a.txt"]["bytes"] == 5
    (tmp_path / "results/a.txt").write_text("a.tx")
    (tmp_path / "results/folder/b.txt").unlink()
    assert lost_files(manifest) == ["a.txt", "folder/b.txt"]
    with pytest.raises(UserError, match="folder/b.txt was not written"):
        write_manifest(*call)
    for broken in ("", "[]", "{}", '{"files": {"a.txt": 1}}'):
        manifest.write_text(broken)
        assert lost_files(manifest) == ["manifest.json"]
