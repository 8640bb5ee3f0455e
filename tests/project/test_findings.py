"""Each number in the tables of README.md, of the findings and of the controls equals the
record's.
"""

import pytest

from tests.conftest import ROOT
from tests.recorded_numbers import NUMBER, WHERE, line_of, rewritten, rows_of, tables

PAGES = ["docs/findings.md", *(f"docs/findings/{p.name}" for p in ROOT.glob("docs/findings/*.md"))]


@pytest.mark.parametrize(
    "file, heading, begins, locators, words",
    [(file, *row) for file in WHERE for row in rows_of(file)],
)
def test_a_row_has_the_numbers_of_the_record(file, heading, begins, locators, words):
    line = line_of(file, heading, begins)
    assert line == rewritten(line, locators, words)


@pytest.mark.parametrize("file", sorted(WHERE | dict.fromkeys(PAGES)))
def test_every_row_is_checked(file):
    """All tables of a page of findings are checked; of other files, the tables that the YAML file
    names.
    """
    for heading, lines in tables(file).items():
        rows = WHERE[file].get(heading, {}).get("rows", {})
        with_numbers = [line for line in lines if NUMBER.search(line, line.index("|", 1))]
        assert len(with_numbers) == len(rows) or not rows and file not in PAGES, heading
