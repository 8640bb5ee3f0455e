"""The code fingerprint sees what may change a result, and nothing else, alike on every Python."""

import ast
import json
import shutil
import subprocess
import sys

import pytest

from scripts.common.fingerprint import canonical
from tests.conftest import ROOT

SYNTAX_HASH = "8cd350698fe76507"
EVERY = """
import hashlib
from pathlib import Path
from scripts.common.fingerprint import ROOT, canonical, fingerprint
for file in sorted(ROOT.glob("scripts/*/*.py")):
    print(fingerprint(".".join(file.relative_to(ROOT).with_suffix("").parts)))
print(hashlib.sha256(canonical(Path("tests/unit/fingerprint_syntax.txt").read_text(encoding="utf-8")).encode()).hexdigest())
"""


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def fingerprint(root, module="scripts.build.strided_sop", memory=None) -> str:
    remembered = f"import pathlib; remember_in(pathlib.Path({str(memory)!r})); " if memory else ""
    code = f"from scripts.common.fingerprint import fingerprint, remember_in; {remembered}print(fingerprint({module!r}))"
    return subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_comments_docstrings_and_formatting_do_not_count(copied):
    before = fingerprint(copied)
    file = copied / "scripts/build/strided_sop.py"
    edit(file, '"""Build', '"""Construct')
    edit(file, "\nimport argparse\n", "\n# a comment\n\nimport argparse\n")
    edit(file, "HIGHEST = np.uint64(2**64 - 1)", "HIGHEST = np.uint64(\n    2**64 - 1,\n)")
    assert fingerprint(copied) == before


@pytest.mark.parametrize("module", ["scripts/build/strided_sop.py", "scripts/common/keyed.py", "scripts/common/files.py"])
def test_code_counts_however_deep(copied, module):
    before = fingerprint(copied)
    with open(copied / module, "a") as opened:
        opened.write("\nADDED = 1\n")
    assert fingerprint(copied) != before


def test_other_modules_do_not_count(copied):
    before = fingerprint(copied)
    with open(copied / "scripts/train/loop.py", "a") as opened:
        opened.write("\nADDED = 1\n")
    assert fingerprint(copied) == before
    assert before.startswith("scripts.build.strided_sop ")


def test_what_is_remembered_is_not_read_again_unless_it_changed(copied, tmp_path):
    memory = tmp_path / "memory/fingerprints"
    before = fingerprint(copied)
    assert fingerprint(copied, memory=memory) == before and len(memory.read_text().splitlines()) > 3
    memory.write_text(memory.read_text() + '["torn')
    size = memory.stat().st_size
    assert fingerprint(copied, memory=memory) == before and memory.stat().st_size == size
    edit(copied / "scripts/common/keyed.py", "import", "import secrets\nimport")
    assert fingerprint(copied, memory=memory) == fingerprint(copied) != before
    edit(copied / "scripts/common/keyed.py", "import secrets\nimport", "import")
    assert fingerprint(copied, memory=memory) == before
    lines = [json.loads(line) for line in memory.read_text().splitlines() if "torn" not in line]
    memory.write_text("".join(json.dumps([key, code[::-1], imported]) + "\n" for key, code, imported in lines))
    assert fingerprint(copied, memory=memory) != before, "what the file says counts: nothing was parsed"


def test_a_memory_that_cannot_be_written_changes_nothing(copied, tmp_path):
    (tmp_path / "file").touch()
    assert fingerprint(copied, memory=tmp_path / "file/fingerprints") == fingerprint(copied)


PROGRAM = """
def work(given, pairs=3):
    '''Make it.'''
    arguments.add_argument("--pairs", default=3, help="how many" + " pairs", metavar="N", description=f"{__doc__}")
    log.info("%s: %d pairs", given.name, len(pairs))
    if given.pairs < 1 or "odd":
        raise UserError(f"{given.pairs} pairs are too few; " + "ask for more" * 2) from None
    if given.pairs > 99:
        return UserError("%d are too many" % given.pairs)
    assert pairs, f"no {pairs}"
    warnings.warn("deprecated: " + str(pairs), FutureWarning, stacklevel=2)
    try:
        raise ValueError("retry in {}".format(pairs) if given else "stop", 5)
    except ValueError as error:
        sys.exit("error: the end")
    return print("said", f"{pairs:>5} a" "b", pairs[1:], b"x")
"""


@pytest.mark.parametrize(("old", "new"), [
    ("Make it.", "Build it."), ("how many", "the number of"), ('metavar="N"', 'metavar="M"'), ("__doc__", "__name__"),
    ("%s: %d pairs", "%d pairs of %s"), ("given.name, len(pairs)", "len(pairs), given.name, 7"), (" are too few; ", " are few: "),
    ('"ask for more" * 2', "REMEDY"), ('"%d are too many" % given.pairs', 'f"{given.pairs} are far too many"'),
    ('f"no {pairs}"', '"none"'), ("deprecated: ", "old: "), ("retry in {}", "again in {}"), ('"stop"', '"halt"'),
    ("error: the end", "the end"), ('a" "b"', 'ab"'), ("    return print", "    # say it\n\n    return  print"),
])
def test_the_texts_of_errors_logs_and_help_do_not_count(old, new):
    assert old in PROGRAM
    assert canonical(PROGRAM.replace(old, new)) == canonical(PROGRAM)


@pytest.mark.parametrize(("old", "new"), [
    ("pairs=3", "pairs=4"), ("pairs=3", "pairs=3.0"), ("pairs=3", "pairs"), ('"--pairs"', '"--pair"'), ("default=3", "default=4"),
    ("log.info", "log.warning"), ("given.pairs < 1", "given.pairs <= 1"), ("< 1", "< 2"), (" or ", " and "), ('"odd"', '"even"'),
    ("raise UserError(", "raise OSError("), ("return UserError(", "raise UserError("), (" from None", ""), ("> 99", "> 98"),
    ("FutureWarning", "UserWarning"), ("stacklevel=2", "stacklevel=3"), ('"stop", 5', '"stop", 6'),
    ("except ValueError", "except OSError"),
    ('sys.exit("error: the end")', "sys.exit(2)"), ('"said"', '"told"'), (":>5", ":>6"), ('"b"', '"c"'), ("[1:]", "[:1]"),
    ('b"x"', '"x"'), ("return print", "return str"), ("assert pairs", "assert given"), ("len(pairs))", "(pairs := 1))"),
    ("    if given.pairs > 99:\n        return UserError(\"%d are too many\" % given.pairs)\n", ""),
])
def test_everything_else_counts(old, new):
    assert old in PROGRAM
    assert canonical(PROGRAM.replace(old, new, 1)) != canonical(PROGRAM)


def mutations(tree: ast.Module):
    """Change one place of the tree at a time, and back: each constant, name, operator and keyword, and what a branch does."""
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
            case ast.UnaryOp():
                place.op = ast.UAdd()
            case ast.IfExp():
                place.body, place.orelse = place.orelse, place.body
            case ast.If() | ast.For() | ast.While():
                place.body = [ast.Pass()]
            case _:
                continue
        yield f"line {getattr(place, 'lineno', 0)}: {ast.dump(place)}"
        vars(place).update(before)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["common/keyed", "build/span_values"])
def test_every_changed_place_of_a_module_counts(module):
    tree = ast.parse((ROOT / f"scripts/{module}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):  # what says something is tested above; docstrings go
        if isinstance(node, (ast.Module, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    before = canonical(tree)
    silent = [place for place in mutations(tree) if canonical(tree) == before]
    assert not silent


def test_the_same_code_is_the_same_on_every_version():
    """Pinned, for versions that are not here; compared, on those that are."""
    found = subprocess.run([sys.executable, "-c", EVERY], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert found.split()[-1].startswith(SYNTAX_HASH), "the pinned hash changes only with scripts/common/fingerprint.py"
    others = []
    for version in ("3.11", "3.12", "3.13", "3.14"):
        command = shutil.which(f"python{version}")
        if not command or version == f"{sys.version_info[0]}.{sys.version_info[1]}":
            continue
        done = subprocess.run([command, "-c", EVERY], cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 0 or "scripts" in done.stderr:  # a shim of pyenv may stand for a version that is not installed
            others.append(version)
            assert done.stdout == found, f"Python {version}: {done.stderr}"
    if not others:
        pytest.skip("one Python is on PATH: fingerprints are not compared with another's")
