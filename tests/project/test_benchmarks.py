"""Each benchmark runs at its smallest size.

benchmarks.cost has tests of its own (test_cost.py).
"""

import re
import subprocess

import pytest

from tests.conftest import ROOT
from tests.forking import interpreter

pytestmark = [pytest.mark.models, pytest.mark.slow]

# By name the smallest size, and a line that is printed.
BENCHMARKS = {
    "faults": ("--only servers --share 0.01", r"\| all \| 1 \|.*"),
    "gpu": ("--tiny", r"    twice the same: equal, every byte"),
    "intervals": ("--times 1 --resamples 10 --groups 3", r"\| 3 \| 0.95 \| 1 \|.*"),
    "likelihood": (
        "--smallest --turns 1",
        r"texts, packed \S+, plain \S+; ratio \S+; sums differ by .*",
    ),
    "many_runs": ("--models 1 --strides 0", r"\| numbers \| \d+, 0.\d MB \|"),
    "scale": (
        "--videos 40 --captions 20 --dialogs 120",
        r"\| build/timedial/\S+ \| 120 dialogs \| 1,613 \| .* [\d.]+ \|",
    ),
    "throughput": (
        "--models tiny --examples 16 --precisions fp32",
        r"tiny: learning, fp32: ours \S+/s, plain \S+/s; ratio \d+.\d+",
    ),
}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_benchmark_runs_at_its_smallest_size(benchmark):
    smallest, line = BENCHMARKS[benchmark]
    command = [interpreter(), "-m", f"benchmarks.{benchmark}", *smallest.split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "FAILED" not in done.stdout, done.stdout + done.stderr
    assert re.search(f"^{line}$", done.stdout, re.M), done.stdout
