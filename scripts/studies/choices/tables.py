"""The dataset of choices, one option a row; columns.yaml explains its columns."""

from scripts.data.tables import table_schema

CHOICES = table_schema(
    "example_id instance_id group_id context candidate label category", label="int8"
)
