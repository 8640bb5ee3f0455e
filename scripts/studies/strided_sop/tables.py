"""The dataset of strided sentence order prediction; columns.yaml explains its columns. Not a
program.
"""

import pyarrow as pa

TEXT, COUNT, NUMBER = pa.string(), pa.int32(), pa.float64()
STRIDED_PAIRS = pa.schema(
    {
        "pair_id": TEXT,
        "video_id": TEXT,
        "stride": COUNT,
        "first_position": COUNT,
        "second_position": COUNT,
        "text_a": TEXT,
        "text_b": TEXT,
        "label": pa.int8(),
        "overlap": NUMBER,
        "same_start": pa.bool_(),
        "relative_position": NUMBER,
        "sentences": COUNT,
        "words_a": COUNT,
        "words_b": COUNT,
        "seconds_apart": NUMBER,
        "category": TEXT,
    }
)
