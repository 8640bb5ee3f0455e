"""The dataset of MC-TACO, one answer a row; columns.yaml explains its columns. Not a program."""

import pyarrow as pa

ANSWERS = pa.schema(
    dict.fromkeys(
        [
            *("example_id", "group_id", "sentence_id", "text_a", "text_b"),
            *("label", "category", "answer"),
        ],
        pa.string(),
    )
    | {"label": pa.int8()}
)
