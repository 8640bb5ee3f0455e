"""Whatever a user gives, a program ends with whole files or with one line that names the place (tests/fuzz.py, in short)."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.fuzz import SILENCE, attempt, called, judged, place
from tests.fuzz_targets import TARGETS

CASES = 25  # of each program; benchmarks/fuzz_inputs.py runs thousands


@pytest.mark.parametrize("name", TARGETS)
def test_whole_input_is_accepted(name, tmp_path):
    target = TARGETS[name]
    place(target.files, tmp_path / "in")
    arguments = [text.replace("{in}", str(tmp_path / "in")).replace("{out}", str(tmp_path / "work/out")) for text in target.arguments]
    (tmp_path / "work").mkdir()
    code, said, problem = called(target.module, arguments, target.files.get(target.stdin, b""))
    assert (code, problem) == (0, ""), said
    assert judged(target, tmp_path / "work/out", code, said) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_accepted_or_refused(name, tmp_path):
    ends = []
    for number in range(CASES):
        outcome = attempt(TARGETS[name], 7, number, tmp_path / "case", huge_share=0)
        assert not outcome.problem, f"case {number} of seed 7: {outcome.problem}\n{outcome.said}"
        ends.append(outcome.kind)
    assert "refused" in ends, "the damage is none"


@pytest.mark.parametrize("name", ["activitynet", "dialogs (parquet)", "evaluate timedial", "unit_normalization"])
def test_a_real_process_ends_the_same(name, tmp_path):
    target = TARGETS[name]
    for number in range(3):
        outcome = attempt(target, 8, number, tmp_path / "case", huge_share=0)
        files = tmp_path / "case/in"
        arguments = [text.replace("{in}", str(files)).replace("{out}", str(tmp_path / f"again{number}/out")) for text in target.arguments]
        given = (files / target.stdin).read_bytes() if target.stdin and (files / target.stdin).is_file() else b""
        done = subprocess.run([sys.executable, "-m", target.module, *arguments], input=given, capture_output=True, cwd=ROOT, timeout=60)
        said = done.stderr.decode()
        assert (done.returncode == 0) == (outcome.code == 0) or "argument" in outcome.said, said
        assert judged(target, tmp_path / f"again{number}/out", done.returncode, said) == "", said


HUGE = {"letters": "a" * 2_000_000, "spaces": " " * 2_000_000, "quotes": '\\"' * 1_000_000, "times": " before 1" * 220_000,
        "digits": "1" * 2_000_000, "stops": ". " * 1_000_000, "apostrophes": "s ' " * 500_000, "quantities": "5 days " * 280_000}


@pytest.mark.parametrize("text", HUGE)
@pytest.mark.parametrize("name", ["activitynet", "howto100m", "dailydialog", "dialogs (jsonl)", "timedial", "mctaco", "temporal_nli_release",
                                  "event_templates", "unit_normalization"])
def test_a_cell_of_two_megabytes_takes_no_20_seconds(name, text, tmp_path):
    target = TARGETS[name]
    marks = {"activitynet": b"A man  waits.", "howto100m": b"so first you cut", "dialogs (jsonl)": b"See you at 5 pm .", "timedial": b"How long ?",
             "mctaco": b"30 minutes", "temporal_nli_release": b"They met before Sunday", "event_templates": b",", "unit_normalization": b"a few days"}
    written = HUGE[text].replace('\\"', "'" * 2) if name not in ("activitynet", "howto100m", "dialogs (jsonl)", "timedial") else HUGE[text]
    files = dict(target.files)
    if name == "dailydialog":
        from tests.fuzz_targets import TALK, zipped
        files["test.zip"] = zipped("test/dialogues_test.txt", TALK.replace("Hello .", f"Hello {written}."))
    else:
        file = next(key for key, content in files.items() if marks[name] in content)
        files[file] = files[file].replace(marks[name], marks[name] + written.encode(), 1)
    place(files, tmp_path / "in")
    (tmp_path / "work").mkdir()
    arguments = [part.replace("{in}", str(tmp_path / "in")).replace("{out}", str(tmp_path / "work/out")) for part in target.arguments]
    code, said, problem = called(target.module, arguments, files.get(target.stdin, b""))
    assert problem == "", f"{problem} (the limit is {SILENCE} s)"
    assert judged(target, tmp_path / "work/out", code, said) == ""
