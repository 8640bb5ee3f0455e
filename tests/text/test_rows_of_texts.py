"""Rows of texts are those of one reading, and a text is read once while it is kept."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from scripts.text import rows_of_texts
from scripts.text.rows_of_texts import RowsOfTexts

CALLS = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=8), min_size=1)


def counts_of(texts) -> csr_matrix:
    """Return (n, 5): one in the column of the text, and its place in the alphabet."""
    return csr_matrix(
        [[(ord(text) - 96) * (text == letter) for letter in "abcde"] for text in texts]
    )


@pytest.mark.parametrize("most", [2, 100])
@given(calls=CALLS)
def test_rows_are_those_of_one_reading(most, calls):
    read = []

    def counted(texts) -> csr_matrix:
        read.extend(texts)
        return counts_of(texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_of_texts, "MOST", most)
        rows_of = RowsOfTexts(counted)
        for texts in calls:
            rows = rows_of(pd.Series(texts, dtype="string[pyarrow]"))
            assert (rows != counts_of(texts)).nnz == 0
    if most == 100:
        assert sorted(read) == sorted({text for texts in calls for text in texts})
