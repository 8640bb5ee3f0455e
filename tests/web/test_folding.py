"""Long parts are folded, and a link unfolds its target."""

import json

import pytest

from tests.web.open_page import OpenPage

# the last two are links under a figure
FOLDED = "strided_sop_table strided_sop_examples runs configuration hashes".split()


@pytest.fixture
def reader(page, tmp_path):
    """Open the page in a browser for a reader who follows links."""
    opened = OpenPage(page, tmp_path)
    yield opened
    opened.close()


def test_a_link_opens_what_it_leads_to(reader):
    """A link unfolds its target the first time, and again after a reader has closed it; at first,
    all parts are closed.
    """

    def opened() -> set[bool]:
        return set(json.loads(reader.value(f"JSON.stringify([...{folds}].map((one) => one.open))")))

    for name in FOLDED:
        folds = f"document.querySelectorAll('details#{name}, #{name} > .fold, #{name} > .reading > .fold')"
        assert opened() == {False}
        for _ in range(2):
            reader.value(f"document.querySelector('a[href=\"#{name}\"]').click()")
            for _ in range(100):  # the address changes a moment later
                if opened() == {True}:
                    break
            assert opened() == {True}, name
            reader.value(f"for (const one of {folds}) one.open = false")
