"""Altered runs: pairs with random labels, a second objective, or weights of another run. Each is
marked and left out of comparisons.
"""

import pandas as pd

from scripts.publish.selection import as_published
from tests.rows import rows_of


def test_no_paper_is_compared_with_what_is_altered():
    rows = pd.DataFrame(
        [
            {"experiment": experiment, "method": method, "objectives": objectives}
            for experiment, method, objectives in rows_of("""
                plain           | train   | null
                plain           | train   | sop 1, mlm 1
                begun_elsewhere | train   | null
                begun_elsewhere | control | null
            """)
        ]
    )
    assert as_published(
        rows, {"extensions": ["objectives"], "altered": ["begun_elsewhere"]}
    ).index.tolist() == [0, 3]
