"""benchmarks/gpu.py at tiny sizes on the CPU: every section measures, and what fails is said."""

import re
import subprocess
import sys

import pytest

from benchmarks.gpu_paradigms import PARADIGMS
from tests.conftest import ROOT

pytestmark = [pytest.mark.models, pytest.mark.slow]


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "benchmarks.gpu", "--tiny", *arguments], cwd=ROOT, capture_output=True, text=True)


def test_every_section_measures():
    done = run()
    assert done.returncode == 0 and "FAILED" not in done.stdout, done.stdout + done.stderr
    first, _, *lines = done.stdout.splitlines()
    assert first.startswith("TINY SIZES, which measure nothing: ")
    assert [line.split(":")[0] for line in lines if line and not line.startswith(" ")] == [
        "agreement", "strict", "learning", "compiled", "scoring", "memory", "sharing", "grid"]
    assert done.stdout.count("equal, every bit") == 2 + len(PARADIGMS)
    assert re.search(r"tiny-t5, batches of 8, \w+: \d+ examples/s \([\d,]+ tokens/s\), plain \d+; ratio \d+\.\d\d", done.stdout)
    apart = re.search(r"two processes against one, .*: losses ([\d.e+-]+), scores ([\d.e+-]+), labels 100.00% alike", done.stdout)
    assert 0 <= float(apart[1]) < 1e-4 and 0 <= float(apart[2]) < 1e-4


def test_a_failure_is_a_line_and_the_exit_code():
    done = run("--sections", "grid", "memory")
    assert done.returncode == 1
    assert "24 runs, from the rates above: FAILED, RuntimeError: needs the sections learning and scoring" in done.stdout
    assert "a batch that does not fit, taken in parts: in parts of " in done.stdout
