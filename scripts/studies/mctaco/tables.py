"""The dataset of MC-TACO, one answer a row; columns.yaml explains its columns."""

from scripts.data.tables import table_schema

ANSWERS = table_schema(
    "example_id group_id sentence_id text_a text_b label category answer", label="int8"
)
