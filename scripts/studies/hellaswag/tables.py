"""The dataset of HellaSwag, one row an ending; columns.yaml says what its columns hold. Not a
program.
"""

import pyarrow as pa

CHOICES = pa.schema(
    dict.fromkeys(
        [
            "example_id",
            "instance_id",
            "group_id",
            "context",
            "candidate",
            "label",
            "domain",
            "activity",
        ],
        pa.string(),
    )
    | {"label": pa.int8()}
)
