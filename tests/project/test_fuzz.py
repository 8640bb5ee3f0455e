"""For any input, a program ends with whole files or with one line that names the place (a short run
of tests/fuzz.py).
"""

import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import settings

from scripts.data.manifest import write_manifest
from tests.fuzz import GIVEN, SILENCE, TARGETS, attempt, content_of, place, run_case

CASES = 25  # of each program, 1,000 in all; `make test` tries a hundred
QUICK = 2


@pytest.mark.parametrize("name", TARGETS)
def test_whole_input_is_accepted(name, tmp_path):
    target = TARGETS[name]
    end = run_case(target, target.files, target.arguments, tmp_path)
    assert (end.code, end.problem) == (0, ""), end.said


@pytest.mark.parametrize("name", GIVEN)
def test_damaged_input_is_accepted_or_refused(name, tmp_path):
    ends = []
    for number in range(CASES if settings.default.max_examples > 10 else QUICK):
        outcome = attempt(TARGETS[name], 7, number, tmp_path / "case", huge_share=0)
        assert not outcome.problem, f"case {number} of seed 7: {outcome.problem}\n{outcome.said}"
        ends.append(outcome.kind)
    assert "refused" in ends or len(ends) == QUICK, "the damage is none"


MADE = [name for name in TARGETS if name.startswith(("evaluate runs", "build ", "temporal_spans"))]


@pytest.mark.parametrize("name", MADE)
def test_a_result_that_its_manifest_does_not_know_is_refused(name, tmp_path):
    target = TARGETS[name]
    for file in target.damaged or target.files:
        if not file.endswith(".parquet"):
            continue
        given = tmp_path / file / "in"
        place(target.files, given)
        for folder in {(given / other).parent for other in target.files}:
            names = sorted(one.name for one in folder.iterdir() if one.is_file())
            write_manifest(folder, names, folder / "manifest.json")
        pq.write_table(pq.read_table(given / file).slice(1), given / file)
        end = run_case(target, {}, target.arguments, tmp_path / file)
        assert (end.code, end.problem) == (1, ""), file


HUGE = ("a", " ", '\\"', " before 1", "1", ". ", "s ' ", "5 days ")
# The words of a program's input after which the huge text is inserted. JSON gets the text
# unchanged, so its quotes have a backslash.
BEHIND = yaml.safe_load("""
activitynet: A man  waits.
howto100m: so first you cut
dialogs (jsonl): See you at 5 pm .
timedial: How long ?
mctaco: 30 minutes
temporal_nli_release: They met before Sunday
event_templates: ','
unit_normalization: a few days
dailydialog: Hello .
schema_guided: Book it
""")


@pytest.mark.slow
@pytest.mark.parametrize("name", BEHIND)
def test_a_cell_of_two_megabytes_takes_no_20_seconds(name, tmp_path):
    """Each text has a quarter of a megabyte: a program with quadratic cost would take minutes."""
    target, words = TARGETS[name], BEHIND[name]
    huge = "".join(text * (250_000 // len(text)) for text in HUGE)
    files = dict(target.files)
    if name == "dailydialog":
        text = f"{words}{huge} __eou__ Hi __eou__\n"
        files["test.zip"] = content_of("test.zip", {"test/dialogues_test.txt": text})
    else:
        file = next(key for key, content in files.items() if words.encode() in content)
        files[file] = files[file].replace(words.encode(), (words + huge).encode(), 1)
    problem = run_case(target, files, target.arguments, tmp_path).problem
    assert problem == "", f"{problem} (the limit is {SILENCE} s)"
