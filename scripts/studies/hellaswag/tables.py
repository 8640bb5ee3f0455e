"""The dataset of HellaSwag. Not a program.

choices  the endings to choose from: example_id, instance_id (the item), group_id (its video, or its
         article), context (with one <MASK>, at its end), candidate (the ending), label (1 right),
         domain, activity
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
