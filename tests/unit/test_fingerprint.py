"""The code fingerprint sees what may change a result, and nothing else."""

import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def fingerprint(root, module="scripts.build.strided_sop") -> str:
    code = f"from scripts.common.fingerprint import fingerprint; print(fingerprint({module!r}))"
    return subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_comments_docstrings_and_formatting_do_not_count(copied):
    before = fingerprint(copied)
    file = copied / "scripts/build/strided_sop.py"
    edit(file, '"""Build', '"""Construct')
    edit(file, "\nimport json\n", "\n# a comment\n\nimport json\n")
    edit(file, "LABEL, SIZE, VIDEO = 1, 2, 3", "LABEL, SIZE, VIDEO = (\n    1,\n    2,\n    3,\n)")
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
