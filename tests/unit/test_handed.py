"""What jobs are given by file, and the manifests that stand for folders."""

import json

import pytest

from scripts.common.handed import argument_file, fields_of, hand_over, has_options, presence_of, rows_of
from scripts.common.manifest import lost_files
from scripts.common.program import UserError, parser
from tests.rows import each_row


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_program_reads_its_arguments_from_a_file():
    asked = parser("A program.")
    asked.add_argument("--runs", nargs="+")
    asked.add_argument("--text")
    hostile = "it's \"$(touch x)\" `y` ä {z} \\"
    given = asked.parse_args([f"@{argument_file(['--runs', *(f'run-{number}' for number in range(3000)), f'--text={hostile}'])}"])
    assert len(given.runs) == 3000 and given.text == hostile


@pytest.mark.parametrize("argument", ["two\nlines", "a form\x0cfeed", "two\u2028lines", "@another", "end\n"])
def test_an_argument_that_cannot_stand_on_a_line(argument):
    with pytest.raises(UserError, match="line break"):
        argument_file(["--text", argument])


def test_files_are_named_after_their_content(tmp_path):
    first, again, other = hand_over({"a": "1"}), hand_over({"a": "1"}), hand_over({"a": "2"})
    assert first == again != other
    assert (tmp_path / other / "a").read_text() == "2"
    assert sorted(path.name for path in (tmp_path / first).parent.iterdir()) == sorted({first.split("/")[-1], other.split("/")[-1]})


def test_only_what_is_read_is_handed_over():
    entries = {"b": {"title": "B", "sample": {"seed": 1}, "url": "x"}, "a": {"title": "A"}, "c": {}}
    kept = presence_of(fields_of(entries, {"a", "b"}, ("title", "sample")), ("sample",))
    assert list(kept.items()) == [("b", {"title": "B", "sample": True}), ("a", {"title": "A"})]
    assert rows_of('study,note\nx,"one, two"\ny,three\n', "study", {"x"}) == 'study,note\nx,"one, two"\n'


def test_a_manifest_knows_what_is_lost(tmp_path, program):
    for name in ("a.txt", "folder/b.txt"):
        (tmp_path / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "results" / name).write_text(name)
    manifest = tmp_path / "results/manifest.json"
    call = ["scripts.common.manifest", "--folder", tmp_path / "results", "a.txt", "folder/b.txt", "--output", manifest]
    assert program(*call).returncode == 0 and lost_files(manifest) == []
    assert json.loads(manifest.read_text())["files"]["a.txt"]["bytes"] == 5
    (tmp_path / "results/a.txt").write_text("a.tx")
    (tmp_path / "results/folder/b.txt").unlink()
    assert lost_files(manifest) == ["a.txt", "folder/b.txt"]
    done = program(*call)
    assert done.returncode == 1 and "folder/b.txt was not written" in done.stderr and "Traceback" not in done.stderr
    for broken in ("", "[]", "{}", '{"files": {"a.txt": 1}}'):
        manifest.write_text(broken)
        assert lost_files(manifest) == ["manifest.json"]


@each_row("needs, stride, met", [
    ({"stride": "number"}, 0, True), ({"stride": "number"}, "up_to_3", False), ({"stride": "number"}, None, False), ({"stride": "any"}, "up_to_3", True),
    ({"stride": "any"}, None, False), ({"stride": None}, None, True), ({"stride": [0, 1]}, 1, True), ([{"stride": 3}, {"span": "any"}], 1, False)])
def test_what_a_figure_needs_of_the_data(needs, stride, met):
    """Slices are of one stride: a study of mixtures alone has no such figure."""
    assert has_options({"stride": stride}, needs) is met
