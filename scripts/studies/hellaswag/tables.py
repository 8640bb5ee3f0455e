"""The dataset of HellaSwag, one ending a row; columns.yaml explains its columns. Not a program."""

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
