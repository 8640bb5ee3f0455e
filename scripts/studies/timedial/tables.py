"""The dataset of TimeDial, one candidate a row; columns.yaml explains its columns. Not a
program.
"""

import pyarrow as pa

CLOZE = pa.schema(
    [
        ("example_id", pa.string()),
        ("instance_id", pa.string()),
        ("dialog_id", pa.string()),
        ("context", pa.string()),
        ("context_scope", pa.string()),
        ("candidate", pa.string()),
        ("label", pa.int8()),
        ("rule", pa.string()),
        ("is_original", pa.bool_()),
        ("kind", pa.string()),
        ("has_numeral", pa.bool_()),
        ("turns", pa.int32()),
        ("leak", pa.string()),
    ]
)
