"""The dataset of TimeDial, one candidate a row; columns.yaml explains its columns."""

from scripts.data.tables import table_schema

CLOZE = table_schema(
    "example_id instance_id dialog_id context context_scope candidate label rule is_original kind "
    "has_numeral turns leak",
    label="int8",
    is_original="bool",
    has_numeral="bool",
    turns="int32",
)
