"""Each benchmark runs at its smallest size.

benchmarks.cost has its own tests (test_cost.py).
"""

import re

import pytest

from tests.conftest import call
from tests.forking import interpreter

pytestmark = [pytest.mark.models, pytest.mark.slow]

# For each benchmark: the options of its smallest size, and a line that it prints.
BENCHMARKS = {
    "faults": ("--only models --share 0.01", r"\| all \| 3 \|.*"),
    "gpu": ("--tiny", "twice the same: equal, every byte"),
    "intervals": ("--times 1 --resamples 10 --groups 3", r"\| 3 \| 0.95 \| 1 \|.*"),
}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_benchmark_runs_at_its_smallest_size(benchmark):
    smallest, line = BENCHMARKS[benchmark]
    done = call(interpreter(), "-m", f"benchmarks.{benchmark}", *smallest.split())
    assert done.returncode == 0 and "FAILED" not in done.stdout, done.stdout + done.stderr
    assert re.search(f"^{line}$", done.stdout, re.M), done.stdout
