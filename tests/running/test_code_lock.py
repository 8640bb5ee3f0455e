"""The identity of code: which files count in a program, and which parts of a file."""

import ast
import shutil
import subprocess

import pytest

from scripts.running import code_lock
from scripts.running.code_lock import (
    decides_nothing,
    digest_of_code,
    files_of,
    imports_of,
    read_lock,
)
from scripts.running.program import UserError
from tests import lock
from tests.conftest import ROOT, call
from tests.lock import files_today, pinned_programs, programs
from tests.rows import each_row, rows_of, texts_of

FILES = {
    str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
    for file in sorted(ROOT.glob("scripts/**/*.py"))
}
# Files of no program, which decide no number.
OF_NO_PROGRAM = {
    "scripts/plan/": "the rules import them; what they decide is a parameter, which is compared",
    "scripts/fetch/": "what they fetch is compared by its content",
    "scripts/data/card.py": "each call that ran jobs writes the cards anew",
    "scripts/measure/compare.py": "a person calls it",
    "scripts/audit/record.py": "a person calls it",
    "scripts/people/sheet.py": "a person calls it",
    "scripts/publish/harness_tasks.py": "a rule without an output: it runs each time it is named",
    "scripts/publish/index.py": "each call that ran jobs writes the list of studies anew",
    "scripts/publish/record.py": "a rule without an output: it runs each time it is named",
    "scripts/publish/record_page.py": "a person calls it",
    "scripts/train/rehearse.py": "the rehearsal measures nothing",
    "scripts/train/stand_in.py": "the rehearsal measures nothing",
}


# ---- the files of programs


def test_the_lock_is_todays():
    locked, found = read_lock()["files"], files_today()
    others = [one for one in found | locked if locked.get(one, "")[:12] != found.get(one, "")[:12]]
    assert len(others) == 0, f"run `make lock`: {', '.join(others[:3])} changed"
    assert set(read_lock()["programs"]) == {*programs()}, "run `make lock`"


def test_each_program_of_the_pinned_study_has_a_result():
    entries = read_lock()["programs"].items()
    assert {name for name, entry in entries if "pinned" in entry} == {*pinned_programs()}


def test_an_edit_of_each_file_changes_a_program_or_decides_nothing():
    counted = {file for program in programs() for file in files_of(program)}
    for file, text in FILES.items():
        outside = any(file.startswith(one) for one in OF_NO_PROGRAM)
        assert (file in counted) + decides_nothing(file) == 1 or outside or not text.strip(), file
    for declared in (*code_lock.DECIDES_NOTHING, *OF_NO_PROGRAM):
        assert any(file.startswith(declared) for file in FILES), declared
    assert not [file for file in OF_NO_PROGRAM if file in counted]


def test_imports_are_found_wherever_they_stand():
    for file, text in FILES.items():
        wanted = set()
        for node in ast.walk(ast.parse(text)):
            assert not (isinstance(node, ast.Import) and "scripts" in node.names[0].name), file
            assert not getattr(node, "level", 0), f"{file}: a relative import"
            if isinstance(node, ast.ImportFrom) and node.module.startswith("scripts"):
                place = node.module.replace(".", "/")
                places = [f"{place}.py", *(f"{place}/{alias.name}.py" for alias in node.names)]
                wanted |= {place for place in places if place in FILES}
        assert wanted <= imports_of(file), file


@each_row(
    "program, files",
    rows_of("""
        train/classify      | [train/runs, train/run, train/process, train/loop, train/step, train/tokens, train/checkpoint]
        train/search/mctaco | [train/runs, controls/control, controls/search, studies/mctaco/controls]
        train/control       | [train/runs, controls/control, text/text_features]
        train/answer        | [train/runs, train/asking/said, train/asking/server, train/asking/letters]
        publish/items       | [publish/items, publish/item]
        evaluate/timedial   | [studies/timedial/options, measure/intervals, data/tables]
    """),
)
def test_what_decides_a_programs_numbers_counts(program, files):
    assert {f"scripts/{file}.py" for file in files} <= {*files_of(program)}


def test_no_control_counts_what_trains_a_network():
    assert not {"scripts/train/loop.py", "scripts/train/process.py"} & {*files_of("train/control")}


# ---- identities


@pytest.fixture
def locked(monkeypatch):
    digest_of, edits = code_lock.digest_of, {}
    monkeypatch.setattr(code_lock, "digest_of", lambda file: edits.get(file, digest_of(file)))

    def edit(**digests: str) -> None:
        code_lock.identity.cache_clear()
        edits.clear()
        edits.update({f"scripts/{name}.py": digest for name, digest in digests.items()})

    yield edit
    edit()


def test_an_edited_file_is_another_identity_and_back(locked):
    program = "train/classify"
    released = code_lock.identity(program)
    assert released == f"{program}@{code_lock.version_of(program)}"
    assert code_lock.identity("scripts.clean.mctaco") == code_lock.identity("clean/mctaco")
    locked(**{"train/step": "0123456789ab"})
    edited = code_lock.identity(program)
    assert edited.startswith(f"{released}+") and code_lock.known_as(program) == [edited]
    assert code_lock.edited(program) == ["scripts/train/step.py"]
    locked(**{"train/step": "ba9876543210"})
    assert code_lock.identity(program) not in (released, edited)
    locked()
    assert code_lock.identity(program) == released


@each_row(
    "code, version",
    texts_of("""
        train/classify@3              | 3
        train/classify@3+0123456789ab | 3+0123456789ab
        0123456789ab                  | 1
        a123456789ab                  | 0
    """),
)
def test_the_version_of_a_finished_run(code, version, monkeypatch):
    """A hash from before the lock is version 1 if it stands in the lock."""
    known = ["train/classify@1", "0123456789ab"]
    monkeypatch.setattr(code_lock, "known_as", lambda program: known)
    assert code_lock.version_in(code, "train/classify") == version


def test_a_lock_that_is_missing_or_damaged(monkeypatch, tmp_path):
    monkeypatch.setattr(code_lock, "ROOT", tmp_path)
    (tmp_path / "resources").mkdir()
    for content in (None, b"[files", b"\xff", b"[files]\n"):
        if content:
            (tmp_path / code_lock.LOCK).write_bytes(content)
        with pytest.raises(
            UserError, match="code.lock: is missing or damaged; restore it with git"
        ):
            read_lock.__wrapped__()


# ---- versions


@each_row(
    "edited, before, pin, version, said",
    rows_of("""
        []          | {version: 2, pinned: a, was: [b]} | a    | 2 | ""
        []          | {version: 2, pinned: a, was: [b]} | c    | 2 | its files are as before
        [step]      | {version: 2, pinned: a, was: [b]} | a    | 2 | version 2 stays
        [step]      | {version: 2, pinned: [1.0]}       | [1.00005] | 2 | version 2 stays
        [step]      | {version: 2, pinned: [1.0]}       | [1.01] | 3 | version 3 (another result)
        [step]      | {version: 2}                      | null | 3 | version 3 (not pinned)
        []          | {version: 2}                      | null | 2 | ""
        [step]      | {}                                | a    | 1 | a new program
    """),
)
def test_a_version_rises_only_with_the_results(edited, before, pin, version, said, monkeypatch):
    monkeypatch.setattr(lock, "files_of", lambda program: ["step", "loop"])
    entry, sentence = lock.with_version("train/x", before, pin, {*edited})
    assert entry["version"] == version and said in sentence and bool(said) == bool(sentence)
    assert ("was" in entry) == ("was" in before and version == before["version"])


# ---- which parts of a file count

CODE = '''"""A module."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MOST: int = 3


class Row:
    """A row."""

    name: str
    """its name"""


def work(given, pairs: int = 3) -> int:
    """Make it."""
    found: list[int] = []
    if given:
        pass
    return found or f"{pairs:>5} a" "b"
'''


@each_row(
    "old, new",
    texts_of("""
        A module.            | Another one.
        Make it.             | Build it.
        its name             | his name
        MOST: int            | MOST
        found: list[int]     | found
        -> int               | -> str
        a" "b"               | ab"
        TYPE_CHECKING        | Any, TYPE_CHECKING
        if given:            | if (given):
    """),
)
def test_what_does_not_count(old, new):
    assert old in CODE
    assert digest_of_code(CODE.replace(old, new, 1)) == digest_of_code(CODE)
    assert digest_of_code(f"# a comment\n\n{ast.unparse(ast.parse(CODE))}") == digest_of_code(CODE)


def changes(tree: ast.Module):
    for place in list(ast.walk(tree)):
        before = dict(vars(place))
        match place:
            case ast.Constant():
                place.value = place.value + 1 if type(place.value) in (int, float) else "another"
            case ast.Name():
                place.id += "_"
            case ast.arg() | ast.keyword():
                place.arg = f"{place.arg}_"
            case ast.Attribute():
                place.attr += "_"
            case ast.BinOp():
                place.op = ast.MatMult()
            case ast.Compare():
                place.ops = [ast.Is(), *place.ops[1:]]
            case ast.BoolOp():
                place.op = ast.And() if isinstance(place.op, ast.Or) else ast.Or()
            case ast.IfExp():
                place.body, place.orelse = place.orelse, place.body
            case ast.If() | ast.For() | ast.While():
                place.body = [ast.Expr(ast.Name("changed"))]
            case _:
                continue
        yield f"line {getattr(place, 'lineno', 0)}: {ast.dump(place)}"
        vars(place).update(before)


def without_annotations(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return tree


@pytest.mark.parametrize("file", ["scripts/text/time_units.py", "scripts/train/epochs.py"])
def test_every_changed_place_of_a_module_counts(file):
    tree = without_annotations(ast.parse(FILES[file]))
    for node in ast.walk(tree):  # docstrings
        if isinstance(getattr(node, "body", None), list):
            node.body = [one for one in node.body if code_lock._counts(one)] or [ast.Pass()]
    before = digest_of_code(ast.unparse(tree))
    assert not [one for one in changes(tree) if digest_of_code(ast.unparse(tree)) == before]


DIGESTS = """
from pathlib import Path
from scripts.running.code_lock import digest_of_code, read_lock
for file, digest in read_lock()["files"].items():
    if not digest.startswith(digest_of_code(Path(file).read_text(encoding="utf-8"))):
        print(file)
"""


def test_the_same_code_is_the_same_on_every_version_of_python_that_is_installed():
    for version in ("3.11", "3.12", "3.13", "3.14"):
        command = shutil.which(f"python{version}")
        if command and subprocess.run([command, "-c", ""]).returncode == 0:  # no shim of pyenv
            done = call(command, "-c", DIGESTS, check=True)
            assert not done.stdout.strip(), (command, done.stdout)
