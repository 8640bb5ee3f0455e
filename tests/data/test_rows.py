"""Tables of cases as one test: all rows are tried, and those that fail are named."""

import pytest

from tests.rows import each_row

ROWS = [(1, 1), (2, 5), (3, 3), (4, None)]


@each_row("number, wanted", ROWS)
def doubles(seen, number, wanted):
    seen.append(number)
    assert number + 0 * wanted == wanted


def test_every_row_is_tried_and_the_failing_ones_are_told():
    seen = []
    with pytest.raises(pytest.fail.Exception) as told:
        doubles(seen=seen)
    assert seen == [1, 2, 3, 4]
    assert str(told.value).startswith("2 of 4 rows:\nnumber=2, wanted=5\n    AssertionError: ")
    assert "number=4, wanted=None\n    TypeError: " in str(told.value)
