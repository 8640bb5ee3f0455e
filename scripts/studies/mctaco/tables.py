"""The dataset of MC-TACO. Not a program.

answers  the questions to classify: example_id, group_id (the question), sentence_id (the first
         question about its sentence), text_a (sentence and question), text_b (the answer,
         unit-normalised where asked), label, category, answer (as it stands in the data; of a
         counterpart, in another unit)
"""

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
