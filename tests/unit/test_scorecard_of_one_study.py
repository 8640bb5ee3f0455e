"""The scorecard of a table of one study, which has no columns of the others."""

import warnings

import pyarrow as pa

from scripts.common.tables import write_table
from scripts.evaluate.strided_sop import SCHEMA
from scripts.publish.scorecard.cells import cells_of, read_scores
from tests.unit.test_publish_scorecard import SOURCES, STUDIES, measured


def test_no_text_is_filled_into_a_column_of_numbers(tmp_path):
    rows = measured("strided_sop", "small", "train", 0.6, (0.05, 0.01, 0.09))
    write_table(pa.Table.from_pylist(rows, schema=SCHEMA), tmp_path / "metrics.parquet", SCHEMA, {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # pandas tells so what a later version refuses
        cells = cells_of(read_scores(tmp_path / "metrics.parquet"), {"strided_sop": STUDIES["strided_sop"]}, SOURCES, {"small": ("encoder", 4e6)})
    assert cells["corpus"].tolist() == ["activitynet"] and cells["above"].tolist() == [0.05]
