"""The pinned study of `make lock` makes what resources/code.lock says, on every machine."""

import pytest

from scripts.running.code_lock import read_lock
from tests.lock import same
from tests.pinned import results


@pytest.mark.daily
def test_the_pinned_results_are_the_locks(tmp_path):
    entries, found = read_lock()["programs"], results(tmp_path)
    others = [name for name, pin in found.items() if not same(pin, entries[name].get("pinned"))]
    assert not others, f"run `make lock`: {', '.join(others)} have other results"
