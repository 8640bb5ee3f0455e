"""A matrix of texts that reads each text once."""

from collections.abc import Callable
from typing import Any

import pandas as pd
from scipy.sparse import csr_matrix, vstack

MOST = 100_000  # different texts whose rows are kept


class RowsOfTexts:
    """A function from texts to (n, k), whose row depends on the text alone. It reads each different
    text once. Folds, controls and datasets share most of their texts.

    read: a function from n different texts to (n, k).
    """

    def __init__(self, read: Callable[[Any], csr_matrix]) -> None:
        self.read, self.known = read, pd.Index([], dtype=object)
        self.rows = csr_matrix((0, 0))  # of the known texts

    def __call__(self, texts: pd.Series | list[str]) -> csr_matrix:
        different = pd.Index(texts, dtype=object).unique()
        unread = different[self.known.get_indexer(different) < 0]
        if len(self.known) + len(unread) > MOST:  # begins anew
            self.known, unread = self.known[:0], different
        if len(unread):
            read = self.read(unread)
            self.rows = vstack([self.rows, read], "csr") if len(self.known) else csr_matrix(read)
            self.known = self.known.append(unread)
        return self.rows[self.known.get_indexer(texts)]
