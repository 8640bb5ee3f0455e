"""The dataset of choices, one option a row; columns.yaml explains its columns. Not a program."""

import pyarrow as pa

CHOICES = pa.schema(
    dict.fromkeys(
        ["example_id", "instance_id", "group_id", "context", "candidate", "label", "category"],
        pa.string(),
    )
    | {"label": pa.int8()}
)
